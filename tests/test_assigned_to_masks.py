"""`x[mask] = values`: as many values as the mask selects, one after the other."""

import numpy as np
import pytest

import autojit as aj


def vector(x, mask, values):
    x[mask] = values
    return x


def block(x, mask, values):
    x[1:, ::-1][mask[1:, ::-1]] = values
    return x


def rows(x, mask, values):
    x[mask[:, 0]] = values
    return x


def rows_of_one(x, mask, values):
    x[mask[:, 0]] = values[:, :1]
    return x


def of_another_dtype(x, mask, values):
    y = np.zeros(x.shape, np.int32)
    y[mask] = values
    return y


def merge(x, mask, values):
    y = np.empty(mask.shape)
    y[mask] = values
    y[~mask] = -values
    return y


def in_a_loop(x, mask, values):
    for k in range(20):
        x[mask] = values + k
        mask = ~mask
    return x


def of_the_same_memory(x, mask, values):
    flat = x.ravel()
    flat[mask.ravel()] = flat[: len(values)]
    return x


def half(rng, shape):
    """A mask of half of the elements."""
    mask = np.zeros(shape, bool)
    mask.ravel()[: mask.size // 2] = True
    return rng.permutation(mask.ravel()).reshape(shape)


def outcome(function, x, mask, values):
    x = x.copy()
    try:
        return function(x, mask.copy(), values.copy()), x
    except (ValueError, IndexError, TypeError) as error:
        return (type(error), str(error)), x


def agree(function, fast, x, mask, values):
    (found, mine), (expected, theirs) = outcome(fast, x, mask, values), outcome(function, x, mask, values)
    np.testing.assert_array_equal(mine, theirs)
    if isinstance(expected, tuple):
        assert found == expected
    else:
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("function", [vector, of_another_dtype, merge, in_a_loop, of_the_same_memory])
def test_as_many_as_selected(function, rng):
    fast = aj.autocluster(function, policy="eager")
    for _ in range(4):
        x, mask, values = rng.standard_normal((4, 6)), half(rng, (4, 6)), rng.standard_normal(12) * 9
        agree(function, fast, x, mask, values)
        agree(function, fast, x, np.roll(mask, 1), values)
    if function is not of_the_same_memory:
        assert fast.explain(x, mask, values).is_whole and fast.cache_info().traps == 0


@pytest.mark.parametrize("function", [block, rows, rows_of_one])
def test_parts(function, rng):
    fast = aj.autocluster(function, policy="eager")
    for _ in range(4):
        x, mask = rng.standard_normal((4, 6)), half(rng, (4, 6))
        count = int(mask[:, 0].sum())
        values = rng.standard_normal((count, 6)) if function is not block else rng.standard_normal(int(mask[1:].sum()))
        agree(function, fast, x, mask, values)


@pytest.mark.parametrize("function", [vector, rows, rows_of_one, of_another_dtype])
@pytest.mark.parametrize("shape", [(11,), (13,), (0,), (1,), (2, 6), (5, 6), (1, 12), (12, 1), ()])
def test_numpys_errors(function, shape, rng):
    fast = aj.autocluster(function, policy="eager")
    for _ in range(2):
        agree(function, fast, rng.standard_normal((4, 6)), half(rng, (4, 6)), rng.standard_normal(shape))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_empty_arrays(shape, rng):
    fast = aj.autocluster(vector, policy="eager")
    agree(vector, fast, np.zeros(shape), np.zeros(shape, bool), np.zeros(0))
    agree(vector, fast, np.zeros(4), np.zeros(4, bool), np.zeros(0))
    agree(vector, fast, np.zeros(4), np.ones(4, bool), np.zeros(0))


def test_nan_into_integers(rng):
    fast = aj.autocluster(of_another_dtype, policy="eager")
    values = rng.standard_normal(12)
    values[3] = np.nan
    with np.errstate(invalid="ignore"):
        agree(of_another_dtype, fast, rng.standard_normal((4, 6)), half(rng, (4, 6)), values)


def test_jit_compile_takes_them(rng):
    fast = aj.jit_compile(vector)
    for _ in range(2):
        agree(vector, fast, rng.standard_normal(10), half(rng, 10), rng.standard_normal(5))
