"""Findings of a third reading: host calls whose results vary, lists that loops fill, and arguments that NumPy refuses."""

from __future__ import annotations

import warnings
import zlib

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check
from tests.programs.histories import kalman


def same(ours, theirs):
    assert type(ours) is type(theirs)
    if isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            same(one, other)
    elif isinstance(theirs, np.ndarray | np.generic):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        np.testing.assert_array_equal(ours, theirs)
        if isinstance(theirs, np.ndarray):
            assert ours.flags.f_contiguous == theirs.flags.f_contiguous
    else:
        assert ours == theirs


def compare(function, *calls):
    """Calls with arguments that `make()` makes anew, one after the other, twice: results, exceptions, arguments."""
    fast = aj.autocluster(function, policy="eager")
    for make in [*calls, *calls]:
        mine, theirs = make(), make()
        try:
            with np.errstate(all="ignore"):
                wanted = function(*theirs)
        except Exception as error:
            with np.errstate(all="ignore"), pytest.raises(type(error)) as caught:
                fast(*mine)
            assert type(caught.value) is type(error) and str(caught.value) == str(error)
        else:
            with np.errstate(all="ignore"):
                same(fast(*mine), wanted)
        same(list(mine), list(theirs))


# ---- host calls


@aj.host_op
def parts(x, kind):
    found = x + 1, x + 2
    return found if kind == 0 else list(found) if kind == 1 else np.stack(found)


@aj.host_op
def clean(x):
    return np.ma.masked_invalid(x) if np.isnan(x).any() else x.copy()


@aj.host_op
def doubled(a):
    return np.asfortranarray(a * 2) if a[0, 0] > 0 else a * 2


@aj.host_op
def in_memory(x):
    return x.flatten("K")


checksum = aj.host_op(zlib.crc32)


@aj.host_op
def smooth(v):
    return np.convolve(v, np.ones(4) / 4, "same")


def test_the_kind_of_sequence_that_a_host_call_gives():
    def f(x, kind):
        return parts(np.sqrt(x), kind)

    compare(f, *(lambda kind=kind: (np.arange(3.0), kind) for kind in (0, 2, 1, 0)))


def test_a_subclass_that_a_host_call_gives_later():
    def f(x):
        y = clean(x * 2.0)
        return y, y.mean()

    fast = aj.autocluster(f, policy="eager")
    for x in (np.array([1.0, 2.0, 3.0]), np.array([1.0, np.nan, 3.0])):
        for _ in range(2):
            ours, theirs = fast(x), f(x)
            assert type(ours[0]) is type(theirs[0])
            np.testing.assert_array_equal(ours[0], theirs[0])
            assert ours[1] == theirs[1]


def test_the_memory_order_that_the_capture_has_seen():
    def f(x, k):
        y = doubled(x + 1.0)
        flat = y.reshape(-1)
        flat[0] = -1.0
        return y, np.zeros(k)

    compare(f, lambda: (np.ones((2, 3)), 1), lambda: (np.full((2, 3), -3.0), 2), lambda: (np.ones((2, 3)), 2))


def test_the_memory_order_of_arguments():
    def f(a):
        return in_memory(a.T + 1.0)

    def g(x):
        y = x[1:]
        return checksum(y), np.sqrt(y)

    def of_both(a):
        y = a.T + 1.0
        z = y.copy()
        return in_memory(y), in_memory(z)

    def of_a_column(a):
        return smooth(a[:, 0]) * 2 + 1

    compare(f, lambda: (np.arange(6.0).reshape(2, 3),), lambda: (np.asfortranarray(np.arange(6.0).reshape(2, 3)),))
    compare(of_both, lambda: (np.arange(6.0).reshape(2, 3),))
    compare(of_a_column, lambda: (np.arange(150.0).reshape(50, 3),))
    fast = aj.autocluster(of_a_column, policy="eager")
    fast(np.ones((50, 3)))  # `explain` runs nothing of the user's, so it does not know what `smooth` gives before
    assert not fast.explain(np.ones((50, 3))).native_statements
    compare(g, lambda: (np.arange(5.0),), lambda: (np.arange(10.0)[::2],))


def test_the_memory_order_of_what_needs_no_first_run():
    def f(a):
        u, s, vt = np.linalg.svd(a + 1.0)
        flat = u.reshape(-1)
        flat[0] = 7.0
        return u, s

    fast = aj.autocluster(f, policy="eager")
    for a in (np.eye(3), np.asfortranarray(np.arange(9.0).reshape(3, 3)), np.arange(9.0).reshape(3, 3)):
        ours, theirs = fast(a), f(a)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)
        assert ours[0].strides == theirs[0].strides


