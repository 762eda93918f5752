"""The numbers on which functions are measured, and the distances of results in units in the last place."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

UNARY = (
    "sqrt square reciprocal cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan "
    "sinh cosh tanh arcsinh arccosh arctanh degrees radians rint"
).split()
BINARY = (
    "add subtract multiply divide power arctan2 hypot logaddexp logaddexp2 remainder fmod floor_divide maximum".split()
)
FUNCTIONS = (*UNARY, *BINARY)
#: Functions that are compiled for complex numbers.
COMPLEX = (
    "sqrt square reciprocal exp exp2 log log2 log10 sin cos tan arctan sinh cosh tanh arcsinh arctanh absolute "
    "add subtract multiply divide power"
).split()
#: The logarithm of a sum is small where its operands are not.
CANCELLING = ("logaddexp", "logaddexp2")
FLOATS = tuple(np.dtype(name) for name in ("float64", "float32", "float16"))
COMPLEXES = tuple(np.dtype(name) for name in ("complex128", "complex64"))


def cases() -> list[tuple[str, np.dtype]]:
    """What is measured: pairs of a function's name and a dtype."""
    names = (*FUNCTIONS, "absolute")
    return [(name, dtype) for name in names for dtype in (*FLOATS, *COMPLEXES) if _compiles(name, dtype)]


def _compiles(name: str, dtype: np.dtype) -> bool:
    return name in (COMPLEX if dtype.kind == "c" else FUNCTIONS)


def draw(name: str, dtype: np.dtype, count: int) -> list[np.ndarray]:
    """The arguments of a call: `count` elements each, the same at every call. None is subnormal."""
    rng = np.random.default_rng(zlib.crc32(f"{name} {dtype}".encode()))
    second = getattr(np, name).nin == 2
    if dtype.kind == "c":
        real = np.dtype(np.float32 if dtype == np.complex64 else np.float64)
        parts = [_moderate(rng, real, count) for _ in range(4 if second else 2)]
        return [(parts[n] + 1j * parts[n + 1]).astype(dtype) for n in range(0, len(parts), 2)]
    x = _reals(rng, dtype, count)
    if not second:
        return [_inside(name, x, rng)]
    y = _reals(rng, dtype, count)
    near = rng.random(count) < 0.25  # operands of like size
    with np.errstate(all="ignore"):
        y[near] = (x[near].astype(np.float64) * rng.uniform(0.5, 2, int(near.sum()))).astype(dtype)
    if name == "power":
        # Most pairs of any size overflow: exponents are such that half of the results do not.
        with np.errstate(all="ignore"):
            limit = np.log(float(np.finfo(dtype).max)) / np.maximum(np.abs(np.log(np.abs(x.astype(np.float64)))), 1e-3)
        y = (rng.uniform(-1.1, 1.1, count) * limit).astype(dtype)
        x = np.where(rng.random(count) < 0.9, np.abs(x), x)
    x, y = _normal(x), _normal(y)
    if name in ("remainder", "floor_divide"):
        with np.errstate(all="ignore"):
            y = np.where(np.abs(y) < np.finfo(dtype).tiny / np.finfo(dtype).eps * 4, dtype.type(1.5), y)
    return [x, y]


def _reals(rng: np.random.Generator, dtype: np.dtype, count: int) -> np.ndarray:
    """A third of random bits, a third evenly drawn, a third close to where functions are special."""
    info = np.finfo(dtype)
    bits = rng.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype)
    even = rng.uniform(-20, 20, count)
    limits = [float(np.log(float(info.max))), float(np.log(float(info.tiny))), float(np.log2(float(info.max)))]
    places = [0.5, 1.0, 2.0, np.e, *(n * np.pi / 2 for n in range(1, 65)), *limits, float(np.sqrt(float(info.max)))]
    steps = rng.choice([-1, 1], count) * 2.0 ** rng.integers(0, 12, count)
    near = rng.choice(places, count) * (1 + steps * float(info.eps))
    near *= rng.choice([-1.0, 1.0], count)
    kind = rng.integers(0, 3, count)
    with np.errstate(all="ignore"):
        return _normal(np.where(kind == 0, bits, np.where(kind == 1, even, near).astype(dtype)))


