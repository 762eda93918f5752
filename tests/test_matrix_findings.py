"""What the matrix of rows, dtypes and layouts has found."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check, outcome


def check_memory(function, *args):
    """As `check`; the results lie in memory as NumPy's do, too."""
    fast = check(function, *args)
    wanted, got = outcome(function, args, {}).result, outcome(fast, args, {}).result
    for one, other in zip(got, wanted, strict=True):
        assert one.strides == other.strides


def test_power_of_bools_is_not_their_square():
    def f(a):
        return np.power(a, 2), a**2

    check(f, np.array([True, False]))


def test_power_of_complex_numbers_is_not_their_square():
    def f(a):
        return np.power(a, -1), np.power(a, 0.5)

    check(f, np.array([1 + 2j, -3 + 0.5j]))


def test_copies_of_repeated_arrays_keep_the_order_of_their_axes():
    def f(a, b):
        return a.astype(np.float32), np.nan_to_num(a), np.round(b), np.isclose(a, a), np.real(a), np.iscomplex(a)

    check_memory(f, np.broadcast_to(np.arange(4.0), (3, 4)), np.broadcast_to(np.arange(4), (3, 4)))


def test_order_of_an_outer_table():
    def f(a, b):
        return np.add.outer(a, b), np.multiply.outer(a.T, b)

    check_memory(f, np.arange(12.0).reshape(3, 4).T, np.arange(2.0))


def test_order_of_arrays_picked_on_a_later_axis():
    def f(a, i):
        return a[:, i], a[:, [0, 2]], np.delete(a, [0, 2], axis=1), a[i]

    check_memory(f, np.arange(12.0).reshape(3, 4), np.array([2, 0, 1]))


def test_reshaping_an_array_picked_on_a_later_axis_copies():
    def f(a, i):
        b = a[:, i]
        b.reshape(-1)[0] = 7
        return b

    check(f, np.arange(12.0).reshape(3, 4), np.array([2, 0, 1]))


def test_order_of_turned_results():
    def f(a, b):
        return (
            np.cross(a, b, axis=0),
            np.linspace(a[0], b[0], 4, axis=1),
            np.diff(a.T, 2),
            np.ones_like(a.T, shape=(2, 2)),
        )

    check_memory(f, np.arange(15.0).reshape(3, 5), np.ones((3, 5)))


def test_order_of_products_and_of_unravelled_indices():
    def f(a, i):
        return a @ a, np.matmul(a.T, a), np.dot(a, a), *np.unravel_index(i, (2, 3, 4)), *np.unravel_index(i.T, (4, 6))

    check_memory(f, np.arange(9.0).reshape(3, 3).T, np.array([[0, 11], [23, 5]]).T)


def test_choices_of_python_numbers_take_the_dtype_of_the_others():
    def f(i, a):
        return np.choose(i, [a, a, 3]), np.choose(i, [a, 1.5, 300]), np.choose(i, (1, 2, 3)), np.choose(i, [a, 300, a])

    check(f, np.array([0, 2, 1]), np.array([1, 2, 3], np.int8))
    check(f, np.array([0, 2, 1]), np.array([1, 2, 3], np.uint64))


def test_copy_that_cannot_be_avoided():
    def f(a):
        return np.array(a, copy=False, dtype=float)

    check(f, np.arange(3))
    check(f, np.arange(3.0))


def test_copy_of_an_array_keeps_its_order():
    def f(a, b):
        return np.asarray(a, copy=True), np.asarray(b, copy=True), np.asarray(b, copy=True, order="C")

    check_memory(f, np.broadcast_to(np.arange(4.0), (3, 4)), np.ones((3, 4)).T)


def test_array_in_its_own_scalar_type_is_itself():
    def f(a, b):
        return np.float64(a), np.float64(b), np.bool_(a > 1)

    check(f, np.arange(3.0), np.arange(3))


def test_copyto_a_scalar():
    def f(a):
        np.copyto(a, 1.0)
        return a

    check(f, np.float64(3))


def test_first_power_of_a_matrix_is_the_matrix():
    def f(a):
        return np.linalg.matrix_power(a, 1), np.linalg.matrix_power(a, 2)

    check(f, np.array([[1.0, 2.0], [3.0, 4.0]]))


