"""Arrays of every shape and type: empty, without axes, of subclasses; arguments of reductions."""

from __future__ import annotations

import inspect
import warnings

import numpy as np

import autojit as aj
from tests.attacks import rand
from tests.each import each
from tests.helpers import check


def test_empty_and_tiny() -> None:
    functions = [
        lambda a: a * 2 + 1,
        lambda a: a.sum(),
        lambda a: a.mean(),
        lambda a: a.max(),
        lambda a: a.sum(axis=0),
        lambda a: a.max(axis=0),
        lambda a: a.T,
        lambda a: a[:0],
        lambda a: a[1:],
        lambda a: a.reshape(-1),
        lambda a: np.concatenate([a, a]),
        lambda a: a.prod(axis=-1),
        lambda a: np.dot(a, a.T),
        lambda a: a.argmax(),
        lambda a: a.cumsum(),
        lambda a: np.sort(a),
        lambda a: a.any(),
        lambda a: a.all(axis=0),
        lambda a: a.std(),
        lambda a: np.median(a),
        lambda a: a.min(initial=5.0),
        lambda a: np.where(a > 0, a, 0),
        lambda a: a[a > 0],
        lambda a: [row.sum() for row in a],
        lambda a: a.tolist(),
        lambda a: np.zeros_like(a),
        lambda a: a[np.array([], int)],
        lambda a: a.copy(),
        lambda a: np.linspace(0, 1, a.shape[0]),
        lambda a: np.arange(a.size),
    ]
    each(functions, (np.zeros(0),), (np.zeros((0, 3)),), (np.zeros((3, 0)),), (np.zeros((1, 1)),), (np.zeros((2, 0, 2)),))


def test_zero_dimensions() -> None:
    functions = [
        lambda a: a * 2,
        lambda a: a + a,
        lambda a: np.sin(a),
        lambda a: a[()],
        lambda a: a[...],
        lambda a: a[..., None],
        lambda a: a[None],
        lambda a: a.sum(),
        lambda a: a.reshape(1),
        lambda a: a.T,
        lambda a: np.asarray(a),
        lambda a: np.array(a),
        lambda a: a.copy(),
        lambda a: float(a),
        lambda a: a.item(),
        lambda a: a.ravel(),
        lambda a: np.atleast_1d(a),
        lambda a: a.astype(int),
        lambda a: np.add(a, 1, out=np.zeros(())),
        lambda a: -a,
        lambda a: np.where(a > 0, a, 0),
        lambda a: np.squeeze(a),
        lambda a: a.max(),
        lambda a: np.zeros(())[()] + a,
        lambda a: np.array(3.0) * 2,
        lambda a: np.ones(()) + 0,
        lambda a: a.shape,
        lambda a: a.ndim,
        lambda a: len(a),
        lambda a: a[0],
        lambda a: list(a),
        lambda a: a.tolist(),
        lambda a: np.broadcast_to(a, (2, 2)),
        lambda a: a.astype(float).astype(float, copy=False),
        lambda a: np.mean(a, keepdims=True),
        lambda a: abs(a),
        lambda a: a.round(1),
        lambda a: np.clip(a, 0, 1),
        lambda a: np.sqrt(np.abs(a)),
        lambda a: a == 2.0,
        lambda a: a**2,
        lambda a: np.stack([a, a]),
        lambda a: np.array([a, a]),
        lambda a: np.array([[a, 1], [2, a]]),
        lambda a: np.float32(a),
        lambda a: np.float64(a) * 2,
        lambda a: a.real,
        lambda a: a.dtype.name,
    ]
    each(functions, (np.array(2.5),), (np.array(3),), (np.float64(2.5),), (2.5,), (np.array(1 + 2j),))

    def write(a):
        a += 1
        a[...] = a * 2
        a[()] = a + 0.5
        b = a.reshape(1, 1)
        b[0, 0] += 1
        return a, b

    check(write, np.array(2.5))
    check(write, np.float64(2.5))


