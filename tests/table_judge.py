"""Whether autojit does with random programs over the op table what NumPy does: many in one function.

What may differ is asked of NumPy itself, run with noise (`tests/table_noise.py`). Where the noise changes nothing, the
bits are compared; where it changes a comparison, an integer or a shape, nothing can be said.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import autojit as aj
from tests.evaluated import evaluated
from tests.helpers import Outcome, arrays_of, outcome
from tests.ops.tolerances import flushed_below
from tests.programs_judge import _layout
from tests.programs_strategy import load
from tests.table_noise import Noise
from tests.table_programs import TableProgram

#: How many programs make one function. Larger ones take no less time, and more of it where one of them is trapped.
PACK = 4
#: How many do in every thirtieth batch: what stands side by side in a large program must not matter.
LARGE_PACK = 24
#: How many programs are judged at a time.
BATCH = 96
_NAME = re.compile(r"\b([ax]\d+|k)_\b")
#: Two errors of last places cancel in every second run with random directions: in so many they rarely do each time.
_RUNS = 16


def source_of(programs: Sequence[TableProgram]) -> str:
    """A module with a function `program` of all arguments, which returns a list of results for each program."""
    parameters, body, results = [], [], []
    for number, program in enumerate(programs):
        renamed = rf"\1_{number}"
        parameters += [_NAME.sub(renamed, name) for name in program.values]
        body += [_NAME.sub(renamed, line) for text in program.lines for line in text.split("\n")]
        results.append("[" + ", ".join(_NAME.sub(renamed, name) for name in program.results) + "]")
    lines = [f"def program({', '.join(parameters)}):", *(f"    {line}" for line in body)]
    return "\n".join(["import math, numpy as np", "", *lines, f"    return [{', '.join(results)}]", ""])


@dataclass
class Expected:
    """What NumPy does in one call, without noise and with it."""

    arguments: tuple[Any, ...]
    plain: Outcome
    noisy: list[Outcome]

    @property
    def is_sure(self) -> bool:
        """Whether rounding decides nothing about exceptions."""
        kinds = {(type(one.error), str(one.error)) for one in [self.plain, *self.noisy]}
        return len(kinds) == 1


def expectations(programs: Sequence[TableProgram]) -> list[Expected]:
    """What NumPy does in the first call and in the second one."""
    source = source_of(programs)
    plain = load(source)
    noises = [Noise(source, seed, flush=not seed).program for seed in range(_RUNS)]
    noises += [Noise(source, seed, still=True).program for seed in (0, 1)]
    found = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        for call in (0, 1):
            arguments = tuple(value for one in programs for value in one.calls[call].values())
            noisy = [outcome(noise, arguments, {}) for noise in noises]
            found.append(Expected(arguments, outcome(plain, arguments, {}), noisy))
    return found


def _together(parts: Sequence[Sequence[Expected]]) -> list[Expected]:
    """What NumPy does with several programs, from what it does with each."""
    found = []
    for ones in zip(*parts, strict=True):
        noisy = [_joined(outcomes) for outcomes in zip(*(one.noisy for one in ones), strict=True)]
        arguments = tuple(value for one in ones for value in one.arguments)
        found.append(Expected(arguments, _joined([one.plain for one in ones]), noisy))
    return found


def _joined(outcomes: Sequence[Outcome]) -> Outcome:
    error = next((one.error for one in outcomes if one.error is not None), None)
    result = None if error is not None else [value for one in outcomes for value in one.result]
    return Outcome(result, error, tuple(value for one in outcomes for value in one.arguments))


@dataclass
class Verdict:
    """What came out of one comparison.

    Attributes:
        text: What differs; "" when nothing.
        traps: Calls that autojit left to NumPy for their data.
        whole: Whether every call was answered by one plan.
        raises: Whether NumPy raises.
    """

    text: str = ""
    traps: int = 0
    whole: bool = False
    raises: bool = False


def judge(
    programs: Sequence[TableProgram],
    decorator: Callable[..., Any] | None = None,
    expected: Sequence[Expected] | None = None,
) -> Verdict:
    """Compare NumPy and autojit: cold, with other contents, and once more."""
    expected = expected or expectations(programs)
    fast = (decorator or aj.autocluster(policy="eager"))(load(source_of(programs)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        for turn, call in (("cold", 0), ("warm, other contents", 1), ("warm", 0)):
            if not expected[call].is_sure:
                continue
            try:
                same_outcome(outcome(fast, expected[call].arguments, {}), expected[call], len(programs))
            except aj.UncompilableError:
                raise
            except Exception as error:
                return Verdict(f"{turn}: {type(error).__name__}: {str(error)[:900]}")
    info = fast.cache_info()
    raises = any(one.plain.error is not None for one in expected)
    return Verdict("", info.traps, info.hits > 1 and not info.native + info.traps and info.plans == 1, raises)


def same_outcome(got: Outcome, expected: Expected, count: int = 1) -> None:
    """Compare in everything that a user can see.

    Raises:
        AssertionError: They differ.
    """
    plain, noisy = expected.plain, expected.noisy
    if got.error is not None and plain.error is None:
        raise AssertionError(f"raised {got.error!r}") from got.error
    assert type(got.error) is type(plain.error), f"{got.error!r} instead of {plain.error!r}"
    assert str(got.error) == str(plain.error), f"{got.error!r} instead of {plain.error!r}"
    same(got.result, plain.result, [one.result for one in noisy], "result")
    same(got.arguments, plain.arguments, [one.arguments for one in noisy], "argument")
    for number in range(count if plain.error is None else 0):
        _same_memory(got, plain, number)


def _same_memory(got: Outcome, expected: Outcome, number: int) -> None:
    """Results are the arrays, or views of the memory, that they are in NumPy."""
    mine, theirs = arrays_of(got.result[number]), arrays_of(expected.result[number])
    if len(mine) != len(theirs):
        return
    mine += arrays_of(got.arguments)
    theirs += arrays_of(expected.arguments)
    results = len(arrays_of(got.result[number]))
    for first in range(results):
        for second in range(first + 1, len(mine)):
            shares = _share(theirs[first], theirs[second])
            is_same = theirs[first] is theirs[second]
            where = f"result {number}: array {first} and {second} of {results}"
            assert _share(mine[first], mine[second]) == shares, f"{where} {'share no' if shares else 'share'} memory"
            assert (mine[first] is mine[second]) == is_same, f"{where} are {'not ' if is_same else ''}one object"


def _share(one: np.ndarray, other: np.ndarray) -> bool:
    return np.may_share_memory(one, other) and np.shares_memory(one, other)


def same(got: Any, expected: Any, noisy: Sequence[Any], where: str) -> None:
    """Compare two nested values; `noisy` are the same value with noise.

    Raises:
        AssertionError: They differ.
    """
    if any(_shape(one) != _shape(expected) for one in noisy):
        return
    assert type(got) is type(expected), f"{where}: {type(got)} instead of {type(expected)}: {got!r}, {expected!r}"
    if isinstance(expected, list | tuple):
        assert len(got) == len(expected), f"{where}: {len(got)} instead of {len(expected)}"
        for number, item in enumerate(expected):
            same(got[number], item, [one[number] for one in noisy], f"{where}[{number}]")
    elif isinstance(expected, np.ndarray | np.generic):
        assert got.dtype == expected.dtype, f"{where}: dtype {got.dtype} instead of {expected.dtype}"
        assert got.shape == expected.shape, f"{where}: shape {got.shape} instead of {expected.shape}"
        if isinstance(expected, np.ndarray):
            assert got.flags.writeable == expected.flags.writeable or not got.size, f"{where}: writeable"
            assert _order(got) == _order(expected), f"{where}: strides {got.strides} for {expected.strides}"
            if not _has_gaps(expected):
                assert _layout(got) == _layout(expected), f"{where}: strides {got.strides} for {expected.strides}"
        _same_numbers(got, expected, noisy, where)
    elif isinstance(expected, int | float | complex):
        _same_numbers(np.asarray(got), np.asarray(expected), [np.asarray(one) for one in noisy], where)
    else:
        assert got == expected or any(one != expected for one in noisy), f"{where}: {got!r} instead of {expected!r}"


def _order(array: np.ndarray) -> list[int]:
    """The axes by their steps in memory."""
    axes = [axis for axis in range(array.ndim) if array.shape[axis] > 1] if array.size else []
    return sorted(axes, key=lambda axis: -abs(array.strides[axis]))


def _has_gaps(array: np.ndarray) -> bool:
    """Whether there is other memory between the elements, such as that of a second result (`np.unravel_index`)."""
    reach = sum(abs(step) * (length - 1) for step, length in zip(array.strides, array.shape)) + array.itemsize
    return array.size > 0 and reach > array.nbytes


def _shape(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return type(value), value.shape, value.dtype
    return type(value), len(value) if isinstance(value, list | tuple) else 0


def _same_numbers(got: Any, expected: Any, noisy: Sequence[Any], where: str) -> None:
    mine, theirs = np.asarray(got), np.asarray(expected)
    with np.errstate(all="ignore"):
        wrong = wrong_numbers(mine, theirs, [np.asarray(one) for one in noisy])
    if np.any(wrong):
        at = tuple(map(int, np.argwhere(wrong)[0]))
        others = [np.asarray(one)[at] for one in noisy]
        raise AssertionError(
            f"{where}: {np.count_nonzero(wrong)} of {theirs.size} elements differ, at {at}: {mine[at]!r} instead of "
            f"{theirs[at]!r} (with noise {others})\ngot {got!r}\nexpected {expected!r}"
        )


def wrong_numbers(got: np.ndarray, expected: np.ndarray, noisy: list[np.ndarray]) -> np.ndarray:
    """Where the numbers differ by more than the noise explains."""
    if expected.dtype.kind == "c":
        parts = [(array.real, array.imag) for array in (got, expected, *noisy)]
        real, imag = ([part[n] for part in parts] for n in (0, 1))
        # The error of one part may be that of the other's size.
        whole = _spread(expected[...].view(), noisy)
        spreads = [np.maximum(whole, _spread(part[1], part[2:])) for part in (real, imag)]
        return _wrong(real[0], real[1], real[2:], spreads[0]) | _wrong(imag[0], imag[1], imag[2:], spreads[1])
    if expected.dtype.kind == "f":
        return _wrong(got, expected, noisy, _spread(expected, noisy))
    return np.asarray(got != expected) & np.all([one == expected for one in noisy], axis=0)


def _spread(expected: np.ndarray, noisy: list[np.ndarray]) -> np.ndarray:
    return np.max([np.where(np.isfinite(expected), np.abs(one - expected), 0) for one in noisy], axis=0)


def _wrong(got: np.ndarray, expected: np.ndarray, noisy: list[np.ndarray], spread: np.ndarray) -> np.ndarray:
    sure = np.all([np.isfinite(one) == np.isfinite(expected) for one in noisy], axis=0)
    sure &= np.all([np.isfinite(expected) | _equal(one, expected) for one in noisy], axis=0)
    signs = np.all([np.signbit(one) == np.signbit(expected) for one in noisy], axis=0)
    allowed = 8 * spread.astype(float)
    got, expected = _flushed(got), _flushed(expected)
    exact = _equal(got, expected) & (~signs | np.isnan(expected) | (np.signbit(got) == np.signbit(expected)))
    close = np.isfinite(got) & np.isfinite(expected) & (np.abs(got.astype(float) - expected.astype(float)) <= allowed)
    return sure & ~(exact | ((spread != 0) & close))


def _flushed(array: np.ndarray) -> np.ndarray:
    """The numbers with those that XLA flushes counted as zero, as the contract says: a minimum may be any of both."""
    return np.where(np.abs(array) < flushed_below(array.dtype), np.copysign(array * 0, array), array)


def _equal(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one == other) | (np.isnan(one) & np.isnan(other))


def guilty(programs: Sequence[TableProgram]) -> list[tuple[Sequence[TableProgram], str]]:
    """The programs that differ alone, or the smallest part that was found to differ."""
    alone = [([one], text) for one in programs if (text := judge([one]).text)]
    if alone:
        return alone
    found = list(programs)
    size = len(found) // 2
    while size:
        for start in range(0, len(found), size):
            rest = found[:start] + found[start + size :]
            if rest and judge(rest).text:
                found = rest
                break
        else:
            size //= 2
    return [(found, judge(found).text)]


def smaller(program: TableProgram) -> Iterator[TableProgram]:
    """The program without one of its statements, or with fewer results."""
    for number in reversed(range(len(program.lines))):
        lines = program.lines[:number] + program.lines[number + 1 :]
        text = "\n".join(lines)
        results = tuple(name for name in program.results if re.search(rf"\b{name}\b", text))
        yield program.with_lines(lines, results)
    if len(program.results) > 1:
        for number in range(len(program.results)):
            yield program.with_lines(program.lines, program.results[:number] + program.results[number + 1 :])


def minimise(program: TableProgram) -> tuple[TableProgram, str]:
    """Leave out statements while the program still differs in the same way."""
    text = judge([program]).text
    again = bool(text)
    while again:
        again = False
        for candidate in smaller(program):
            try:
                found = judge([candidate]).text
            except Exception:
                continue
            if kind(found) == kind(text):
                program, text, again = candidate, found, True
                break
    return program, text


def kind(text: str) -> str:
    """What two failures must share to be the same."""
    return re.sub(r"[\d(].*", "", text.split(": ", 1)[-1])[:40]


@dataclass
class Tally:
    """What became of programs.

    Attributes:
        done: Programs judged.
        captured: Those that were answered by plans, with no trap.
        raising: Those that raise in NumPy.
        failures: Programs that differ, with what differs.
    """

    done: int = 0
    captured: int = 0
    raising: int = 0
    failures: list[tuple[Sequence[TableProgram], str]] = field(default_factory=list)


def judge_evaluated(
    programs: Sequence[TableProgram], known: dict[int, list[Expected]] | None = None
) -> tuple[Tally, list[TableProgram]]:
    """Judge programs one by one, their clusters run by NumPy; those that are one plan without a trap, too.

    `known` takes what NumPy does with each, by the program's identity.
    """
    tally, good = Tally(), []
    with evaluated():
        for program in programs:
            expected = expectations([program])
            if known is not None:
                known[id(program)] = expected
            verdict = judge([program], expected=expected)
            tally.done += 1
            tally.raising += verdict.raises
            tally.captured += verdict.whole
            if verdict.text:
                tally.failures.append(([program], verdict.text))
            elif verdict.whole and not verdict.raises:  # what raises would end the others beside it
                good.append(program)
    return tally, good


def judge_compiled(programs: Sequence[TableProgram], size: int = PACK) -> Tally:
    """Judge programs run by NumPy, then compiled, `size` at once: those that do not keep the others from one plan."""
    known: dict[int, list[Expected]] = {}
    tally, good = judge_evaluated(programs, known)
    tally.captured = 0
    failed = {id(one) for found, _ in tally.failures for one in found}
    kept = {id(one) for one in good}
    rest = [one for one in programs if id(one) not in kept and id(one) not in failed]
    packs = [good[start : start + size] for start in range(0, len(good), size)]
    # Those that NumPy takes part in are compiled one by one: a few must do.
    packs += [[one] for one in rest[:: max(len(rest) // 4, 1)]]
    while packs:
        pack = packs.pop()
        verdict = judge(pack, expected=_together([known[id(one)] for one in pack]))
        if verdict.traps and len(pack) > 1 and not verdict.text:
            # NumPy has answered for all of them.
            packs += [pack[::2], pack[1::2]]
            continue
        tally.captured += len(pack) * (not verdict.text and not verdict.traps)
        if verdict.text:
            tally.failures += guilty(pack) if len(pack) > 1 else [(pack, verdict.text)]
    return tally


def shown(programs: Sequence[TableProgram]) -> str:
    """A program to try."""
    lines = [source_of(programs)]
    for number, one in enumerate(programs):
        for name, value in one.values.items():
            text = " ".join(repr(value).split())
            if isinstance(value, np.ndarray):
                text += f"  # {value.dtype} {value.shape} strides {value.strides}"
                text += "" if value.flags.writeable else ", read-only"
                text += "" if value.flags.aligned else ", not aligned"
            lines.append(f"{_NAME.sub(rf'{chr(92)}1_{number}', name)} = {text}")
    return "\n".join(lines)
