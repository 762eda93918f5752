"""Functions that a node calls: which of several is called, with which arguments, and how their results lie in memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import fft, linalg, special

import autojit as aj
from tests.attacks import sequence
from tests.helpers import assert_same

X = np.linspace(0.1, 1, 8)


def smoother(width):
    kernel = np.ones(width) / width

    @aj.host_op
    def smooth(x):
        return np.convolve(x, kernel, "same")

    return smooth


class Model:
    """Has a declared function of its own."""

    def __init__(self, width):
        self.smooth = smoother(width)


class Filter:
    """Has a declared method, one for each object."""

    def __init__(self, gain):
        self.gain = gain
        self.apply = aj.host_op(self._apply)

    def _apply(self, x):
        return np.cumsum(x) * self.gain


class Lowpass:
    """Is called like a function."""

    def __init__(self, alpha):
        self.alpha = alpha

    def __call__(self, x):
        return x * self.alpha


def by_argument(x, function):
    return function(np.sin(x) * 2) + 1


def by_attribute(x, model):
    return model.smooth(x * 2) + 1


def by_method(x, model):
    return model.apply(x * 2) + 1


def by_items(x, table):
    total = 0.0
    for name in ("a", "b"):
        total = total + table[name](x * 1.5)
    return total


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (by_argument, [smoother(1), smoother(3), smoother(5)]),
        (by_attribute, [Model(1), Model(3), Model(5)]),
        (by_method, [Filter(1.0), Filter(10.0)]),
        (by_argument, [Filter(1.0).apply, Filter(10.0).apply]),
        (by_argument, [aj.host_op(Lowpass(0.1)), aj.host_op(Lowpass(0.9))]),
        (by_argument, [fft.dct, fft.dst, fft.idct]),
        (by_argument, [fft.next_fast_len, special.expit, special.erf]),
        (by_items, [{"a": fft.dct, "b": fft.dst}, {"a": fft.idct, "b": fft.idst}]),
    ],
)
def test_the_function_that_is_given_is_called(function, given):
    fast = aj.autocluster(policy="eager")(function)
    for one in (*given, *given):
        try:
            expected = function(X.copy(), one)
        except TypeError as error:  # of `next_fast_len`
            with pytest.raises(TypeError) as caught:
                fast(X.copy(), one)
            assert type(caught.value) is type(error) and str(caught.value) == str(error)
            continue
        assert_same(fast(X.copy(), one), expected, 1e-12)


def test_functions_behind_one_decorator():
    fast, matrix = aj.autocluster(policy="eager")(by_argument), np.array([[0.1, 0.3], [0.2, 0.4]])
    for one in (linalg.cosm, linalg.sinm, linalg.pinv, linalg.cosm):
        assert_same(fast(matrix.copy(), one), by_argument(matrix.copy(), one), 1e-12)


@aj.host_op
def pick(x, where=None):
    return x[where] * 1.0


@aj.host_op
def scaled(x, k):
    return x * k


@aj.host_op
def named(name="b", x=1.0):
    return np.asarray(x) * len(name)


def a_list(x):
    return pick(x * 2, where=[0, 1]) + 1


def a_tuple(x):
    return pick(x * 2, (0, 1)) + 1, pick(x * 2, where=(0, 1)) + 1


def a_list_by_place(x):
    return pick(x * 2, [0, 1]) + 1


def a_numpy_int(x):
    return scaled(x + x, k=np.int64(3)), scaled(x + x, k=3), scaled(x + x, 3)


def a_text(x):
    return named("three", x * 2), x + 1


@pytest.mark.parametrize("function", [a_list, a_tuple, a_list_by_place, a_numpy_int, a_text])
def test_arguments_stay_what_they_are(function):
    sequence(function, (np.arange(9.0).reshape(3, 3),), (np.ones((3, 3), np.float32),))


in_c, in_f = aj.host_op(lambda a: a + 1), aj.host_op(lambda a: np.asfortranarray(a + 1))


@aj.host_op
def as_data_say(a):
    return np.asfortranarray(a + 1) if a[0, 0] > 0 else a + 1


def flattened(x, op):
    y = op(x * 2.0)
    flat = y.reshape(-1)
    flat[0] = -1.0
    return y, y.strides


def test_the_memory_order_of_what_they_give():
    fast = aj.autocluster(policy="eager")(flattened)
    for op in (in_c, in_f, in_c, in_f):
        got, expected = fast(np.ones((2, 3)), op), flattened(np.ones((2, 3)), op)
        assert_same(got, expected)
    for sign in (1, -1, 1, -1):
        x = np.ones((2, 3)) * sign
        assert_same(fast(x.copy(), as_data_say), flattened(x.copy(), as_data_say))
