"""Ints from outside that change from call to call."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check_call

X = np.arange(60.0).reshape(6, 10) / 7


def calls_of(function, *calls):
    """Compare a function with NumPy on calls; what its cache says."""
    fast = aj.autocluster(policy="eager")(function)
    for args in calls:
        check_call(fast, function, *args)
    return fast.cache_info()


def _place(x, i, j):
    y = x * 2
    y[i, j] += x[i, j] * 3
    return y


def test_one_plan_takes_any_place():
    info = calls_of(_place, *[(X, i, j) for i in range(5) for j in (0, 3, 9, -1)])
    assert info.plans <= 3


def test_places_that_are_found_in_objects():
    def function(state, at):
        u = state.field * 1.5
        u[at[0], at[1]] -= state.k
        return u[state.k] + 1

    info = calls_of(function, *[(SimpleNamespace(field=X, k=k), (k, k + 1)) for k in range(5)])
    assert info.plans <= 2


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.intp])
def test_numpys_integers(kind):
    info = calls_of(_place, *[(X, kind(i), kind(i + 1)) for i in range(5)])
    assert info.plans <= 2


def test_types_are_told_apart():
    calls_of(_place, (X, 1, 2), (X, 2, 2), (X, np.int64(3), 2), (X, True, 2), (X, 4, np.uint8(2)), (X, False, 1))


def test_windows():
    def function(x, i):
        return x[:, i : i + 3] * 2 + i

    info = calls_of(function, *[(X, i) for i in range(6)])
    assert info.plans <= 2


def test_what_raises():
    info = calls_of(_place, (X, 1, 1), (X, 2, 2), (X, 6, 0), (X, 0, -11), (X, 5, 9), (X, -6, 0), (X, 2**70, 0))
    assert info.plans <= 3


def _length(x, n):
    return x[:n] * 2


def _axis(x, n):
    return np.sum(x, axis=n % 2)


def _power(x, n):
    return x**n


def _new(x, n):
    return np.zeros(n) + x[0, 0]


def _branch(x, n):
    return x * 2 if n > 2 else x * 3


@pytest.mark.parametrize("function", [_length, _axis, _power, _new, _branch])
def test_ints_that_make_more_than_a_place(function):
    calls_of(function, *[(X, n) for n in (1, 2, 3, 4, 2, 1)])


def test_a_branch_has_two_plans():
    assert calls_of(_branch, *[(X, n) for n in range(6)]).plans == 2


def test_powers_stay_products():
    assert calls_of(_power, (X, 2), (X, 3), (X, 2), (X, 3)).plans == 2


def test_some_ints_are_places_and_others_are_not():
    def function(x, i, n):
        return x[i] * np.ones(n)[0]

    info = calls_of(function, *[(X, i, 3) for i in range(5)], *[(X, i, n) for n in (4, 5) for i in range(5)])
    assert info.plans <= 8


def test_loops_bring_their_own():
    def function(x, n, k):
        s = x[0] * 0
        for i in range(n):
            s = s + x[i] * x[k]
        return s

    calls_of(function, *[(X, n, k) for n in (2, 3, 6) for k in (0, 2, 5)])
