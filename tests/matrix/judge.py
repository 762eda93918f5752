"""Whether autojit does what NumPy does with combinations: many in one function, those that raise alone."""

from __future__ import annotations

import linecache
import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

import autojit as aj
from autojit.capture import source as sources
from autojit.errors import UncompilableError
from tests.helpers import arrays_of, clone
from tests.matrix.combinations import Combination
from tests.ops.tolerances import check_close
from tests.programs_strategy import load

#: How many combinations make one function. Larger ones take no less time, and more of it where one of them is trapped.
PACK = 8
#: How many with edge values.
SPECIAL_PACK = 3


@dataclass(slots=True)
class Verdict:
    """What became of one combination.

    Attributes:
        combination: It.
        status: "compiled"; "host", with an operation that runs in NumPy; "trapped", the data was left to NumPy;
            "native", not captured; "raises", as NumPy does.
        problem: What differs from NumPy; "" when nothing.
    """

    combination: Combination
    status: str
    problem: str = ""


@dataclass(slots=True)
class Done:
    """What one call of a combination did: its result or exception, and its arguments afterwards."""

    result: Any
    error: BaseException | None
    arguments: dict[str, Any]


def source_of(pack: Sequence[Combination]) -> str:
    """A module with a function `program` of all arguments, which returns all results."""
    parameters = [f"{name}{number}" for number, one in enumerate(pack) for name in one.values]
    lines = [line for number, one in enumerate(pack) for line in one.text(number)]
    results = ", ".join(f"r{number}" for number in range(len(pack)))
    body = [f"    {line}" for text in lines for line in text.split("\n")]
    return "\n".join(
        ["import math, numpy as np", "", f"def program({', '.join(parameters)}):", *body, f"    return [{results}]", ""]
    )


def run(function: Any, pack: Sequence[Combination]) -> list[Done]:
    """Call a packed function on copies of its arguments.

    Raises:
        Exception: What the function raises, when it has more than one combination.
    """
    given = [clone(one.values) for one in pack]
    try:
        results = function(*(value for values in given for value in values.values()))
    except Exception as error:
        if len(pack) > 1:
            raise
        return [Done(None, error, given[0])]
    return [Done(result, None, values) for result, values in zip(results, given, strict=True)]


_codes: dict[str, Any] = {}


def plain(one: Combination) -> Done:
    """What NumPy does with one combination."""
    text = "\n".join(one.form.lines).replace("{", "").replace("}", "")
    code = _codes.get(text)
    if code is None:
        code = _codes[text] = compile(text, "<combination>", "exec")
    values = clone(one.values)
    names = {"np": np, "math": math, **values}
    try:
        exec(code, names)
    except Exception as error:
        return Done(None, error, values)
    return Done(names["r"], None, values)


