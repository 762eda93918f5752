"""Loops whose iterations depend on each other in ways that are easily missed, and what a loop's header binds."""

from __future__ import annotations

import time

import numpy as np
import pytest

import autojit as aj
from tests.helpers import assert_same

RNG = np.random.default_rng(0)
A = RNG.random((12, 12))
ROWS = RNG.random((128, 128))
X = RNG.random(128)


def stepped(x):
    for i in range(1, 128):
        x[i] = 0.1 * np.where(np.arange(256, step=2) > i, x, 0.0).sum()
    return x


def stepped_rows(a, x):
    for i in range(1, 128):
        x[i] = 0.01 * np.where(np.arange(256, step=2) >= i, x * a[i], 0.0).sum() + a[i, i]
    return x


def one_element(x):
    for i in range(127, 0, -1):
        x[i] = 0.01 * np.where(np.arange(1) < i, x, 0.0).sum()
    return x


def one_column(a, out, w):
    for i in range(127, -1, -1):
        out[i] = 0.01 * np.where(np.arange(len(w)) < i, out * a[i], w).sum()
    return out + 1


def row_from_column(a):
    for i in range(1, 9):
        a[i, : i + 3] = a[: i + 3, i + 2]
    return a


def column_from_row(a):
    for i in range(1, 9):
        a[: i + 3, i] = a[i + 2, : i + 3]
    return a


def fixed_column(a):
    for i in range(1, 8):
        a[3, i:] = a[i:, 9]
    return a


def rest_from_column(a):
    for k in range(8):
        a[9, k:] = a[k:, 8]
        a[k + 1, k:] = a[k:, k + 2]
    return a


def diagonal(a):
    for k in range(3, 11):
        a[2, :k] = np.diagonal(a)[:k]
        a[:k, 5] = np.diagonal(a)[:k]
    return a


def symmetric(a):
    for i in range(12):
        a[i, :i] = a[:i, i]
        a[i + 1 :, i] = a[i, : 11 - i]
    return a


def imaginary(z):
    for k in range(2, 10):
        z[:k] = z[0:1].imag
        z[k] += 1j
    return z


def grows(x):
    k = 1
    for i in range(k := k + 1):
        x = x * 2 + i
    return x, k


def shrinks(x):
    y = x * 1.5
    total = 0.0
    for v in (y := y[-4:]):
        total = total + v * 2
    return total, y


def numbered(x):
    y = x[:5] + 1
    s = 0.0
    for i, v in enumerate(y := y[::-1] * 2):
        s = s + v * i
    return s, y


def not_rolled(x):
    k = 5
    parts = {}
    for i in range(k := k + 1):
        parts[i] = x * i
    return sum(parts.values()), k


def running(a, x, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            x[i] += a[i, j]
            out[i, j] = x[i]
    return out


def largest(a, x, out):
    for i in range(12):
        for j in range(12):
            x[i] = np.maximum(x[i], a[i, j])
            out[i, j] = x[i]
    return out


def inserted(x, a):
    return (
        np.insert(x[:5], slice(4, None, -2), [7.0, 8.0, 9.0]), np.insert(a[:2, :4], slice(0, 2), [70.0, 80.0], axis=1),
        np.insert(a[:2, :4], slice(1, 2), [70.0, 80.0], axis=1), np.insert(x[:5], slice(2, 2), []),
        np.insert(a[:2, :4], slice(0, 2), [[1.0, 2.0]], axis=1),
    )  # fmt: skip


def half_range(x):
    return np.arange(0, 7, 1e-4, dtype=np.float16) * 1, x * 2


PROGRAMS = [
    (stepped, X), (stepped_rows, ROWS, X), (one_element, X), (one_column, ROWS, X, np.zeros(1)),
    *((function, array) for function in (row_from_column, column_from_row, fixed_column, rest_from_column, diagonal, symmetric)
      for array in (A, np.asfortranarray(A), A.astype(np.float32), (A * 99).astype(int))),
    (imaginary, A[0] + 1j * A[1]), (grows, X), (shrinks, X), (numbered, X), (not_rolled, X),
    (running, A, A[0], np.zeros((12, 12))), (largest, A, A[0], np.zeros((12, 12))), (inserted, X, A), (half_range, X),
]  # fmt: skip


@pytest.mark.filterwarnings("error::autojit.AutojitWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program[0].__name__)
def test_as_in_numpy(program):
    function, *given = program
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(2):
        ours, theirs = ([array.copy(order="K") for array in given] for _ in range(2))
        assert_same(fast(*ours), function(*theirs), 1e-9)
        assert_same(ours, theirs, 1e-9)


def test_a_part_of_a_row_and_one_of_a_column_that_do_not_meet_are_one_program():
    assert aj.autocluster(policy="eager")(symmetric).explain(A.copy()).is_whole
    assert not aj.autocluster(policy="eager")(row_from_column).explain(A.copy()).is_whole


def test_a_loop_of_constants_is_no_constant():
    @aj.autocluster(policy="eager")
    def series(x):
        total = 0.0
        for k in range(1, 300_001):
            total += 1.0 / (k * k)
        return x * total

    @aj.autocluster(policy="eager")
    def large(x):
        s = 1
        for _ in range(100):
            s = s * 3 + 1
        return x * float(s)

    start = time.perf_counter()
    assert abs(series(np.ones(3))[0] - np.pi**2 / 6) < 1e-5
    assert time.perf_counter() - start < 30.0
    s = 1
    for _ in range(100):
        s = s * 3 + 1
    assert large(np.ones(3))[0] == float(s)
