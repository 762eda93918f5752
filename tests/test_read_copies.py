"""Copies and temporaries, closures that outlive a call, long lists, roundings: read and mended."""

from __future__ import annotations

import locale

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check, check_call, check_calls


def sorts_its_diagonal(a):
    d = a.diagonal(1).copy()
    a[1, :-1] = d
    return np.sort(d) * 2.0


def sorts_a_reshaped_diagonal(a):
    b = a.reshape(-1)
    d = a.diagonal().copy()
    b[1:6] = d
    return np.sort(d) * 2.0


def sorts_its_transpose(a):
    d = a.T.copy()
    a[:] = d
    return np.sort(d) * 2.0


@pytest.mark.parametrize("function", [sorts_its_diagonal, sorts_a_reshaped_diagonal, sorts_its_transpose])
def test_what_is_written_may_be_a_view_of_its_target(function):
    check(function, np.arange(25.0).reshape(5, 5))


def adds_to_start(a, b):
    start = a.T * 1.0
    result = sum([b], start)
    result.reshape(-1)[0] = 99.0
    return result


def adds_to_new_start(a, b):
    result = sum([b, b], a.T * 1.0)
    result.reshape(-1)[0] = 99.0
    return result


def combines_bools(a, b):
    m = (a.T > 0) & (b > 0)
    m.reshape(-1)[0] = True
    return m


def combines_more_bools(a, b):
    m = (a.T > 0) & (b > 0) | (a > 1)
    m.reshape(-1)[0] = True
    return m


@pytest.mark.parametrize("function", [adds_to_start, adds_to_new_start, combines_bools, combines_more_bools])
@pytest.mark.parametrize("n", [300, 600])
def test_memory_that_numpy_reuses(function, n):
    fast = aj.autocluster(policy="eager")(function)
    x, y = -np.ones((n, n)), -np.ones((n, n))
    for _ in range(2):
        got, wanted = fast(x, y), function(x, y)
        np.testing.assert_array_equal(got, wanted)
        assert got.strides == wanted.strides


@pytest.mark.parametrize("function", [
    lambda x: (x * 2.0, x.transpose(tuple(np.argsort([1, 0])))),
    lambda x: (x * 2.0).transpose(tuple(np.argsort([1, 0]))),
    lambda x: (x * 2.0, np.broadcast_to(x, (np.int64(4), 2, 3))),
    lambda x: (x[0, 0] * 2.0, np.broadcast_to(x[0, 0], np.int64(4))),
    lambda x: (x * 2.0, np.lib.stride_tricks.sliding_window_view(x, np.int64(2), np.int64(0))),
    lambda x: (x * 2.0, x.swapaxes(np.int64(0), np.int64(1)), np.moveaxis(x, np.int64(0), np.int64(1))),
    lambda x: (x * 2.0, x.reshape(np.int64(3), np.int64(2)), x[np.int64(0) : np.int64(1)]),
])  # fmt: skip
@pytest.mark.filterwarnings("error::autojit.AutojitWarning")
def test_axes_and_shapes_of_numpys_ints(function):
    check(function, np.arange(6.0).reshape(2, 3))


def scaled(x):
    s = 1.0

    def g(v):
        return v * s

    if x[0] > 0.0:
        return g
    s = 3.0
    return g


def lazily_scaled(x):
    s = 1.0
    g = (v * s for v in (x, x + 1))
    if x[0] > 0.0:
        return g
    s = 3.0
    return g


def scaled_by_lambda(x):
    s = 1.0
    if x[0] > 0.0:
        return lambda v: v * s
    s = 3.0
    return lambda v: v * s + 1


@pytest.mark.parametrize("function", [
    lambda x: scaled(x)(x),
    lambda x: sum(lazily_scaled(x)),
    lambda x: scaled_by_lambda(x)(x),
])  # fmt: skip
def test_functions_that_outlive_a_call_see_the_names_of_its_way(function):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(2):
        for first in (1.0, -1.0):
            check_call(fast, function, np.array([first, 2.0]))


def repeats(x):
    flags = [False] * 3_000_000
    flags[0] = True
    return x * 2.0 + 1.0, len(flags), flags[:2]


def repeats_in_place(x):
    flags = [0.0]
    flags *= 3_000_000
    more = (1,) * np.int64(3)
    return x * 2.0, len(flags), more


def repeats_a_float(x):
    flags = [0.0]
    flags *= 2.0
    return x, flags


@pytest.mark.parametrize("function", [repeats, repeats_in_place, repeats_a_float])
def test_long_lists_are_pythons(function):
    check(function, np.ones(10))


def test_formats_of_the_locale_in_other_fields():
    def f(x, v, kind):
        return x * 2, "{:{}}".format(v, kind), "{0:{k}}".format(v, k=kind)

    fast, before = aj.autocluster(policy="eager")(f), locale.setlocale(locale.LC_NUMERIC)
    fast(np.ones(3), 1234567.5, "n")
    assert fast.explain(np.ones(3), 1234567.5, "n").native_statements
    assert not fast.explain(np.ones(3), 1234567.5, ".3f").native_statements
    assert locale.setlocale(locale.LC_NUMERIC) == before


LARGE = 2**60 + 2**36 + 1


@pytest.mark.parametrize("function", [
    lambda x, k: np.clip(x, 0, k),
    lambda x, k: np.insert(x, 0, k),
])  # fmt: skip
def test_large_python_ints_beside_narrow_floats(function):
    check_calls(function, (np.full(3, 2e18, np.float32), LARGE), (np.full(3, 2e18, np.float32), 7))


def stores_and_reads(v, y, z):
    for i in range(len(v)):
        y[i] = int(v[i])
        z[i] = y[i] * 3.0
    return y, z


def test_large_python_ints_that_are_stored_and_read():
    check(stores_and_reads, np.full(300, LARGE), np.zeros(300, np.float32), np.zeros(300, np.float32))


@pytest.mark.parametrize("z", [
    np.array([[complex(np.inf, 0), complex(-0.0, -1.0), 2j]]),
    np.ones((1, 2000), complex) * complex(-0.0, -1.0),
    np.array([complex(np.inf, 0)]),
    np.vstack([np.full(2000, complex(np.inf, 0)), np.ones(2000)]),
    np.vstack([np.full(3, complex(np.inf, 0)), np.ones(3)]),
])  # fmt: skip
@pytest.mark.parametrize("function", [lambda z: np.prod(z, axis=0), lambda z: np.multiply.reduce(z, axis=0)])
def test_products_of_few_complex_numbers_begin_with_one(function, z):
    fast = aj.autocluster(policy="eager")(function)
    with np.errstate(all="ignore"):
        for _ in range(2):
            got, wanted = np.asarray(fast(z)), np.asarray(function(z))
            for part in ("real", "imag"):
                one, other = getattr(got, part), getattr(wanted, part)
                np.testing.assert_array_equal(one, other)
                np.testing.assert_array_equal(np.signbit(one[~np.isnan(one)]), np.signbit(other[~np.isnan(other)]))


@pytest.mark.parametrize("function", [
    lambda x, y, z: np.outer(x, y) + z,
    lambda x, y, z: (np.kron(x, y) + z.reshape(-1)).reshape(z.shape),
    lambda x, y, z: np.cross(z[:, :3], z[:, 3:6]),
])  # fmt: skip
def test_products_of_float16_are_rounded(function):
    r = np.random.default_rng(0)
    x, y = r.standard_normal((2, 200)).astype(np.float16)
    z = r.standard_normal((200, 200)).astype(np.float16)
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(2):
        np.testing.assert_array_equal(fast(x, y, z), function(x, y, z))
