"""Findings of reading the capture: arrays that look like numbers, orders of copies, results that overlap what is read."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj


def run(function, make):
    args = make()
    try:
        found = function(*args)
    except Exception as error:
        found = error
    return found, args


def steps(value):
    """The strides that say where elements lie."""
    return [step for step, length in zip(value.strides, value.shape) if length > 1] if isinstance(value, np.ndarray) else None


def same(function, make):
    wanted, before = run(function, make)
    fast = aj.autocluster(function, policy="eager")
    for _ in range(2):
        found, after = run(fast, make)
        assert type(found) is type(wanted)
        for ours, theirs in zip(after, before, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        if isinstance(wanted, Exception):
            assert str(found) == str(wanted)
            continue
        for ours, theirs in zip(found if isinstance(found, tuple) else (found,), wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            np.testing.assert_array_equal(ours, theirs)
            assert steps(ours) == steps(theirs)


def of_a_list(params, x):
    a = np.float64(params)
    b = a
    a += 1
    return np.dot(b, x)


def double(v):
    v *= 2


def by_a_helper(params, x):
    a = np.float64(params)
    double(a)
    return np.dot(a, x)


def of_a_shape(x):
    shape = np.int64(x.shape)
    other = shape
    shape *= 2
    return np.sum(other) + x


def of_a_scalar(s, x):
    v = s.reshape(1)
    w = v
    v += 1
    return np.sum(w) + x


def raveled(s, x):
    v = s.ravel()
    w = v
    v += 1
    return np.sum(w) + x


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (of_a_list, lambda: ([1.0, 2.0], np.array([3.0, 4.0]))),
        (by_a_helper, lambda: ([1.0, 2.0], np.array([3.0, 4.0]))),
        (of_a_shape, lambda: (np.ones((2, 3)),)),
        (of_a_scalar, lambda: (np.float64(2.0), np.ones(2))),
        (raveled, lambda: (np.float64(2.0), np.ones(2))),
    ],
)
def test_arrays_that_look_like_numbers(function, make):
    same(function, make)


@pytest.mark.parametrize("order", ["A", "K", "C", "F"])
@pytest.mark.parametrize(
    "view", [lambda x: x[:, ::2].T, lambda x: x.T, lambda x: x, lambda x: x[::2], lambda x: x.T[::2], lambda x: x[:, :1]]
)
def test_orders_of_copies(order, view):
    def copied(x):
        y = np.array(view(x), order=order)
        y.reshape(-1)[0] = -1
        return y

    def as_copied(x):
        y = np.asarray(view(x), order=order, copy=True)
        y.reshape(-1)[0] = -1
        return y

    def converted(x):
        y = np.array(view(x), np.float32, order=order)
        y.reshape(-1)[0] = -1
        return y

    for function in (copied, as_copied, converted):
        same(function, lambda: (np.arange(24.0).reshape(4, 6),))


@pytest.mark.parametrize("bounds", [0, False, (), None, (0, 3), (0.0, 0.0)])
def test_ranges_of_histograms(bounds):
    same(lambda x: np.histogram(x, 4, bounds), lambda: (np.array([0.0, 1.0, 2.0, 4.0]),))
    same(lambda x, r: np.histogram(x, 4, range=r)[0], lambda: (np.array([0.0, 1.0, 2.0, 4.0]), bounds))


def extent(x):
    np.ptp(x, axis=0, out=x[0])
    return x


def taken(a, buffer):
    np.take(a, buffer[:3], out=buffer[1:], mode="clip")
    return buffer


def chosen(a, buffer):
    np.choose(buffer[:3], a, out=buffer[1:], mode="clip")
    return buffer


def fixed(x):
    np.fix(x, out=x)
    return x


def put(x, i):
    np.put(x, i, 1.0)
    return x


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (extent, lambda: (np.array([[1.0, 5.0], [3.0, 2.0]]),)),
        (taken, lambda: (np.array([10, 20, 30, 40]), np.array([1, 2, 3, 0]))),
        (chosen, lambda: (np.arange(12).reshape(4, 3) + 10, np.array([1, 2, 3, 0]))),
        (fixed, lambda: (np.array([1.5, -1.5]),)),
        (put, lambda: (np.zeros(0), np.array([], int))),
        (put, lambda: (np.zeros(3), np.array([], int))),
    ],
)
def test_results_in_what_is_read(function, make):
    same(function, make)
