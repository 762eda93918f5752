"""Findings of a second reading: numbers that are asked for views, places that are written twice, exceptions of others."""

from __future__ import annotations

import ctypes
import sys
import threading
import time

import jax
import numpy as np
import pytest
from scipy import interpolate, linalg

import autojit as aj
from autojit.runtime.info import with_callees

LARGEST = 2**63 - 1


def run(function, make):
    args = make()
    try:
        with np.errstate(all="ignore"):
            return function(*args), args
    except Exception as error:
        return error, args


def equal(ours, theirs):
    assert type(ours) is type(theirs)
    if isinstance(theirs, Exception):
        assert str(ours) == str(theirs)
    elif isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            equal(one, other)
    elif isinstance(theirs, np.ndarray | np.generic):
        assert ours.dtype.char == theirs.dtype.char and ours.shape == theirs.shape
        np.testing.assert_array_equal(ours, theirs)
        for part in (np.real, np.imag) if ours.dtype.kind in "fc" else ():
            np.testing.assert_array_equal(np.signbit(part(ours)), np.signbit(part(theirs)))
        assert [s for s, n in zip(ours.strides, ours.shape) if n > 1] == [s for s, n in zip(theirs.strides, theirs.shape) if n > 1]
    else:
        assert ours == theirs


def same(function, *makes, **flags):
    """The calls, in turn, give what NumPy gives, and leave in their arguments what it leaves there."""
    fast = aj.autocluster(function, policy="eager", **flags)
    for make in (*makes, makes[0]):
        (wanted, before), (found, after) = run(function, make), run(fast, make)
        equal(found, wanted)
        equal(tuple(after), tuple(before))


# ---- Python's numbers


def at_least(x):
    y = float(x.sum())
    z = np.atleast_1d(y)
    z *= 2
    return x * y, z, y


def reshaped(x):
    y = float(x.sum())
    z = np.reshape(y, (1, 1))
    z += 1
    return y, z, x * y


def expanded(x):
    k = int(x[0])
    z = np.expand_dims(k, 0)
    z -= 5
    return k, z


def raveled(x):
    y = float(x[1])
    z = np.ravel(y)
    return y, z


def squeezed(x):
    return np.squeeze(float(x.sum())), np.transpose(int(x[0])), x * 2


def flipped(x):
    return np.flip(float(x.sum())), np.real(float(x.sum())), x + 1


NUMBERS = [at_least, reshaped, expanded, raveled, squeezed, flipped]


@pytest.mark.parametrize("function", NUMBERS)
def test_a_view_of_a_number_is_an_array_of_its_own(function):
    same(function, lambda: (np.array([1.0, 2.0]),), lambda: (np.array([3.0, -2.0]),))


@pytest.mark.parametrize("make", [np.asarray, np.array, np.copy, np.ascontiguousarray, np.atleast_1d])
@pytest.mark.parametrize(("kind", "number"), [("f4", float), ("i1", int), ("f4", int), ("c8", complex)])
def test_an_array_made_of_a_number_decides_about_dtypes(make, kind, number):
    same(lambda x: make(number(x[0])) * x, lambda: (np.ones(3, kind),))


def test_a_copy_of_a_scalar_is_an_array():
    def copied(x):
        z = np.copy(x.sum())
        return z, z.reshape(1)

    def cast(x):
        z = np.asarray(x.sum()).astype("f4")
        return z, z[...]

    for function in (copied, cast):
        same(function, lambda: (np.array([1.0, 2.0]),))
        z, view = aj.autocluster(function, policy="eager")(np.array([1.0, 2.0]))
        assert np.shares_memory(z, view)


# ---- indices


