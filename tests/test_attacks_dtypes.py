"""Dtypes: overflow, division by zero, Python ints out of range, mixed dtypes, casts, float16, bools."""

from __future__ import annotations

import numpy as np

from tests.attacks import sequence
from tests.each import each

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
