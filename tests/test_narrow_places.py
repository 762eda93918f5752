"""Writes to a place that the call names: `history[k] = x` computes and copies that row, not the whole array."""

import numpy as np
import pytest

import autojit as aj
from autojit.ir.graph import Graph, Value, Write
from autojit.ir.index import Index, Place, Slice, Window
from autojit.ir.spec import Spec, spec_of
from autojit.ir.verify import GraphError, verify
from tests.helpers import check_call

X, Y = np.linspace(-1, 1, 48).reshape(6, 8), np.linspace(2, 3, 48).reshape(6, 8)


def writes_of(function):
    plans = [plan for probe in function.__autojit_controller__.probes.values() for plan in probe.plans]
    return [write for plan in plans for write in plan.graph.writes]


def row(x, y, k):
    y[k] = x[1] * 2


def column(x, y, k):
    y[:, k] = x[:, 0] + 1


def element(x, y, k):
    y[k, -1] = np.abs(x).sum()


def twice_the_same(x, y, k):
    y[k, k] = x[0, 0] * 2


def with_new_axes(x, y, k):
    y[None, ..., k] = x[:, 0] * 2


def beside_a_slice(x, y, k):
    y[1:-1:2, k] = np.exp(x[:2, 0])


def from_the_row_before(x, y, k):
    y[k] = y[k - 1] + x[0]


def returned(x, y, k):
    y[k] = x[0] * 3
    return y, y.shape, np.abs(x).sum()


def and_another(x, y, k):
    x[k] = y[0] * 2
    y[k] = x[1] + 1


def of_another_dtype(x, y, k):
    y[k] = x[0] > 0


PROGRAMS = (
    row, column, element, twice_the_same, with_new_axes, beside_a_slice, from_the_row_before, returned, and_another,
    of_another_dtype,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_places_that_change(program):
    fast = aj.autocluster(program, policy="eager", max_plans=64)
    for k in (0, 1, 2, 3, 5, -1):
        check_call(fast, program, X, Y, k)
    if program in (row, column, element, twice_the_same, with_new_axes, beside_a_slice):
        assert any(write.operands for write in writes_of(fast))
    for k in (0, 1, 2, 3, -1, np.int64(2), 4, np.uint8(3), -6, 5, True):
        for make in (np.array, np.asfortranarray, lambda a: np.repeat(a, 2, axis=1)[:, ::2]):
            check_call(fast, program, X, make(Y), k)
    check_call(fast, program, X, Y.astype("f4"), 1)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("k", [8, -9, 2**40, 2**70, 1.0, None, np.array(1)])
def test_places_that_do_not_exist(program, k):
    fast = aj.autocluster(program, policy="eager", max_plans=64)
    for known in (0, 1, 2, 3):
        fast(X.copy(), Y.copy(), known)
    for _ in range(2):
        check_call(fast, program, X, Y, k)


def test_a_history():
    def simulate(x, n):
        history = np.zeros((n, *x.shape))
        seen = []
        for k in range(n):
            x = 0.5 * (x + np.roll(x, 1)) + 0.01 * np.sin(x)
            history[k] = x
            seen.append(float(x[0]))
            print("", end="")
        return history, seen

    fast = aj.autocluster(simulate, policy="eager")
    check_call(fast, simulate, X[0], 30)


def test_what_a_write_shows():
    k = Value("k", Spec((), np.dtype(np.int64), "python"))
    x, y = Value("x", spec_of(X)), Value("y", spec_of(Y[0]))
    verify(Graph("g", (x, y, k), (), (), (Write(x, y, Index((Place(0),)), operands=(k,)),)))
    three = Value("y", spec_of(Y[:3]))
    for step in (1, -1, 2, -2):
        write = Write(x, three, Index((Window(0, 3, step),)), operands=(k,))
        assert write.shape == (3, 8)
        verify(Graph("g", (x, three, k), (), (), (write,)))
    for operands, index in (((), Index((Place(0),))), ((k,), Index((Place(1),))), ((x,), Index((Place(0),)))):
        with pytest.raises(GraphError):
            verify(Graph("g", (x, y, k), (), (), (Write(x, y, index, operands=operands),)))


@pytest.mark.parametrize(
    ("entries", "limits"),
    [
        ((Place(0),), [(0, -6, 5)]),
        ((Slice(1, 3, None), Place(1)), [(1, -8, 7)]),
        ((None, Ellipsis, Place(0)), [(0, -8, 7)]),
        ((Window(0, 3),), [(0, 0, 3)]),
        ((Window(0, 3, -2), Place(1)), [(0, 4, 5), (1, -8, 7)]),
        ((Window(0, 0),), []),
        ((2, Ellipsis, None), []),
    ],
)
def test_limits(entries, limits):
    assert Index(entries).limits((6, 8)) == limits
    for number, least, greatest in limits:
        for place, is_inside in ((least, True), (greatest, True), (least - 1, False), (greatest + 1, False)):
            operands = [low for _, low, _ in limits] + [0, 0]
            operands[number] = place
            try:
                found = np.empty((6, 8))[Index(entries).fill(operands)].shape
            except IndexError:
                found = None
            whole = np.empty((6, 8))[Index(entries).fill([low for _, low, _ in limits] + [0, 0])].shape
            if isinstance(entries[0], Place) or is_inside:
                assert (found == whole) is is_inside