def test_indices_of_a_diagonal_are_one_array():
    def f(n):
        one, other = np.diag_indices(n)
        one[0] = 3
        return one, other

    check(f, 4)


def test_bound_of_an_unsigned_range():
    def f(n):
        return np.arange(n) + 1

    check(f, np.uint64(3))
    check(f, np.int32(3))


def test_dot_into_an_array_without_axes():
    def f(a, out):
        return np.dot(a, a, out=out)

    check(f, np.array(2.0), np.array(0.0))
    assert type(aj.autocluster(f, policy="eager")(np.array(2.0), np.array(0.0))) is np.float64


def test_transform_along_no_axis_is_the_argument():
    def f(a):
        return np.fft.fftn(a), np.fft.ifftn(a), np.fft.fft2(np.ones((2, 2)), axes=(0, 1))

    check(f, np.array(2.0))
    check(f, np.array(2.0 + 1j))


def test_results_lie_as_their_computed_indices_do():
    def f(v, w, x, i):
        return v[i.T + 0], w[(i * 1).T, 0], x[i.T * 1, i.T * 1, 1], v[(i * 1).T][:, ::2], w[i.T * 1, 1:3]

    def one(w, i):
        return w[i.T * 1, 1:2][..., 0], w[1:2, i.T * 1][0]

    v, w, x = np.arange(6.0), np.arange(42.0).reshape(6, 7), np.arange(252.0).reshape(6, 7, 6)
    i = np.array([[1, 5, 0, 2], [3, 3, 4, 1], [0, 1, 2, 5]])
    for index in (i, np.asfortranarray(i), i[::-1]):
        check_memory(f, v, w, x, index)
        check_memory(one, w, index)


