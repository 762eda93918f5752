"""What vectorized, ragged and rolled loops got wrong: found by reading their rules."""

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check

MINUS = -np.ones(8)


def relu_minus(x, out):
    for i in range(len(x)):
        out[i] = max(0, x[i]) * -1
    return out


def chosen_minus(x, out):
    for i in range(len(x)):
        out[i] = (x[i] if x[i] > 0 else 0) * -1
    return out


def clipped_times_index(x, out):
    for i in range(len(x)):
        out[i] = max(-1, x[i]) * i
    return out


def relu_twice(x, out):
    for i in range(len(x)):
        out[i] = max(0, x[i]) * 2 + 1
    return out


def float_minus(x, out):
    for i in range(len(x)):
        out[i] = max(0.0, x[i]) * -1
    return out


def branch_minus(x, y):
    s = 0
    if x[0] > 10:
        s = x[0]
    y[0] = s * -1
    return y


def branch_times(x, y):
    s = 0
    if x[0] > 10:
        s = x[0]
    return y * (s * -1)


def branch_large(x, y):
    s = 3
    if x[0] > 10:
        s = x[0]
    y[0] = s * 3002399751580331 - 9007199254740992
    return y


def branch_sums(x, y):
    s = 3
    if x[0] > 10:
        s = x[0]
    y[0] = s + 9007199254740991 + 1 - 9007199254740990
    return y


def carried(x, y):
    s = 0
    for i in range(len(x)):
        if x[i] > 10:
            s = x[i]
        y[i] = s * -1
    return y


def compared(x, y):
    for i in range(len(x)):
        y[i] = (max(0, x[i]) > 3) * 2.0
    return y


def chained(x, y):
    s = 0
    if x[0] > 10:
        s = x[0]
    y[0] = 1.0 if 0 < s < 5 else 2.0
    c = s > 3 and x[1] > 2
    return y * c


def best_twice(x, y):
    best = 0
    for i in range(len(x)):
        if x[i] > best:
            best = x[i]
        y[i] = best * 2
    return y


def grows(x, y):
    s = 1
    for i in range(len(x)):
        if x[i] > 10:
            s = x[i]
        s = s * 3000000000
        y[i] = s - 1
    return y


@pytest.mark.parametrize(
    "function", [compared, chained, best_twice, grows, relu_minus, chosen_minus, clipped_times_index, relu_twice, float_minus, branch_minus, branch_times, branch_large, branch_sums, carried]
)
@pytest.mark.parametrize("x", [MINUS, -MINUS, 20 * MINUS, -20 * MINUS, 0 * MINUS, np.array([-0.0, 0.0, 5.0, -5.0, 11.0, 12.0, -0.0, 1.0])])
def test_ints_that_may_be_floats(function, x):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(2):
        got, expected = fast(x.copy(), np.ones(8)), function(x.copy(), np.ones(8))
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


def test_a_best_number_that_begins_as_an_int_is_compiled():
    x = np.array([-1.0, -2.0, 3.0, 4.0, 2.0, 8.0])
    check(best_twice, x, np.zeros(6), whole=True)
    assert aj.jit_compile(best_twice)(x, np.zeros(6)).tolist() == best_twice(x, np.zeros(6)).tolist()


def averages(A, out):
    for j in range(A.shape[1]):
        out[:j] = np.average(A[:, :j], axis=0)
    return out


def averages_from_one(A, out):
    for j in range(1, A.shape[1]):
        out[:j] = np.average(A[:, :j], axis=0)
    return out


def averages_of_rows(A, out):
    for i in range(A.shape[0]):
        out[:i] = np.average(A[:i], axis=1)
    return out


@pytest.mark.parametrize("function", [averages, averages_from_one, averages_of_rows])
def test_averages_of_nothing(function, rng):
    check(function, rng.random((6, 8)), np.zeros(8))


def dots(A, B, out):
    for i in range(len(out)):
        out[i] = np.dot(A[i], B[i])
    return out


def dots_with_one(A, b, out):
    for i in range(len(out)):
        out[i] = np.dot(A[i], b)
    return out


@pytest.mark.parametrize("count", [5, 1000])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "f2"])
def test_products_of_single_numbers(count, dtype):
    minus, ones = np.full((count, 1), -0.0, dtype), np.ones((count, 1), dtype)
    for function, args in (
        (dots, (minus, ones, np.zeros(count, dtype))),
        (dots_with_one, (minus, ones[0], np.zeros(count, dtype))),
        (dots, (minus[:, :, None], ones[:, :, None], np.zeros((count, 1, 1), dtype))),
    ):
        decorated = aj.autocluster(policy="eager")(function)
        for _ in range(2):
            got, expected = decorated(*(a.copy() for a in args)), function(*(a.copy() for a in args))
            np.testing.assert_array_equal(got, expected)
            np.testing.assert_array_equal(np.signbit(got.real), np.signbit(expected.real))


