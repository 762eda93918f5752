"""SciPy's objects that are called like functions: what they compute is their own, and not part of a program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import fft, interpolate, special

import autojit as aj
from autojit.ops.host import host_function, is_pure

T, KNOTS = np.linspace(0, 1, 40), np.linspace(0, 1, 300)


def made_inside(x, other, knots):
    spline = interpolate.CubicSpline(T, x)
    return np.exp(-((spline(knots) * 2) ** 2)).sum()


def given(x, spline, knots):
    return np.exp(-((spline(knots) * 2) ** 2)).sum()


def by_method(x, spline, knots):
    return np.exp(-((spline.__call__(knots) * 2) ** 2)).sum()


def in_a_loop(x, other, knots):
    total = 0.0
    for k in range(3):
        spline = interpolate.PchipInterpolator(T, x + k)
        total = total + np.exp(-((np.sin(spline(knots)) + np.cos(spline(knots))) ** 2)).sum()
    return total


@pytest.mark.parametrize("function", [made_inside, given, by_method, in_a_loop])
def test_another_object_of_the_same_class(function):
    fast = aj.autocluster(policy="eager")(function)
    for shift in (0.0, 0.5, -1.0):
        x = np.sin(T) + shift
        args = x, interpolate.CubicSpline(T, x), KNOTS
        np.testing.assert_allclose(fast(*args), function(*args), rtol=1e-12)


def test_an_object_that_is_changed():
    spline = interpolate.CubicSpline(T, np.sin(T))
    fast = aj.autocluster(policy="eager")(given)
    for _ in range(3):
        np.testing.assert_allclose(fast(T, spline, KNOTS), given(T, spline, KNOTS), rtol=1e-12)
        spline.c *= 0.5


def test_functions_that_are_no_plain_ones_are_pure_still():
    assert all(map(is_pure, (fft.fft, fft.next_fast_len, special.legendre_p, special.jv, interpolate.griddata)))
    spline = interpolate.CubicSpline(T, np.sin(T))
    assert not any(map(is_pure, (spline, spline.__call__, spline.antiderivative)))
    assert host_function(spline) is None
