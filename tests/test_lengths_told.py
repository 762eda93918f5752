"""Lengths that Python is told, made of the number of rows or equal to it by chance, where plans take many numbers of rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autojit as aj
from autojit.ops.chapters import TABLE
from tests.helpers import assert_same, check_call
from tests.measuring import probe_of

LENGTHS = (40, 42, 44, 41, 47, 33, 50, 52, 54, 97, 101)


class Thing:
    """An object with attributes."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def branch(x, a, b):
    return x * a if len(x[1:]) > 45 else x * b


def pairs(x):
    return x * 2, len(x[1:]), x[::2].size, np.shape(x[:-1])[0]


def parity(x):
    return x * (len(x[1:]) % 2)


def emptiness(x):
    return x * 2, x[45:].size > 0


def total(x):
    return x * 2, sum(len(one) for one in (x[1:], x, x[3:]))


def halves(x):
    return np.array_split(x, 2), x.sum()


def head(x):
    return x[: len(x[1:])], x * 2


def quarters(x):
    y = x.reshape(-1, 4)
    return x * 2, y.shape[1]


def unread(x):
    first, second = np.split(x, 2)
    return x * 2


def flat_place(x):
    return np.stack([x, x - 1]).argmin(), np.stack([x, -x], axis=1).argmax()


def fixed(x):
    buffer = np.zeros(64)
    return x * 2, len(buffer), buffer.size - len(x)


@pytest.mark.parametrize(
    "function",
    [pairs, parity, emptiness, total, halves, head, quarters, unread, flat_place, fixed],
    ids=lambda f: f.__name__,
)
def test_lengths_of_views(function):
    fast = aj.autocluster(policy="eager", max_plans=64)(function)
    for rows in (*LENGTHS, *LENGTHS):
        check_call(fast, function, np.arange(rows) * 0.5)


def test_branches():
    fast = aj.autocluster(policy="eager", max_plans=64)(branch)
    for rows in (*LENGTHS, *LENGTHS):
        check_call(fast, branch, np.arange(rows) * 0.5, 2.0, 3.0)


@pytest.mark.parametrize("length", [48, 64, 33, 49])
def test_other_arrays_may_be_as_long_as_those_that_are_filled_up(length):
    def function(x, w, a, b):
        return x * (a if len(x) < len(w) else b), w.shape[0] - len(x)

    fast = aj.autocluster(policy="eager", max_plans=64)(function)
    for rows in (*LENGTHS, *LENGTHS):
        if rows != length:
            check_call(fast, function, np.arange(rows) * 0.5, np.ones(length), 2.0, 3.0)
    assert any(plan.capture.rows is not None for plan in probe_of(fast).plans)


def test_attributes_that_only_some_lengths_set():
    def function(thing, w):
        if len(thing.x) < len(w):
            thing.short = True
        thing.y = thing.x * 2

    fast = aj.autocluster(policy="eager", max_plans=64)(function)
    for rows in (*LENGTHS, *LENGTHS):
        seen = []
        for one in (function, fast):
            thing = Thing(x=np.ones(rows), y=None, short=False)
            one(thing, np.zeros(64))
            seen.append((thing.short, thing.y))
        assert_same(seen[1], seen[0], 0.0)


def test_small_results_own_their_memory():
    fast = aj.autocluster(policy="eager")(lambda x: x * 2)
    for rows in (6200, 6201, 6202, 6203):
        fast(np.ones(rows)).resize(10)


def test_a_check_finds_the_place():
    def function(x):
        y = x + 1
        return np.cosh(y) - 1

    fast = aj.autocluster(policy="eager", check=True)(function)
    for rows in (40, 42):
        check_call(fast, function, np.linspace(0, 1, rows))
    row = TABLE["np.cosh"]
    lower = row.lower
    object.__setattr__(row, "lower", lambda node, xs, trap: (xs[0] * 2,))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.filterwarnings("always", category=aj.AutojitWarning)
            assert fast(np.zeros(44)).tolist() == [1.0] * 44
    finally:
        object.__setattr__(row, "lower", lower)
        aj.clear_cache()
    (told,) = caught
    assert "`np.cosh` at " in str(told.message) and "return np.cosh(y) - 1" in str(told.message)
