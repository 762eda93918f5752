"""Lists that a loop makes longer: its body is compiled once, not for every length."""

import warnings

import numpy as np
import pytest

import autojit as aj


def descend(x, y, n):
    w, losses = np.zeros(x.shape[1]), []
    for _ in range(n):
        error = x @ w - y
        losses.append((error**2).mean())
        w -= 0.1 * (2 * x.T @ error / len(y))
        if len(losses) > 1 and abs(losses[-2] - losses[-1]) < 1e-12:
            break
    return w, losses


def both_ends(x, y, n):
    waiting, total = [x[:, 0]], 0.0
    while waiting:
        v = waiting.pop(0)
        total = total + (v * y).sum()
        if len(waiting) < 3 and n > 0:
            n -= 1
            waiting.append(v + 1)
            waiting.insert(0, v * 0.5)
    return total, waiting


def read_after(x, y, n):
    rows = []
    for k in range(n):
        rows.append(x[k] * 2)
    total = 0.0
    for row in rows[:3]:
        for k in range(len(rows)):
            total = total + (row * rows[k]).sum()
    return total, len(rows)


def of_the_caller(x, y, n, log):
    for k in range(n):
        z = np.sqrt(x[k] ** 2 + 1)
        log.append(z.sum())
    return z


@pytest.mark.parametrize("function", [descend, both_ends, read_after])
def test_the_same_as_numpy(function, rng):
    fast = aj.autocluster(function, policy="eager")
    x, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error", aj.AutojitWarning)
        for n in (30, 5, 20):
            found, expected = fast(x, y, n), function(x, y, n)
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
            assert type(found[1]) is type(expected[1])
            np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


def test_a_list_of_the_callers(rng):
    fast = aj.autocluster(of_the_caller, policy="eager")
    x = rng.standard_normal((40, 3))
    mine, theirs = [], []
    np.testing.assert_allclose(fast(x, None, 40, mine), of_the_caller(x, None, 40, theirs), rtol=1e-15)
    np.testing.assert_allclose(mine, theirs, rtol=1e-15)
    assert fast.cache_info().plans <= 3


def test_one_plan_for_all_lengths(rng):
    fast = aj.autocluster(descend, policy="eager")
    fast(rng.standard_normal((40, 3)), rng.standard_normal(40), 30)
    assert fast.cache_info().plans <= 5
