"""Rows of the op table whose results differed from NumPy's: powers of a half, single sample points, large ints, quantiles."""

import warnings

import numpy as np
import pytest

import autojit as aj
from tests.attacks import sequence
from tests.helpers import check, outcome

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of infinities and NaN
inf, nan = np.inf, np.nan
X = np.array([-inf, -0.0, 4.0, nan, 0.0, inf])


def bits(one):
    """A float's value with the sign of a zero, NaN being NaN."""
    array = np.asarray(one, float)
    return np.where(np.isnan(array), 7.5, array).tolist(), np.signbit(np.where(np.isnan(array), 1.0, array)).tolist()


def same_bits(function, *args, decorator=None):
    fast = (decorator or aj.autocluster(policy="eager"))(function)
    for _ in range(2):
        got, expected = (outcome(one, args, {}) for one in (fast, function))
        assert type(got.error) is type(expected.error) and str(got.error) == str(expected.error)
        assert type(got.result) is type(expected.result)
        assert getattr(got.result, "dtype", None) == getattr(expected.result, "dtype", None)
        if expected.error is None:
            assert bits(got.result) == bits(expected.result)
    return fast


def power(x, e):
    return x**e


def power_in_place(x, e):
    x **= e
    return x


def power_by_name(x, e):
    return np.power(x, e)


def float_power(x, e):
    return np.float_power(x, e)


def outer(x, e):
    return np.power.outer(x, e)


@pytest.mark.parametrize("function", [power, power_in_place, power_by_name, float_power, outer], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "exponent", [0.5, np.float64(0.5), np.float32(0.5), np.float16(0.5), np.array(0.5), np.array([0.5]), np.full(6, 0.5)], ids=repr
)
def test_powers_of_a_half(function, exponent):
    same_bits(function, X, exponent)
    same_bits(function, np.abs(X), exponent)
    same_bits(function, X.astype(np.float32), exponent)


def test_powers_of_a_half_of_numbers_and_of_constants():
    same_bits(lambda x: np.power(x[0], 0.5), X)
    same_bits(lambda x: x ** np.float64(0.5), X)
    same_bits(lambda x: x[1:2] ** np.full((1,), 0.5), X)
    sequence(power, (np.arange(4.0), np.float64(0.5)), (np.arange(4.0), np.float64(1.5)), (-np.arange(4.0), np.float64(0.5)))


def interpolated(x, xp, fp):
    return np.interp(x, xp, fp)


def test_interpolation_of_a_single_point():
    same_bits(interpolated, np.array([nan, 0.0, 1.0, 2.0]), np.array([1.0]), np.array([5.0]))
    check(interpolated, np.array([nan, 0.0, 2.0]), np.array([1.0]), np.array([5.0 + 1j]))
    same_bits(lambda x: np.interp(x, [1.0], [5.0], left=-1, right=nan), np.array([nan, 0.0, 1.0, 2.0]))


@pytest.mark.parametrize("ends", [(1.0, 2.0), (2.0, 2.0), (-1e308, 1e308)])
def test_interpolation_that_overflows_on_the_way(ends):
    same_bits(interpolated, np.array([9e307, -9e307, 0.0, nan]), np.array([-1e308, 1e308]), np.array(ends))


def quotient(a, b):
    return int(a[0]) / int(b[0])


def quotients(a, b):
    found = np.zeros(len(a))
    for k in range(len(a)):
        found[k] = int(a[k]) / int(b[k])
    return found


@pytest.mark.parametrize("decorator", [aj.autocluster(policy="eager"), aj.jit_compile, aj.jit_compile(exact=True)])
def test_quotients_of_large_ints_are_rounded_once(decorator):
    a, b = np.array([5311830953000365059, -7, 2**53 + 1]), np.array([2208201745226838697, 3, 7])
    for turn in range(3):
        same_bits(quotient, a[turn:], b[turn:], decorator=decorator)
    same_bits(quotients, a, b, decorator=aj.autocluster(policy="eager"))
    assert same_bits(quotients, a[1:2], b[1:2], decorator=aj.autocluster(policy="eager")).cache_info().traps == 0


