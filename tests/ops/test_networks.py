"""Short axes are sorted by networks, as NumPy sorts them."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from autojit.ops import networks
from tests.helpers import check


@pytest.mark.parametrize("length", range(1, 17))
def test_a_network_sorts_zeros_and_ones(length):
    """One that does sorts everything (Knuth, The Art of Computer Programming, volume 3, 5.3.4, Theorem Z)."""
    rows = [(np.arange(1 << length) >> place) & 1 for place in range(length)]
    ones = sum(rows)
    for one, other in networks.pairs(length):
        assert one < other < length
        rows[one], rows[other] = np.minimum(rows[one], rows[other]), np.maximum(rows[one], rows[other])
    for place, row in enumerate(rows):
        np.testing.assert_array_equal(row, ones >= length - place)


def sort_last(x):
    return np.sort(x)


def sort_first(x):
    return np.sort(x, axis=0)


def median_last(x):
    return np.median(x, axis=-1)


def median_windows(x):
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3))
    return np.median(windows, axis=(2, 3))


def quantiles(x):
    return np.quantile(x, [0.1, 0.5, 0.75], axis=1), np.percentile(x, 30, axis=0)


@pytest.mark.parametrize("program", [sort_last, sort_first, median_last, median_windows, quantiles])
@pytest.mark.parametrize("shape", [(80, 9), (100, 2), (70, 16), (9, 70), (300, 5), (70, 17), (3, 3)])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of quantiles of infinities
def test_short_axes(program, shape, dtype):
    rng = np.random.default_rng(sum(shape))
    x = (rng.integers(-5, 6, shape) if dtype != "f8" else rng.standard_normal(shape)).astype(dtype)
    if program is quantiles and dtype == "?":
        return  # NumPy subtracts no bools
    check(program, x)
    if x.dtype.kind == "f":
        odd = x + 0.5
        odd.ravel()[::7], odd.ravel()[3::11], odd.ravel()[5::13] = np.nan, np.inf, -np.inf
        check(program, odd)
        odd[:] = np.nan
        check(program, odd)
        check(program, -np.abs(x) * 0.0)  # negative zeros


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_zeros_in_the_middle_are_numpys(dtype):
    def medians(x):
        return np.median(x, axis=-1), np.median(x, axis=1, keepdims=True), np.quantile(x, 0.5, axis=1)

    x = np.random.default_rng(5).integers(-3, 4, (200, 5)).astype(dtype)
    for zeros in (np.flatnonzero(x == 0)[::2], np.flatnonzero(x == 0), ()):
        y = x.copy()
        y.ravel()[zeros] = -0.0
        fast = aj.autocluster(medians, policy="eager")
        for _ in range(2):
            for mine, theirs in zip(fast(y), medians(y), strict=True):
                np.testing.assert_array_equal(mine, theirs)
                np.testing.assert_array_equal(np.signbit(mine), np.signbit(theirs))


def test_negative_zeros_that_are_not_in_the_middle_do_not_trap():
    x = np.random.default_rng(5).random((200, 9)) + 1
    x[:, 2] = -0.0
    fast = aj.autocluster(median_last, policy="eager")
    for _ in range(3):
        np.testing.assert_array_equal(fast(x), median_last(x))
    assert fast.cache_info().traps == 0 and fast.cache_info().hits > 0


def test_they_are_used():
    x = np.random.default_rng(3).standard_normal((500, 9))
    for function, at in ((median_last, x), (lambda x: np.quantile(x, 0.3, axis=0), x.T.copy())):
        assert " sort(" not in aj.get_compiler_ir(aj.jit_compile(function), at)(stage="optimized_hlo")
    whole = [aj.autocluster(median_last, policy="eager").explain(at).is_whole for at in (x, x.T.copy())]
    assert whole == [True, False]
