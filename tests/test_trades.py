"""Loops that hand arrays from name to name: which object a name means during and after the loop."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.trips import every, vector


def fresh_and_given(n, x, y):
    for _ in range(n):
        y = np.zeros_like(x)
        x, y = y, x
    y += 1.0
    return x, y


def kept_old(n, x, y):
    old = y
    for _ in range(n):
        old = x
        x = np.sin(x) + 1.0
    old[0] = 9.0
    return x, old


def chain(n, x, y):
    older = old = y
    for _ in range(n):
        older = old
        old = x
        x = np.sin(x) + 1.0
    older[0] = 9.0
    old[1] = 7.0
    return x, old, older


def written_one_later(n, x, y):
    old = np.ones_like(x)
    for _ in range(n):
        old[0] += 3.0
        old = x
        x = np.cos(x)
    return x, old


def momentum(n, x, y):
    previous = x
    for _ in range(n):
        ahead = x + 0.5 * (x - previous)
        previous = x
        x = ahead - 0.1 * np.sin(ahead)
    return x


def momentum_returned(n, x, y):
    previous = x
    for _ in range(n):
        ahead = x + 0.5 * (x - previous)
        previous, x = x, ahead - 0.1 * np.sin(ahead)
    return x, previous


def swapped_arguments(n, x, y):
    for _ in range(n):
        x, y = y, x
    x[0] = 5.0
    return x, y


def rotated(n, x, y):
    z = x + y
    for _ in range(n):
        x, y, z = y, z, x
        x += 1.0
    z[:2] = -1.0
    return x, y, z


def until_small(n, x, y):
    error, turns = 1.0, 0
    while error > 1e-3 and turns < n:
        old = x
        x = 0.5 * np.cos(x)
        error = abs(x - old).max()
        turns += 1
        y = old
    y[0] = 3.0
    return x, y


def left_early(n, x, y):
    old = y
    for i in range(n):
        old = x
        x = np.sqrt(np.abs(x))
        if i >= 1 and x[0] > 0.5:
            break
    old[0] = 3.0
    return x, old


def given_in_a_branch(n, x, y):
    for i in range(n):
        if i % 3 == 1:
            y = x
            x = x * 2.0
    y[0] = 1.0
    return x, y


def second_name(n, x, y):
    z = x
    for _ in range(n):
        y = x
        x = x * 0.5
    y -= 1.0
    return x, y, z


def test_hands_arrays_from_name_to_name():
    programs = (
        fresh_and_given, kept_old, chain, written_one_later, momentum, momentum_returned, swapped_arguments, rotated,
        until_small, left_early, given_in_a_branch, second_name,
    )  # fmt: skip
    every(programs, vector, vector, trips=(6, 0, 1, 2, 3, 5, 40, -3), rounds=2)


def iterated(a, b, A):
    for x in a:
        a, b = b, a
        a[-1] += 1
        A[0] = x
    b = np.ones(len(a))
    for x in a:
        a, b = b, a
        a[-1] += 1
        A[1] = x
    return A


def a_name_beside(a, b, A):
    for i in range(2):
        c = a
        for k in range(40):
            x = c[k % 7]
            a, b = b, a
            a[k % 7] += 1
            A[i] += x
        b = np.ones(len(a))
    return A


def both_private(a, b, A):
    a, b = a + 1, b * 2
    c = a
    for _ in range(40):
        a, b = b, a
        a[-1] += 1
        A[0] += c[-1]
    return A


def goes_over_its_own(a, b, A):
    a, b = a + 1, b * 2
    for x in a:
        a, b = b, a
        a[-1] += 1
        A[0] = x
    return A


@pytest.mark.parametrize("function", [iterated, a_name_beside, both_private, goes_over_its_own])
def test_arrays_that_are_read_under_another_name(function):
    def arguments():
        return np.array([6.0, 4, -1, 1, -2, 5, 4]), np.array([0.0, 5, 1, -4, -4, 4, -3]), np.zeros((2, 7))

    decorated = aj.autocluster(policy="eager")(function)
    for _ in range(2):
        np.testing.assert_array_equal(decorated(*arguments()), function(*arguments()))
