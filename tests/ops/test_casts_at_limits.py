"""Casts of floats to integers at the ends of what these hold, and maxima of what is no number."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from autojit.jax_names import jax, jnp
from autojit.ops import exact
from tests.helpers import check

FLOATS = ("f2", "f4", "f8")
INTEGERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


def numbers(dtype: np.dtype, into: np.dtype) -> np.ndarray:
    """Numbers at and around both ends of an integer dtype."""
    info = np.iinfo(into)
    ends = np.array([info.min, info.max, float(info.max) + 1, 0.0]).astype(dtype)
    near = [ends, np.nextafter(ends, dtype.type(np.inf)), np.nextafter(ends, dtype.type(-np.inf))]
    steps = [ends + dtype.type(step) for step in (-1, -0.75, -0.5, 0.5, 0.75, 1)]
    return np.concatenate([*near, *steps, [dtype.type(one) for one in (np.nan, np.inf, -np.inf, -0.0)]])


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("into", INTEGERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of what does not fit
def test_what_fits_is_cast_and_nothing_else(source, into):
    source, into = np.dtype(source), np.dtype(into)
    found = numbers(source, into)
    cut = [int(one) if np.isfinite(one) else None for one in found.astype(float)]
    fits = [one is not None and np.iinfo(into).min <= one <= np.iinfo(into).max for one in cut]
    with jax.enable_x64(True):
        np.testing.assert_array_equal(exact.outside(jnp.asarray(found), into), np.logical_not(fits))
    assert any(fits) and not all(fits)

    def cast(x):
        return x.astype(into)

    check(cast, found[np.array(fits)])
    check(cast, found)


@pytest.mark.parametrize("dtype", [*FLOATS, "c8", "c16", "i4", "u8", "?"])
def test_maxima_of_what_is_no_number(dtype):
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan]) if dtype[0] in "fc" else np.arange(4)
    x, y = (part.ravel().astype(dtype) for part in np.meshgrid(values, values))
    if dtype[0] == "c":
        x, y = x + 1j * y[::-1], y - 1j * x

    def extremes(x, y):
        return np.maximum(x, y), np.minimum(x, y), np.maximum(x, x.dtype.type(1)), np.minimum(x.dtype.type(1), y)

    check(extremes, x, y)
    if dtype[0] != "c":
        check(lambda x, y: (np.clip(x, y, 1), np.clip(x, 0, y), np.clip(x, 0, 1)), x, y)
    if dtype[0] in "fi":
        large = np.resize(x, 40_000)
        check(lambda x: np.maximum(x * 2, 1).max() + np.minimum(x, 0).min() + np.maximum(x, 0).sum(), large)
        check(lambda x: np.maximum(x * 2, 1).max(axis=0), large.reshape(200, 200))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("length", [1, 8, 37])
def test_of_two_zeros_it_is_numpys(dtype, length):
    def extremes(x, y):
        several = np.maximum(x, y), np.minimum(x, y), np.maximum(x, 0.0), np.minimum(0.0, y)
        clipped = np.clip(x, y, 1.0), np.clip(x, -1.0, y), np.clip(x, 0.0, 1.0), np.clip(x, -1.0, -0.0)
        return *several, *clipped, np.clip(x, 0.0, None), np.clip(x, None, -0.0)

    negative, positive = np.full(length, -0.0, dtype), np.zeros(length, dtype)
    fast = aj.autocluster(extremes, policy="eager")
    for x, y in ((negative, positive), (positive, negative), (negative, negative), (positive, positive)) * 2:
        for number, (mine, theirs) in enumerate(zip(fast(x, y), extremes(x, y), strict=True)):
            np.testing.assert_array_equal(np.signbit(mine), np.signbit(theirs), str(number))
