"""Programs on which NumPy's own tests, driven through autojit, once found a difference."""

from __future__ import annotations

import gc
import sys

import numpy as np
from numpy._core._multiarray_umath import _get_sfloat_dtype

import autojit as aj
from tests.helpers import check


def test_arrays_of_strings_and_dates() -> None:
    check(lambda: np.array(["a", "b"]))
    check(lambda x: (np.asarray(["1", b"2"]), x + 1), np.ones(3))
    check(lambda text: np.array(text, dtype="datetime64[D]"), ["2001-01-01", "2002-02-03"])


def test_an_array_without_axes_is_not_split() -> None:
    for function in (np.hsplit, np.vsplit, np.dsplit, np.array_split, np.split):
        check(lambda x, function=function: function(x, 2), np.array(1.0))


def test_no_difference_is_the_argument_itself() -> None:
    def difference(x, n):
        return np.diff(x, n=n)

    fast = aj.autocluster(policy="eager")(difference)
    for value in ([1, 2], np.arange(3.0)):
        assert fast(value, 0) is value
    check(difference, np.arange(4.0), 2)


def test_bins_too_narrow_for_the_numbers() -> None:
    check(lambda x: np.histogram(x, bins=10), np.array([1, 1 + 2e-16] * 10))
    check(lambda x: np.histogram(x, bins=10), np.arange(30.0))


def test_no_axes_at_all_and_too_many() -> None:
    check(lambda: np.indices((), sparse=True))
    check(lambda: np.indices(()))
    check(lambda a, b: np.multiply.outer(a, b), np.ones((1,) * 33), np.ones((1,) * 33))


def test_views_made_by_einsum() -> None:
    for text, shape in (("...", (2, 3)), ("ij", (2, 3)), ("ji", (2, 3)), ("ii->i", (3, 3)), ("...ij->...ji", (2, 3))):
        for optimize in (False, True):
            check(lambda a, text=text, how=optimize: np.einsum(text, a, optimize=how), np.ones(shape))


def test_memory_order_of_products() -> None:
    functions = [
        lambda a, b: np.einsum("...ft,mf->...mt", a, b),
        lambda a, b: np.einsum("aft,mf->mta", a, b, optimize=True),
        lambda a, b: np.einsum("aft,mf->mta", a, b, order="A"),
        lambda a, b: b @ a,
        lambda a, b: np.tensordot(a, b, ((1,), (1,))),
    ]
    for function in functions:
        fast = aj.autocluster(policy="eager")(function)
        for first in "CF":
            for second in "CF":
                a, b = np.ones((2, 3, 5), order=first), np.ones((4, 3), order=second)
                assert fast(a, b).strides == function(a, b).strides


def test_running_float16_results_are_rounded_after_each_step() -> None:
    numbers = (np.random.default_rng(0).random(2000) * 3).astype(np.float16)
    for function in (np.cumsum, np.cumprod, np.add.accumulate, np.nancumsum, np.cumulative_sum):
        fast = aj.autocluster(policy="eager")(lambda x, function=function: function(x) + 1)
        np.testing.assert_array_equal(fast(numbers), function(numbers) + 1)


def test_insert_of_several_values_at_one_listed_place() -> None:
    a = np.array([[1, 1], [2, 2], [3, 3]])
    for place in ([1], [-1], [0]):
        for values in ([1, 2, 3], [[1], [2], [3]], 7, [[1, 2, 3], [4, 5, 6], [7, 8, 9]]):
            check(lambda a, v, place=place: np.insert(a, place, v, axis=1), a, np.array(values))
        check(lambda a, v, place=place: np.insert(a, place, v), a, np.array([7, 8]))


def test_digitize_rounds_whole_numbers_before_it_looks_whether_they_fall() -> None:
    x = 2**54
    for bins in ([x + 1, x - 1], [x - 1, x + 1], [x, x]):
        check(lambda x, bins: np.digitize(x, bins), np.array([x, x - 1]), np.array(bins))


def test_pad_refuses_what_numpy_refuses() -> None:
    a = np.arange(6).reshape(2, 3)
    for mode in ("constant", "edge", "reflect", "empty"):
        for width in ("3", 3.4, 1 - 1j, None, True, np.float64(2), [1.5, 2]):
            check(lambda a, width=width, mode=mode: np.pad(a, width, mode), a)
        if mode != "empty":
            check(lambda a, mode=mode: np.pad(a, 1, mode, constant_values=3), a)


def test_dtypes_with_metadata_are_numpys() -> None:
    marked = np.dtype(int, metadata={"unit": "s"})

    def make(dtype):
        return np.ones(3, dtype=dtype), np.arange(3).astype(dtype)

    def keep(x):
        return x[1:], x + 1

    array = np.arange(3)
    for function, plain, with_metadata in ((make, np.dtype(int), marked), (keep, array, array.astype(marked))):
        fast = aj.autocluster(policy="eager")(function)
        for argument in (with_metadata, plain, with_metadata):
            wanted = [result.dtype.metadata for result in function(argument)]
            assert [result.dtype.metadata for result in fast(argument)] == wanted


