"""Returns out of loops, beside errors: the usual shapes of a solver, each as one program where it can be."""

import numpy as np
import pytest

import autojit as aj


def converges_or_raises(x, n):
    for i in range(n):
        y = x * 0.5
        if np.abs(y - x).max() < 1e-6:
            return y, i
        x = y
    raise ValueError("not converged")


def converges_or_not(x, n):
    for _ in range(n):
        y = x * 0.5
        if np.abs(y - x).max() < 1e-6:
            return y
        x = y
    return x


def without_end(x, n):
    i = 0
    while True:
        x = x * 0.5
        if np.abs(x).max() < 1e-6:
            return x
        i += 1
        if i == n:
            raise ValueError(f"no solution in {n} steps")


def asks_first(x, n):
    for i in range(n):
        if np.abs(x).max() < 1e-6:
            return x, i
        x = x * 0.5
    return x, -1


def one_object_twice(x, n):
    for _ in range(n):
        y = x * 0.5
        if np.abs(y).max() < 1e-6:
            return y, y, x
        x = y
    raise ValueError


def trades_names(x, n):
    old = x
    for _ in range(n):
        old, x = x, x * 0.5
        if np.abs(x).max() < 1e-6:
            return x, old
    raise ValueError


def in_a_function(x, n):
    def solve(x):
        for _ in range(n):
            y = x * 0.5
            if np.abs(y).max() < 1e-6:
                return y
            x = y
        raise ValueError("nope")

    return solve(x) + 1, solve(x + 1)


def out_of_two_loops(x, n):
    i = 0
    while True:
        i += 1
        for j in range(3):
            x = x * 0.5
            if x.max() < 1e-6:
                return x, i, j
        if i > n:
            raise ValueError(i)


def of_an_array_that_is_written(x, n):
    x[0] = 3
    for _ in range(n):
        x[1:] *= 0.5
        if x.max() < 4:
            return x
    raise ValueError(x[1])


def on_both_sides_of_a_branch(x, n):
    if n > 60:
        if x.sum() > 3:
            return x
        raise KeyError
    y = x + 1
    if y.sum() < 3:
        return y
    assert y.sum() > 4, "a sum"
    raise ValueError(y.sum())


def of_elements(x, n):
    for i in range(n):
        if x[i] > 20:
            return x[i], i
        if x[i] < 0:
            raise KeyError(i)
    raise IndexError


def behind_a_print(x, n):
    print("start", end="")
    for i in range(n):
        y = x * 0.5
        if np.abs(y - x).max() < 1e-6:
            return y, i
        x = y
    raise ValueError("not converged")


WHOLE = [
    converges_or_raises, converges_or_not, without_end, asks_first, one_object_twice, trades_names, in_a_function,
    out_of_two_loops, of_an_array_that_is_written, of_elements,
]  # fmt: skip


def outcome(function, n):
    x = np.arange(2000.0)
    try:
        result = function(x, n)
    except Exception as error:
        return type(error), str(error), x
    return *(result if type(result) is tuple else (result,)), x


@pytest.mark.parametrize("function", [*WHOLE, on_both_sides_of_a_branch, behind_a_print])
def test_the_same_as_numpy(function):
    fast = aj.autocluster(function, policy="eager")
    for n in (50, 3, 70, 0):
        found, expected = outcome(fast, n), outcome(function, n)
        for one, other in zip(found, expected, strict=True):
            assert type(one) is type(other)
            np.testing.assert_array_equal(one, other)
        # Which of the results are one object.
        assert [[a is b for a in found] for b in found] == [[a is b for a in expected] for b in expected]


@pytest.mark.parametrize("function", WHOLE)
def test_one_program(function):
    fast = aj.autocluster(function, policy="eager")
    fast(np.arange(2000.0), 50)
    assert fast.explain(np.arange(2000.0), 50).is_whole


def test_behind_a_statement_that_is_not_compiled():
    fast = aj.autocluster(behind_a_print, policy="eager")
    report = fast.explain(np.arange(2000.0), 50)
    assert [reason.id for reason in report.native_statements] == ["effect"]
    assert len(report.clusters) == 1
