"""Example operands for the generated op tests: dtypes, layouts and edge values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

DTYPES = tuple(
    np.dtype(name) for name in "bool int8 int32 int64 uint8 uint64 float16 float32 float64 complex64 complex128".split()
)


#: Dtypes that get every combination; the others get the layouts and a few. Each case costs compile time.
THOROUGH = frozenset(np.dtype(name) for name in "int8 uint64 float16 float64 complex64".split())


@dataclass(frozen=True)
class Case:
    """One call of an op: `op.call(*args, **params)`. `constant`: Python scalars are constants of the graph."""

    label: str
    args: tuple[Any, ...]
    params: dict[str, Any] = field(default_factory=dict)
    constant: bool = True


def ordinary(rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...], positive: bool = False) -> np.ndarray:
    """Random values of moderate size; integers and floats are not zero where `positive`."""
    if dtype.kind == "b":
        return np.ones(shape, bool) if positive else rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        low = 1 if positive else (0 if dtype.kind == "u" else -9)
        return rng.integers(low, 10, shape).astype(dtype)
    values = rng.normal(size=shape) * 2
    if dtype.kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return (np.abs(values) + 0.1 if positive and dtype.kind == "f" else values).astype(dtype)


def edges(dtype: np.dtype) -> np.ndarray:
    """The values where implementations differ. No subnormals: XLA flushes them to zero."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [0, 1, 2, 3, 7, 8, 31, 63, 64, 100, info.min, info.min + 1, info.max, info.max - 1]
        values += [] if dtype.kind == "u" else [-1, -2, -3, -7, -8]
        return np.array([v for v in values if info.min <= v <= info.max], dtype)
    info = np.finfo(dtype)
    real = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 8.0, 100.0, -100.0, 1000.0, np.pi, -np.e]
    real += [1 + float(info.eps), 1 - float(info.eps), float(info.tiny), -float(info.tiny)]
    real += [float(info.max), float(info.min), np.inf, -np.inf, np.nan]
    if dtype.kind == "f":
        return np.array(real, dtype)
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 100.0, np.inf, -np.inf, np.nan]
    return np.array([complex(a, b) for a in parts for b in parts], dtype)


def pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All combinations, flat."""
    left, right = np.meshgrid(x, y, indexing="ij")
    return left.ravel(), right.ravel()


def layouts(rng: np.random.Generator, dtype: np.dtype, positive: bool = False) -> Iterator[tuple[str, Any]]:
    """The same dtype contiguous, strided, without axes, as a scalar, and empty."""
    yield "contiguous", ordinary(rng, dtype, (3, 5), positive)
    yield "strided", ordinary(rng, dtype, (6, 10), positive)[::2, ::-2]
    yield "0-d", np.array(ordinary(rng, dtype, (), positive))
    yield "scalar", ordinary(rng, dtype, (1,), positive)[0]
    yield "empty", ordinary(rng, dtype, (0, 5), positive)


def unary(rng: np.random.Generator) -> list[Case]:
    """Calls with one operand: every dtype in every layout, and the edge values."""
    cases = [
        Case(f"{dtype} {name}", (x,))
        for dtype in DTYPES
        for name, x in layouts(rng, dtype)
        if name == "strided" or dtype in THOROUGH
    ]
    cases += [Case(f"{dtype} edges", (edges(dtype),)) for dtype in DTYPES]
    return cases + [Case(f"python {value!r}", (value,)) for value in (True, 3, 0.7, 1.5 - 2j)]


def binary(rng: np.random.Generator) -> list[Case]:
    """Calls with two operands: equal dtypes in every layout, mixed dtypes, Python scalars, edge values."""
    cases = []
    for dtype in DTYPES:
        for (name, x), (_, y) in zip(layouts(rng, dtype), layouts(rng, dtype, positive=True), strict=True):
            if name == "strided" or (name != "contiguous" and dtype in THOROUGH):
                cases.append(Case(f"{dtype} {name}", (x, y)))
        vector = ordinary(rng, dtype, (3, 5))
        row = ordinary(rng, dtype, (1, 5), positive=True)
        cases.append(Case(f"{dtype} python 3", (vector, 3)))
        if dtype in THOROUGH:
            cases += [Case(f"{dtype} python {value!r}", (vector, value)) for value in (True, 0.7, 1.5 - 2j)]
            cases.append(Case(f"{dtype} column and row", (vector[:, :1], row)))
            cases.append(Case(f"{dtype} row", (vector, row[0])))
            cases.append(Case(f"python 3 {dtype}", (3, ordinary(rng, dtype, (3, 5), positive=True)), constant=False))
            cases.append(Case(f"{dtype} python 300", (vector, 300), constant=False))
        cases.append(Case(f"{dtype} edges", pairs(edges(dtype), edges(dtype))))
        if dtype.kind in "iu" and dtype in THOROUGH:
            positive = edges(dtype)[edges(dtype) > 0]
            cases.append(Case(f"{dtype} positive edges", pairs(edges(dtype), positive)))
    for name in "bool int64,int8 float32,int64 uint64,uint64 int8,float32 int8,float16 int32,complex64 float64".split():
        left, _, right = name.partition(",")
        left, right = np.dtype(left), np.dtype(right or "int32")
        x, y = ordinary(rng, left, (3, 5)), ordinary(rng, right, (3, 5), positive=True)
        cases.append(Case(f"{left} {right}", (x, y)))
        cases.append(Case(f"{left} {right} edges", pairs(edges(left), edges(right))))
    return cases


def python_numbers(operands: int) -> list[Case]:
    """Calls with Python numbers alone, as constants and at run time."""
    numbers = [(3, 4), (-2, 5), (0.5, 3), (2, 1.25), (-1.5, 0.1)]
    return [
        Case(f"{pair[:operands]} {constant}", pair[:operands], constant=constant)
        for pair in numbers
        for constant in (False, True)
    ]


def default_cases(operands: int, rng: np.random.Generator) -> list[Case]:
    """Cases for an elementwise function of one or two operands."""
    maker: Callable[..., list[Case]] = unary if operands == 1 else binary
    return maker(rng)


def with_nan(x: np.ndarray) -> np.ndarray:
    """A copy of a float array with a NaN, an infinity and a negative zero among its first elements."""
    x = np.array(x)
    flat = x.reshape(-1)
    flat[1], flat[4], flat[7] = np.nan, np.inf, -0.0
    return x


def reduction(params: tuple[str, ...], rng: np.random.Generator) -> list[Case]:
    """Calls of a reduction: every dtype in every layout, axes, `keepdims`, `dtype`, `ddof`, NaN."""
    axes: list[dict[str, Any]] = [{}]
    if "axis" in params:
        axes += [{"axis": 0}, {"axis": -1}, {"axis": (0, 1)}, {"axis": None}, {"axis": 2}, {"axis": ()}]
    if "keepdims" in params:
        axes += [{"keepdims": True}, {"axis": 0, "keepdims": True}]
    cases = []
    for dtype in DTYPES:
        wanted = ("strided", "0-d", "scalar", "empty") if dtype in THOROUGH else ("strided",)
        cases += [Case(f"{dtype} {name}", (x,)) for name, x in layouts(rng, dtype) if name in wanted]
        x = ordinary(rng, dtype, (3, 7))
        some = axes if dtype in THOROUGH else axes[1:2]
        cases += [Case(f"{dtype} {keywords}", (x,), keywords) for keywords in some]
        cases.append(Case(f"{dtype} (0, 5) axis 1", (ordinary(rng, dtype, (0, 5)),), {"axis": 1}))
        if dtype.kind in "fc":
            cases += [Case(f"{dtype} nan {keywords}", (with_nan(x),), keywords) for keywords in (some[0], *some[2:7:2])]
            cases.append(Case(f"{dtype} all nan", (x * np.nan,), {"axis": 0} if "axis" in params else {}))
        if "dtype" in params and dtype in THOROUGH:
            for wanted in (np.float32, np.int64, np.complex128):
                cases.append(Case(f"{dtype} dtype {wanted.__name__}", (x,), {"dtype": wanted}))
        for name in {"ddof", "correction"} & set(params):
            cases.append(Case(f"{dtype} {name}", (x,), {name: 1, "axis": 1}))
            if dtype in THOROUGH:
                cases.append(Case(f"{dtype} {name} 9", (x,), {name: 9, "axis": 1}))
    if "axis" in params:
        cube = ordinary(rng, np.dtype(np.float64), (3, 4, 5))
        cases += [Case(f"cube {axis}", (cube,), {"axis": axis}) for axis in (0, 1, 2, (0, 2), (1, 2), (0, 1))]
    return cases
