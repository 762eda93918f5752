"""Lists that loops fill: `xs = []`, then `xs.append(value)`; they become the rows of an array, or the loop is Python's."""

import copy

import numpy as np
import pytest

import autojit as aj
from tests import row_loops, row_values

FUNCTIONS = [*row_loops.FUNCTIONS, *row_values.FUNCTIONS]
WHOLE = [*row_loops.WHOLE, *row_values.WHOLE]


def kalman(zs, q, r):
    x, P = 0.0, 1.0
    xs = []
    for z in zs:
        P = P + q
        K = P / (P + r)
        x = x + K * (z - x)
        P = (1 - K) * P
        xs.append(x)
    return np.asarray(xs)


def descends(x, y, n):
    w = np.zeros(x.shape[1])
    losses, ws = [], []
    for epoch in range(n):
        err = x @ w - y
        losses.append((err**2).mean())
        w -= 0.05 * 2 * x.T @ err / len(y)
        ws.append(w.copy())
    return w, losses, np.array(ws), losses[-1]


def flat(value):
    parts = [value]
    if isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            parts += flat(item)
    return parts


def assert_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, np.ndarray | np.generic):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        if isinstance(expected, np.ndarray):
            assert found.strides == expected.strides and (found.base is None) == (expected.base is None)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12)
    else:
        assert found == expected


def memory(values):
    """Which of the arrays and lists are one object, and which arrays share memory."""
    objects = [value for value in values if isinstance(value, np.ndarray | list)]
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    return [[a is b for a in objects] for b in objects], [[np.shares_memory(a, b) for a in arrays] for b in arrays]


def outcome(function, arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)


def agree(function, fast, arguments):
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    found, expected = outcome(fast, mine), outcome(function, theirs)
    assert_same(found, expected)
    assert_same(mine, theirs)
    assert memory([*flat(found), mine[0]]) == memory([*flat(expected), theirs[0]])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of no items
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_same_as_python(function, rng):
    fast = aj.autocluster(function, policy="eager")
    for n in (50, 40, 0, 50, 1):
        agree(function, fast, (rng.random(60) + 1, n))


@pytest.mark.parametrize("function", WHOLE)
def test_one_program(function, rng):
    fast = aj.autocluster(function, policy="eager")
    for _ in range(2):
        agree(function, fast, (rng.random(60) + 1, 50))
    assert fast.explain(rng.random(60), 50).is_whole and fast.cache_info().hits == 2


def test_other_arguments(rng):
    fast = aj.autocluster(kalman, policy="eager")
    for length in (300, 7, 0, 300):
        agree(kalman, fast, (rng.standard_normal(length), 1e-3, 0.1))
    fast = aj.autocluster(descends, policy="eager")
    for n in (60, 5):
        agree(descends, fast, (rng.standard_normal((50, 3)), rng.standard_normal(50), n))
    assert fast.explain(rng.standard_normal((50, 3)), rng.standard_normal(50), 60).is_whole