def test_places_named_twice_are_written_as_numpy_goes_through_them():
    def listed(a, j, v):
        a[[[0], [1]], j] = v
        return a

    def paired(a, i, j, v):
        a[i[:, None], j] = v
        return a

    def three(a, i, j, v):
        a[i, j] = v
        return a

    j, v = np.array([1, 1]), np.array([1.0, 2.0])
    same(listed, lambda: (np.zeros((2, 3)), j.copy(), v.copy()), lambda: (np.zeros((2, 3)), j[::-1], v[::-1].copy()[::-1]))
    same(listed, lambda: (np.zeros((2, 3)), j[::-1], np.array([2.0, 1.0])[::-1]))
    backwards = np.array([2.0, 1.0])
    same(
        paired,
        lambda: (np.zeros((2, 3)), np.arange(2), j.copy(), v.copy()),
        lambda: (np.zeros((2, 3)), np.arange(2), j[::-1], backwards[::-1]),
    )
    same(
        three,
        lambda: (np.zeros((2, 3)), np.zeros(2, int)[::-1], j.copy(), v.copy()),
        lambda: (np.zeros((2, 3)), np.zeros(2, int)[::-1], j[::-1], backwards[::-1]),
    )


def test_item_takes_as_many_indices_as_there_are_axes():
    for index in ((0, 1), (1,), ((0, 1, 0),), ((3,),)):
        same(lambda x, index=index: x.item(*index), lambda: (np.arange(4.0).reshape(2, 2, 1),))


def test_a_view_as_another_type_of_the_same_size():
    same(lambda x: (x.view(np.longlong), x.view(np.int64), x + 1), lambda: (np.arange(3),))


# ---- ranges


def halved(x, start, stop, step):
    for _ in range(start, stop, step):
        x = x * 0.5
        if x[0] < 1e-3:
            break
    return x


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [(0, LARGEST, 2), (0, LARGEST, 3), (-10, LARGEST, 2), (0, -(2**63), -3), (LARGEST - 20, LARGEST, 2), (5, 1, 2), (0, 7, 2)],
)
def test_ranges_that_end_at_the_largest_integer(start, stop, step):
    x = np.ones(4)
    same(lambda x, start, stop: halved(x, start, stop, step), lambda: (x.copy(), start, stop))
    same(lambda x: halved(x, start, stop, step), lambda: (x.copy(),))


# ---- operations


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda a, v: np.insert(a, range(2), v, axis=1), (np.zeros((2, 3)), np.array([[1.0, 2.0], [3.0, 4.0]]))),
        (lambda a, v: np.insert(a, range(1, 2), v, axis=1), (np.zeros((2, 3)), np.array([[1.0, 2.0], [3.0, 4.0]]))),
        (lambda a, v: np.insert(a, range(3, 0, -1), v), (np.zeros(5), np.array([1.0, 2.0, 3.0]))),
        (lambda a, v: np.insert(a, range(0), v), (np.zeros(5), 2.0)),
        (lambda a, v: np.insert(a, slice(None), v), (np.arange(40.0), -1.0)),
        (lambda a, v: np.insert(a, slice(None, None, 2), v, axis=1), (np.arange(80.0).reshape(2, 40), np.arange(20.0))),
        (lambda a, v: np.insert(a, [len(a)], v), (np.arange(4.0), np.arange(3.0))),
        (lambda a, v: np.insert(a.T, 7, v, axis=0).ravel(order="K"), (np.arange(200.0).reshape(10, 20), 0.0)),
        (lambda a, v: np.insert(a.T, [9, 8], v, axis=0), (np.arange(200.0).reshape(10, 20), np.arange(20.0).reshape(2, 10))),
        (lambda a, v: np.delete(a.T, 7, axis=0).ravel(order="K") + v, (np.arange(200.0).reshape(10, 20), 0.0)),
        (lambda a, v: np.diff(a.T, n=4).ravel(order="K") + v, (np.arange(200.0).reshape(10, 20) ** 2, 0.0)),
        (lambda a, v: np.diff(a.T, n=0) * v, (np.arange(6.0).reshape(2, 3), 1.0)),
        (lambda a, v: np.linalg.multi_dot([a, v]), (np.array([-1.0]), np.array([0.0]))),
        (lambda a, v: np.linalg.multi_dot([a, v]), (np.array([[-1.0]]), np.array([[0.0]]))),
        (lambda a, v: np.linalg.matrix_power(a, 3) + v, (np.array([[-0.0]]), -0.0)),
        (lambda a, v: np.linalg.matrix_power(a, 2) + v, (np.array([[1e200, 1e200], [-1e200, 1e200]]), 0.0)),
    ],
)
def test_operations(function, args):
    same(function, lambda: tuple(np.copy(arg) if isinstance(arg, np.ndarray) else arg for arg in args))


