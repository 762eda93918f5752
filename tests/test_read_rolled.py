"""Rolled loops: shrinking parts of one row, literals beside narrow floats, loops without iterations, large indices."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.attacks import sequence

RNG = np.random.default_rng(0)

# ---- parts that move, written again and again


def even_samples(x, b):
    even = x[::2]
    m = even.shape[0]
    for i in range(b.shape[0]):
        even[: m - i] = b[i, : m - i]
    return x


def from_behind(x, b):
    back = x[::-1]
    m = back.shape[0]
    for i in range(b.shape[0]):
        back[: m - i] = b[i, : m - i]
    return x


def schedule(base, level):
    out = np.zeros((60, 128))
    for d in range(out.shape[0]):
        for i in range(level.shape[0]):
            out[d, d + i :] = base[d + i :] * level[i]
    return out


def row_zero(a, b):
    for j in range(20, 60):
        for i in range(12):
            a[j, : j - i] = b[i, : j - i]
    return a


def masked_twice(x, b):
    for i in range(b.shape[0]):
        k = np.arange(x.shape[1])
        x[0] = np.where(np.logical_and(k >= 2, k >= i), b[i], x[0])
    return x


def read_again(x, b, y):
    even = x[::2]
    m = even.shape[0]
    for i in range(b.shape[0]):
        even[: m - i] = b[i, : m - i]
        y[i] = even * 1.0
    return x, y


def growing(x, b):
    even = x[::2]
    for i in range(b.shape[0]):
        even[: i + 1] = b[i, : i + 1]
    return x


@pytest.mark.parametrize("exact", [False, True])
def test_shrinking_parts_of_one_row(exact):
    x, b = RNG.random(128), RNG.random((40, 64))
    for function, arguments in (
        (even_samples, (x, b)),
        (from_behind, (x[:64], b)),
        (schedule, (RNG.random(128), RNG.random(20))),
        (row_zero, (np.zeros((64, 100)), RNG.random((12, 100)))),
        (masked_twice, (RNG.random((2, 64)), b)),
        (read_again, (x, b, np.zeros((40, 64)))),
        (growing, (x, b)),
    ):
        sequence(function, arguments)
        if exact:
            mine, theirs = ([a.copy() for a in arguments] for _ in range(2))
            np.testing.assert_array_equal(aj.autocluster(policy="eager", exact=True)(function)(*mine)[0], function(*theirs)[0])


# ---- literals


def clamped(w, y):
    out = np.empty(len(y))
    for i in range(len(y)):
        out[i] = y[i] * max(w[i], 0.1)
    return out


def chosen(w, y):
    s = 0.1
    if w[0] > 0:
        s = w[1]
    return y * s


def threshold(w, y):
    t = 0.1
    for i in range(len(w)):
        if w[i] > t:
            t = w[i]
    return np.count_nonzero(y >= t)


def truth(w, y):
    s = 1e-60
    if w[0] > 0:
        s = w[1]
    return y * 2 if s else y * 3


def signed(w, y):
    s = -0.0
    if w[0] > 0:
        s = w[1]
    return y * s, np.copysign(1.0, s)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.int64])
@pytest.mark.parametrize("function", [clamped, chosen, threshold, truth, signed])
def test_literals_keep_their_value_beside_other_numbers(function, dtype):
    y = np.full(20, 0.1)
    sequence(function, (np.full(20, -1).astype(dtype), y), (np.full(20, 3).astype(dtype), y))


# ---- no iterations


def newton(x, params):
    for _ in range(int(params[0])):
        step = 0.5 * (x - 2.0 / x)
        x = x - step
        if np.abs(step).max() < params[1]:
            break
    return x


def returned(x, params):
    for _ in range(int(params[0])):
        new = 0.5 * (x + 2.0 / x)
        if np.abs(new - x).max() < params[1]:
            return new
        x = new
    return x


def written(x, params):
    y = x
    for _ in range(int(params[0])):
        y = y * 0.5
        if y[0] < params[1]:
            break
    y[0] = -7.0
    return y * 1


def backwards(x, params):
    for k in range(int(params[0]), 0, -1):
        x = x * 0.5 + k
        if x[0] < params[1]:
            break
    return x


def nested(x, _):
    y = x
    for i in range(6):
        for _j in range(i):
            y = y * 0.5
            if y[0] < 1.0:
                break
        y[1] += 1.0
    return y


@pytest.mark.parametrize("function", [newton, returned, written, backwards, nested])
def test_loops_without_iterations_leave_the_callers_arrays(function):
    calls = [(np.arange(1.0, 9.0) * 8, np.array([float(m), 1e-9])) for m in (0, 3, 0, 5, 0)]
    sequence(function, *calls, rtol=1e-12)


class State:
    """Has an array."""

    def __init__(self, u):
        self.u = u


def relaxed(s, params):
    for _ in range(int(params[0])):
        s.u = s.u * 0.5
        if s.u.sum() < params[1]:
            break


def test_attributes_keep_their_arrays():
    fast = aj.autocluster(policy="eager")(relaxed)
    for m in (0, 2, 0, 0):
        u = np.ones(16)
        s = State(u)
        fast(s, np.array([float(m), 1e-3]))
        assert (s.u is u) == (m == 0) and s.u[0] == 0.5**m


def fibonacci(x, y, w, n):
    a, b = x, y
    total = 0
    for i in range(n):
        a, b = b, a + b
        total = total + w[i]
        if i > 0 and total > 100.0:
            break
    return a, total


def test_one_iteration_after_a_peeled_one():
    sequence(fibonacci, *((np.ones(8), np.arange(8.0), np.ones(64), n) for n in (40, 40, 1, 1, 2)))


# ---- large indices


def checksum(start):
    s = int(start[0])
    total = 0
    for t in range(s, s + 40):
        total += (t * 1_000_003) % 97
    return total


def ticks(start):
    out = np.zeros(40, np.int64)
    s = int(start[0])
    k = 0
    for t in range(s, s + 40):
        out[k] = t * 1_000_000 // 44_100
        k += 1
    return out


def strided(start):
    total = 0
    for t in range(0, int(start[0]) + 1, 2**40):
        total += (t * 1_000_003) % 97
        if total > 10**6:
            break
    return total


@pytest.mark.parametrize("function", [checksum, ticks])
def test_indices_that_data_decides(function):
    sequence(function, *((np.array([first]),) for first in (5, 10**13, 1_700_000_000_000_000)))
    sequence(strided, (np.array([2**45]),), (np.array([5]),))
