"""Functions in the place of a library's own, and functions that pass for them."""

import functools
import math
import types
from unittest import mock

import numpy as np
import pytest
import scipy.linalg

import autojit as aj
from autojit.ops.host import host_function


class Fake:
    def seven_times(self, x):
        return x * 7


@pytest.mark.parametrize(
    ("place", "other", "run"),
    [
        ("numpy.fft.fft", lambda x: x * 7, lambda x: np.fft.fft(x) + 1),
        ("numpy.exp", lambda x: x * 7, lambda x: np.exp(x) + 1),
        ("numpy.cumsum", functools.partial(lambda a, x: a * x, 7), lambda x: np.cumsum(x) + 1),
        ("numpy.cumsum", functools.wraps(np.cumsum)(lambda x: x * 7), lambda x: np.cumsum(x) + 1),
        ("numpy.exp", Fake().seven_times, lambda x: np.exp(x) + 1),
        ("builtins.abs", Fake().seven_times, lambda x: abs(x) + 1),
        ("numpy.exp", np.vectorize(lambda x: x * 7), lambda x: np.exp(x) + 1),
        ("numpy.random.normal", lambda **options: np.ones(3), lambda x: x + np.random.normal(size=3)),
        ("numpy.linalg", types.SimpleNamespace(norm=lambda x: x * 7), lambda x: np.linalg.norm(x) + 1),
        ("math.exp", lambda x: 7.0, lambda x: x + math.exp(1.0)),
        ("math.exp", mock.Mock(return_value=7.0), lambda x: x + math.exp(1.0)),
        ("builtins.abs", lambda x: x * 7, lambda x: abs(x) + 1),
    ],
)
def test_what_a_test_puts_in_the_place_of_a_librarys_is_gone_with_the_test(place, other, run):
    function, x = aj.autocluster(policy="eager")(run), np.array([-1.0, 2.0, 3.0])
    with mock.patch(place, other):
        np.random.seed(0)
        expected = run(x)
        for _ in range(3):
            np.random.seed(0)
            np.testing.assert_array_equal(function(x), expected)
    np.random.seed(0)
    expected = run(x)
    for _ in range(3):
        np.random.seed(0)
        np.testing.assert_array_equal(function(x), expected)


SCALE = 2.0


@functools.wraps(np.sum)
def scaled_sum(x):
    return np.sum(x) * SCALE


@functools.wraps(scipy.linalg.det)
def said(x):
    SAID.append(float(x[0]))
    return x + 1


SAID: list[float] = []


def test_a_function_that_passes_for_numpys_is_still_the_users(monkeypatch):
    @aj.autocluster(policy="eager")
    def function(x):
        return scaled_sum(x) + 1

    x = np.ones(10)
    assert [function(x) for _ in range(3)] == [21.0] * 3
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert [function(x) for _ in range(3)] == [31.0] * 3


def test_a_function_that_passes_for_scipys_may_have_effects():
    @aj.autocluster(policy="eager")
    def function(x):
        said(x * 2)
        return x * 3

    SAID.clear()
    for _ in range(3):
        function(np.ones(2))
    assert SAID == [2.0] * 3


@pytest.mark.parametrize(
    "name", ["cholesky", "eigh", "svd", "qr", "pinv", "lstsq", "schur", "expm", "solve", "inv", "lu"]
)
def test_scipys_functions_are_its_own_whoever_has_wrapped_them(name):
    assert host_function(getattr(scipy.linalg, name)) is not None
