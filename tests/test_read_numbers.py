"""Findings of reading the rules of numbers: modes, powers, bounds and places that are not NumPy's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autojit as aj
from autojit.passes import vectorize

BOOLS = np.array([True, False])
#: Whether a product is rounded before it is added up decides which of two numbers near zero this makes.
FACTOR = 1 + 2.0**-30
NEAR = -(1 + 2.0**-29)
#: Just above the middle between two of float32, and as float64 in the middle itself.
LARGE = 2**60 + 2**36 + 1


def run(function, *args) -> Any:
    try:
        return function(*(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args))
    except Exception as error:
        return type(error)


def same(function, *args):
    wanted, fast = run(function, *args), aj.autocluster(function, policy="eager")
    for _ in range(2):
        found = run(fast, *args)
        if isinstance(wanted, type):
            assert found is wanted
        else:
            assert type(found) is type(wanted) and found.dtype == wanted.dtype
            assert found.tobytes() == wanted.tobytes()
    return fast.cache_info()


@pytest.mark.parametrize("mode", [None, 0, 1, 2, "foo", "CLIP", b"clip", "raise", "wrap", "clip"])
@pytest.mark.parametrize("indices", [np.array([0, 3, 1]), np.array([0, 1, 1])])
def test_modes_of_choose(mode, indices):
    same(lambda i, a, b: np.choose(i, (a, b), mode=mode), indices, np.arange(3.0), np.arange(3.0) + 10)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0])
def test_powers_that_the_run_brings(exponent):
    given = np.array([exponent])
    same(lambda m, a: m ** int(a[0]), BOOLS, given)
    same(lambda m, x, a: (m[x > 1] ** int(a[0])), BOOLS, np.array([1.0, 2.0]), given)
    same(lambda m, a: np.power(m, int(a[0])), BOOLS, given)
    same(lambda m, n: m**n, BOOLS, int(exponent))


@pytest.mark.parametrize("zero", [complex(-0.0, 0.0), complex(0.0, -0.0), complex(-0.0, -0.0), 0j])
def test_squares_of_complex_zeros(zero):
    same(lambda z, a: z ** int(a[0]), np.array([zero, 1j, 2.0]), np.array([2.0]))


@pytest.mark.parametrize("value", [-200, -1, 0, 2, 255, 256, 70000])
@pytest.mark.parametrize("array", [np.array([1, 2, 3], np.uint8), np.array([1, -2, 3], np.int8), BOOLS[[0, 1, 0]]])
def test_bounds_that_the_run_brings(array, value):
    given = np.array([float(value)])
    for dtype in (np.uint8, np.uint16, np.int16, np.int64, np.float32):
        same(lambda x, y, a: np.clip(x, int(a[0]), y), array, np.full(3, 10, dtype), given)
        same(lambda x, y, a: np.clip(x, y, int(a[0])), array, np.full(3, 2, dtype), given)


def test_bounds_of_a_loop():
    def f(x, high, out):
        for k in range(-20, 20):
            out[k + 20] = np.clip(x, k, high)
        return out

    same(f, np.array([1, 2, 3], np.uint8), np.full(3, 10, np.uint16), np.zeros((40, 3), np.uint16))


@pytest.mark.parametrize("value", [-200, 2, 126, 127, 128, 200, 255, 256, 300, 70000])
@pytest.mark.parametrize("array", [np.array([1, 2, 3], np.uint8), np.array([1, -2, 3], np.int8), BOOLS[[0, 1, 0]]])
def test_upper_bounds_that_numpy_drops(array, value):
    for bound in (np.full(3, 300, np.int16), np.full(3, 300), np.full(3, 300.0), np.full(3, np.inf, np.float32), 500.0):
        same(lambda x, y, a: np.clip(x, y, int(a[0])), array, bound, np.array([value]))
        same(lambda x, y, k: np.clip(x, y, k), array, bound, value)
        same(lambda x, y, k: x.clip(k, y), array, bound, value)


@pytest.mark.parametrize("dtype", [np.int16, np.int64, np.float32])
@pytest.mark.parametrize("start", [-300, 87, 88, 100, 250])
def test_bounds_of_a_loop_that_numpy_drops(start, dtype):
    def f(x, low, out):
        for k in range(len(out)):
            out[k] = np.clip(x, low, k + start)
        return out

    for array in (np.array([1, -2, 3], np.int8), np.array([1, 2, 3], np.uint8)):
        same(f, array, np.full(3, 300, dtype), np.zeros((40, 3), dtype))


@pytest.mark.parametrize(
    "function", [lambda z, m: z[m].mean(dtype=float), lambda z, m: np.mean(z, dtype=np.float32, where=m)]
)
def test_means_that_drop_imaginary_parts(function):
    x, mask = np.arange(4) + 1j, np.array([True, False, True, True])
    fast = aj.autocluster(function, policy="eager")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")  # a filter that asks for every warning is left to NumPy
        fast(x, mask)
    assert [each.category for each in found] == [np.exceptions.ComplexWarning]
    assert not same(function, x.real.copy(), mask).native


def greatest(c, a):
    x = c + a[0] * a[1]
    return np.argmax(x), np.max(x)


def least(c, a):
    x = c - a[0] * a[1]
    return np.argmin(x), np.min(x)


@pytest.mark.parametrize("length", [385, 577, 578, 1249, 4801])
@pytest.mark.parametrize(("function", "sign"), [(greatest, 1), (least, -1)])
def test_places_are_inside(function, sign, length):
    c = np.full(length, -10.0 * sign)
    c[-1] = NEAR * sign
    fast = aj.autocluster(function, policy="eager")
    for _ in range(2):
        assert fast(c, np.full(2, FACTOR))[0] == length - 1


def test_places_in_branches_are_compiled():
    def f(x, out):
        for k in range(40):
            if x[k, 0] > 0.5:
                out[k] = np.argmax(x[k])
        return out

    x = np.random.default_rng(3).random((40, 7))
    info = same(f, x, np.zeros(40, np.int64))
    assert info.hits and not info.native and not info.traps


def _in_arithmetic(a, k):
    return a + k, k * a, np.maximum(a, k), np.where(a > 0, a, k)


def _as_items(a, k):
    made = np.zeros(3, a.dtype)
    made[0] = k
    made[1:] = k
    return made, np.full(3, k, a.dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64])
@pytest.mark.parametrize("function", [_in_arithmetic, _as_items])
def test_large_python_ints_become_python_floats_first(function: Any, dtype: type) -> None:
    k = LARGE
    for fast in (aj.autocluster(policy="eager")(function), aj.autocluster(policy="eager")(lambda a, _: function(a, k))):
        with np.errstate(all="ignore"):
            for found, wanted in zip(fast(np.ones(3, dtype), k), function(np.ones(3, dtype), k), strict=True):
                np.testing.assert_array_equal(found, wanted)
                assert found.dtype == wanted.dtype


def _in_a_loop(x, y):
    for i in range(len(x)):
        y[i] = int(x[i])
    return y


def _beside(x, y):
    for i in range(len(x)):
        y[i] = y[i] * 0 + int(x[i])
    return y


@pytest.mark.parametrize("function", [_in_a_loop, _beside])
@pytest.mark.parametrize("length", [1, 8, 300])
def test_large_python_ints_in_loops(function: Any, length: int) -> None:
    x = np.full(length, LARGE)
    for dtype in (np.float32, np.float64):
        found = aj.autocluster(policy="eager")(function)(x, np.zeros(length, dtype))
        np.testing.assert_array_equal(found, function(x, np.zeros(length, dtype)))


def test_what_nobody_needs_raises() -> None:
    def f(x, y):
        for i in range(64):
            y[i] = np.sum(np.where(np.arange(64) > i, 2**x, 0))
            x[i] = -1

    arguments = [(np.ones(64, int), np.zeros(64, int)) for _ in range(2)]
    for function, given in zip((f, aj.autocluster(policy="eager")(f)), arguments, strict=True):
        with pytest.raises(ValueError, match="negative integer powers"):
            function(*given)
    np.testing.assert_array_equal(arguments[0], arguments[1])


def _in_a_branch(s, y, n):
    if s[1] > 0:
        y[0] = n
        y[1:] = int(s[0])
    return y


def _in_branches_of_a_loop(s, y, n):
    for k in range(len(y)):
        if s[k % 2] > 0:
            y[k] = int(s[k % 2]) + n * 0
    return y


def _as_lists(s, y, n):
    y[:] = [int(s[0]), n, s[0]]
    return y, np.array([[s[0], 1.5], [int(s[0]), y[0]]], y.dtype), np.array([[n, 1], s, y[:2]], y.dtype)


def _with_floats(s, y, n):
    y[:] = [s[0], LARGE, 1.5]
    return y, np.array([np.int64(LARGE), LARGE, 2.5], y.dtype), np.insert(y, 0, [n, 2])


def _as_numbers(s, y, n):
    return y + np.asarray(int(s[0]), y.dtype), y + np.array(n, y.dtype), np.asarray(s[0], dtype=y.dtype) + y


def _as_copies(s, y, n):
    z, mask = y * 1, np.array([True, False, True])
    np.copyto(y, int(s[0]), where=mask)
    np.copyto(z, s[0])
    np.putmask(z, mask, n)
    return y, z


def _as_one_or_the_other(s, y, n):
    t = n
    for k in range(len(s)):
        if s[k] > 2:
            t = s[k]
    return y + np.asarray(t, y.dtype)


def _as_a_list_of_the_loop(s, y, n):
    made = []
    for k in range(3):
        made.append(int(s[k % 2]) + n * 0)
    return np.array(made, y.dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64])
@pytest.mark.parametrize(
    "function",
    [
        _in_a_branch,
        _in_branches_of_a_loop,
        _as_lists,
        _with_floats,
        _as_numbers,
        _as_copies,
        _as_one_or_the_other,
        _as_a_list_of_the_loop,
    ],
)
def test_ints_are_rounded_as_numpy_rounds_them(function: Any, dtype: type) -> None:
    for numbers in ((LARGE, 1), (1, LARGE), (-LARGE, 1)):
        given = np.array(numbers), np.zeros(3, dtype), LARGE
        wanted, fast = run(function, *given), aj.autocluster(function, policy="eager")
        for _ in range(2):
            found = run(fast, *given)
            pairs = zip(found, wanted, strict=True) if type(wanted) is tuple else [(found, wanted)]
            assert all(one.dtype == other.dtype and one.tobytes() == other.tobytes() for one, other in pairs)


def _chosen(s, x, out):
    for k in range(len(s)):
        out[k] = np.where(x[k] > 0, int(s[k]), x[k])
    return out


def _masked(s, x, out, n=LARGE):
    for k in range(len(s)):
        t = x[k] * 1
        t[t > 0] = n
        out[k] = t
    return out


def _packed(s, x, out, n=LARGE):
    for k in range(len(s)):
        out[k] = np.array([int(s[k]), n, x[k, 0]], x.dtype)
    return out


def _bounded(s, x, out):
    array = np.array([1, -2, 3], np.int8)
    for k in range(len(s)):
        out[k] = np.clip(array, x[k] * 300, k + 100)
    return out


@pytest.mark.parametrize("function", [_chosen, _masked, _packed, _bounded])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ints_of_all_iterations_at_once(monkeypatch: Any, function: Any, dtype: type) -> None:
    monkeypatch.setattr(vectorize, "nodes_cost", lambda nodes, inside: 0.0)
    monkeypatch.setattr(vectorize, "strips_cost", lambda nodes: 0.0)
    same(function, np.full(40, LARGE), np.ones((40, 3), dtype), np.zeros((40, 3), dtype))


@pytest.mark.parametrize("text", ["i,i->j", "1,1->", "i,i->,", "i,i->I", "é,é->", "$,$", "i,i->ii", "i,j->i", "I,i->Ii"])
def test_subscripts_of_moving_slices(text):
    def f(a, out):
        for i in range(len(out)):
            out[i] = np.einsum(text, a[i, :i], a[:i, i]).sum()
        return out

    same(f, np.arange(25.0).reshape(5, 5), np.zeros(5))
    same(lambda x: np.einsum(text[0], x) + 1, np.arange(3.0))


@pytest.mark.parametrize("axis", [None, 0, -1, 1, 2, -3, True, 1.0, "a", (), (0,), (0, 1), (1, 1), (2,)])
def test_sizes_along_axes(axis):
    def moving(a, out):
        for i in range(len(out)):
            out[i] = np.size(a[i:, :i], axis)
        return out

    def selected(a, out):
        out[0] = np.size(a[a > 2], axis=axis)
        return out

    same(moving, np.arange(25.0).reshape(5, 5), np.zeros(5))
    same(selected, np.arange(25.0).reshape(5, 5), np.zeros(5))


@pytest.mark.parametrize(
    "count", [lambda x: np.ndim(x, 0), lambda x: np.size(x, 0, axis=0), lambda x: np.shape(x, b=0), lambda x: np.size(x, 0, 1)]
)
def test_arguments_of_shapes(count):
    def f(a, out):
        for i in range(len(out)):
            out[i] = np.sum(count(a[i, :i]))
        return out

    same(f, np.arange(25.0).reshape(5, 5), np.zeros(5))


def _added(t, x):
    t += x[x > 2]
    return t


def _to_a_power(t, x):
    t **= x[x > 2]
    return t


def _with_places(t, x):
    t -= x.nonzero()[0]
    return t


@pytest.mark.parametrize("function", [_added, _to_a_power, _with_places])
def test_selected_elements_into_an_array_in_place(function):
    for target in (np.array(2.0), np.array([2.0]), np.array([2.0, 3.0])):
        for x in (np.array([1.0, 3.0]), np.array([3.0, 4.0]), np.array([0.0, 0.0])):
            same(function, target, x)


def _is_itself(x, n):
    count = 0
    for _ in range(n):
        y = np.ascontiguousarray(x)
        if y is x:
            count += 1
        x = x * 1.5
    return x + count


def _places_of_a_loop(x, n):
    y = np.zeros(4, np.int64)
    for k in range(n):
        y = np.unravel_index(np.arange(4) + k % 2, (3, 4))[0]
    z = y.ravel()
    z[0] += 7
    return y


def _places_returned(x, n):
    for k in range(n):
        y = np.unravel_index(np.arange(4) + k % 2, (3, 4))[0]
        if k == n - 2:
            return y
    return x


def _handed_on(n):
    x, y = np.unravel_index(np.arange(4), (3, 4))[0], np.zeros(4, np.int64)
    out = np.zeros(n)
    for k in range(n):
        z = y.ravel()
        z[0] += 7
        out[k] = y.sum()
        y = x
        x = x + 1
    return out


def _handed_on_twice(n):
    x, y, w = np.unravel_index(np.arange(4), (3, 4))[0], np.zeros(4, np.int64), np.zeros(4, np.int64)
    out = np.zeros(n)
    for k in range(n):
        z = w.ravel()
        z[0] += 7
        out[k] = w.sum()
        w = y
        y = x
        x = x + 1
    return out


def _handed_on_or_not(n):
    x, y = np.unravel_index(np.arange(4), (3, 4))[0], np.zeros(4, np.int64)
    out = np.zeros(n)
    for k in range(n):
        z = y.ravel()
        z[0] += 7
        out[k] = y.sum()
        y = y + 1
        if out[k] > 20.0 or k == 0:
            y = x
        x = x + 1
    return out


@pytest.mark.parametrize("function", [_handed_on, _handed_on_twice, _handed_on_or_not])
def test_vectors_with_gaps_that_another_name_gets(function):
    fast = aj.autocluster(function, policy="eager")
    for _ in range(3):
        np.testing.assert_array_equal(fast(40), function(40))


@pytest.mark.parametrize("function", [_is_itself, _places_of_a_loop, _places_returned])
def test_vectors_with_gaps_in_loops(function):
    for gaps in (1, 2, -1):
        given = np.arange(8.0)[::gaps][:4]
        fast = aj.autocluster(function, policy="eager")
        for x in (given, given.copy(), given):
            found, wanted = fast(x, 40), function(x, 40)
            np.testing.assert_array_equal(found, wanted)
            assert found.strides == wanted.strides


def test_loops_from_vectors_with_gaps_are_compiled():
    def f(a, n):
        v = a[:, 0]
        for _ in range(n):
            v = a @ v.reshape(-1)
            v = v / np.abs(v).max()
        return v

    a = np.eye(6) + 0.5
    fast = aj.autocluster(f, policy="eager")
    for _ in range(2):
        np.testing.assert_allclose(fast(a, 40), f(a, 40))
    info = fast.cache_info()
    assert info.hits and not info.native
