"""Whether autojit indexes as NumPy does: many expressions in one function, those that raise alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import autojit as aj
from tests.exact_judge import same_bits
from tests.helpers import Outcome, arrays_of, assert_same, outcome
from tests.index_expressions import Expression
from tests.programs_strategy import load

#: How many expressions make one function.
PACK = 40


def source_of(expressions: Sequence[Expression]) -> str:
    """A module with a function `program` of all arguments, which returns all results."""
    parameters = [f"{name}{number}" for number, one in enumerate(expressions) for name in one.values]
    body = [line for number, one in enumerate(expressions) for line in one.text(number)]
    results = ", ".join(f"r{number}" for number in range(len(expressions)))
    lines = [f"def program({', '.join(parameters)}):", *(f"    {line}" for line in body), f"    return [{results}]"]
    return "\n".join(["import numpy as np", "", *lines, ""])


def raises(expression: Expression) -> bool:
    """Whether NumPy raises."""
    return plain([expression]).error is not None


def _arguments(expressions: Sequence[Expression]) -> tuple[Any, ...]:
    return tuple(value for one in expressions for value in one.values.values())


def plain(expressions: Sequence[Expression]) -> Outcome:
    """What NumPy does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        return outcome(load(source_of(expressions)), _arguments(expressions), {})


def difference(expressions: Sequence[Expression]) -> str:
    """What autojit does differently, cold or warm; "" when nothing."""
    expected = plain(expressions)
    fast = aj.autocluster(policy="eager")(load(source_of(expressions)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        for turn in ("cold", "warm"):
            try:
                _compare(outcome(fast, _arguments(expressions), {}), expected)
            except Exception as error:
                return f"{turn}: {type(error).__name__}: {str(error)[:600]}"
    return ""


def _compare(got: Outcome, expected: Outcome) -> None:
    if got.error is not None and expected.error is None:
        raise got.error
    assert type(got.error) is type(expected.error), f"{got.error!r} instead of {expected.error!r}"
    assert str(got.error) == str(expected.error), f"{got.error!r} instead of {expected.error!r}"
    assert_same(got.result, expected.result, 0.0, "result")
    assert_same(got.arguments, expected.arguments, 0.0, "argument")
    same_bits(got.result, expected.result, "result")  # the signs of zeros, too
    same_bits(got.arguments, expected.arguments, "argument")
    mine, theirs = arrays_of(got.result), arrays_of(expected.result)
    given, wanted = arrays_of(got.arguments), arrays_of(expected.arguments)
    for number, (one, other) in enumerate(zip(mine, theirs, strict=True)):
        for argument, original in zip(given, wanted, strict=True):
            shares = np.may_share_memory(other, original) and np.shares_memory(other, original)
            assert (np.may_share_memory(one, argument) and np.shares_memory(one, argument)) == shares, (
                f"result {number} {'shares no' if shares else 'shares'} memory with an argument"
            )
            if shares:
                assert one.strides == other.strides or one.size < 2, f"result {number}: {one.strides}, {other.strides}"


def guilty(expressions: Sequence[Expression]) -> list[tuple[Sequence[Expression], str]]:
    """The expressions that differ alone, or the smallest part that was found to differ."""
    alone = [([one], text) for one in expressions if (text := difference([one]))]
    if alone:
        return alone
    found = list(expressions)
    size = len(found) // 2
    while size:
        for start in range(0, len(found), size):
            rest = found[:start] + found[start + size :]
            if rest and difference(rest):
                found = rest
                break
        else:
            size //= 2
    return [(found, difference(found))]


def judge_expressions(expressions: Sequence[Expression]) -> list[tuple[Sequence[Expression], str]]:
    """What differs, each with its text."""
    quiet = [one for one in expressions if not raises(one)]
    loud = [one for one in expressions if raises(one)]
    found: list[tuple[Sequence[Expression], str]] = [([one], text) for one in loud if (text := difference([one]))]
    for start in range(0, len(quiet), PACK):
        pack = quiet[start : start + PACK]
        if difference(pack):
            found += guilty(pack)
    return found


def shown(expressions: Sequence[Expression]) -> str:
    """A program to try."""
    lines = [source_of(expressions)]
    for number, one in enumerate(expressions):
        for name, value in one.values.items():
            text = " ".join(repr(value).split())
            if isinstance(value, np.ndarray):
                text += f"  # {value.dtype} {value.shape} strides {value.strides}, writeable {value.flags.writeable}"
            lines.append(f"{name}{number} = {text}")
    return "\n".join(lines)