def test_arguments_of_reductions() -> None:
    functions = [
        lambda a: a.sum(axis=(0, 2)),
        lambda a: a.sum(axis=-1, keepdims=True),
        lambda a: a.sum(axis=()),
        lambda a: a.sum(axis=None, keepdims=True),
        lambda a: a.sum(dtype=np.float32),
        lambda a: a.sum(dtype=int),
        lambda a: a.sum(where=a > 0),
        lambda a: a.sum(initial=5),
        lambda a: a.mean(axis=(1, 2), dtype=np.float32),
        lambda a: a.mean(where=a > 0),
        lambda a: a.max(axis=1, initial=0.0, where=a > 0),
        lambda a: a.std(ddof=1, axis=0),
        lambda a: a.var(axis=(0, 1), keepdims=True),
        lambda a: a.argmin(axis=1),
        lambda a: a.argmax(axis=-1, keepdims=True),
        lambda a: np.prod(a, axis=1),
        lambda a: np.cumsum(a, axis=1),
        lambda a: np.cumprod(a, axis=-1),
        lambda a: np.any(a > 1, axis=(0, 1)),
        lambda a: np.all(a > -5, keepdims=True),
        lambda a: np.count_nonzero(a > 0, axis=0),
        lambda a: np.ptp(a, axis=0),
        lambda a: np.median(a, axis=(0, 1)),
        lambda a: np.percentile(a, [25, 75], axis=2),
        lambda a: np.average(a, axis=0, weights=np.arange(1.0, 3.0)),
        lambda a: np.add.reduce(a, axis=(0, 1)),
        lambda a: np.add.reduce(a),
        lambda a: np.multiply.accumulate(a, axis=1),
        lambda a: np.maximum.reduce(a, axis=None),
        lambda a: np.add.outer(a[0, 0], a[1, 1]),
        lambda a: np.add.reduceat(a[0, 0], [0, 2]),
        lambda a: np.add(a, 1, where=a > 0, out=np.zeros_like(a)),
        lambda a: np.add(a, 1, dtype=np.float32),
        lambda a: np.add(a, 1, casting="no"),
        lambda a: np.add(a[:, :, :2], 1.0, out=a[:, :, 1:3]),
        lambda a: np.sum(a, 0, None, None, True),
        lambda a: np.sum([a, a]),
        lambda a: np.sum(a, axis=3),
        lambda a: np.mean([a, a], axis=0),
        lambda a: np.max([1.0, 2.0]) * a,
        lambda a: sum(a),
        lambda a: max(a[0, 0]),
        lambda a: min(a.ravel()) + a,
        lambda a: sorted(a[0, 0]),
        lambda a: round(a[0, 0, 0], 2),
        lambda a: np.round(a, 2),
        lambda a: np.linalg.norm(a, axis=(1, 2)),
        lambda a: np.linalg.norm(a[0], ord=1),
        lambda a: np.trace(a, axis1=0, axis2=2),
        lambda a: np.einsum("ijk,ikl->ijl", a, a.transpose(0, 2, 1)),
        lambda a: np.tensordot(a, a, axes=([0, 1], [0, 1])),
        lambda a: np.matmul(a, a.swapaxes(1, 2)),
        lambda a: np.inner(a[0], a[1]),
        lambda a: np.outer(a[0, 0], a[0, 1]),
        lambda a: np.kron(a[0], a[1]),
        lambda a: np.diff(a, n=2, axis=2),
        lambda a: np.gradient(a[0, 0]),
        lambda a: np.histogram(a, bins=3),
        lambda a: np.bincount((a.ravel() > 0).astype(int)),
        lambda a: np.unique(np.round(a), return_counts=True),
        lambda a: np.searchsorted(np.sort(a[0, 0]), a[1, 1]),
        lambda a: np.pad(a, ((0, 0), (1, 2), (0, 1)), mode="edge"),
        lambda a: np.broadcast_arrays(a[0], a[:, :1])[1] + 1,
        lambda a: np.meshgrid(a[0, 0], a[0, 1], indexing="ij"),
        lambda a: np.vectorize(lambda v: v + 1)(a),
        lambda a: np.apply_along_axis(np.sum, 0, a),
        lambda a: np.fromfunction(lambda i, j: i + j, (2, 2)) + a[0, :2, :2],
        lambda a: a.astype("f4").dtype.name,
        lambda a: np.interp(0.5, [0.0, 1.0], [1.0, 2.0]) * a,
        lambda a: a.view(np.int64),
        lambda a: a.byteswap(),
        lambda a: a.tobytes(),
        lambda a: a.nbytes + a.itemsize,
        lambda a: a.strides,
        lambda a: np.may_share_memory(a, a[0]),
        lambda a: a.flags.c_contiguous,
        lambda a: a.base is None,
        lambda a: np.nditer(a).itersize,
        lambda a: list(np.ndenumerate(a[0, 0])),
        lambda a: np.array2string(a[0, 0], precision=3),
        lambda a: str(a.shape) + a.dtype.str,
        lambda a: hash(a.shape),
        lambda a: a.searchsorted,
        lambda a: np.resize(a, (2, 3)),
        lambda a: a[0].dot(a[1].T).trace(),
    ]  # fmt: skip
    del functions[-3]
    each(functions, (rand(2, 3, 4),))


