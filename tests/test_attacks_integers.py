"""Python ints made from loop indices: they have no bounds in Python, and 64 bits in a compiled program."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import check


def linear_congruence(a, n):
    o = np.zeros(n)
    for i in range(n):
        o[i] = a[(i * 6364136223846793005 + 1442695040888963407) % 10]
    return o


def linear_congruence_of_ten(a, n):
    o = np.zeros(10)
    for i in range(10):
        o[i] = a[(i * 6364136223846793005 + 1442695040888963407) % 10]
    return o


def compared(a, n):
    o = np.zeros(10)
    for i in range(n):
        o[i] = a[i] if i * 2**62 > 0 else -a[i]
    return o


def negated(a, n):
    o = np.zeros(n)
    for i in range(n):
        o[i] = a[-(i * 2**62) % 5]
    return o


def added(a, n):
    o = np.zeros(n)
    for i in range(n):
        o[i] = (2**62 + i * 2**60) // 2**60
    return o


def squared(a, n):
    o = np.zeros(n)
    for i in range(n):
        o[i] = a[(i * i * 2**61) % 7]
    return o


def enumerated(a, n):
    o = np.zeros(10)
    for i, x in enumerate(a):
        o[i] = x * (i * 4000000000000000000)
    return o


def nested(a, n):
    o = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            o[i, j] = max(i * j * 2**60, 0) % 11
    return o


FUNCTIONS = [linear_congruence, linear_congruence_of_ten, compared, negated, added, squared, enumerated, nested]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("count", [5, 9])
def test_ints_beyond_64_bits(function, count):
    check(function, np.arange(10.0) + 1, count)


@pytest.mark.parametrize("factor", [3, 2**31, 2**40, 2**62, -(2**62)])
def test_factors_that_the_run_brings(factor):
    def f(n, k):
        o = np.zeros(n)
        for i in range(n):
            o[i] = i * k > 0
        return o

    fast = check(f, 5, 3)
    np.testing.assert_array_equal(fast(5, factor), f(5, factor))
    np.testing.assert_array_equal(fast(5, factor), f(5, factor))
    check(f, 5, factor)


@pytest.mark.parametrize("start", [3, 2**61])
def test_ranges_far_from_zero(start):
    def f(a, start):
        o = np.zeros(4)
        for i in range(start, start + 4):
            o[i - start] = a[(i * 5) % 7]
        return o

    fast = check(f, np.arange(7.0), 2)
    np.testing.assert_array_equal(fast(np.arange(7.0), start), f(np.arange(7.0), start))
    check(f, np.arange(7.0), start)
