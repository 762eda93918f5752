"""Values that are equal and not the same: the sign of zero, the kinds of numbers in slices, ranges, dicts and sets."""
# ruff: noqa: UP031 -- old formats are what is tested

from __future__ import annotations

import numpy as np
import pytest

from tests.attacks import sequence
from tests.helpers import check

X = np.arange(1.0, 4.0)

SLICES = [
    slice(0, 2.5), slice(0, 3, 1.5), slice(0.0, 2), slice(np.float64(1), None), slice("a", None), slice(0, 2),
    slice(True, 3), slice(np.int32(1), None), slice(None, None, -1), slice(np.True_, 2),
]  # fmt: skip


@pytest.mark.parametrize("key", SLICES, ids=repr)
def test_slices_with_parts_that_are_no_ints(key) -> None:
    def write(x, t):
        x[t] = 5
        return x

    def add(x, t):
        x[t] += 5
        return x

    def read(x, t):
        return x[t] * 2

    def flat(x, t):
        x.flat[t] = 5
        return x

    def in_a_tuple(x, t):
        x[t, None] = 5
        return x

    def chosen(x, t):
        y = x[x > 1]
        return y[t] * 2

    def in_a_loop(x, t):
        for n in range(200):
            x[t] = n
        return x

    def in_a_ragged_part(x, t):
        out = np.zeros(200)
        y = np.arange(200.0)
        for n in range(200):
            out[n] = np.sum(y[:n][t])
        return out

    for f in (write, add, read, flat, in_a_tuple, chosen, in_a_loop, in_a_ragged_part):
        check(f, X, key)


@pytest.mark.parametrize("bound", [0.0, 2.5, np.float64(1)])
def test_slices_made_in_the_region(bound) -> None:
    def f(x, t):
        x[slice(t, None)] = 5
        return x

    def g(x, t):
        x[t:] = 5
        return x

    check(f, X, bound)
    check(g, X, bound)


def test_ranges_and_slices_that_are_equal() -> None:
    def ends(x, r):
        return x * 2, r.start, r.stop, r.step, str(r)

    def write(x, t):
        x[t] = 5
        return x

    sequence(ends, (X, range(0, 4, 2)), (X, range(0, 3, 2)), (X, range(5, 5)), (X, range(0)), (X, range(True, 3)))
    sequence(ends, (X, slice(1, 2)), (X, slice(True, 2)), (X, slice(1.0, 2)), (X, slice(np.int64(1), 2)))
    sequence(write, (X, slice(0, 2)), (X, slice(0.0, 2)), (X, slice(-0.0, 2)), (X, slice(False, 2)))


NAN, INF = float("nan"), float("inf")
NUMBERS = [
    (0.0, -0.0, 0, False, 1.0),
    (-0.0, 0.0),
    (NAN, -NAN, 0.0, NAN),
    *([kind(0.0), kind(-0.0), kind(1), 0.0] for kind in (np.float16, np.float32, np.float64)),
    (complex(0.0, 1), complex(-0.0, 1), complex(NAN, 1), complex(NAN, 2), complex(1, 0.0), complex(1, -0.0)),
    (np.complex64(complex(0.0, -0.0)), np.complex64(complex(-0.0, 0.0)), np.complex64(0), np.complex64(0.1 + 0.2j)),
]


@pytest.mark.parametrize("values", NUMBERS, ids=repr)
def test_the_sign_of_zero(values) -> None:
    def text(x, t):
        return x * 2, f"{t}", str(t), repr(t), "%s" % (t,)

    def keys(x, t):
        return [(repr(key), item) for key, item in {t: x * 2}.items()]

    def sign(x, t):
        return np.copysign(x, t), f"{t}"

    calls = [(X, value) for value in values]
    sequence(text, *calls)
    sequence(text, *reversed(calls))
    sequence(keys, *calls)
    if not isinstance(values[0], complex | np.complexfloating):
        sequence(sign, *calls)


def test_the_sign_of_zero_in_ranges() -> None:
    def f(x, t):
        return x + np.arange(t, 3), np.signbit(np.arange(t, 3)), np.signbit(np.linspace(t, 1, 3)), np.full(2, t)

    def signs(x, t):
        return np.signbit(np.arange(t, 3) * x), np.signbit(np.full(2, t)), f"{t}"

    for g in (f, signs):
        sequence(g, (X, 0.0), (X, -0.0), (X, np.float64(0.0)), (X, np.float64(-0.0)), (X, 0))


def test_equal_items_of_other_types() -> None:
    def keys(x, d):
        return x * 2, [repr(key) for key in d]

    def items(x, s):
        return x * 2, str(sorted(s))

    def member(x, s):
        return x * 2, "".join(map(str, sorted(s)))

    one = np.ones(2)
    sequence(keys, (X, {1: one}), (X, {True: one}), (X, {1.0: one}), (X, {"a": one}), (X, {0.0: 1}), (X, {-0.0: 1}))
    for f in (items, member):
        sequence(f, (X, {1, 0.0}), (X, {True, -0.0}), (X, {1.0, False}), (X, frozenset([1, 0])))


def test_constants_that_begin_with_a_negative_zero() -> None:
    def f(x):
        grid = np.mgrid[-0.0:100.0]
        return np.arange(-0.0, 3), np.arange(-0.0, 3) * x, np.signbit(np.arange(-0.0, -3, -1)), grid, np.signbit(grid)

    def signs(x):
        return np.signbit(np.arange(-0.0, 1)), x * 2

    def grids(x):
        return np.mgrid[0:100] * 2, np.mgrid[0:100:2.0], np.mgrid[0:100, 0:2] * x[0], np.ogrid[0:100] * 2

    for g in (f, signs, grids):
        check(g, X)
