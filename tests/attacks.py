"""`sequence`: one decorated function, called with one set of arguments after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autojit as aj
from tests.helpers import _compare_outcomes, outcome


def sequence(function: Callable[..., Any], *calls: tuple[Any, ...], rounds: int = 2, rtol: float | None = None) -> Any:
    """Compare the decorated function with the original in every call of a sequence; what a call learns may mislead the next."""
    decorated = aj.autocluster(policy="eager", max_plans=64)(function)
    for _ in range(rounds):
        for number, args in enumerate(calls):
            expected = outcome(function, args, {})
            got = outcome(decorated, args, {})
            try:
                _compare_outcomes(got, expected, rtol)
            except AssertionError as error:
                raise AssertionError(f"call {number}: {error}") from got.error
    return decorated


def rand(*shape: int) -> np.ndarray:
    """Normal numbers, the same at every call."""
    return np.random.default_rng(5).standard_normal(shape)


# The test files' own `assert` statements are rewritten, and so have no source.


def asserted(a, n):
    """An assertion about a shape."""
    a += 1
    assert a.shape[0] == n, f"{n} rows"
    return a


def asserted_data(a):
    """An assertion about the elements."""
    a += 1
    assert a.sum() > 1e9, "too small"
    return a
