"""Writes to a window of a caller's array: only the window is computed and copied."""

import functools

import numpy as np
import pytest
from scipy import linalg

import autojit as aj
from autojit.ir.verify import GraphError, verify
from tests.helpers import check, outcome


def narrowed(function, *args):
    """Whether a call's plan computes a window and no more, after a comparison with NumPy."""
    fast = check(function, *args)
    plans = [plan for probe in fast.__autojit_controller__.probes.values() for plan in probe.plans]
    writes = [write for plan in plans for write in plan.graph.writes]
    assert writes
    return all(write.index is not None for write in writes)


EAGER = functools.partial(aj.autocluster, policy="eager")
X, Y = np.linspace(-1, 1, 48).reshape(6, 8), np.linspace(2, 3, 48).reshape(6, 8)


def stencil(x, y):
    y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])


def row(x, y):
    y[2] = x[1] * 2


def number(x, y):
    y[2, 3] = x.sum() * 2


def negative(x, y):
    y[-1:0:-2, ::-3] = np.exp(x[:3, :3])


def axis(x, y):
    y[..., 1][None, 1:3] = x[:2, 0] + 1


def spread(x, y):
    y[:, 2:4] = np.tanh(x[:1, :1])


def returned(x, y):
    y[1:] = x[1:] * 3
    return y, y[2:4], y[0]


def before(x, y):
    old = y[1:3] * 1
    y[1:3] = np.cos(x[1:3])
    return old, y


def itself(x, y):
    y[1:] = y[:-1] + x[1:]


def in_place(x, y):
    y[1:4] += x[1:4]


def shifted(x, y):
    x[1:] = x[:-1] * 2
    y[:-1] = x[1:] + 1


def conditional(x, y):
    if x[0, 0] > 0:
        y[1:3] = x[1:3] * 2
    else:
        y[1:3] = x[1:3] * 3


@pytest.mark.parametrize("program", [stencil, row, number, negative, spread, returned, before, itself, in_place])
def test_a_window(program):
    assert narrowed(program, X, Y)
    for make in (np.asfortranarray, lambda a: np.repeat(a, 2, axis=1)[:, ::2], lambda a: a[::-1]):
        check(program, X, make(Y))
        check(program, make(X), Y)
    check(program, X, Y.astype("f4"))


@pytest.mark.parametrize("program", [axis, shifted, conditional])
def test_other_ways(program):
    check(program, X, Y)
    check(program, -X, Y)


def test_leading_axes_of_one_element_are_left_out():
    def into_a_number(x, y):
        y[...] = np.reshape(x * 2, (1, 1))

    def into_a_row(x, y):
        y[2] = np.reshape(x[0] * 2, (1, 1, 8))

    def into_an_element(x, y):
        y[2, 3] = x[:1, :1] * 2

    def into_a_window(x, y):
        y[1:3, 2:4] = x[None, None, :2, :2] + 1

    assert not narrowed(into_a_number, np.array(3.0), np.array(4.0))
    assert not narrowed(into_a_row, X, Y)
    assert not narrowed(into_a_window, X, Y)
    check(into_an_element, X, Y)


def test_what_is_read_again_is_made_whole():
    def again(x, y):
        y[1:3] = x[1:3] * 2
        return y.sum()

    def twice(x, y):
        y[1:3] = x[1:3] * 2
        y[2:5] = x[2:5] * 3

    assert not narrowed(again, X, Y) and not narrowed(twice, X, Y)


def test_arguments_that_overlap():
    for one, other in ((slice(0, 4), slice(2, 6)), (slice(None), slice(None))):
        base, mine = Y.copy(), Y.copy()
        fast = aj.autocluster(row, policy="eager")
        for _ in range(2):
            row(base[one], base[other])
            fast(mine[one], mine[other])
            np.testing.assert_array_equal(mine, base)


def test_read_only_arrays_and_errors():
    frozen = Y.copy()
    frozen.flags.writeable = False
    fast = aj.autocluster(stencil, policy="eager")
    for _ in range(2):
        one, other = outcome(fast, (X, frozen), {}), outcome(stencil, (X, frozen), {})
        assert str(one.error) == str(other.error) and type(one.error) is type(other.error)


def test_a_window_that_does_not_fit_is_no_graph():
    from autojit.ir.graph import Graph, Value, Write
    from autojit.ir.index import Index, Place, Slice
    from autojit.ir.spec import spec_of

    x, y = Value("x", spec_of(X)), Value("y", spec_of(Y[:2]))
    verify(Graph("g", (x, y), (), (), (Write(x, y, Index((Slice(1, 3, None),))),)))
    for index in (Index((Slice(1, 4, None),)), Index((Place(0),)), Index((0,))):
        with pytest.raises(GraphError):
            verify(Graph("g", (x, y), (), (), (Write(x, y, index),)))


@pytest.mark.parametrize("flags", [{}, {"ops_to_cluster": "np.multiply"}, {"cluster_exclude_ops": "getitem,np.reshape"}])
def test_parts_that_change_places(flags):
    def swap(x, y):
        x[1:3], y[1:3] = y[1:3].copy(), x[1:3].copy()

    def turn(x, y):
        y[1:7] = x.reshape(8, 6)[:6, :1] * 1
        x[1:3], y[1:3] = y[2:4].reshape(2, 8), x[:2] * 3

    decorator = EAGER(**flags)
    check(swap, X, Y, decorator=decorator)
    check(turn, X, np.repeat(Y, 2, axis=0)[:8], decorator=decorator)


def test_a_host_function_that_returns_its_argument():
    def write(x, y):
        y[1:3] = linalg.hessenberg(x)  # of 2 x 2: the argument itself
        x[:1] = x[:1] * 100 + 1

    def keep(x, y):
        h = linalg.hessenberg(x)
        x[0] = 7.0
        y[1:3] = h
        return h

    @aj.host_op
    def tail(a):
        return a[::-1]

    def turned(x, y):
        t = tail(x)
        x[0] = x[1] * 2
        y[:2] = t
        return t

    for program in (write, keep, turned):
        mine, theirs = (np.eye(2), np.zeros((4, 2))), (np.eye(2), np.zeros((4, 2)))
        fast = EAGER()(program)
        for _ in range(2):
            np.testing.assert_array_equal(fast(*mine), program(*theirs))
            for one, other in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(one, other)