FLAT, THIRD = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda a, b: np.cross(a, b), (FLAT, FLAT[::-1].copy())),
        (lambda a, b: np.cross(a, b), (FLAT, THIRD)),
        (lambda a, b: np.cross(a, b, axis=0), (THIRD, THIRD + 1)),
        (lambda a, b, c: np.maximum(a, b, c), (THIRD, THIRD + 1, np.zeros((2, 3)))),
        (lambda a, b, c: np.minimum(a, b, c), (THIRD, THIRD + 1, np.zeros((2, 3)))),
        (lambda a: np.fft.fftn(a, s=(2, 2)), (THIRD,)),
        (lambda a: np.fft.fft2(a, s=(2, None)), (THIRD,)),
    ],
)
def test_what_is_deprecated_warns_at_each_call(function, args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that NumPy warns is what is tested below
        is_refused = outcome(function, args, {}).error is not None  # by later versions of NumPy
    if is_refused:
        check(function, *args)
        return
    fast = aj.autocluster(policy="eager")(function)
    with pytest.warns(DeprecationWarning):
        expected = function(*args)
    for _ in range(3):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("default")  # "always", which `pytest.warns` sets, leaves everything to NumPy
            np.testing.assert_array_equal(fast(*args), expected)
        assert [each.category for each in found] == [DeprecationWarning]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        with pytest.raises(DeprecationWarning):
            fast(*args)


def test_products_across_of_three_elements_are_compiled():
    check(lambda a, b: np.cross(a, b), THIRD, THIRD[::-1].copy(), whole=True)


QUANTILES = [
    (lambda x: np.quantile(x, 1.0), np.array([1.0, inf])),
    (lambda x: np.quantile(x, 0.5), np.array([-0.0])),
    (lambda x: np.quantile(x, np.array([0.0, 0.25, 1.0])), np.array([3.0, -0.0, 0.0, 1.0])),
    (lambda x: np.percentile(x, 50), np.arange(5)),
    (lambda x: np.percentile(x, [0, 100]), np.array([1.0, inf, 2.0])),
    (lambda x: np.median(x), np.array([-1.0, -0.0, 1.0])),
    (lambda x: np.median(x), np.array([-0.0, -0.0])),
    (lambda x: np.median(x), np.array([2.0, nan, 1.0])),
]


@pytest.mark.parametrize(("function", "x"), QUANTILES)
def test_quantiles(function, x):
    same_bits(function, x, decorator=aj.jit_compile)
    same_bits(function, x)


def test_the_median_of_complex_numbers_with_nan():
    numbers = np.array([1 + 2j, complex(1, nan), 3.0, -1, 0.5])
    for x in (numbers, np.nan_to_num(numbers)):
        assert repr(aj.jit_compile(lambda x: np.median(x))(x)) == repr(np.median(x))


@pytest.mark.parametrize("q", [1, True, np.array([0, 1]), np.int64(0)])
def test_integer_quantiles_are_elements(q):
    for x in (np.arange(5), np.array([1.0, inf])):
        check(lambda x: np.quantile(x, q), x)
        with pytest.raises(aj.UncompilableError, match=r"\[host-op\] .*quantile"):
            aj.jit_compile(lambda x: np.quantile(x, q))(x)


def logarithms(x):
    return np.log(x)


@pytest.mark.parametrize("narrow", [{"message": "zzz"}, {"module": "zzz"}, {"category": RuntimeWarning, "lineno": 3}])
@pytest.mark.parametrize("action", ["ignore", "default"])
def test_filters_for_some_warnings_hide_none_of_the_others(narrow, action):
    fast, x = aj.autocluster(policy="eager")(logarithms), np.array([0.0, 1.0])
    for _ in range(2):
        fast(x)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="divide by zero")
        warnings.filterwarnings(action, **narrow)
        for function in (logarithms, fast, fast):
            with pytest.raises(RuntimeWarning, match="divide by zero encountered in log"):
                function(x)
    before = fast.cache_info().hits
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore")  # the case that is tested: the other filter alone speaks
        warnings.filterwarnings(action, **narrow)
        fast(x)
    assert fast.cache_info().hits == before + 1  # nothing is to be raised


@pytest.mark.parametrize("dtype", [np.int64, float, np.float32, complex])
def test_weights_that_cancel_but_for_rounding(dtype):
    """Whether they sum to zero, which raises, is a matter of the order."""
    large, small = (2**62, 1) if dtype is np.int64 else (1e17 if dtype is not np.float32 else 1e9, 1)

    def f(x, w):
        return np.average(x, axis=0, weights=w)

    x = np.arange(40.0).reshape(8, 5)
    column = [large, small, -large, 3, -4, 5, -3, -2]
    for turn in range(8):
        w = np.roll(column, turn).astype(dtype)
        check(f, x, np.stack([w, w[::-1], w + (w == 0), -w, w], axis=1))
        check(f, x[:, 0], w)


@pytest.mark.parametrize("dtype", [np.int64, float, np.float32, complex])
def test_averages_that_are_far_from_cancelling_are_compiled(dtype):
    def f(x, w):
        return np.average(x, weights=w)

    x, w = np.arange(1_000_000.0).astype(np.float32), (np.arange(1_000_000) % 7 + 1).astype(dtype)
    assert check(f, x, w).cache_info().traps == 0
    assert check(f, x, -w).cache_info().traps == 0
    w[::3] *= -1
    assert check(f, x.astype(float), w.astype(np.result_type(dtype, float))).cache_info().traps == 0


def counted_wide(a, b):
    return np.bitwise_count(a).astype(np.int64) & b.astype(np.int64)


def counted_narrow(a, b):
    return np.bitwise_count(a).astype(np.int32) | b.astype(np.int32)


def counted_element(a, b):
    return int(np.bitwise_count(a).diagonal(1)[0]) & b.min().item()


@pytest.mark.parametrize("function", [counted_wide, counted_narrow, counted_element])
@pytest.mark.parametrize("dtype", "bBhHiIlL")
def test_counts_of_bits_beside_other_integers(function, dtype):
    """XLA makes invalid code of counts in 32 bits or fewer."""
    a = np.array([[5, 3, 3], [1, 6, 127]], dtype=dtype)
    for other in "bBhHiIl":
        assert check(function, a, a.astype(other)).cache_info().hits