def quotients(a, out):
    for i in range(len(a)):
        out[i] = int(a[i]) / 3
    return out


def quotients_of_indices(out):
    for i in range(len(out)):
        out[i] = (i * 10**16 + 1) / 7
    return out


@pytest.mark.parametrize("value", [2**53 + 1, 2**53, 7, -(2**60) - 1])
def test_quotients_of_ints_are_rounded_once(value):
    check(quotients, np.full(1000, value), np.zeros(1000), rtol=0.0)
    check(quotients_of_indices, np.zeros(1000), rtol=0.0)


def backwards(x, idx, out):
    for i in range(len(idx)):
        out[i] = x[idx[i] :: -1].sum()
    return out


@pytest.mark.parametrize("place", [np.iinfo(np.int64).max, np.iinfo(np.int64).min, np.iinfo(np.int64).max - 1, 8, 9, 0, -1, -9, -10])
def test_slices_backwards_from_far_outside(place):
    check(backwards, np.arange(1.0, 10.0), np.full(9, place), np.zeros(9))


# ---- rows


@pytest.mark.parametrize("order", [None, 1, 2, "fro", np.inf, -1])
def test_norms_of_what_masks_select(order, rng):
    x = rng.standard_normal((4, 5))
    check(lambda x: np.linalg.norm(x[x > 0], order), x)
    check(lambda x: np.linalg.norm(x[x > 0], order, axis=0), x)
    y, m = rng.standard_normal((6, 3, 4)), rng.random(6) > 0.5
    for axis in ((2, 1), (1, 2), (0, 1), 1, 0):
        check(lambda y, m, axis=axis: np.linalg.norm(y[m], ord=order, axis=axis).sum(), y, m)


@pytest.mark.parametrize("dtype", ["f4", "c8", "f8"])
@pytest.mark.parametrize("size", [1e20, 1e-25, 3.0])
def test_norms_of_vectors_are_added_in_their_own_precision(dtype, size):
    x = np.full((3, 4), size, dtype)
    with np.errstate(all="ignore"):
        check(lambda x: np.linalg.norm(x[0], 2), x)
        check(lambda x: np.linalg.norm(x, 2, axis=1), x)
        check(lambda x: np.linalg.vector_norm(x), x)
        check(lambda x: np.linalg.norm(x[0]), x)


@pytest.mark.parametrize("function", [np.convolve, np.correlate])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions_keep_the_smaller_part_of_a_number(function, mode, rng):
    a, v = rng.random(100) + 1e-12j * rng.random(100), rng.random(40) + 0j
    got, expected = aj.jit_compile(lambda a, v: function(a, v, mode))(a, v), function(a, v, mode)
    np.testing.assert_allclose(got.real, expected.real, rtol=1e-12)
    np.testing.assert_allclose(got.imag, expected.imag, rtol=1e-12)
    assert got.dtype == expected.dtype


def unused_int(x, out):
    for i in range(len(x)):
        _k = int(x[i])  # it may raise
        out[i] = x[i] * 2.0
    return out


def unused_round(x, out):
    for i in range(len(x)):
        _k = round(float(x[i]))
        out[i] = x[i] * 2.0
    return out


def unread_store(x, out):
    places = np.zeros(len(x), np.int64)
    total = np.float64(0.0)
    for i in range(len(x)):
        places[i] = float(x[i])
        total += x[i] * 0.5
    return total


@pytest.mark.parametrize("function", [unused_int, unused_round, unread_store])
@pytest.mark.parametrize(("value", "error"), [(np.nan, ValueError), (np.inf, OverflowError), (-1e300, None), (2.5, None)])
def test_integers_that_nobody_needs_raise(function, value, error):
    x = np.ones(1000)
    x[7] = value
    fast = aj.autocluster(function, policy="eager")
    if value == -1e300 and function is unread_store:
        error = OverflowError
    for _ in range(2):
        if error is not None:
            with pytest.raises(error):
                function(x, np.empty(1000))
            with pytest.raises(error):
                fast(x, np.empty(1000))
        else:
            np.testing.assert_array_equal(fast(x, np.empty(1000)), function(x, np.empty(1000)))
