"""`Spec`: what is known of a value before the run: shape, dtype, and which kind of Python object it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["array", "scalar", "python"]

#: Python scalar types and the dtype that NumPy gives them.
PYTHON_DTYPES: dict[type, np.dtype] = {
    bool: np.dtype(bool),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}

#: The dtypes that may enter a cluster.
COMPILED_DTYPES = frozenset(
    np.dtype(name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
    ).split()
)
_CHARS = frozenset(dtype.char for dtype in COMPILED_DTYPES)


#: NumPy's own objects for them, by identity.
_CANONICAL = {id(dtype): dtype for dtype in (np.dtype(dtype.char) for dtype in COMPILED_DTYPES)}


def is_canonical(dtype: np.dtype) -> bool:
    """Whether it is NumPy's own object for a compiled dtype: others are equal to it, and have metadata, say."""
    return id(dtype) in _CANONICAL


def is_compiled(dtype: np.dtype) -> bool:
    """Whether arrays of a dtype enter clusters: `np.longlong` is equal to `np.int64`, and yet another type."""
    return dtype in COMPILED_DTYPES and dtype.char in _CHARS


_SCALAR_TYPES = frozenset([*PYTHON_DTYPES, *(dtype.type for dtype in COMPILED_DTYPES)])


def is_compiled_scalar(kind: type) -> bool:
    """Whether numbers of a type enter clusters: a class derived from `np.float64` may have rules of its own."""
    return kind in _SCALAR_TYPES


@dataclass(frozen=True, slots=True)
class Spec:
    """Shape, dtype and kind of a value.

    Attributes:
        shape: The shape, a tuple of ints.
        dtype: The NumPy dtype, in native byte order.
        kind: "array" for `np.ndarray`, "scalar" for a NumPy scalar (`np.float64(1)`), "python" for a Python
            bool, int, float or complex.
        sharding: Reserved for sharded values; `None` on one device.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    kind: Kind = "array"
    sharding: object = None

    @property
    def weak(self) -> bool:
        """Whether NumPy's promotion adapts the value to its partner's dtype (NEP 50)."""
        return self.kind == "python" and self.dtype != np.bool_

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __str__(self) -> str:
        text = f"{self.dtype.name}[{','.join(map(str, self.shape))}]"
        return text if self.kind == "array" else f"{self.kind} {text}"


def spec_of(value: object) -> Spec:
    """The spec of a concrete array or scalar.

    Raises:
        TypeError: `value` is not an array or scalar.
    """
    if isinstance(value, np.ndarray):
        return Spec(value.shape, value.dtype)
    if isinstance(value, np.generic):
        return Spec((), value.dtype, "scalar")
    dtype = PYTHON_DTYPES.get(type(value))
    if dtype is None:
        raise TypeError(f"`{type(value).__name__}` has no spec")
    return Spec((), dtype, "python")


def result_spec(shape: tuple[int, ...], dtype: np.dtype) -> Spec:
    """The spec of a NumPy result that is a scalar when it has no axes."""
    return Spec(shape, dtype, "array" if shape else "scalar")