def judge(combinations: Iterable[Combination], strict: bool = True) -> list[Verdict]:
    """Judge combinations: what raises in NumPy alone, the others beside those of their layout.

    Packs of most layouts have the same compiled program, and edge values, of which many are trapped, keep none of the
    others from being judged.
    """
    found: list[Verdict] = []
    packs: dict[str, list[tuple[Combination, Done]]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        for one in combinations:
            wanted = plain(one)
            if wanted.error is not None:
                found += _judge_pack([(one, wanted)], strict)
                continue
            pack = packs.setdefault(one.layout, [])
            pack.append((one, wanted))
            if len(pack) == (SPECIAL_PACK if one.layout == "special" else PACK):
                found += _judge_pack(pack, strict)
                pack.clear()
        for pack in filter(None, packs.values()):
            found += _judge_pack(pack, strict)
    return found


def forget() -> None:
    """Give back the memory of the functions that were made."""
    aj.clear_cache()
    sources._syntaxes.clear()
    sources._modules.clear()
    linecache.clearcache()


def _judge_pack(pack: list[tuple[Combination, Done]], strict: bool) -> list[Verdict]:
    """Run a pack cold and warm; what raises or is trapped is looked for by halves."""
    ones = [one for one, _ in pack]
    source = source_of(ones)
    fast = aj.autocluster(policy="eager")(load(source))
    try:
        cold = run(fast, ones)
        warm = run(fast, ones)
    except Exception as error:
        return (
            [Verdict(ones[0], "raised", f"{type(error).__name__}: {error}")]
            if len(pack) == 1
            else _halves(pack, strict)
        )
    info = fast.cache_info()
    if info.traps and len(pack) > 1:
        return _halves(pack, strict)
    states = ["trapped"] if info.traps else _states(fast, ones)
    verdicts = []
    for (one, wanted), state, *turns in zip(pack, states, cold, warm, strict=True):
        problems = [difference(one, got, wanted) for got in turns]
        problem = next((f"{turn}: {text}" for turn, text in zip(("cold", "warm"), problems, strict=True) if text), "")
        verdicts.append(Verdict(one, "raises" if wanted.error is not None and state == "native" else state, problem))
    if any(wanted.error is not None for _, wanted in pack):
        return verdicts  # what raises may be refused
    whole = info.plans == 1 and not info.native and all(state == "compiled" for state in states)
    if strict and whole and not any(one.problem for one in verdicts):
        _judge_strict(pack, verdicts, source)
    return verdicts


def _judge_strict(pack: list[tuple[Combination, Done]], verdicts: list[Verdict], source: str) -> None:
    """The same through `jit_compile`, which may refuse nothing that was compiled whole."""
    ones = [one for one, _ in pack]
    try:
        done = run(aj.jit_compile(load(source)), ones)
    except UncompilableError as error:
        if len(pack) == 1:
            verdicts[0].problem = f"jit_compile: {error}"
            return
        half = len(pack) // 2
        for part in (slice(None, half), slice(half, None)):
            _judge_strict(pack[part], verdicts[part], source_of([one for one, _ in pack[part]]))
        return
    for verdict, got, (one, wanted) in zip(verdicts, done, pack, strict=True):
        if isinstance(got.error, UncompilableError):
            verdict.problem = f"jit_compile: {got.error}"
        elif text := difference(one, got, wanted):
            verdict.problem = f"jit_compile: {text}"


def _halves(pack: list[tuple[Combination, Done]], strict: bool) -> list[Verdict]:
    middle = len(pack) // 2
    return _judge_pack(pack[:middle], strict) + _judge_pack(pack[middle:], strict)


def _states(fast: Any, pack: Sequence[Combination]) -> list[str]:
    """By combination: whether plans took its lines."""
    lines: dict[int, str] = {}
    controller = fast.__autojit_controller__
    for probe in controller.probes.values():
        for plan in probe.plans:
            if plan.graph is None:
                continue
            first, last = probe.region.lines
            lines.update(dict.fromkeys(range(first, last + 1), "compiled"))
            for node in plan.graph.nodes:
                if node.cluster is None and node.source is not None:
                    lines[node.source.line] = "host"
    states, number = [], 4
    for one in pack:
        count = sum(text.count("\n") + 1 for text in one.text(0))
        states.append(_worst([lines.get(n, "native") for n in range(number, number + count)]))
        number += count
    return states


def _worst(states: list[str]) -> str:
    return next(state for state in ("native", "host", "compiled") if state in states)


# ---- comparing


def difference(one: Combination, got: Done, wanted: Done) -> str:
    """What differs from NumPy in anything that a program can see; "" when nothing."""
    if got.error is not None or wanted.error is not None:
        if type(got.error) is not type(wanted.error) or str(got.error) != str(wanted.error):
            return f"raises {got.error!r}, NumPy {wanted.error!r}"
    node = SimpleNamespace(op=one.row)
    args = tuple(value for value in one.values.values() if isinstance(value, np.ndarray | np.generic))
    return (
        _differs(node, args, got.result, wanted.result, "result")
        or _differs(node, args, list(got.arguments.values()), list(wanted.arguments.values()), "argument")
        or _memory(got, wanted)
    )


def _differs(node: Any, args: tuple[Any, ...], got: Any, wanted: Any, where: str) -> str:
    if type(got) is not type(wanted):
        return f"{where}: {type(got).__name__} instead of {type(wanted).__name__}"
    if isinstance(wanted, list | tuple):
        if len(got) != len(wanted):
            return f"{where}: {len(got)} parts instead of {len(wanted)}"
        parts = (_differs(node, args, *pair, f"{where}[{n}]") for n, pair in enumerate(zip(got, wanted, strict=True)))
        return next((text for text in parts if text), "")
    if isinstance(wanted, np.ndarray | np.generic | int | float | complex):
        mine, theirs = np.asarray(got), np.asarray(wanted)
        if (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
            return f"{where}: {mine.dtype}{mine.shape} instead of {theirs.dtype}{theirs.shape}"
        if isinstance(wanted, np.ndarray):
            if got.flags.writeable != wanted.flags.writeable:
                return f"{where}: writeable {got.flags.writeable}"
            if _steps(got) != _steps(wanted):
                return f"{where}: strides {got.strides} instead of {wanted.strides}, shape {got.shape}"
        if theirs.dtype == object:
            return "" if got == wanted else f"{where}: {got!r} instead of {wanted!r}"
        text = check_close(node, args, theirs, mine)
        if text and theirs.dtype.kind == "c":  # real results may be stored as complex numbers
            text = next(filter(None, (check_close(node, args, f(theirs), f(mine)) for f in (np.real, np.imag))), None)
        return f"{where}: {text}" if text else ""
    return "" if callable(wanted) or got == wanted else f"{where}: {got!r} instead of {wanted!r}"


def _steps(array: np.ndarray) -> list[int]:
    """The strides that a program can see: those of axes with more than one element."""
    return [step for step, length in zip(array.strides, array.shape, strict=True) if length > 1] if array.size else []


def _memory(got: Done, wanted: Done) -> str:
    pairs = zip(_sharing(got), _sharing(wanted), strict=True)
    for mine, theirs in pairs:
        if mine != theirs:
            return f"memory: result and others are (shared, the same) {mine} instead of {theirs}"
    return ""


def _sharing(done: Done) -> list[tuple[bool, bool]]:
    results = arrays_of(done.result)
    if len(results) > 8:
        results = results[:8]
    others = [*results, *arrays_of(list(done.arguments.values()))]
    return [(np.may_share_memory(a, b) and np.shares_memory(a, b), a is b) for a in results for b in others]
