"""`np.vectorize` and `np.apply_along_axis`: functions of the user's that NumPy calls."""

import math

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check


def step(x):
    if x > 0.5:
        return x * 2.0
    return -x


@np.vectorize
def decorated(x, y):
    return math.sqrt(x) + y if x > y else y * y


with_types = np.vectorize(lambda x: x + 1, otypes=[np.float32])
R = np.random.default_rng(3)
V, W, N = R.random(7), R.random((3, 1)), R.integers(-4, 5, 7)


def inside(x):
    return np.vectorize(lambda v: v * 2 if v > 0 else v)(x)


def nested(x):
    limit = x.mean()

    def clip(v):
        return v if v < limit else limit * 1.0

    return np.vectorize(clip, otypes="d")(x)


def two(x):
    return np.vectorize(lambda v: (v * 2, v > 0))(x)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x: decorated(x, 0.25), (V,)),
        (lambda x, y: decorated(x, y), (V, W)),
        (lambda x, y: decorated(x, y), (W, V.astype(np.float32))),
        (lambda x: with_types(x), (V,)),
        (lambda x: with_types(x * 0.5) * 2, (N,)),
        (lambda x: with_types(x[:0]), (V,)),
        (lambda x: np.vectorize(step)(x), (V,)),
        (lambda x: np.vectorize(step)(x[2]), (V,)),
        (lambda x: np.vectorize(step)([0.25, 0.75]) + x, (V[:2],)),
        (inside, (V,)),
        (inside, (N,)),
        (nested, (V,)),
        (nested, (W,)),
        (two, (V,)),
        (two, (N.reshape(7, 1),)),
        (lambda x: np.vectorize(lambda n: n // 2 % 3)(x), (N,)),
        (lambda x: np.vectorize(lambda n: 7 // n)(x), (np.arange(1, 8),)),
        (lambda x: np.vectorize(lambda v: v > 0)(x), (N,)),
    ],
)
def test_vectorize(function, arguments):
    check(function, *arguments, whole=True)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x: np.vectorize(lambda n: 7 // n)(x), (np.arange(-3, 4),)),  # ZeroDivisionError
        (lambda x: np.vectorize(step)(x[:0]), (V,)),  # ValueError: nothing to learn the dtype from
        (lambda x: np.vectorize(lambda v: 1.0 / v)(x), (np.array([1.0, 0.0]),)),
        (lambda x: np.vectorize(lambda v: 0 if v < 0.5 else v)(x), (np.array([0.1, 0.9, 0.7]),)),  # truncates
        (lambda x: np.vectorize(lambda v: v**0.5)(x), (np.array([1.0, -4.0]),)),  # a complex number
        (lambda x: np.vectorize(lambda v: 2 * v, otypes=[np.int8])(x), (N * 60,)),  # OverflowError
        (lambda x: np.vectorize(step)(x), (np.asfortranarray(R.random((3, 4))),)),
        (lambda x: np.vectorize(lambda v: v.sum(), signature="(n)->()")(x), (R.random((3, 4)),)),
        (lambda x: np.vectorize(lambda v, w: v + w, excluded={1})(x, 3), (V,)),
        (lambda x: np.vectorize(lambda v, w=2: v + w)(x, w=x), (V,)),
        (lambda x: np.vectorize(lambda v: np.array([v, v]), otypes="O")(x)[0], (V,)),
        (lambda x: np.vectorize(lambda v: f"{v:.2f}")(x), (V,)),
        (lambda x: np.vectorize(lambda v: v + 1j)(x), (V,)),
        (lambda x: np.vectorize(lambda v: v * 10**18)(x), (N + 50,)),
        (lambda x: np.vectorize(lambda v: v / 0 if v > 9 else v)(x), (V,)),
        (lambda x: np.vectorize(math.log)(x), (V - 0.5,)),
        (lambda x: np.vectorize(lambda v: [v, v], otypes="dd")(x), (V,)),
        (lambda x: np.vectorize(lambda v: (v, v, v), otypes="dd")(x), (V,)),
        (lambda x: (np.vectorize(len, otypes="!"), x * 2)[1], (V,)),  # ValueError when it is made
        (lambda x: (np.vectorize(5), x * 2)[1], (V,)),  # TypeError when it is made
    ],
)
def test_what_is_left_to_numpy_or_not(function, arguments):
    check(function, *arguments)


def test_effects_of_the_function_stay():
    seen = []

    def function(x):
        def note(v):
            seen.append(v)
            return v

        return np.vectorize(note)(x)

    fast = aj.autocluster(policy="eager")(function)
    for _ in range(2):
        seen.clear()
        np.testing.assert_array_equal(fast(V), V)
        assert len(seen) == len(V) + 1


def test_another_function_in_the_same_object():
    made = np.vectorize(lambda v: v + 1)
    fast = aj.autocluster(policy="eager")(lambda x: made(x))
    np.testing.assert_array_equal(fast(V), V + 1)
    made.pyfunc = lambda v: v * 2
    np.testing.assert_array_equal(fast(V), V * 2)
    made.otypes = "f"
    assert fast(V).dtype == np.float32


A, B = R.random((4, 5)), R.random((3, 4, 2))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x: np.apply_along_axis(np.sum, 0, x), (A,)),
        (lambda x: np.apply_along_axis(np.sum, 1, x), (A,)),
        (lambda x: np.apply_along_axis(lambda v: v - v.mean(), -1, x), (A,)),
        (lambda x: np.apply_along_axis(lambda v: v - v.mean(), 0, x), (A,)),
        (lambda x: np.apply_along_axis(lambda v: np.outer(v, v), 0, x), (A,)),
        (lambda x: np.apply_along_axis(lambda v: v[0] * 2, 0, x), (V,)),
        (lambda x: np.apply_along_axis(lambda v: v[::-1], 0, x), (V,)),
        (lambda x: np.apply_along_axis(np.cumsum, 1, x), (B,)),
        (lambda x: np.apply_along_axis(np.max, 0, x), (B,)),
        (lambda x: np.apply_along_axis(lambda v, k, add=0: v * k + add, 2, x, 3, add=1), (B,)),
        (lambda x: np.apply_along_axis(lambda v: v.sum() > 1, 1, x), (A,)),
        (lambda x: np.apply_along_axis(np.sum, 0, x.T), (A,)),
        (lambda x: np.apply_along_axis(lambda v: np.convolve(v, [1.0, 2.0], "same"), 1, x), (A,)),
    ],
)
def test_apply_along_axis(function, arguments):
    check(function, *arguments, whole=True)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x: np.apply_along_axis(np.sum, 5, x), (A,)),  # AxisError
        (lambda x: np.apply_along_axis(np.sum, 1, x[:0]), (A,)),  # ValueError
        (lambda x: np.apply_along_axis(np.sum, 0, x), (R.random((2, 2, 2, 2)),)),
        (lambda x: np.apply_along_axis(np.sort, 1, x), (A,)),
        (lambda x: np.apply_along_axis(lambda v: v[v > 0.5].sum(), 1, x), (A,)),
        (lambda x: np.apply_along_axis(lambda v: v[v > 0.5], 1, x), (A,)),
        (lambda x: np.apply_along_axis(lambda v: np.bincount(v, minlength=6), 1, x), (np.arange(6).reshape(2, 3),)),
    ],
)
def test_apply_along_axis_left_to_numpy_or_not(function, arguments):
    check(function, *arguments)


def test_a_function_that_writes_into_its_line():
    def function(x):
        def change(v):
            v[0] = 7
            return v.sum()

        return np.apply_along_axis(change, 1, x), x

    check(function, A)