def test_the_copy_of_a_scalar_is_another_object():
    def f(x):
        one = x[0]
        return one.copy() is one, x[1:] is x

    check(f, np.arange(3.0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of numbers that overflow
@pytest.mark.parametrize("bad", [np.inf, np.nan, 3e38])
@pytest.mark.parametrize("name", ["fft2", "ifft2", "irfft", "hfft", "rfftn", "irfftn"])
def test_transforms_that_overflow(name, bad):
    """Which elements become infinite, or NaN, depends on the factors of the length that are taken first."""
    a = np.random.default_rng(0).random((5, 7)).astype(np.float32)
    transform = getattr(np.fft, name)

    def f(a):
        return transform(a)

    check(f, a)
    a[:2, 1] = bad
    check(f, a)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of numbers that overflow
def test_products_that_overflow_on_the_way():
    """NumPy stays at zero; a part of the product may be infinite, and zero times infinity is no number."""

    def f(a):
        return a.prod(), np.prod(a, axis=0), np.nanprod(a, axis=-1), np.cumprod(a), np.multiply.reduce(a, axis=1)

    rng = np.random.default_rng(0)
    a = rng.random((60, 70)) * 1e30
    a[0, 3] = a[5] = 0
    for dtype in (np.float64, np.float32, np.complex128):
        assert check(f, a.astype(dtype)).cache_info().traps


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of numbers that overflow
def test_products_that_underflow_on_the_way():
    def f(a):
        return a.prod(), np.cumprod(a)

    for last in (1e200, np.inf):
        assert check(f, np.array([1e-200, 1e-200, 1e200, last] * 5)).cache_info().traps


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of numbers that overflow
def test_products_in_range_are_compiled():
    def f(a):
        return a.prod(axis=0), np.nanprod(a), np.cumprod(a, axis=0)

    a = np.random.default_rng(0).random((40, 6)) + 0.5
    a[3, 2] = 0
    assert not check(f, a).cache_info().traps
    a[3, 4] = np.inf
    a[4, 5] = np.nan
    assert not check(f, a).cache_info().traps


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of numbers that overflow
def test_running_sums_that_overflow_on_the_way():
    def f(a):
        return np.cumsum(a), np.nancumsum(a), np.add.accumulate(a), a.cumsum(axis=0)

    check(f, np.array([1e308, 1e308, -1e308, -1e308] * 4))
    check(f, np.concatenate([np.full(20, 1e307), np.full(20, -1e307)]))
    assert not check(f, np.array([1e300, np.inf, np.nan, -np.inf] * 4)).cache_info().traps
    assert not check(f, np.arange(1000.0)).cache_info().traps


def test_sums_of_products_of_negative_zeros():
    """NumPy adds them to zero, but for the product of two single numbers."""

    def f(a, b, c, d):
        return (
            a @ b, np.dot(a, b), np.inner(a, b.T), np.tensordot(a, b, 1), np.tensordot(c, c, 0), np.dot(d, c),
            np.dot(d, d), c @ d, np.dot(0.0, -c), np.vdot(c, c), np.inner(d, d),
        )  # fmt: skip

    for dtype in (np.float64, np.float32):
        for length in (1, 3):
            a, b = np.zeros((2, length), dtype), -np.ones((length, 4), dtype)
            c, d = -np.ones(1, dtype), np.zeros((1, 1), dtype)
            fast = check(f, a, b, c, d)
            for one, other in zip(fast(a, b, c, d), f(a, b, c, d), strict=True):
                np.testing.assert_array_equal(np.signbit(one), np.signbit(other))
    check(f, np.zeros((1, 3)), -np.ones((3, 2)), -np.ones(1), np.zeros((1, 1)))


def test_types_of_optimized_einsum():
    def f(a, b):
        return np.einsum("i,i->", a, b, optimize=True), np.einsum("i,i->", a, b, optimize="greedy"), np.einsum("i,i", a, b)

    check(f, np.ones(3), np.arange(3.0))


def test_signs_of_zeros_in_complex_powers():
    """From the fourth power on, NumPy begins with a product by one."""

    def f(a, n):
        return (
            np.power(a, n), a**n, np.float_power(a, n), np.power(a, 4), np.power(a, 7), np.power(a, -6), np.power(a, 3),
            np.power(a, 8), np.power(a, 1), np.power(a, -1),
        )  # fmt: skip

    parts = np.array([1.0, -1.0, 2.5, -3.25, -8.0, 0.75])
    for dtype in (np.complex64, np.complex128):
        a = np.empty((6, 6), dtype)
        a.real, a.imag = parts[:, None], [0.0, -0.0, 1.0, -1.0, 0.25, 0.75]
        for n in (*range(-9, 10), np.array([2, 4, 6, 8, -4, 5]), np.array([1, 3, 4, -1, 0, 12], dtype)):
            fast = check(f, a, n)
            for one, other in zip(fast(a, n), f(a, n), strict=True):
                np.testing.assert_array_equal(np.signbit(one.real), np.signbit(other.real))
                np.testing.assert_array_equal(np.signbit(one.imag), np.signbit(other.imag))
            assert not fast.cache_info().traps


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of numbers that overflow
def test_complex_powers_that_overflow():
    check(lambda a: (np.power(a, 98), np.power(a, 63)), np.array([2.5 + 1j, -3.25 + 1j, -8 + 1j, 1], np.complex64))
    check(lambda a, n: np.power(a, n), np.array([2.5 + 1j, -8 + 1j], np.complex64), np.array([98, 63]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of numbers that overflow
def test_convolutions_that_overflow_on_the_way():
    def f(a, b):
        return np.correlate(a, b, mode="valid"), np.convolve(a, b), np.convolve(a, b, mode="same")

    a, b = np.ones(50, np.float32), np.ones(11, np.float32)
    a[3], b[2:4] = 3.4e38, [2, -1.5]
    assert check(f, a, b).cache_info().traps
    a[3] = np.inf
    assert not check(f, a, b).cache_info().traps
    check(f, np.array([-1.5, -1.0, 0.0]), np.array([-2.5, np.inf, 1.5]))
    check(f, np.array([-2.5, np.inf, 1.5]), np.array([-1.5, -1.0, 0.0]))
    c = np.array([0, 0.5 + 0.4j, -2.5j, 0.8, complex(0, -np.inf)])
    check(f, c, np.array([1, 0.2 + 0.1j, 0.9 + 0.3j]))


def test_linspace_along_an_axis_that_is_not_there():
    check(lambda a: np.linspace(a, 5, num=4, axis=1), np.array(5, np.uint8))
    check(lambda a: np.linspace(a, 5, num=4, axis=-3), np.ones(3))
    check(lambda a: np.linspace(a, 5, num=4, axis=1), np.ones(3))


@pytest.mark.parametrize("function", [np.cbrt, np.log, np.log2, np.log10])
def test_subnormal_constants_count_as_zero(function):
    """XLA computes constants itself, and does not flush them."""

    def f(a):
        return function(np.nextafter(np.imag(a), 1.0))

    with np.errstate(all="ignore"):
        got = aj.autocluster(policy="eager", check=False)(f)(np.arange(3.0))  # a check would tell of it
        np.testing.assert_allclose(got, function(np.zeros(3)), atol=1e-300)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of numbers that overflow
def test_products_of_matrices_that_overflow_on_the_way():
    """The order of a sum decides between an infinity and no number."""

    def f(a, b):
        return a @ b, np.dot(a, b), np.inner(a, b.T), np.tensordot(a, b, 1), np.einsum("ij,jk->ik", a, b), a[0] @ b[:, 0]

    for dtype in (np.float64, np.float32):
        top = np.finfo(dtype).max
        a = np.resize(np.array([top, 1.0, -top, 2.5, -1.0], dtype), (7, 16))
        b = np.resize(np.array([2.0, -3.0, 2.5, 1.5, top, 0.5, -2.0], dtype), (16, 9))
        assert check(f, a, b).cache_info().traps
        assert not check(f, a / top, b / top).cache_info().traps
        a[1, 3], b[4, 2] = np.nan, np.inf
        assert not check(f, np.clip(a, -3, 3), np.clip(b, -3, 3)).cache_info().traps


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of infinities
def test_products_of_complex_matrices_with_infinities():
    """BLAS multiplies its sums by one, which is a complex number: infinity times its zero is no number."""

    def f(a, b):
        return (
            a @ b, np.dot(a, b), np.inner(a, b.T), np.tensordot(a, b, 1), np.vdot(a[0], b[:, 0]), a[0] @ b,
            np.linalg.matrix_power(a, 3), np.linalg.multi_dot([a, b, a]), np.einsum("ij,jk->ik", a, b, optimize=True),
        )  # fmt: skip

    rng = np.random.default_rng(0)
    for dtype in (np.complex128, np.complex64):
        a, b = (rng.random((5, 5)) + 1j * rng.random((5, 5))).astype(dtype), (rng.random((5, 5)) - 0.5j).astype(dtype)
        assert not check(f, a, b).cache_info().traps
        a[1, 2] = complex(np.inf, 1)
        assert check(f, a, b).cache_info().traps
        a[1, 2] = complex(1, -np.inf)
        b[0, 0] = complex(np.nan, 0)
        check(f, a, b)


def test_einsum_adds_negative_zeros_to_zero():
    def f(a, b, v):
        return (
            np.einsum("ij,jk->ik", a, b), np.einsum("ij,jk", b.T, a.T), np.einsum("ij,j->i", b.T, v),
            np.einsum("i,ij", v, b), np.einsum("...j,jk->...k", a, b), np.einsum("ij,jk,k->i", a, b, b[0]),
            np.einsum("bij,bjk->bik", a[None], b[None]), np.einsum("ij,kj->i", b.T, a),
        )  # fmt: skip

    for dtype in (np.float64, np.float32, np.complex128):
        a, b, v = np.zeros((1, 3), dtype), -np.ones((3, 4), dtype), np.zeros(3, dtype)
        fast = check(f, a, b, v)
        for one, other in zip(fast(a, b, v), f(a, b, v), strict=True):
            np.testing.assert_array_equal(np.signbit(one.real), np.signbit(other.real))


def test_multi_dot_forms_the_products_that_numpy_forms():
    """Of equal costs, too. A sum of one number and zeros does not depend on the order, but a product does."""

    def f(*arrays):
        return np.linalg.multi_dot(arrays)

    rng = np.random.default_rng(0)
    made = lambda *shape: np.eye(*shape) * rng.random(shape)  # noqa: E731 -- a name for one expression
    for lengths in ([4, 4, 4, 4], [2, 2, 2, 2, 2], [3, 5, 3, 5, 3], [10, 100, 5, 50], [2, 9, 3, 4, 1, 7]):
        arrays = [made(rows, columns) for rows, columns in zip(lengths, lengths[1:])]
        first, last = arrays[0][0], arrays[-1][:, 0]
        for given in (arrays, [first, *arrays[1:]], [*arrays[:-1], last], [first, *arrays[1:-1], last]):
            np.testing.assert_array_equal(check(f, *given)(*given), f(*given))
    check(f, made(3, 4), rng.random(4))


def test_products_in_branches_that_data_decides():
    """They leave sums that overflow to NumPy, but never raise."""

    def f(a, b):
        c = a - b
        if a[0, 0] > 0.5:
            c = a @ b + np.dot(a[0], b[1]) + np.einsum("ij,kj->ik", a, b)
        return c

    a, b = np.random.default_rng(0).random((2, 5, 5))
    for first in (0.25, 0.75):
        a[0, 0] = first
        fast = check(f, a, b)
        assert fast.explain(a, b).is_whole and not fast.cache_info().traps


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of numbers that overflow
def test_complex_powers_whose_logarithm_overflows():
    def f(a, b):
        return np.float_power(a, b), np.power(a, b)

    top = np.finfo(float).max
    for dtype in (np.complex128, np.complex64):
        a = np.array([-1, 2, 0.5j, 1e-300, -3 + 1j], dtype)[:, None]
        b = np.array([complex(top, top), complex(-top, 1), complex(2, top / 3), complex(1e305, 0)]).astype(dtype)
        check(f, a, b)
    assert check(lambda a: np.float_power(-1, a), np.array(complex(top, top))).cache_info().traps
    assert not check(f, a, np.array([2.5 + 1j, 1e300], np.complex128)).cache_info().traps


def test_sums_of_equal_negative_zeros_are_zero():
    """XLA makes a product of a sum of equal numbers, of which it knows that they are."""

    def filled(a):
        a[...] = -0.0
        return np.sum(a, axis=(0, 1)), a.sum(axis=0), a[1:].sum(), np.add.reduce(a), np.einsum("ij->i", a), np.trace(a)

    def broadcast(v, w, k):
        rows, columns = np.broadcast_to(v, (3, 2)), np.repeat(w, 2).reshape(3, 2)
        zeros = np.zeros(4) * k
        return (
            rows.sum(axis=0), rows.mean(axis=0), columns.sum(axis=1), np.sum(zeros), np.nansum(zeros),
            np.average(zeros), np.sum(zeros, initial=-0.0), np.sum(np.full(5, k) * 0.0), np.einsum("i->", zeros),
        )  # fmt: skip

    for dtype in (np.float64, np.float32, np.float16, np.complex128):
        assert check(filled, np.ones((3, 2), dtype)).cache_info().hits
    check(broadcast, np.full(2, -0.0), np.full(3, -0.0), -1.0)


def test_new_arrays_without_elements_have_numpys_strides():
    """The order of the axes of what is made of them depends on them."""

    def f(x):
        windows = np.lib.stride_tricks.sliding_window_view(np.sinh(x), 2, axis=0)
        return windows.sum(axis=-2), windows.sum(axis=-2, keepdims=True), windows.max(axis=2, initial=0.0)

    check_memory(f, np.zeros((4, 4, 0)))
    check_memory(f, np.zeros((4, 4, 1)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of numbers that overflow
def test_products_with_infinities_and_others_that_overflow():
    """An infinity meets another one, of the other sign, where a product overflows before it is added."""

    def f(a, b):
        return np.dot(a, b), a @ b, np.einsum("ij,jk->ik", a, b), np.inner(a, b.T), np.linalg.multi_dot([a, b, b])

    big = np.finfo(float).max
    a = np.array([[-big, 1, -np.inf], [-np.inf, -big, 1], [1, 2, np.inf], [3, np.nan, 1], [1, 2, 3]])
    b = np.array([[-10.0, 1, 2], [1, -10, 3], [1, 1, 0]])
    assert check(f, a, b).cache_info().traps
    assert not check(f, a[2:], b).cache_info().traps


def test_variances_in_complex_numbers():
    def f(x):
        with np.errstate(all="ignore"):
            return np.var(x, dtype="complex128", correction=1), x.std(dtype=np.complex64), np.var(x, dtype="float64")

    for x in (np.array([False]), np.array([3.0, np.inf]), np.array([1.0, 2.0, 4.0]), np.array([2])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # no degrees of freedom
            wanted, fast = f(x), aj.autocluster(policy="eager")(f)
            for one, other in zip(fast(x), wanted, strict=True):
                assert type(one) is type(other)
                np.testing.assert_array_equal([one.real, one.imag], [other.real, other.imag])
