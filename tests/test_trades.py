"""Loops whose names trade the caller's arrays after one of them was written: `v[1:] = ...`, then `u, v = v, u`."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check

TRIPS = (0, 1, 2, 3, 8, 41)


def arrays(count: int = 2, size: int = 9) -> list[np.ndarray]:
    return [np.sin(np.arange(float(size)) + number) for number in range(count)]


def two(u, v, n):
    for i in range(n):
        v[1:-1] = (u[:-2] + u[2:]) * 0.5
        v[0] = i % 7
        u, v = v, u
    return u


def three(u, v, w, n):
    for i in range(n):
        w[1:] = u[:-1] - v[1:] + i
        u, v, w = w, u, v
    return v, w


def both_written(u, v, n):
    for _ in range(n):
        u[0] += 1
        v[1:] = u[:-1]
        u, v = v, u
        v[-1] = u[0]
    return v, u


def one_is_new(u, n):
    v = u.copy()
    for _ in range(n):
        v[1:] = u[:-1] * 2
        u, v = v, u
    return u, v


def in_loops(u, v, n):
    for k in range(n):
        for i in range(k):
            v[1:] = u[:-1] + i
            u, v = v, u
        u[0] = k
    return v


def backwards(u, v, n):
    for i in range(n, -n, -3):
        v[:] = u + i
        u, v = v, u
    return u


def then_written(u, v, n):
    for i in range(n):
        v[1:] = u[:-1] + i
        u, v = v, u
    u[2] = 5.0
    v += 1


@pytest.mark.parametrize("n", TRIPS)
def test_each_object_has_what_numpy_gives_it(n):
    check(three, *arrays(3), n)
    check(one_is_new, *arrays(1), n)
    for function in (two, both_written, in_loops, backwards, then_written):
        check(function, *arrays(), n)


def test_they_are_one_program():
    check(two, *arrays(), 41, whole=True)
    check(one_is_new, *arrays(1), 41, whole=True)
    check(three, *arrays(3), 41, whole=True)


def test_the_same_plan_serves_other_numbers_of_iterations():
    fast = aj.autocluster(policy="eager")(two)
    for n in (40, 41, 60, 61, 1000, 1001):
        (u, v), (a, b) = arrays(), arrays()
        got, expected = fast(u, v, n), two(a, b, n)
        assert (got is u) == (expected is a)
        np.testing.assert_allclose(u, a, rtol=1e-12)
        np.testing.assert_allclose(v, b, rtol=1e-12)
    assert fast.cache_info().compiles <= 2


def test_another_name_sees_it():
    def view(u, v, n):
        w = v[2:4]
        for _ in range(n):
            v[1:] = u[:-1] * 0.5
            u, v = v, u
        return w, w.sum()

    def read_meanwhile(u, v, n):
        w, total = v[2:4], 0.0
        for _ in range(n):
            v[1:] = u[:-1] * 0.5
            total += w.sum()
            u, v = v, u
        return total

    def written_meanwhile(u, v, n):
        w = v
        for _ in range(n):
            v[1:] = u[:-1] * 0.5
            w[3] += 1
            u, v = v, u
        return w

    def default(u, v, n):
        g = lambda w=v: w.sum()  # noqa: E731 -- it is about lambdas
        for _ in range(n):
            v[1:] = u[:-1] * 0.5
            u, v = v, u
        return g()

    def default_meanwhile(u, v, n):
        g, total = v.sum, 0.0
        for _ in range(n):
            v[1:] = u[:-1] * 0.5
            total += g()
            u, v = v, u
        return total

    def closure(u, v, n):
        g, total = lambda: v.sum(), 0.0
        for _ in range(n):
            v[1:] = u[:-1] * 0.5
            total += g()
            u, v = v, u
        return total, g()

    def listed(u, v, n):
        pair = [u, v]
        for _ in range(n):
            v[1:] = u[:-1] * 0.5
            u, v = v, u
        return pair[0].sum(), pair[1]

    def gone_over(u, v, n):
        total = 0.0
        for x in v:
            v[1:] = u[:-1] * 0.5
            total += x
            u, v = v, u
        return total

    names = (view, read_meanwhile, written_meanwhile, default, default_meanwhile, closure, listed, gone_over)
    for function in names:
        for n in (0, 1, 2, 7, 40):
            check(function, *arrays(), n)


def test_ways_out():
    def breaks(u, v, n):
        for _ in range(n):
            v[1:] = u[:-1] + 0.25
            if v[3] > 1:
                break
            u, v = v, u
        return u

    def continues(u, v, n):
        for i in range(n):
            v[1:] = u[:-1] + 0.25
            if i % 3:
                continue
            u, v = v, u
        return u

    def sometimes(u, v, n):
        for _ in range(n):
            v[1:] = u[:-1] + 0.25
            if v[3] > 0:
                u, v = v, u
        return u

    def while_(u, v, n):
        k = 0
        while k < n:
            v[1:] = u[:-1] + 0.25
            u, v = v, u
            k += 1
        return u

    def raises(u, v, n):
        for i in range(n):
            v[1:] = u[:-1] + 0.25
            v[i] = 1.0
            u, v = v, u
        return u

    def returns(u, v, n):
        for _ in range(n):
            v[1:] = u[:-1] + 0.25
            u, v = v, u
            if u[2] > 1:
                return v
        return u

    for function in (breaks, continues, sometimes, while_, raises, returns):
        for n in TRIPS:
            check(function, *arrays(), n)


def test_arrays_that_share_memory_or_differ():
    x = np.sin(np.arange(12.0))
    readonly = np.arange(9.0)
    readonly.flags.writeable = False
    pairs = [
        (x, x), (x[:9], x[3:]), (x[::-1], x), (x[:9].astype("f4"), x[:9].copy()), (np.arange(9), np.ones(9)),
        (readonly, np.ones(9)), (np.ones(9), readonly), (x[::2].copy(), x[1::2]), (x.reshape(3, 4).T, np.ones((4, 3))),
        (np.ones((4, 3)), x.reshape(4, 3)), (x.reshape(4, 3, order="F"), np.ones((4, 3), order="F")),
        (np.ones(1), np.zeros(1)), (np.ones(0), np.zeros(0)), (x[:5].copy(), x[5:]),
    ]  # fmt: skip

    def f(u, v, n):
        for _ in range(n):
            v[1:] = u[:-1] * 0.5
            u, v = v, u
        return u

    for u, v in pairs:
        for n in (0, 1, 2, 41):
            check(f, u, v, n)


def test_attributes_trade():
    def f(box, n):
        for _ in range(n):
            box.v[1:] = box.u[:-1] * 0.5
            box.u, box.v = box.v, box.u
        return box.u

    for n in TRIPS:
        u, v = arrays()
        check(f, SimpleNamespace(u=u, v=v), n)


def _disjoint(x):
    return x[:3], x[3:6]


def _halves_of_rows(x):
    rows = x.reshape(7, 1)
    return rows[:3], rows[4:]


@pytest.mark.parametrize(
    ("halves", "apart"),
    [
        (lambda x: (x[:4], x[2:6]), False),
        (lambda x: (x[:4], x[:4]), False),
        (lambda x: (x, x[::-1]), False),
        (lambda x: (x[:-1], x[1:]), False),
        (_disjoint, True),
        (_halves_of_rows, True),
        (lambda x: (x[:3], x[3:6].copy()), True),
    ],
)
def test_views_of_one_array(halves, apart):
    def f(x, n):
        a, b = halves(x)
        for i in range(n):
            a[0] = i
            a[1:] = b[:-1] * 0.5 + i
            a, b = b, a
        return x

    for n in TRIPS:
        check(f, np.arange(7.0), n)
    loops = aj.autocluster(policy="eager")(f).explain(np.arange(7.0), 41).loops
    assert [loop.rung for loop in loops] == ["rolled" if apart else "python"]


def test_views_of_an_array_that_is_made_here():
    def f(x, n):
        x = x * 2
        a, b = x[:4], x[2:6]
        for i in range(n):
            a[0] = i
            a, b = b, a
        return x

    for n in TRIPS:
        check(f, np.arange(7.0), n)