def test_bounds_of_clip():
    x = np.arange(5)
    for function in (
        lambda a: np.clip(a, 2), lambda a: np.clip(a, a_max=2), lambda a: np.clip(a, 2, 3, max=3), lambda a: np.clip(a),
        lambda a: a.clip(2), lambda a: a.clip(2, 3), lambda a: a.clip(max=3), lambda a: np.clip(a, None, 3),
        lambda a: a.clip(1, 2, min=3), lambda a: a.clip(1, 2, None, 5), lambda a: np.clip(a, min=2), lambda a: a.clip(1, 2, np.empty_like(a)), lambda a: a.clip(None, 2),
    ):  # fmt: skip
        check(function, x)


def test_tolerances_of_a_numpy_type():
    below = 1.0 - np.finfo(float).eps
    for function in (
        lambda x: np.isclose(x, np.float32(0), atol=below), lambda x: np.isclose(x, np.float32(0), atol=np.float64(below)),
        lambda x: np.isclose(x, 2, atol=0, rtol=np.float64(below / 2)), lambda x: np.allclose(x, x[:1], atol=np.float64(0)),
    ):  # fmt: skip
        check(function, np.array([below], np.float32))


def test_a_tuple_of_one_table():
    check(lambda: (np.indices((4,), sparse=True), np.indices((0,), sparse=True), np.indices((2,)), np.ogrid[0:3,]))


def test_single_precision_factors():
    a = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    for mode in ("reduced", "complete"):
        q, r = check(lambda x, mode=mode: np.linalg.qr(x, mode), a)(a)
        assert q.dtype == r.dtype == np.float32
        np.testing.assert_array_almost_equal_nulp(q.astype(float) @ r, a.astype(float), 2**30)


def test_indices_are_looked_at_where_nothing_is_taken():
    for a in (np.zeros((3, 3, 0)), np.zeros((1, 0, 3), bool), np.zeros((0, 2))):
        for i in (np.array([0, 5]), np.array([-1, 0]), np.array([-4], np.int8), np.array([], int)):
            for axis in (0, 1):
                check(lambda x, n, axis=axis: np.take(x, n, axis=axis), a, i)
                check(lambda x, n, axis=axis: x.take(n, axis, mode="clip"), a, i)
            check(lambda x, n: np.take(x, n), a, i)
            check(lambda x, n: x[:, n], a, i)


def test_masks_of_another_shape():
    for mask in (np.zeros(0, bool), np.zeros((2, 1), bool), np.zeros((1, 5), bool), np.zeros((2, 5), bool)):

        def write(a, m):
            a[2:4][m] = 0

        check(write, np.arange(25.0).reshape(5, 5), mask)
        check(lambda a, m: (a[2:4][m], a.sum()), np.arange(25.0).reshape(5, 5), mask)


def test_memory_order_of_what_numpy_makes_of_a_written_array():
    def program(a, b):
        a[1:] = b
        return np.insert(np.rollaxis(a, -1), -1, b, axis=0), np.append(a.T, a.T, axis=0)

    whole = np.arange(36, dtype=np.uint16).reshape(6, 6)
    for view in (lambda x: x[:3, 2::-1], lambda x: x[:3, :3], lambda x: x[::2, ::2], lambda x: x[::-1].T, lambda x: x.T):
        plain, fast = view(whole.copy()), view(whole.copy())
        expected, got = program(plain, 5), aj.autocluster(policy="eager")(program)(fast, 5)
        assert [x.strides for x in got] == [x.strides for x in expected]
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_dtype_that_equals_another() -> None:
    scaled = _get_sfloat_dtype()(1.0)
    assert scaled == np.dtype(float)

    def program(numbers, x, dtype):
        return np.array(numbers, dtype=dtype), np.empty(3, dtype), x.astype(dtype)

    fast = aj.autocluster(policy="eager")(program)
    for dtype in (float, scaled, np.dtype(float), scaled):
        for got, expected in zip(fast([1.0, 2.0], np.arange(3.0), dtype), program([1.0, 2.0], np.arange(3.0), dtype)):
            assert type(got.dtype) is type(expected.dtype)


def test_arguments_are_let_go_at_once() -> None:
    class Thing:
        pass

    def made(things, dtype):
        return np.array(things, dtype=dtype)

    def printed(array):
        return np.array2string(array)

    thing, array = Thing(), np.arange(2.0)
    counts = sys.getrefcount(thing), sys.getrefcount(array)
    gc.collect()
    gc.disable()
    try:
        aj.autocluster(policy="eager")(made)((3, thing), np.dtype("i,O"))
        aj.autocluster(policy="eager")(printed)(array)
        assert (sys.getrefcount(thing), sys.getrefcount(array)) == counts
    finally:
        gc.enable()
