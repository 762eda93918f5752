"""Whether `exact=True` gives NumPy's results bit for bit: every number, every sign of a zero; a NaN is a NaN."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import autojit as aj
from tests.helpers import Outcome, _aliases, arrays_of, outcome
from tests.programs_strategy import Program, load

_ROUNDS = 3


def judge_bits(program: Program, decorator: Any = None) -> Any:
    """Compare NumPy and autojit on all calls of a program, cold and warm.

    Raises:
        AssertionError: They differ.
    """
    plain = load(program.source)
    decorated = (decorator or aj.autocluster(policy="eager", exact=True))(load(program.source))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        expected = [outcome(plain, call, {}) for call in program.calls]
        for turn in range(_ROUNDS):
            for number, call in enumerate(program.calls):
                same_outcome(outcome(decorated, call, {}), expected[number], f"call {number}, turn {turn}")
    return decorated


def same_outcome(got: Outcome, expected: Outcome, where: str = "call") -> None:
    """Compare two outcomes in everything that a user can see, without tolerance."""
    if expected.error is not None or got.error is not None:
        if expected.error is None:
            raise AssertionError(f"{where}: raised {got.error!r}") from got.error
        assert type(got.error) is type(expected.error), f"{where}: {got.error!r} instead of {expected.error!r}"
        assert str(got.error) == str(expected.error), f"{where}: {got.error!r} instead of {expected.error!r}"
    same_bits(got.result, expected.result, f"{where}, result")
    same_bits(got.arguments, expected.arguments, f"{where}, argument")
    assert _aliases(got) == _aliases(expected), f"{where}: results alias other arrays than in NumPy"
    for one, other in zip(arrays_of(got.result), arrays_of(expected.result), strict=True):
        assert one.flags.c_contiguous == other.flags.c_contiguous, f"{where}: the memory order differs"


def same_bits(got: Any, expected: Any, where: str = "value") -> None:
    """Compare two nested values: types, dtypes, shapes, flags, and the bits of numbers that are not NaN."""
    assert type(got) is type(expected), f"{where}: {type(got)} instead of {type(expected)}"
    if isinstance(expected, dict):
        assert list(got) == list(expected), where
        got, expected = list(got.values()), list(expected.values())
    if isinstance(expected, list | tuple):
        assert len(got) == len(expected), where
        for number, (one, other) in enumerate(zip(got, expected, strict=True)):
            same_bits(one, other, f"{where}[{number}]")
    elif isinstance(expected, np.ndarray | np.generic | int | float | complex):
        one, other = np.asarray(got), np.asarray(expected)
        assert (one.dtype, one.shape) == (other.dtype, other.shape), f"{where}: {one.dtype}{one.shape}"
        if isinstance(expected, np.ndarray):
            assert got.flags.writeable == expected.flags.writeable or not got.size, f"{where}: writeable"
        wrong = different(one, other)
        if wrong.any():
            at = tuple(map(int, np.argwhere(wrong)[0]))
            raise AssertionError(
                f"{where}: {int(wrong.sum())} of {one.size} elements differ, at {at}: {one[at]!r}, not {other[at]!r}"
            )
    else:
        assert got == expected, f"{where}: {got!r} instead of {expected!r}"


def different(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two arrays of one dtype differ in their bits, apart from those of NaN."""
    if one.dtype.kind == "c":
        return different(one.real, other.real) | different(one.imag, other.imag)
    if one.dtype.kind != "f":
        return np.asarray(one != other)
    wrong = (one != other) | (np.signbit(one) != np.signbit(other))
    return np.asarray(wrong & ~(np.isnan(one) & np.isnan(other)))
