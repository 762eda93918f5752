"""The arguments of the matrix: every dtype in every layout, edge values among them."""

from __future__ import annotations

import zlib
from random import Random
from typing import Any

import numpy as np

DTYPES = tuple(
    np.dtype(name)
    for name in """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64
    complex128""".split()
)
LAYOUTS = tuple(
    """contiguous strided negative transposed fortran turned 0-d scalar empty single read-only repeated
    special""".split()
)


def seeded(*key: object) -> Random:
    """Choices that depend on a key alone."""
    return Random(zlib.crc32(" ".join(map(str, key)).encode()))


def ordinary(random: Random, dtype: np.dtype, shape: tuple[int, ...], positive: bool = False) -> np.ndarray:
    """Small values of a dtype; not zero where `positive`."""
    low = 1 if positive else 0 if dtype.kind in "bu" else -9
    count = int(np.prod(shape))
    whole = np.array([random.randint(low, 1 if dtype.kind == "b" else 9) for _ in range(count)], np.int64)
    if dtype.kind in "biu":
        return whole.astype(dtype).reshape(shape)
    values = whole + np.array([random.randrange(8) / 8 for _ in range(count)])
    if dtype.kind == "c":
        values = values + 1j * np.array([random.randint(-8, 8) / 4 for _ in range(count)])
    return values.astype(dtype).reshape(shape)


def edges(dtype: np.dtype) -> list[Any]:
    """The values where implementations differ. No subnormals: XLA flushes them to zero."""
    if dtype.kind == "b":
        return [False, True, True]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [0, info.max, 1, info.min, 2, 7, info.min + 1, 64, -1, 63, info.max - 1, -2, 100, 3, -8]
        return [value for value in values if info.min <= value <= info.max]
    info = np.finfo(dtype)
    real = [0.0, np.nan, 1.0, np.inf, -0.0, -np.inf, 0.5, -1.0, 2.5, float(info.tiny), -2.5, float(info.max), 1000.0]
    real += [1 + float(info.eps), -np.pi, 3.0, -0.5, 1e-3, float(info.min)]
    if dtype.kind == "f":
        return real
    parts = [0.0, np.nan, 1.0, np.inf, -0.0, -2.5, -np.inf]
    return [complex(real, imaginary) for real in parts for imaginary in parts]


def special(random: Random, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Edge values from a random one on."""
    values = edges(dtype)
    start = random.randrange(len(values))
    return np.resize(np.array(values[start:] + values[:start], dtype), shape)


def as_dtype(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A sample's numbers in another dtype."""
    if values.dtype.kind in "fc" and dtype.kind in "biu":
        values = np.rint(np.real(values) * 5)
    if dtype.kind == "u":
        values = np.abs(values)
    if dtype.kind == "c" and values.dtype.kind != "c":
        values = values + 0.5j * values.reshape(-1)[::-1].reshape(values.shape)
    if values.dtype.kind == "c" and dtype.kind != "c":
        values = np.real(values)
    return values.astype(dtype)


def laid_out(values: np.ndarray, layout: str, random: Random) -> Any:
    """The values in a layout; those without axes, the empty and the single one take fewer of them."""
    shape = values.shape
    if layout == "strided":
        wide = np.zeros(tuple(2 * n + 1 for n in shape), values.dtype)
        wide[tuple(slice(1, 2 * n + 1, 2) for n in shape)] = values
        return wide[tuple(slice(1, 2 * n + 1, 2) for n in shape)]
    if layout == "negative":
        turned = (slice(None, None, -1),) * values.ndim
        return values[turned].copy()[turned]
    if layout in ("transposed", "turned"):
        return np.ascontiguousarray(values.T).T
    if layout == "fortran":
        return np.array(values, order="F")
    if layout == "0-d":
        return np.array(values.reshape(-1)[0]) if values.size else values
    if layout == "scalar":
        return values.reshape(-1)[0] if values.size else values
    if layout == "empty":
        return values[:0].copy() if values.ndim else values
    if layout == "single":
        return values[(slice(1),) * values.ndim].copy()
    if layout == "repeated" and values.ndim:
        return np.broadcast_to(values[:1].copy(), shape)
    if layout == "special":
        made = np.array(values)
        flat = made.reshape(-1)
        for number, value in zip(range(0, flat.size, 3), special(random, values.dtype, (9,)), strict=False):
            flat[number] = value
        return made
    made = values.copy()
    made.flags.writeable = layout != "read-only"
    return made
