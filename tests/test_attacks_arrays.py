"""Dtypes, scalars, indexing and results of every kind."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import autojit as aj
from tests.attacks import rand, sequence
from tests.helpers import check


def each(functions, *calls, **options) -> None:
    """Compare many small functions; all that fail are named."""
    failed = []
    for function in functions:
        for args in calls:
            try:
                with warnings.catch_warnings():
                    # NumPy's floating point warnings, which compiled code does not repeat.
                    warnings.simplefilter("ignore", RuntimeWarning)
                    check(function, *args, **options)
            except Exception as error:
                kinds = [f"{getattr(a, 'dtype', type(a).__name__)}{getattr(a, 'shape', '')}" for a in args]
                text = inspect.getsource(function).strip()
                reason = " ".join(str(error).split())
                failed.append(f"{text} of {', '.join(kinds)}: {reason[:300]}")
                break
    assert not failed, "\n".join(failed)


INT8 = np.array([100, -100, 127, -128, 0], np.int8)
UINT8 = np.array([0, 1, 200, 255, 7], np.uint8)


def test_integer_overflow() -> None:
    functions = [
        lambda a: a + a,
        lambda a: a * 3,
        lambda a: -a,
        lambda a: a - 1,
        lambda a: abs(a),
        lambda a: np.abs(a) + np.negative(a),
        lambda a: a**2,
        lambda a: a << 1,
        lambda a: a >> 9,
        lambda a: ~a,
        lambda a: a.sum(),
        lambda a: a.sum(dtype=a.dtype),
        lambda a: a.prod(),
        lambda a: a.cumsum(),
        lambda a: a.mean(),
        lambda a: a.astype(np.int16) * 1000,
        lambda a: a.astype(np.float64).astype(np.uint8),
        lambda a: a + np.int64(2) ** 62 * 3,
        lambda a: np.square(a),
        lambda a: a // 3,
        lambda a: a % 3,
        lambda a: a // -3,
        lambda a: a % -3 if a.dtype.kind == "i" else a % 3,
        lambda a: np.divmod(a, 3),
        lambda a: a / 3,
        lambda a: np.dot(a, a),
        lambda a: a.max() - a.min(),
        lambda a: a[2] + a[3],
        lambda a: a[2] * 2,
        lambda a: np.add.reduce(a),
        lambda a: np.diff(a),
    ]
    each(functions, (INT8,), (UINT8,), (INT8.astype(np.int64) << 56,), (UINT8.astype(np.uint64) << np.uint64(56),))


def test_division_by_zero_and_shifts() -> None:
    functions = [
        lambda a, b: a // b,
        lambda a, b: a % b,
        lambda a, b: np.divmod(a, b),
        lambda a, b: a / b,
        lambda a, b: np.fmod(a, b),
        lambda a, b: np.floor_divide(a, b),
        lambda a, b: a // 0,
        lambda a, b: a % 0,
        lambda a, b: 1 // b,
    ]
    zeros = np.array([0, 1, 0, 2, 3])
    each(functions, (INT8, zeros.astype(np.int8)), (np.arange(-2, 3), zeros), (np.arange(-2.0, 3), zeros * 1.0))
    each(functions, (UINT8, zeros.astype(np.uint8)))
    extreme = np.array([np.iinfo(np.int64).min] * 2)
    each([lambda a, b: a // b, lambda a, b: a % b, lambda a, b: abs(a)], (extreme, np.array([-1, 1])))
    each([lambda a, b: a << b, lambda a, b: a >> b], (np.arange(-2, 3), np.array([63, 64, 65, 0, 1])), (INT8, INT8))
    each([lambda a, b: a**b], (np.arange(5), np.arange(5)), (np.arange(5), np.array([1, 2, -1, 0, 2])))
    each([lambda a, n: a**n, lambda a, n: n**a], (np.arange(1, 5), -1), (np.arange(5), 3), (np.arange(5), 2.0))


def test_python_ints_out_of_range() -> None:
    functions = [
        lambda a, n: a + n,
        lambda a, n: a * n,
        lambda a, n: a > n,
        lambda a, n: np.minimum(a, n),
        lambda a, n: np.where(a > 5, a, n),
        lambda a, n: np.clip(a, 0, n),
        lambda a, n: np.full(3, n, a.dtype),
        lambda a, n: np.full_like(a, n),
        lambda a, n: np.array([n, 1], a.dtype),
        lambda a, n: np.array([n, 1]) + a[:2],
        lambda a, n: a.dtype.type(n),
        lambda a, n: np.concatenate([a, [n]]),
        lambda a, n: np.append(a, n),
        lambda a, n: a + np.array(n),
        lambda a, n: a & n,
        lambda a, n: a == n,
        lambda a, n: np.isin(a, n),
        lambda a, n: np.arange(n, n + 3),
    ]
    each(functions, (UINT8, 300), (UINT8, -1), (UINT8, 2), (INT8, 128), (INT8, 2**40), (np.arange(3), 2**63), (UINT8, 2**70))

    def store(a, n):
        a[0] = n
        return a

    def add(a, n):
        a += n
        return a

    def fill(a, n):
        a.fill(n)
        return a

    def part(a, n):
        a[1:3] = n
        a[[0, 4]] = n
        return a

    for function in (store, add, fill, part):
        sequence(function, (UINT8, 3), (UINT8, 300), (UINT8, -1), (UINT8, 255), (UINT8, 2.7), (UINT8, np.int64(300)))
        sequence(function, (INT8, 3), (INT8, 2**70), (INT8, True), (INT8, np.float32(3.5)), (INT8, 200))


def test_mixed_dtypes() -> None:
    functions = [
        lambda a, b: a + b,
        lambda a, b: a * b - 1,
        lambda a, b: a / b,
        lambda a, b: np.maximum(a, b),
        lambda a, b: np.where(a > 0, a, b),
        lambda a, b: a == b,
        lambda a, b: np.concatenate([np.atleast_1d(a), np.atleast_1d(b)]),
        lambda a, b: np.stack([a + b, b]),
        lambda a, b: a**2 + b,
        lambda a, b: np.power(a, 2) * b,
        lambda a, b: np.sin(a) + b,
        lambda a, b: a + 1.5 + b,
        lambda a, b: a * 2 + b,
        lambda a, b: np.mean(a) + b,
        lambda a, b: a @ b,
        lambda a, b: np.sqrt(np.abs(a)) * b,
    ]
    one = np.array([1, 2, 3])
    kinds = [np.bool_, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64, np.complex64]
    generator = np.random.default_rng(3)
    pairs = [(one.astype(p), one[::-1].astype(q)) for p in kinds for q in kinds]
    for function in functions:
        for number in generator.choice(len(pairs), 4, replace=False):
            each([function], pairs[number])


def test_scalars_of_all_kinds() -> None:
    functions = [
        lambda x, s: x * s,
        lambda x, s: x + s - s * 2,
        lambda x, s: s**2 + x,
        lambda x, s: x / s,
        lambda x, s: (s + 1, s * 2.5, s / 3, x[0] * s, x.sum() * s),
        lambda x, s: np.float32(3) * x + s,
        lambda x, s: np.sqrt(abs(s)) * x,
        lambda x, s: np.add(s, 1) * x,
        lambda x, s: float(np.float32(0.1)) * x + s,
        lambda x, s: np.array(s) * x,
        lambda x, s: np.array([s, 1]) + x[:2],
        lambda x, s: max(s, 1) * x if not isinstance(s, complex) else x,
        lambda x, s: int(s) * x if not isinstance(s, complex) else x,
        lambda x, s: np.full(2, s),
        lambda x, s: -s + x,
        lambda x, s: (x > s) if not isinstance(s, complex) else x,
        lambda x, s: np.maximum(x, s),
        lambda x, s: type(s).__name__,
        lambda x, s: isinstance(s, float | int),
        lambda x, s: np.ones(3, type(s)) * x,
    ]
    scalars = [2, -3, 2.5, True, 1 + 2j, np.float32(3), np.int8(3), np.bool_(True), np.float16(2), np.uint8(200), 2**40, 1e300]
    generator = np.random.default_rng(4)
    for function in functions:
        for number in generator.choice(len(scalars), 5, replace=False):
            for x in (rand(3), rand(3).astype(np.float32), np.arange(3)):
                each([function], (x, scalars[number]))


def test_scalar_values_one_after_the_other() -> None:
    functions = [
        lambda x, s: x * s,
        lambda x, s: np.full(3, s) * x,
        lambda x, s: np.copysign(x, s),
        lambda x, s: np.where(x > 0, x, s),
        lambda x, s: np.full_like(x, s),
        lambda x, s: np.linspace(s, 1.0, 3),
        lambda x, s: np.pad(x, 1, constant_values=s),
        lambda x, s: np.array([s, s]),
        lambda x, s: 1 / (x * 0 + s),
        lambda x, s: np.clip(x, s, 1.0),
        lambda x, s: np.nan_to_num(x, nan=s),
        lambda x, s: x if s == 0 else x * 2,
        lambda x, s: f"{s}" + str(x.shape),
        lambda x, s: x**s,
        lambda x, s: np.arange(s, 3.0),
        lambda x, s: {s: x * 2},
        lambda x, s: [x * 2, s],
        lambda x, s: (s, x * 2),
        lambda x, s: np.signbit(np.full(2, s)),
        lambda x, s: np.select([x > 0], [x], s),
        lambda x, s: np.interp(x, np.array([s, 1.0]), np.array([s, 2.0])),
    ]
    for function in functions:
        try:
            with warnings.catch_warnings():
                # NumPy's floating point warnings, which compiled code does not repeat.
                warnings.simplefilter("ignore", RuntimeWarning)
                sequence(function, *[(rand(3), s) for s in (0.0, -0.0, 1.0, np.nan, np.inf, 0.5)], rounds=1)
                sequence(function, *[(rand(3), s) for s in (-0.0, 0.0, 2, 2.0, True, np.float64(2))], rounds=1)
        except AssertionError as error:
            raise AssertionError(f"{inspect.getsource(function).strip()}: {error}") from error


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-5, 1e300, 0.5])


def test_special_values() -> None:
    functions = [
        lambda a: np.minimum(a, a[::-1]),
        lambda a: np.fmax(a, a[::-1]),
        lambda a: np.sign(a),
        lambda a: np.signbit(a),
        lambda a: np.signbit(-a[:6]),
        lambda a: np.signbit(0 - a[:6]),
        lambda a: np.signbit(a[:6] * -1),
        lambda a: np.signbit(a + 0.0),
        lambda a: np.signbit(a - 0.0),
        lambda a: np.signbit(abs(a)),
        lambda a: np.signbit(np.floor(a)),
        lambda a: np.signbit(np.round(a * 0.3)),
        lambda a: np.signbit(np.trunc(a * 0.3)),
        lambda a: np.signbit(np.ceil(a * 0.3)),
        lambda a: np.signbit(np.rint(a * 0.3)),
        lambda a: np.signbit(a[:4] % 1.0),
        lambda a: np.signbit(a[:4] // 2.0),
        lambda a: np.signbit(np.fmod(a[:4], 2.0)),
        lambda a: np.signbit(a**3),
        lambda a: np.signbit(np.sqrt(a)),
        lambda a: np.signbit(a[:2].sum()),
        lambda a: np.signbit(np.prod(a[:2])),
        lambda a: np.signbit(np.where(a > 0, a, -0.0)),
        lambda a: 1 / a,
        lambda a: a // 1,
        lambda a: a % 3,
        lambda a: a.max(),
        lambda a: a.min(),
        lambda a: a.argmax(),
        lambda a: np.nanmax(a),
        lambda a: np.sort(a),
        lambda a: np.argsort(a, kind="stable"),
        lambda a: a == a,
        lambda a: np.isnan(a) | np.isinf(a),
        lambda a: a.astype(int)[:4],
        lambda a: a.astype(bool),
        lambda a: np.log(a),
        lambda a: np.arctan2(a, a[::-1]),
        lambda a: np.hypot(a, 1),
        lambda a: np.exp(a),
        lambda a: np.clip(a, -1, 1),
        lambda a: np.cumsum(a[:5]),
        lambda a: a.all(),
        lambda a: a.any(),
        lambda a: np.unique(a),
        lambda a: np.where(a == 0, 1, a),
        lambda a: (a > 0) * a,
        lambda a: a * 0,
        lambda a: a - a,
        lambda a: a**0,
        lambda a: np.heaviside(a, 0.5),
        lambda a: np.nan_to_num(a),
        lambda a: a.std(),
        lambda a: np.allclose(a, a),
        lambda a: np.array_equal(a, a),
        lambda a: np.sum(a[:5]),
        lambda a: np.dot(a[:5], a[:5]),
        lambda a: np.power(a, 0.5),
        lambda a: np.power(a, -1.0),
        lambda a: np.float32(1e38) * a.astype(np.float32) * 10,
    ]
    each(functions, (SPECIAL,), (SPECIAL.astype(np.float32),))
    each(functions[:12], (SPECIAL.astype(np.float16),))


def test_complex() -> None:
    functions = [
        lambda z: z * z.conj(),
        lambda z: z / (z + 1),
        lambda z: np.abs(z),
        lambda z: z**2,
        lambda z: z.real + z.imag,
        lambda z: np.angle(z),
        lambda z: np.exp(z),
        lambda z: z.sum(),
        lambda z: z == z.conj(),
        lambda z: z @ z,
        lambda z: np.vdot(z, z),
        lambda z: z > z[::-1],
        lambda z: z.max(),
        lambda z: np.sort(z),
        lambda z: z * 1j,
        lambda z: np.where(z.real > 0, z, 0),
        lambda z: z.astype(np.complex64),
        lambda z: np.sqrt(z),
        lambda z: abs(z[0]),
        lambda z: (z[0].real, z[0].imag, z[0].conjugate()),
        lambda z: complex(z.sum()),
        lambda z: np.isnan(z),
        lambda z: z.mean(),
        lambda z: z.std(),
    ]
    each(functions, (rand(4) + 1j * rand(4)[::-1],), ((rand(4) + 2j).astype(np.complex64),), (np.array([1 + np.nan * 1j, 2]),))


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


def test_reading_by_index() -> None:
    functions = [
        lambda a, i: a[1],
        lambda a, i: a[-1],
        lambda a, i: a[1:-1],
        lambda a, i: a[::-2],
        lambda a, i: a[5:2],
        lambda a, i: a[100:],
        lambda a, i: a[-100:2],
        lambda a, i: a[None, 1:3, None],
        lambda a, i: a[..., 0],
        lambda a, i: a[1, ..., -1],
        lambda a, i: a[:, 0],
        lambda a, i: a[i],
        lambda a, i: a[i, i],
        lambda a, i: a[i, 0],
        lambda a, i: a[0, i],
        lambda a, i: a[:, i],
        lambda a, i: a[i[:, None], i],
        lambda a, i: a[i, None],
        lambda a, i: a[None, i],
        lambda a, i: a[[0, -1]],
        lambda a, i: a[[0, 1], [1, 0]],
        lambda a, i: a[a[:, 0] > 0],
        lambda a, i: a[a > 0],
        lambda a, i: a[np.array([True, False, True])],
        lambda a, i: a[[True, False, True]],
        lambda a, i: a[True],
        lambda a, i: a[False],
        lambda a, i: a[np.True_],
        lambda a, i: a[np.array(1)],
        lambda a, i: a[i[0]],
        lambda a, i: a[i[0] : i[0] + 2],
        lambda a, i: a[np.ix_([0, 1], [1, 2])],
        lambda a, i: a[3],
        lambda a, i: a[0, 0, 0],
        lambda a, i: a[1.0],
        lambda a, i: a[i + 10],
        lambda a, i: a[-i],
        lambda a, i: a[np.array([], int)],
        lambda a, i: a[i.astype(np.uint8)],
        lambda a, i: a.take(i),
        lambda a, i: a.take(i, axis=1),
        lambda a, i: np.take(a, i, axis=0, mode="clip"),
        lambda a, i: np.take(a, i + 2, axis=0, mode="wrap"),
        lambda a, i: np.take_along_axis(a, i[:, None], 1),
        lambda a, i: a[(1, 2)],
        lambda a, i: a[slice(1, None), slice(None, None, -1)],
        lambda a, i: a[np.newaxis].shape,
        lambda a, i: a.flat[2],
        lambda a, i: a[np.nonzero(a > 0)],
        lambda a, i: np.argwhere(a > 0),
        lambda a, i: a[a.argmax() % 3],
        lambda a, i: a[int(a.argmax()) % 3],
        lambda a, i: np.choose(i, a),
        lambda a, i: a[i == 1, 1:],
        lambda a, i: a[..., i][..., ::-1],
        lambda a, i: a[1:][i[:1]],
        lambda a, i: a.T[i].T,
        lambda a, i: a[:, ::-1][:, i],
        lambda a, i: np.delete(a, 1, 0),
        lambda a, i: np.insert(a, 1, 5.0, axis=0),
        lambda a, i: a["x"],
        lambda a, i: np.diag(a[i][:, i]),
        lambda a, i: np.tril(a) + np.triu(a, 1),
    ]
    each(functions, (rand(3, 3), np.array([2, 0, 1])), (np.asfortranarray(rand(3, 3)), np.array([2, 2, 0])))


def test_writing_by_index() -> None:
    def key(k):
        def write(a, v):
            a[k] = v
            return a

        return write

    def add(k):
        def write(a, v):
            a[k] += v
            return a

        return write

    keys = [
        1, -1, slice(1, 3), slice(None, None, -1), (0, 1), (slice(None), 0), Ellipsis, None, (None, 1), [0, 2],
        np.array([0, 2]), (np.array([0, 2]), np.array([1, 1])), [0, 0, 1], np.array([True, False, True]), (slice(None), [2, 0]),
        True, False, np.array([[True] * 3] * 3), (Ellipsis, 1), 5, -4, [5], (0, 0, 0), (), np.int8(1), (1, slice(0, 0)),
        ([0, 1], slice(None)), (np.array([[0], [1]]), np.array([0, 2])), np.array([], int), slice(2, 0), 1.5,
    ]  # fmt: skip
    values = [5.0, 7, rand(3), rand(3, 3), np.float32(2), rand(1, 3), rand(2), np.array(4), [1.0, 2.0, 3.0], 1j, "x", None]
    generator = np.random.default_rng(9)
    for k in keys:
        for make in (key, add):
            for number in generator.choice(len(values), 2, replace=False):
                try:
                    with warnings.catch_warnings():
                        # NumPy's floating point warnings, which compiled code does not repeat.
                        warnings.simplefilter("ignore", RuntimeWarning)
                        check(make(k), rand(3, 3), values[number])
                except Exception as error:
                    raise AssertionError(f"{make.__name__} a[{k!r}] by {values[number]!r}: {str(error)[:900]}") from error


def test_writing_by_computed_index() -> None:
    def duplicates(a, i, v):
        a[i] = v
        return a

    def accumulated(a, i, v):
        a[i] += v
        return a

    def add_at(a, i, v):
        np.add.at(a, i, v)
        return a

    def maximum_at(a, i, v):
        np.maximum.at(a, i, v)
        np.subtract.at(a, (i,), 1)
        return a

    def masked(a, i, v):
        a[a > 0] = v[0]
        a[a < -0.5] *= 2
        a[i > 1] = v[i > 1]
        return a

    def mask_of_values(a, i, v):
        m = a > 0
        a[m] = a[m] ** 2 + v[: m.sum()]
        return a

    def put(a, i, v):
        np.put(a, i, v)
        a.put([0], 9)
        np.place(a, a > 8, [1.0])
        np.putmask(a, a < 0, v)
        np.copyto(a, v, where=a > 0.2)
        return a

    def along(a, i, v):
        np.put_along_axis(a, i[:1], 3.0, 0)
        return a

    def swapped(a, i, v):
        a[[0, 1]] = a[[1, 0]]
        a[0], a[1] = a[1], a[0]
        a[i] = a[i[::-1]]
        return a

    def rows(a, i, v):
        b = np.tile(a, (5, 1))
        b[i, i] = v
        b[i] += v
        b[[0, 1]] = b[[1, 0]]
        b[0], b[1] = b[1], b[0]
        b[:, i] = b
        return b

    indices = [np.array([0, 0, 1, 4, 2]), np.array([4, 3, 2, 1, 0]), np.array([-1, 0, 0, 0, 0]), np.array([0, 1, 2, 3, 5])]
    for function in (duplicates, accumulated, add_at, maximum_at, masked, mask_of_values, put, along, swapped, rows):
        each([function], *[(rand(5), i, np.arange(5.0)) for i in indices])
        each([function], (np.arange(5), indices[0], np.arange(5)), (rand(5).astype(np.float32), indices[1], rand(5)))


def test_index_by_argument() -> None:
    functions = [
        lambda a, n: a[n],
        lambda a, n: a[n:],
        lambda a, n: a[:n],
        lambda a, n: a[::n] if n else a,
        lambda a, n: a[n] * 2 + n,
        lambda a, n: np.zeros(abs(n)) + n,
        lambda a, n: a[n : n + 2],
        lambda a, n: a.reshape(n, -1) if n > 0 else a,
        lambda a, n: a.sum(axis=n),
        lambda a, n: np.roll(a, n),
        lambda a, n: np.eye(abs(n), k=n),
        lambda a, n: a * n,
        lambda a, n: np.arange(n),
        lambda a, n: range(n)[-1] * a if n > 0 else a,
        lambda a, n: [a * k for k in range(n)],
        lambda a, n: np.repeat(a, abs(n)),
        lambda a, n: a**n,
        lambda a, n: (1, 2, 3)[n] * a,
    ]
    for function in functions:
        decorated = aj.autocluster(policy="eager", max_plans=64)(function)
        for _ in range(2):
            for n in (0, 1, 2, -1, -2, 3, True, np.int64(2), np.int8(1), 4, 7, 1.0):
                try:
                    want = function(np.arange(6.0), n), None
                except Exception as error:
                    want = None, error
                try:
                    got = decorated(np.arange(6.0), n), None
                except Exception as error:
                    got = None, error
                text = f"{inspect.getsource(function).strip()} of {n!r}"
                assert type(got[1]) is type(want[1]), f"{text}: {got[1]!r} instead of {want[1]!r}"
                assert str(got[1]) == str(want[1]), text
                np.testing.assert_array_equal(got[0], want[0], err_msg=text)
                assert type(got[0]) is type(want[0]), text


def test_index_changes_from_call_to_call() -> None:
    def f(a, n):
        a[n] = n * 2
        return a[n] + a[n - 1]

    decorated = aj.autocluster(policy="eager")(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", aj.AutojitWarning)  # too many plans are the point; the answers are compared
        for n in range(20):
            one, two = np.arange(20.0), np.arange(20.0)
            assert decorated(one, n) == f(two, n)
            np.testing.assert_array_equal(one, two)
        with pytest.raises(IndexError):
            decorated(np.arange(20.0), 20)


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
    each(functions, (rand(2, 3, 4),), rtol=1e-6)


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


def test_float16_and_casts() -> None:
    functions = [
        lambda a: a + 1,
        lambda a: a * a,
        lambda a: a.sum(),
        lambda a: a.mean(),
        lambda a: np.exp(a),
        lambda a: a.astype(np.float32) / 3,
        lambda a: a @ a,
        lambda a: np.sqrt(a),
        lambda a: a.astype(np.int8),
        lambda a: a > 1,
        lambda a: a.cumsum(),
        lambda a: np.linspace(0, 1, 3, dtype=np.float16) * a[:3],
    ]
    each(functions, (np.arange(8).astype(np.float16) * np.float16(1.1),), (np.full(8, 60000, np.float16),))
    casts = [
        lambda a: a.astype(np.int32),
        lambda a: a.astype(np.uint8),
        lambda a: a.astype(np.int64),
        lambda a: a.astype(bool),
        lambda a: a.astype(np.float32),
        lambda a: a.astype(np.complex64),
        lambda a: a.astype(np.float16),
        lambda a: np.int8(a[0]),
        lambda a: int(a[1]),
        lambda a: bool(a[0]),
        lambda a: np.asarray(a, np.uint16),
    ]
    each(casts, (np.array([1.7, -1.7, 255.5, 3e9, -3e9]),), (np.array([2.5, np.nan, np.inf, 1e20, -1.0]),))
    each(casts, (np.array([2.5, 1.0, 70000.0], np.float32),), (np.array([300, -5, 2**40]),), (np.array([True, False, True]),))
    each(casts, (np.array([2**64 - 1, 5, 2**63], np.uint64),))


def test_bools() -> None:
    functions = [
        lambda a, b: a + b,
        lambda a, b: a * b,
        lambda a, b: a - b,
        lambda a, b: -a,
        lambda a, b: ~a & b | a ^ b,
        lambda a, b: a.sum() + b.sum(),
        lambda a, b: a.mean(),
        lambda a, b: a * 2.5,
        lambda a, b: a + True,
        lambda a, b: True + a,
        lambda a, b: np.where(a, b, 3),
        lambda a, b: a > b,
        lambda a, b: a @ b,
        lambda a, b: np.logical_not(a) * 1,
        lambda a, b: a.max(),
        lambda a, b: a.cumsum(),
        lambda a, b: a / b,
        lambda a, b: a // True,
        lambda a, b: a**2,
        lambda a, b: not a.any(),
        lambda a, b: a.all() and b.any(),
        lambda a, b: (a[0] and b[1]) or a[2],
        lambda a, b: a[0] + a[1],
        lambda a, b: np.dot(a, b),
        lambda a, b: a.astype(int) << b,
    ]
    each(functions, (np.array([True, False, True]), np.array([True, True, False])))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_a_view_that_nobody_reads_is_still_checked(dtype):
    def straight(A, i):
        _row = A[i[0]]
        return A[1] * 2

    def turning(A, i):
        for k in range(i.size):
            _row = A[:, i[k]]
        return A[1] * 2

    def under(A, i):
        if A[0, 0] >= 0:
            _row = A[i[0] // 1]
        return A[1] * 2

    A = np.arange(12.0).reshape(3, 4)
    for function in (straight, turning, under):
        for number in (1, 2, 100, 5, -1, -4, -7):
            if number >= 0 or np.dtype(dtype).kind == "i":
                check(function, A, np.full(3, number, dtype))
    check(straight, A, np.array([2**64 - 1, 2**63], "uint64"))
