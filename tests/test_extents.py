"""Parts of a caller's array: nothing else of it is written, as others may write that meanwhile."""

import functools

import numpy as np
import pytest

import autojit as aj
from autojit.ir.extent import Bound, Extent, span
from tests.helpers import check

#: NumPy, which `check` would run beside, does not know of the others who write.
ALONE = functools.partial(aj.autocluster, policy="eager", check=False)
N = 24
X = np.linspace(1.0, 2.0, N)


def element(y, x, i, n):
    y[i] = 1.0


def last(y, x, i, n):
    y[-1] = x[0]


def rows(y, x, i, n):
    y.reshape(6, 4)  # a view that nobody writes through
    y[i : i + 3] = x[:3] * 2


def chain(y, x, i, n):
    y[i] = x[i] * 2
    y[i + 1 : i + 3] = x[0]
    y[3] = 5


def every(y, x, i, n):
    y[i::6] = np.sin(x[i::6])


def loop(y, x, i, n):
    for j in range(i, i + n):
        y[j] = x[j] * 2


def down(y, x, i, n):
    for j in range(i + n, i, -1):
        y[j] = x[j] + y[j]


def strided(y, x, i, n):
    for j in range(i, 20, 5):
        y[j] = x[j] * n


def backwards(y, x, i, n):
    for j in range(n):
        y[-1 - j] = x[j] - 1


def mirrored(y, x, i, n):
    for j in range(n):
        y[i + n - j] = x[j] - 1


def nested(y, x, i, n):
    for j in range(i, i + n):
        for k in range(j):
            y[k] = x[k] + j


def condition(y, x, i, n):
    if x.sum() > 3:
        y[i] = x[0] * 2
    else:
        y[i + 1] = x[1] * 3


def conditions(y, x, i, n):
    for j in range(i, i + n):
        if x[j] > 1.3:
            y[j] = x[j] * 2


def breaks(y, x, i, n):
    for j in range(i, i + n):
        if x[j] > 1.3:
            break
        y[j] = 7.0


def counted(y, x, i, n):
    for j in range(i, i + n):
        y[i] += x[j]


def several(y, x, i, n):
    y[i] = x[0]
    for j in range(i + 3, i + 5):
        y[j] = x[j] * n


def touched(function, *numbers):
    """Which elements NumPy writes."""
    found = np.zeros(N, bool)
    for sign in (1.0, -1.0):  # what is written may be what was there
        y = np.full(N, sign * 1e3)
        function(y, X.copy(), *numbers)
        found |= y != sign * 1e3
    return found


def disturbed(fast, y, *args):
    """What is in `y` after a call during which somebody else has written -1.0 everywhere."""
    taken = 0
    for probe in fast.__autojit_controller__.probes.values():
        for plan in probe.plans:
            for name in plan.calls:
                run = plan.names[name]

                def meanwhile(values, run=run):
                    nonlocal taken
                    taken += 1
                    results = run(values)
                    y[:] = -1.0
                    return results

                plan.names[name] = meanwhile
    fast(y, *args)
    return y, taken


