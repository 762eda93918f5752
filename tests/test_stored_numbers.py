"""Numbers that a loop stores or asks about are Python's for NumPy, also where all iterations are computed at once."""

import numpy as np
import pytest

from tests.helpers import check_calls

TENS = np.arange(40) * 10
SOME = np.where(np.arange(100) == 1, np.inf, np.where(np.arange(100) == 2, -np.inf, 1.0))
TURNED = np.where(np.arange(100) == 1, 2j, 1.0)


def ramp(x):
    for i in range(300):
        x[i] = i
    return x


def short_ramp(x):
    for i in range(200):
        x[i] = i
    return x


def items(x, y):
    for i in range(40):
        x[i] = y[i].item()
    return x


def scalars(x, y):
    for i in range(40):
        x[i] = y[i]
    return x


def grid(x):
    for i in range(16):
        for j in range(20):
            x[i, j] = i * 20 + j
    return x


def negative(x):
    for i in range(40):
        x[i] = -i
    return x


def filled(x):
    for i in range(300):
        x[i] = np.full(4, i, np.uint8)
    return x


def packed(x):
    for i in range(300):
        x[i] = np.array([i, 1], np.uint8)
    return x


def through_a_temporary(x):
    for i in range(300):
        t = np.zeros(4, np.uint8)
        t[:] = i
        x[i] = t * 2
    return x


def masked(x, y):
    for i in range(50):
        t = y[i] * 1
        t[t < 1] = i * 10
        x[i] = t
    return x


def the_last_fits(x):
    for i in range(300):
        x[0] = 299 - i
    return x


def the_last_is_no_nan(x, y):
    for i in range(40):
        x[0] = float(y[i])
    return x


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (ramp, (np.zeros(300, np.uint8),)),
        (ramp, (np.zeros(300, np.int16),)),
        (short_ramp, (np.zeros(300, np.uint8),)),
        (short_ramp, (np.zeros(300, np.int8),)),
        (items, (np.zeros(40, np.uint8), TENS)),
        (items, (np.zeros(40, np.uint8), TENS // 2)),
        (scalars, (np.zeros(40, np.uint8), TENS)),
        (scalars, (np.zeros(40, np.int32), TENS << 40)),
        (grid, (np.zeros((16, 20), np.uint8),)),
        (grid, (np.zeros((16, 20), np.int16),)),
        (negative, (np.zeros(40, np.uint64),)),
        (negative, (np.zeros(40, np.int8),)),
        (filled, (np.zeros((300, 4), np.uint8),)),
        (packed, (np.zeros((300, 2), np.uint8),)),
        (through_a_temporary, (np.zeros((300, 4), np.uint8),)),
        (masked, (np.zeros((50, 3), np.uint8), np.ones((50, 3), np.uint8))),
        (masked, (np.zeros((50, 3), np.uint8), np.zeros((50, 3), np.uint8))),
        (the_last_fits, (np.zeros(3, np.uint8),)),
        (the_last_is_no_nan, (np.zeros(3, np.uint8), np.where(TENS == 30, np.nan, 1.0))),
    ],
)
def test_integers_that_do_not_fit_raise(function, args):
    check_calls(function, args)


def asked_of_floats(ask):
    def function(x, y):
        for i in range(100):
            y[i] = ask(float(x[i]))
        return y

    return function


def asked_of_items(ask):
    def function(x, y):
        for i in range(100):
            y[i] = ask(x[i].item())
        return y

    return function


@pytest.mark.parametrize("asked", [asked_of_floats, asked_of_items])
@pytest.mark.parametrize("ask", [np.isposinf, np.isneginf, np.isfinite, np.nan_to_num, np.angle, np.fix])
def test_questions_about_python_floats(asked, ask):
    check_calls(asked(ask), (SOME, np.zeros(100)))


@pytest.mark.parametrize("ask", [np.iscomplex, np.isreal, np.real, np.imag])
def test_questions_about_python_complex_numbers(ask):
    def function(x, y):
        for i in range(100):
            y[i] = ask(complex(x[i]))
        return y

    check_calls(function, (TURNED, np.zeros(100)))


def test_a_condition_that_is_a_python_float():
    def function(x, y):
        for i in range(100):
            y[i] = np.where(float(x[i]), 1, 2)
        return y

    check_calls(function, (np.where(np.arange(100) % 3, 0.5, 0.0), np.zeros(100, int)))


@pytest.mark.parametrize(
    "mean", [lambda x: x[x < 1].mean(), lambda x: np.mean(x, where=x < 1), lambda x: x[x < 1].sum()]
)
def test_sums_of_one_selected_element_are_no_negative_zeros(mean):
    check_calls(mean, (np.array([-0.0]),), (np.array([-0.0, 2.0]),))