# ---- lists that loops fill


def test_a_loop_that_is_left_in_its_first_iteration():
    def f(x):
        xs, s = [], 0
        for i in range(200):
            xs.append(x[i])
            if i == 0 and x[0] < 0:
                break
            s = s + x[i]
        return xs

    for sign in (-1.0, 1.0):
        compare(f, lambda sign=sign: (sign * np.arange(1.0, 201.0),))


def test_a_first_iteration_that_fills_otherwise():
    def f(x):
        xs, s = [], 0
        for i in range(50):
            if type(s) is not int:
                xs.append(s)
            s = s + x[i]
        return xs

    def g(x):
        xs, s = [], 0
        for i in range(50):
            if type(s) is int:
                xs.append(x[i])
            s = s + x[i]
        return xs

    for function in (f, g):
        compare(function, lambda: (np.arange(50.0),))


def test_a_history_stays_one_program():
    fast, args = aj.autocluster(kalman, policy="eager"), (np.arange(300.0), 0.1, 1e-3)
    for ours, theirs in zip(fast(*args), kalman(*args), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert fast.explain(*args).is_whole


def test_named_tuples_of_numpy():
    def f(a):
        u, s, vt = np.linalg.svd(a)
        return abs(u) * 2, s + 1

    fast = aj.autocluster(f, policy="eager")
    for _ in range(4):
        fast(np.arange(9.0).reshape(3, 3))
    assert fast.cache_info().hits


def test_a_list_around_a_loop_that_fills_another():
    def f(x):
        firsts, s = [], 0
        for i in range(40):
            ys = []
            for j in range(8):
                ys.append(x[i, j] * 2)
            s = s + ys[0]
            if i == 0:
                firsts.append(s)
        return firsts, s

    compare(f, lambda: (np.arange(320.0).reshape(40, 8),))


# ---- masks


def test_what_follows_an_ellipsis_behind_a_mask():
    m = np.array([1, 0, 1, 1, 0], bool)

    def f(x, m):
        return x[m][..., 0].sum(axis=0)

    def g(x, m):
        return x[m][..., None].sum(axis=0)

    def h(x, m):
        return x[m][..., 1:2].sum(axis=0)

    for function in (f, g, h):
        compare(function, lambda: (np.arange(45.0).reshape(5, 3, 3), m), lambda: (np.arange(20.0).reshape(5, 4), m))


def test_a_selection_is_no_number():
    def f(x, w):
        m = x > 0
        y = x[m]
        y.fill(w[m])
        return y.sum()

    compare(f, lambda: (np.array([1.0, 2.0, -1.0]), np.array([5.0, 6.0, 7.0])))


# ---- loops


def test_a_stored_column_that_is_read_again():
    def f(v, x, y):
        for i in range(len(v)):
            x[i] = v[i][:, None]
            y[i] = x[i, :, :, None] * 2.0
        return y

    def g(v, x, y):
        for i in range(len(v)):
            x[i, :, :, 0:1] = v[i][:, None]
            y[i] = x[i, :, :, 0] * 2.0
        return y

    n = 1000
    compare(f, lambda: (np.arange(3.0 * n).reshape(n, 3), np.zeros((n, 3, 3)), np.zeros((n, 3, 3, 1))))
    compare(g, lambda: (np.arange(3.0 * n).reshape(n, 3), np.zeros((n, 3, 3, 2)), np.zeros((n, 3, 3))))


def test_dot_products_of_float16_in_one_iteration():
    def f(a, b, w, out):
        for i in range(len(a)):
            s = a[i] @ b[i]
            for j in range(len(w)):
                out[i, j] = w[j] * s
        return out

    half = np.float16
    a, b = np.array([[300, 300]], half), np.array([[300, -300]], half)
    compare(f, lambda: (a, b, np.ones(1000, half), np.zeros((1, 1000), half)))


@pytest.mark.parametrize(("dtype", "number"), [("int8", 2), ("uint64", 2), ("float16", 2.5), ("int32", 2)])
def test_a_python_number_is_an_array_to_dot(dtype, number):
    def f(a, out, number):
        for i in range(len(a)):
            out[i] = np.dot(a[i, :i], number).sum()
        return out

    compare(f, lambda: (np.full((6, 6), 100, dtype), np.zeros(6), number))


def test_infinities_that_einsum_adds_up_before():
    def f(x, A):
        out = np.zeros(len(x))
        for k in range(len(x)):
            out[k] = np.einsum("i,ij->", x[:k], A[:k])
        return out

    x, A = np.zeros(7), np.zeros((7, 2))
    x[:2], A[:2] = (1.0, np.inf), ((1.0, 1.0), (1.0, -2.0))
    compare(f, lambda: (x, A))


# ---- arguments


def test_a_function_as_mode_is_called_as_often():
    log = []

    def padder(vector, width, axis, kw):
        log.append(axis)
        vector[: width[0]] = 7

    def f(x):
        return np.pad(x, 1, padder)

    f(np.arange(3.0))
    once, log[:] = list(log), []
    aj.autocluster(f, policy="eager")(np.arange(3.0))
    assert log == once


def test_python_ints_that_do_not_fit():
    def f(a, x):
        np.copyto(a, int(x.sum()))
        return a

    def g(a, n):
        for k in range(n):
            np.copyto(a, k)
        return a

    for total in (50, 100):
        compare(f, lambda total=total: (np.zeros(3, np.int8), np.array([total, 2 * total])))
    compare(g, lambda: (np.zeros(3, np.int8), 100), lambda: (np.zeros(3, np.int8), 300))


def test_the_dtype_of_a_quantile_of_nothing_known():
    def f(x, q):
        return np.quantile(x, q, keepdims=True)

    def g(x, q):
        return np.percentile(x, q, axis=(0, 1), keepdims=True)

    for x in (np.array([1, np.nan, 3], np.float32), np.array([1, 2, 3], np.float32)):
        compare(f, lambda x=x: (x, np.float64(0.5)))
        compare(g, lambda x=x: (x[None], np.float64(50)))


def test_arguments_that_numpy_refuses():
    def no_bins(a, bins):
        return np.histogram(a, bins)

    def left(x, xp, fp):
        return np.interp(x, xp, fp, left=[5.0])

    compare(no_bins, lambda: (np.arange(5.0), None))
    compare(left, lambda: (np.array([-1.0, 0.5]), np.array([0.0, 1.0]), np.array([1.0, 2.0])))

    def none(a):
        return a.flat[None]

    def set_none(a):
        a.flat[None] = 10
        return a

    def set_empty(a):
        a.flat[()] = 70
        return a

    def set_bools(a):
        a.flat[[True, False, True]] = 20
        return a

    def put(a, i):
        np.put(a, i, 5.0)
        return a

    def set_bool(a):
        a.flat[a.sum() > 0] = 5
        return a

    for function in (none, set_none, set_empty, set_bools):
        compare(function, lambda: (np.arange(3.0),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's, of such an index
        compare(set_bool, lambda: (np.arange(3.0),))
    compare(put, lambda: (np.zeros(3), np.array([1], np.uint64)), lambda: (np.zeros(3), np.array([1])))


def test_places_that_the_array_holds_itself():
    def f(a):
        a.flat[a] = 0
        return a

    compare(f, lambda: (np.array([1, 2, 3, 0]),))


def test_integer_weights_in_blocks():
    def f(a, w):
        return np.histogram(a, 1, weights=w)[0]

    n = 3 * 65536
    compare(f, lambda: (np.linspace(0, 1, n), np.full(n, 2**36 + 1)))


def test_a_complex_median_with_an_infinite_part():
    def f(x):
        return np.median(x)

    compare(f, lambda: (np.array([complex(1, np.inf)]),), lambda: (np.array([1 + 2j, 3 + 1j, 2 + 2j]),))


def test_a_complex_number_to_begin_with():
    def f(z):
        return np.sum(z, initial=np.complex128(0))

    compare(f, lambda: (np.array([1 + 2j, 3 + 1j]),))


@pytest.mark.parametrize("name", ["inv", "solve", "cholesky", "matrix_power"])
def test_the_memory_order_of_stacks(name):
    function = getattr(np.linalg, name)
    more = {"solve": (np.ones(2),), "matrix_power": (-1,)}.get(name, ())

    def f(a):
        b = function(a.transpose(1, 0, 2, 3), *more)
        c = b.reshape(-1)
        c[:] = 0
        return b

    a = np.eye(2) * np.arange(1.0, 7.0).reshape(2, 3, 1, 1)
    check(f, a, rtol=1e-12)
