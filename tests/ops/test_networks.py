"""Short axes are sorted by networks, as NumPy sorts them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autojit as aj
from autojit.ops import networks
from tests.helpers import check


@pytest.mark.parametrize("length", range(1, 13))
def test_a_network_sorts_zeros_and_ones(length):
    """One that does sorts everything (Knuth, The Art of Computer Programming, volume 3, 5.3.4, Theorem Z)."""
    found = list(networks.pairs(length))
    assert all(one < other < length for one, other in found)
    for values in itertools.product((0, 1), repeat=length):
        made = list(values)
        for one, other in found:
            made[one], made[other] = sorted((made[one], made[other]))
        assert made == sorted(values)


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


def test_they_are_used():
    x = np.random.default_rng(3).standard_normal((500, 9))
    for function, at in ((median_last, x), (lambda x: np.quantile(x, 0.3, axis=0), x.T.copy())):
        assert " sort(" not in aj.get_compiler_ir(aj.jit_compile(function), at)(stage="optimized_hlo")
    whole = [aj.autocluster(median_last, policy="eager").explain(at).is_whole for at in (x, x.T.copy())]
    assert whole == [True, False]