def test_unusual_arrays() -> None:
    functions = [
        lambda a: a * 2,
        lambda a: a + a,
        lambda a: a.sum(),
        lambda a: a[0],
        lambda a: np.asarray(a),
        lambda a: np.sum(a) * 2,
        lambda a: a.T,
        lambda a: np.mean(a, axis=0),
        lambda a: np.sqrt(np.abs(a)),
        lambda a: a == a,
        lambda a: [row for row in a],
        lambda a: a.copy(),
        lambda a: np.concatenate([a, a]),
        lambda a: np.zeros_like(a),
        lambda a: np.where(a > 1, a, 0),
    ]
    arrays = [
        make_matrix(),
        np.ma.masked_array([1.0, 2.0, 3.0], [True, False, False]),
        np.array([1, "a", None], dtype=object),
        np.array([1, 2, 3], dtype=object),
        np.array(["a", "bc"]),
        np.array([b"a", b"bc"]),
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
        np.array([1, 2], dtype="timedelta64[s]"),
        np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)]),
        np.array([1.0, 2.0], dtype=np.longdouble),
        np.array([1.0, 2.0], dtype=">f8"),
        np.array([1, 2], dtype=">i4"),
        np.array([1.0, 2.0]).view(Tagged),
        np.rec.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
        np.memmap.__new__ and np.array([1.0, 2.0, 4.0])[::-2],
        np.arange(6.0).reshape(2, 3)[:, ::2],
        np.lib.stride_tricks.sliding_window_view(np.arange(5.0), 2),
        np.float64(3.5),
        np.str_("text"),
        np.datetime64("2020-01-01"),
        np.array(5, dtype=object),
        [1.0, 2.0],
        (1.0, (2.0,)),
        range(3),
        Wrapped(np.arange(3.0)),
        Ufuncs(),
    ]
    for array in arrays:
        for function in functions:
            try:
                want = function(array), None
            except Exception as error:
                want = None, error
            decorated = aj.autocluster(policy="eager")(function)
            for _ in range(2):
                try:
                    got = decorated(array), None
                except Exception as error:
                    got = None, error
                text = f"{inspect.getsource(function).strip()} of {array!r}: {got} instead of {want}"
                assert type(got[1]) is type(want[1]), text
                assert type(got[0]) is type(want[0]), text
                if isinstance(want[0], np.ndarray):
                    assert got[0].dtype == want[0].dtype and got[0].shape == want[0].shape, text
                assert repr(got[0]) == repr(want[0]), text


def make_matrix():
    """A matrix, without the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `np.matrix` is deprecated, and still met
        return np.matrix([[1.0, 2.0], [3.0, 4.0]])


class Tagged(np.ndarray):
    """A subclass that changes what ufuncs do."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(each) for each in inputs]
        return getattr(ufunc, method)(*plain, **kwargs) + 100


class Wrapped:
    """An object that becomes an array."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype)

    def __repr__(self):
        return "Wrapped"


class Ufuncs:
    """An object that takes over ufuncs."""

    def __array_ufunc__(self, *args, **kwargs):
        return "taken"

    def __array_function__(self, function, types, args, kwargs):
        return function.__name__

    def __repr__(self):
        return "Ufuncs"


def test_taken_over_operations() -> None:
    def f(x, u):
        return x + u, np.sin(u), np.sum(u), np.concatenate([u, x]), np.add(x, u)

    def g(x, w):
        return x + w.array, np.sum(w), np.add(x, w)

    check(f, rand(3), Ufuncs())
    check(g, rand(3), Wrapped(rand(3)))