def _moderate(rng: np.random.Generator, dtype: np.dtype, count: int) -> np.ndarray:
    """Parts of complex numbers: of any size between 2**-20 and 2**4, or close to one."""
    size = 2.0 ** rng.uniform(-20, 4, count)
    near = 1 + float(np.finfo(dtype).eps) * rng.integers(-9, 9, count)
    return (np.where(rng.random(count) < 0.2, near, size) * rng.choice([-1.0, 1.0], count)).astype(dtype)


def _normal(x: np.ndarray) -> np.ndarray:
    """Ones in place of NaN, infinities and subnormal numbers."""
    with np.errstate(all="ignore"):
        good = np.isfinite(x) & ((x == 0) | (np.abs(x) >= np.finfo(x.dtype).tiny))
    return np.where(good, x, x.dtype.type(1))


def _inside(name: str, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Most numbers inside of the domain of a function."""
    most = rng.random(x.size) < 0.9
    if name in ("sqrt", "log", "log2", "log10", "arccosh"):
        x = np.where(most, np.abs(x), x)
    if name in ("log1p", "arcsin", "arccos", "arctanh", "arccosh"):
        with np.errstate(all="ignore"):
            inverse = _normal((1 / x).astype(x.dtype))
        outside = np.abs(x) < 1 if name == "arccosh" else np.abs(x) > 1
        x = np.where(most & outside & (x != 0), inverse, x)
    return x


def reference(name: str, arguments: list[np.ndarray]) -> np.ndarray:
    """The results in extended precision; its errors are a thousandth of a unit in the last place of float64."""
    wide = np.clongdouble if arguments[0].dtype.kind == "c" else np.longdouble
    with np.errstate(all="ignore"):
        return getattr(np, name)(*(x.astype(wide) for x in arguments))


def spacing(size: np.ndarray, dtype: np.dtype) -> Any:
    """The unit in the last place of results of this size, at least that of the smallest normal number."""
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.where(np.isfinite(size), size, np.finfo(size.dtype).max))
    least = int(np.frexp(info.tiny)[1])
    return np.ldexp(np.longdouble(1), np.clip(exponent, least, info.maxexp) - 1 - info.nmant)


def distance(name: str, arguments: list[np.ndarray], got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """How far `got` is from `wanted` in units of the last place of the dtype of `got`.

    The unit is that of the result, or of the absolute value of a complex result; where terms of both signs cancel
    inside of a function, of the largest operand, too.
    Infinite where one is NaN or infinite and the other is not, except that an infinity stands for the number of the
    next size. Subnormal results and zeros are equal.
    """
    dtype = got.dtype
    size = np.abs(wanted)
    if name in CANCELLING:
        size = np.maximum.reduce([size, *(np.abs(x).astype(size.dtype) for x in arguments)])
    if dtype.kind == "c":
        real = np.dtype(np.float32 if dtype == np.complex64 else np.float64)
        parts = [_off(part(got), part(wanted), spacing(size, real), real) for part in (np.real, np.imag)]
        both = np.isnan(got) & np.isnan(wanted)
        return np.where(both, 0, np.maximum(*parts))
    return _off(got, wanted, spacing(size, dtype), dtype)


def _off(got: np.ndarray, wanted: np.ndarray, unit: Any, dtype: np.dtype) -> np.ndarray:
    info = np.finfo(dtype)
    beyond = np.ldexp(np.longdouble(1), info.maxexp)
    with np.errstate(all="ignore"):
        a, b = got.astype(np.longdouble), wanted.astype(np.longdouble)
        b = np.where(np.abs(b) >= beyond, np.copysign(beyond, b), b)
        a = np.where(np.isinf(a), np.copysign(beyond, a), a)
        off = np.abs(a - b) / unit
        flushed = (np.abs(a) <= info.tiny) & (np.abs(b) <= info.tiny)
        off = np.where(flushed | (np.isnan(a) & np.isnan(b)), 0, off)
    return np.where(np.isnan(off), np.inf, off).astype(np.float64)