def test_many_places_are_no_program_of_thousands_of_parts():
    start = time.perf_counter()
    same(lambda x: np.insert(x, slice(None), 0.5), lambda: (np.arange(20_000.0),))
    assert time.perf_counter() - start < 60


@pytest.mark.parametrize("function", [np.add, np.subtract, np.multiply])
@pytest.mark.parametrize(("kind", "first", "number"), [("f4", 0.1, 0.1), ("f2", 6e4, 1e-8), ("f4", 1e-30, 1e60), ("f8", 0.1, 0.1), ("f8", 1.0, 3)])
def test_numbers_at_places_have_a_dtype_of_their_own(function, kind, first, number):
    def at(x, i):
        function.at(x, i, number)
        return x

    same(at, lambda: (np.array([first, 2.0], kind), np.array([0, 1, 0])))


def test_a_subnormal_number_among_parameters():
    same(lambda x: np.pad(x, 1, constant_values=1e-310) * 2.0, lambda: (np.ones(3),), exact=True)


# ---- the runtime


class Late(Exception):
    pass


def drawing(a):
    return np.random.standard_normal(a.size) * 2 + a


def decomposed(a):
    return np.sort_complex(a) + 1  # on the host


@pytest.mark.parametrize("function", [drawing, decomposed])
def test_what_another_thread_raises_in_the_middle_of_a_call_arrives(function):
    fast, a = aj.autocluster(function, policy="eager"), np.ones(300_000)
    fast(a)
    begun, ended = threading.Event(), []

    def work():
        try:
            while True:
                begun.set()
                fast(a)
        except Late:
            ended.append(True)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert begun.wait(60)
    time.sleep(0.2)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Late))
    thread.join(30)
    assert ended


def even(x, n):
    calls.append(n)
    y = x * 2 - x
    return y if n == 0 else odd(y, n - 1)


def odd(x, n):
    calls.append(n)
    y = x * 3 - 2 * x
    return y if n == 0 else even(y, n - 1)


calls = []


def test_functions_that_call_each_other_have_one_twin_each():
    def first(x, n):
        return even(x, n)

    depth = sys.getrecursionlimit() // 4
    fast = aj.autocluster(first, policy="eager", check=False)
    np.testing.assert_array_equal(fast(np.ones(3), depth), np.ones(3))
    assert calls == list(range(depth, -1, -1))
    found = with_callees(fast.__autojit_controller__, set())
    assert [one.original.__name__ for one in found] == ["first", "even", "odd"]


@pytest.mark.parametrize("way", ["disallow", "disallow_explicit"])
def test_a_guard_of_transfers_is_for_the_programs_own(way):
    def scaled(x, y):
        return np.sqrt(x) * 2 + y

    fast = aj.autocluster(scaled, policy="eager")
    with jax.transfer_guard(way):
        for n in (10, 100_000):
            x = np.arange(float(n))
            np.testing.assert_allclose(fast(x, x[::-1]), scaled(x, x[::-1]), rtol=1e-12)
    assert fast.cache_info().plans == 2 and not fast.cache_info().native