CALLS = [(2, 4), (3, 5), (5, 4), (4, 6)]
FUNCTIONS = [
    element, last, rows, chain, every, loop, down, strided, backwards, mirrored, condition, conditions, breaks, counted,
    several,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("calls", [CALLS[:1], CALLS], ids=["constants", "of the run"])
def test_what_others_write_stays(function, calls):
    fast = ALONE(function)
    for numbers in calls:
        ours, theirs = np.arange(N) * 1.0, np.arange(N) * 1.0
        fast(ours, X.copy(), *numbers)
        function(theirs, X.copy(), *numbers)
        np.testing.assert_allclose(ours, theirs)
    y, taken = disturbed(fast, np.arange(N) * 1.0, X.copy(), *calls[-1])
    assert taken
    theirs = np.arange(N) * 1.0
    function(theirs, X.copy(), *calls[-1])
    written = touched(function, *calls[-1])
    np.testing.assert_allclose(y[written], theirs[written])
    # Of what a condition leaves alone some may lie between what is written.
    others = np.flatnonzero(~written)
    if function in (condition, conditions, breaks):
        others = others[(others < calls[-1][0]) | (others >= sum(calls[-1]))]
    assert (y[others] == -1.0).all()


@pytest.mark.parametrize("function", [*FUNCTIONS, nested])
def test_parts_hold_all_that_changes(function):
    fast = aj.autocluster(policy="eager")(function)
    for numbers in CALLS:
        fast(np.arange(N) * 1.0, X.copy(), *numbers)
    for probe in fast.__autojit_controller__.probes.values():
        for plan in probe.plans:
            assert plan.graph.writes
            assert all(write.parts or write.index is not None for write in plan.graph.writes) or function is nested


def whole(y, x, i, n):
    y += x


def masked(y, x, i, n):
    y[x > 1.5] = 0.0


def through(y, x, i, n):
    y.reshape(4, 6)[i] = 3.0


def gathered(y, x, i, n):
    y[np.array([i, n])] = 2.0


@pytest.mark.parametrize("function", [whole, masked, through, gathered])
def test_what_is_written_as_a_whole(function):
    for numbers in [(1, 2), (2, 3)]:
        check(function, np.arange(N) * 1.0, X.copy(), *numbers)


@pytest.mark.parametrize("i", [-1, -3, 0, 5])
def test_places_that_count_from_the_end(i):
    def negative(y, x, i):
        y[i] = x[0]
        for j in range(3):
            y[i - j] = x[j]

    fast = aj.autocluster(policy="eager")(negative)
    for first in (1, 2, 3, i):
        ours, theirs = np.zeros((N, 2)), np.zeros((N, 2))
        fast(ours, X.copy(), first)
        negative(theirs, X.copy(), first)
        np.testing.assert_array_equal(ours, theirs)


def test_rows_and_columns():
    def block(y, x, i, j):
        for k in range(i, i + 2):
            y[k, j : j + 2] = x[k] + k
            y[k, 0] = 1.0

    fast = ALONE(block)
    for i, j in [(0, 1), (1, 2), (2, 3)]:
        ours, theirs = np.zeros((6, 8)), np.zeros((6, 8))
        fast(ours, X.copy(), i, j)
        block(theirs, X.copy(), i, j)
        np.testing.assert_array_equal(ours, theirs)
    y, taken = disturbed(fast, np.zeros((6, 8)), X.copy(), 2, 3)
    assert taken and set(zip(*np.nonzero(y != -1.0), strict=True)) == {(k, j) for k in (2, 3) for j in (0, 3, 4)}


def before_the_first(y, i):
    for j in range(i, 0, 3):
        if j >= -8:
            y[j] = 1.0


def data_before_the_first(y, i):
    for j in range(i, 0, 5):
        if y[j + 30] > 0 and j > -8:
            y[j] = 2.0


@pytest.mark.parametrize("function", [before_the_first, data_before_the_first])
def test_places_that_lie_before_the_first(function):
    fast = aj.autocluster(policy="eager")(function)
    for i in (-10, -10, -19, -16, -7):
        ours, theirs = np.zeros(8 if function is before_the_first else 40), None
        if function is data_before_the_first:
            ours[12:] = 1.0
        theirs = ours.copy()
        fast(ours, i)
        function(theirs, i)
        np.testing.assert_array_equal(ours, theirs)


def test_what_is_put_back_may_be_rounded():
    def rounds(y, x, i, n):
        c = bool(x[0] > 0)
        k = i if c else n
        y[k] = np.where(c, 1.5, y[k])

    fast = aj.autocluster(policy="eager")(rounds)
    for sign, i, n in [(1, 0, 1), (1, 1, 2), (-1, 2, 3)]:
        ours, theirs = np.full(4, 2**53 + 1), np.full(4, 2**53 + 1)
        fast(ours, np.array([sign]), i, n)
        rounds(theirs, np.array([sign]), i, n)
        np.testing.assert_array_equal(ours, theirs)


def test_spans():
    a = list(range(10))
    for low in range(-14, 10):
        for high in range(low, 10):
            for step in (1, 2, 3):
                wanted = {k % 10 for k in range(low, high, step) if -10 <= k}
                assert wanted <= set(a[span(low, high, step)])
                if low >= 0 or (high <= 0 and step == 1):
                    assert wanted == set(a[span(low, high, step)])
    assert a[span(5, 2)] == [] and a[span(1, 9, 3)] == [1, 4, 7] and a[span(-1, 0)] == [9]
    assert Extent(Bound(3), Bound(2)).text(str) == "span(3, 2, 1)"
    assert Extent(Bound(-1, (("i", 2), ("j", -1))), Bound(0, (("i", 1),))).text(str) == "span(2 * i + -1 * j + -1, i, 1)"


def test_graphs_say_what_is_written():
    fast = aj.autocluster(policy="eager")(chain)
    text = str(fast.get_compiler_ir(np.zeros(N), X.copy(), 3, 2)(stage="graph:extents"))
    assert "# writes: a2[3:4], a2[4:6]\n" in text
