"""Numbers that become arrays: where data decides, and from lists that a loop fills."""

from __future__ import annotations

import numpy as np
import pytest

from tests.test_read_numbers import LARGE, same


def _as_array(x, h):
    y = x + 1.0
    if x.sum() > 0:
        y = x * np.asarray(h, dtype=float)
    return y


def _as_new_array(x, h):
    y = x + 1.0
    if x.sum() > 0:
        y = x * np.full(50, h) * np.full(x.shape, h, dtype=np.float32)
    return y


def _put(x, h):
    for _ in range(100):
        if np.abs(x).sum() < 1.0:
            break
        np.putmask(x, x > 2.0, h)
        x *= 0.5
    return x.max()


def _copied(x, h):
    for _ in range(100):
        if np.abs(x).sum() < 1.0:
            break
        np.copyto(x, h, where=x > 2.0)
        np.copyto(x, 1, where=x > 2.5)
        x *= 0.5
    return x.max()


@pytest.mark.parametrize("function", [_as_array, _as_new_array, _put, _copied])
@pytest.mark.parametrize("number", [0.5, 1, LARGE])
def test_numbers_that_become_arrays_where_data_decides(function, number):
    for x in (np.linspace(0, 3, 50), np.linspace(-3, 0, 50)):
        info = same(function, x, number)
        assert info.hits and not info.native


@pytest.mark.parametrize("number", [0.5, 300])
def test_numbers_that_may_not_fit_where_data_decides(number):
    def f(x, h):
        y = x + 1.0
        if x.sum() > 0:
            y = x * np.full(x.shape, h, dtype=np.int8)
        return y

    same(f, np.linspace(0, 3, 50), number)
    assert same(f, np.linspace(-3, 0, 50), number).native


def _counted(x, dtype):
    counts = []
    for k in range(len(x)):
        counts.append(int(x[k]) * 2**40 + 2**36 + 1)
    return np.array(counts, dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float32, float, np.complex64, complex])
def test_lists_of_ints_that_a_loop_fills_as_inexact_numbers(dtype):
    info = same(lambda x: _counted(x, dtype), np.linspace(0.0, 2**20, 200))
    assert info.hits and not info.native


def test_large_ints_that_a_loop_fills_a_list_with_are_rounded_twice():
    wanted = _counted(np.array([2.0**20]), np.float32)
    assert wanted[0] == np.float32(float(LARGE)) != np.int64(LARGE).astype(np.float32)
    same(lambda x: _counted(x, np.float32), np.full(200, 2.0**20))