# ---- `out=`


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda z, o: (np.fft.ifft2(z, out=o) is o, o), (np.ones((4, 4), complex), np.zeros((4, 4), complex))),
        (lambda z, o: (np.fft.ifft2(z, out=z), z, o), (np.ones((4, 4), complex), 0)),
        (lambda z, o: (np.fft.hfft(z, out=o), o), (np.ones(4, complex), np.zeros(6))),
        (lambda z, o: (np.fft.irfft2(z, out=o), o), (np.ones((4, 4), complex), np.zeros((4, 6)))),
        (lambda z, o: np.fft.fft2(z, s=(4, 4), out=o), (np.ones((2, 4), complex), np.zeros((4, 4), complex))),
        (lambda z, o: np.fft.fft(z, out=o) is o, (np.ones(4, complex), np.zeros(4, complex))),
        (lambda v, o: np.linalg.multi_dot([v, np.ones((3, 3)), np.ones((3, 4))], out=o), (np.ones(3), np.zeros(4))),
        (lambda x, o: (np.argmax(x, axis=1, out=x[2]), x, o), (np.array([[0, 5, 0], [0, 5, 0], [0, 0, 1]]), 0)),
        (lambda x, o: (x.argmin(axis=1, out=x[2]), x, o), (np.array([[0, -5, 0], [0, -5, 0], [0, 0, -1]]), 0)),
        (lambda x, o: np.round(x, -1, out=o), (np.array([14, 26]), np.zeros(2, int))),
        (lambda x, o: np.median(x, axis=0, out=o), (np.full((2, 3), 60000, np.float16), np.zeros(3, np.float16))),
    ],
)
def test_functions_that_use_out_in_their_own_way(function, args):
    same(function, lambda: tuple(np.copy(arg) if isinstance(arg, np.ndarray) else arg for arg in args))


# ---- the memory of temporaries


class Held:
    def __init__(self, a):
        self.a = a

    @property
    def doubled(self):
        return self.a.T * 2.0

    @property
    def powers(self):
        return np.exp(self.a)


def of_a_call(m, b):
    r = np.exp(m.a) + m.a.T * 2.0
    r.reshape(-1)[0] = 99.0
    return r


def of_a_real_part(m, b):
    r = (m.a.T * 2.0).real + b
    r.reshape(-1)[0] = 99.0
    return r


def of_a_property(m, b):
    r = m.doubled + b
    r.reshape(-1)[0] = 99.0
    return r


def of_a_property_and_a_product(m, b):
    r = m.powers + m.a.T * 2.0
    r.reshape(-1)[0] = 99.0
    return r


@pytest.mark.parametrize("function", [of_a_call, of_a_real_part, of_a_property, of_a_property_and_a_product])
def test_results_lie_where_temporaries_were(function):
    a, b = np.random.default_rng(0).random((2, 300, 300))
    wanted, found = function(Held(a), b), aj.autocluster(function, policy="eager")(Held(a), b)
    assert found.strides == wanted.strides
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


# ---- decorated helpers


@aj.autocluster(policy="eager", exact=True)
def exactly(x, y, z):
    return x * y + z


@aj.autocluster(policy="native")
def in_numpy(x, y, z):
    return x * y + z


@pytest.mark.parametrize("helper", [exactly, in_numpy])
def test_a_helper_keeps_its_flags(helper):
    def calling(x, y, z):
        return helper(x, y, z)

    x, y, z = np.random.default_rng(0).standard_normal((3, 2000))
    np.testing.assert_array_equal(aj.autocluster(calling, policy="eager")(x, y, z), x * y + z)


# ---- SciPy's functions


def test_tuples_are_tuples_to_scipy():
    c, r, b = np.array([4.0, 1.0, 0.5]), np.array([4.0, 2.0, 1.0]), np.array([1.0, 2.0, 3.0])
    rng = np.random.default_rng(0)
    points, values = rng.random((20, 2)), rng.random(20)
    at = np.array([0.1, 0.9]), np.array([0.8, 0.2])
    same(lambda c, r, b: linalg.solve_toeplitz((c, r), b) * 2.0, lambda: (c, r, b))
    same(lambda c, r, b: linalg.matmul_toeplitz((c, r), b) * 2.0, lambda: (c, r, b))
    same(lambda p, v, x, y: interpolate.griddata(p, v, (x, y), method="nearest") * 2.0, lambda: (points, values, *at))
