"""Sharp edges of the reductions: NaN, large arrays, places of extremes, methods of ufuncs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autojit.ir.spec import Spec, spec_of
from autojit.ops.chapters import TABLE
from autojit.ops.reductions import UFUNC_METHODS
from ops.programs import run_program

SHAPES = [(1 << 17,), (99_991,), (512, 300), (300, 512), (64, 3, 512), (7, 40_000)]


def axes_of(shape: tuple[int, ...]) -> list[int | None]:
    return [None, *range(len(shape))]


def check_all(names: list[str], x: np.ndarray) -> None:
    """Every reduction over every axis, alone and on a fused operand, in one program."""
    calls = [(name, axis) for name in names for axis in axes_of(x.shape)]

    def make(p, x):
        made = p("np.add", p("np.multiply", x, 2.0), 1.0)
        return tuple(p(name, value, axis=axis) for name, axis in calls for value in (x, made))

    results = iter(run_program(make, x))
    made = x * x.dtype.type(2) + x.dtype.type(1)
    for name, axis in calls:
        for value in (x, made):
            np.testing.assert_array_equal(next(results), TABLE[name].call(value, axis=axis), err_msg=f"{name} {axis}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_extremes_of_large_arrays_keep_nan(rng, shape, dtype):
    x = rng.integers(-50, 50, shape).astype(dtype)
    names = ["np.max", "np.min", "np.argmax", "np.argmin"]
    check_all(names, x)
    flat = x.reshape(-1)
    flat[[5, flat.size // 2, -1]] = np.nan
    flat[[7, 8]] = np.inf, -np.inf
    check_all([*names, "np.nanmax", "np.nanmin"], x)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.int64, bool, np.float16])
def test_extremes_of_other_dtypes(rng, dtype):
    x = rng.integers(0, 100, (300, 1024)).astype(dtype)
    calls = [(name, axis) for name in ("np.max", "np.min", "np.argmax", "np.argmin") for axis in (None, 0, 1)]
    *results, is_trapped = run_program(lambda p, x: tuple(p(name, x, axis=axis) for name, axis in calls), x)
    assert not is_trapped
    for (name, axis), got in zip(calls, results, strict=True):
        np.testing.assert_array_equal(got, TABLE[name].call(x, axis=axis))


def test_position_of_the_first_extreme_with_signed_zeros():
    x = np.zeros(8192)
    x[::3] = -0.0
    results = run_program(lambda p, x: (p("np.argmax", x), p("np.argmin", x)), x)
    assert [int(r) for r in results] == [0, 0, False]


def test_float32_sums_do_not_stall():
    x = np.ones(1 << 25, np.float32)
    assert run_program(lambda p, x: p("np.sum", x), x)[0] == 1 << 25


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_are_as_good_as_pairwise_ones(rng, dtype):
    x = rng.uniform(size=1 << 20).astype(dtype)
    exact = math.fsum(x.tolist())
    for got in run_program(lambda p, x: (p("np.sum", x), p("np.sum", p("np.multiply", x, 1.0))), x):
        assert abs(float(got) - exact) <= 4 * np.finfo(dtype).eps * exact
    square = x.reshape(1024, 1024)
    for axis in (0, 1):
        got = run_program(lambda p, x: p("np.sum", x, axis=axis), square)[0]
        wanted = [math.fsum(row) for row in (square.T if axis == 0 else square).tolist()]
        assert np.abs(got - wanted).max() <= 64 * np.finfo(dtype).eps * max(wanted)


def test_sum_of_float16_is_accumulated_in_float32():
    x = np.full(5000, 0.1, np.float16)
    got = run_program(lambda p, x: (p("np.sum", x), p("np.mean", x)), x)
    assert got[0] == x.sum() and got[1] == x.mean()


def test_running_sums_of_whole_numbers_are_exact(rng):
    x = rng.integers(-9, 10, (37, 101)).astype(float)
    for axis in (None, 0, 1):
        got = run_program(lambda p, x: p("np.cumsum", x, axis=axis), x)[0]
        np.testing.assert_array_equal(got, np.cumsum(x, axis))


def test_empty_extremes_raise_as_in_numpy():
    empty = Spec((0, 3), np.dtype(float))
    for name in ("np.max", "np.min", "np.argmax"):
        with pytest.raises(ValueError) as raised:
            TABLE[name].infer([empty], {})
        with pytest.raises(ValueError) as wanted:
            TABLE[name].call(np.empty((0, 3)))
        assert str(raised.value) == str(wanted.value)
        assert TABLE[name].infer([empty], {"axis": 1})[0].shape == (0,)


def test_axis_errors_are_numpy_s():
    with pytest.raises(np.exceptions.AxisError):
        TABLE["np.sum"].infer([spec_of(np.ones(3))], {"axis": 1})


def test_zero_weights_go_to_numpy():
    x = np.arange(3.0)
    assert bool(run_program(lambda p, x: p("np.average", x, x), x * 0)[-1])
    assert not bool(run_program(lambda p, x: p("np.average", x, x), x + 1)[-1])


def test_methods_of_ufuncs_are_found():
    for name in ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or"):
        assert (name, "reduce") in UFUNC_METHODS
    assert ("add", "accumulate") in UFUNC_METHODS and ("subtract", "outer") in UFUNC_METHODS
    x = np.arange(12.0).reshape(3, 4)
    got = run_program(lambda p, x: (p("np.add.reduce", x), p("np.subtract.outer", x, 1.0)), x)
    np.testing.assert_array_equal(got[0], np.add.reduce(x))
    np.testing.assert_array_equal(got[1], np.subtract.outer(x, 1.0))
