"""`where=` and `initial=` of reductions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check

RNG = np.random.default_rng(8)
ARRAYS = [
    RNG.standard_normal((4, 5)),
    RNG.standard_normal((5, 4)).astype(np.float32).T,
    RNG.integers(-9, 9, (4, 5)),
    RNG.integers(0, 9, (8, 5)).astype(np.uint8)[::2],
    RNG.standard_normal((4, 5)) > 0,
    np.where(RNG.random((4, 5)) < 0.3, np.nan, RNG.standard_normal((4, 5))),
]


def sums(x, m):
    return np.sum(x, where=m), x.sum(axis=0, where=m), np.add.reduce(x, axis=1, where=m, keepdims=True), x.prod(where=m)


def first_values(x, m):
    return np.sum(x, initial=3), x.prod(axis=1, initial=2), np.sum(x, axis=0, initial=1, where=m), np.nansum(x, where=m)


def extremes(x, m):
    low, high = np.min(x, initial=1), np.max(x, axis=0, initial=0)
    return low, high, x.max(axis=1, where=m, initial=1), np.minimum.reduce(x, where=m, initial=0, axis=None)


def truths(x, m):
    return np.any(x, where=m), x.all(axis=1, where=m, keepdims=True), np.logical_or.reduce(x, where=m)


def moments(x, m):
    return (
        np.mean(x, where=m),
        x.mean(axis=0, where=m),
        np.std(x, axis=1, where=m, keepdims=True),
        x.var(where=m, ddof=1),
        np.var(x, axis=(0, 1), where=m),
        np.nanmean(x, axis=0, where=m),
    )


@pytest.mark.parametrize("function", [sums, first_values, extremes, truths, moments])
@pytest.mark.parametrize("number", range(len(ARRAYS)))
def test_the_elements_of_a_mask(function, number):
    x = ARRAYS[number]
    full = np.abs(x) < 1 if x.dtype != bool else ~x
    full[0] = full[:, 0] = True
    masks = full, full[0], full[:, :1]
    for mask in masks:
        with warnings.catch_warnings():
            # NumPy warns of means of nothing and of NaN, which compiled code does not repeat.
            warnings.simplefilter("ignore", RuntimeWarning)
            check(function, x, mask)


def test_nothing_is_left():
    def f(x, m):
        return x.sum(where=m), np.mean(x, axis=0, where=m), np.any(x, where=m), np.max(x, where=m, initial=-1.0)

    with warnings.catch_warnings():
        # As above.
        warnings.simplefilter("ignore", RuntimeWarning)
        check(f, ARRAYS[0], np.zeros((4, 5), bool))
        check(lambda x: x.sum(axis=0, initial=2.0), np.zeros((0, 3)))
        check(lambda x: x.max(axis=0, initial=2.0), np.zeros((0, 3)))


def test_masks_that_are_known():
    def f(x):
        return np.sum(x, where=True), np.sum(x, axis=0, where=[True, False, True, True, False]), x.sum(where=x > 0)

    check(f, ARRAYS[0])


def test_they_are_compiled():
    @aj.jit_compile
    def f(x, m):
        return x.sum(where=m) + x.max(initial=0.0, where=m) + np.mean(x, where=m)

    x = ARRAYS[0]
    assert np.allclose(f(x, x > 0), x[x > 0].sum() + x.max() + x[x > 0].mean(), rtol=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.max(x, where=x > 0),
        lambda x: np.sum(x, where=np.ones((2, 4, 5), bool)),
        lambda x: np.sum(x, where=np.ones((3, 1), bool)),
        lambda x: np.sum(x, where=np.ones((4, 5), int)),
        lambda x: np.sum(x, initial=1 + 2j),
        lambda x: np.any(x, initial=1),
        lambda x: np.mean(x, initial=1),
        lambda x: np.sum(x.astype(np.int8), dtype=np.int8, initial=300),
    ],
)
def test_what_numpy_refuses_and_rounds(call):
    check(call, ARRAYS[0])


def test_a_first_value_of_another_kind():
    def f(x, i):
        return np.sum(i, initial=1.5), np.sum(x, initial=np.float32(0.1)), np.sum(x, initial=i[0, 0]), np.max(i, initial=1.9)

    check(f, ARRAYS[0], ARRAYS[2])


def test_into_an_array_of_the_caller():
    def f(x, m, out):
        np.sum(x, axis=0, where=m, out=out)
        return out

    check(f, ARRAYS[0], ARRAYS[0] > 0, np.zeros(5))


def test_the_sign_of_zero():
    def f(x):
        return np.sum(x, axis=0, initial=-0.0), np.nansum(x, initial=0.0), x.sum(initial=-0.0, where=x == 0)

    x = np.full((3, 2), -0.0)
    fast = aj.autocluster(policy="eager")(f)
    for _ in range(2):
        for got, expected in zip(fast(x), f(x), strict=True):
            assert np.array_equal(got, expected)
            assert np.array_equal(np.signbit(got), np.signbit(expected))


def test_the_memory_of_sums_of_nothing():
    def f(x, m):
        return x.sum(axis=-2, where=m)

    mask = np.ones((2, 1, 5), bool).T
    got, expected = aj.autocluster(policy="eager")(f)(np.ones((5, 0, 2)), mask), f(np.ones((5, 0, 2)), mask)
    assert got.shape == expected.shape
    assert got.strides == expected.strides
    assert not got.any()
