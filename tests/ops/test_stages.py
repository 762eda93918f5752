"""Reductions in stages: every way in which an axis is cut gives what NumPy's reduction gives."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

import autojit as aj
from autojit.jax_names import jax, jnp
from autojit.ops import stages
from autojit.ops.reductions_moments import sum_of

#: Lengths that parts divide, that they leave a rest of, that are prime, that are few; vectors cut into rows.
SHAPES = [(1024,), (4099,), (12_288,), (70_001,), (2, 700), (700, 2), (33, 64), (331, 7), (4, 5000), (17, 5, 30), (40, 1, 41)]  # fmt: skip


def axes_of(shape: tuple[int, ...]) -> Any:
    every = range(len(shape))
    return chain.from_iterable(combinations(every, count) for count in range(1, len(shape) + 1))


CASES = [(shape, axes) for shape in SHAPES for axes in axes_of(shape)]


@pytest.mark.parametrize(("shape", "axes"), CASES, ids=str)
def test_what_parts_give_is_what_the_whole_gives(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    ints = rng.integers(-(2**62), 2**62, shape)
    small = rng.integers(-128, 128, shape).astype(np.int8)
    floats = rng.integers(-99, 99, shape) * 0.25  # which add up exactly, in any order
    odd = floats.copy()
    odd.ravel()[::97] = np.nan
    odd.ravel()[5::89] = np.inf
    mask = small > 100

    def all_of(*xs: Any) -> list[Any]:
        ints, small, floats, odd, mask = xs
        return [
            stages.total(ints, axes), stages.largest(ints, axes), stages.smallest(small, axes),
            stages.total(floats, axes), stages.total(odd, axes), stages.largest(odd, axes), stages.smallest(odd, axes),
            stages.total(floats + 1j * odd, axes), stages.any_true(mask, axes), stages.all_true(~mask, axes),
            sum_of(small, axes, np.dtype(np.int64)), sum_of(mask, axes, np.dtype(np.float64)),
        ]  # fmt: skip

    with jax.enable_x64(True), np.errstate(invalid="ignore"):
        got = jax.jit(all_of)(*map(jnp.asarray, (ints, small, floats, odd, mask)))
        wanted = [
            ints.sum(axes), ints.max(axes), small.min(axes), floats.sum(axes), odd.sum(axes), odd.max(axes),
            odd.min(axes), (floats + 1j * odd).sum(axes), mask.any(axes), (~mask).all(axes),
            small.sum(axes), mask.sum(axes, dtype=float),
        ]  # fmt: skip
    for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
        assert one.dtype == other.dtype, number
        np.testing.assert_array_equal(one, other, str(number))


def test_all_zeros_and_no_other_number() -> None:
    with jax.enable_x64(True):
        zeros = jnp.zeros((64, 64), jnp.int64)
        for reduce in (stages.total, stages.largest, stages.smallest):
            for axes in ((0,), (1,), (0, 1)):
                assert not np.any(reduce(zeros, axes)), (reduce, axes)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64], ids=str)
def test_sums_wrap_around(dtype: Any) -> None:
    x = np.full((48, 50), np.iinfo(dtype).max, dtype)

    @aj.autocluster(policy="eager")
    def sums(x: Any) -> Any:
        return x.sum(), x.sum(axis=0), x.sum(axis=1, dtype=x.dtype), x.mean(axis=1), x.max(axis=0), np.ptp(x, axis=1)

    for one, other in zip(sums(x), sums.__wrapped__(x), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_integers_are_counted_only_where_every_sum_can_be_told() -> None:
    """In float32 a sum of more than 2**24 is rounded, and depends on the order."""
    mask = np.ones(2**24 + 4096, bool)
    with jax.enable_x64(True):
        total = sum_of(jnp.asarray(mask), (0,), np.dtype(np.float32))
    assert total.dtype == np.float32
    assert abs(float(total) - mask.size) <= 2 * mask.size * 2.0**-24
    assert aj.autocluster(policy="eager")(lambda m: np.mean(m))(mask) == 1.0


def large_and_unaligned(x: Any) -> Any:
    return (x > 0.5).sum(axis=0), (x * x + 1).sum(axis=1), x.max(axis=0), x.argmax(axis=1), np.any(x > 2), x.mean()


@pytest.mark.parametrize("offset", [0, 1, 3])
def test_windows_of_larger_arrays(offset: int) -> None:
    """An array that does not begin where XLA reads in place."""
    x = np.random.default_rng(1).random(offset + 600 * 130)[offset:].reshape(600, 130)
    compiled = aj.autocluster(policy="eager")(large_and_unaligned)
    for one, other in zip(compiled(x), large_and_unaligned(x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
        assert np.asarray(one).dtype == np.asarray(other).dtype


def sums_in_a_loop(x: Any, masks: Any, n: int) -> Any:
    rows, products = np.zeros(x.shape[1]), np.ones(x.shape[1])
    for i in range(n):
        rows = (x * (rows[0] + 1) * masks[i][:, None]).sum(axis=0) + (x[::2] * rows).sum(axis=0) * 0
        products = np.where(masks[i][:, None], x, 1.0)[-6:].prod(axis=0) * (products != np.inf)
    return rows, products, x.sum(axis=(0,)), x.T.sum(axis=1)


@pytest.mark.parametrize("length", [8, 31, 32, 33, 65, 79, 80, 81, 130])
@pytest.mark.parametrize("width", [3, 16, 40])
def test_short_and_long_columns_in_programs_with_loops(length: int, width: int) -> None:
    rng = np.random.default_rng(length)
    x = rng.integers(-3, 4, (length, width)) * 0.5
    x[0, 0], x[-1, 1], x[1, 2] = np.inf, np.nan, -np.inf
    masks = rng.random((3, length)) > 0.4
    compiled = aj.autocluster(policy="eager")(sums_in_a_loop)
    with np.errstate(invalid="ignore"):
        for one, other in zip(compiled(x, masks, 3), sums_in_a_loop(x, masks, 3), strict=True):
            np.testing.assert_array_equal(one, other)
