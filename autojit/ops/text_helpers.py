"""Helper functions of a graph's printed text: its namespace offers them as `aj.<name>`."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.errors import Trapped
from autojit.ir.index import Index, Window, put, window_slice

__all__ = ["check_windows", "pack", "put", "set_diagonal", "set_imag", "set_real", "window_slice"]


def set_real(base: Any, value: Any) -> np.ndarray:
    """A copy of `base` with a new real part."""
    result = np.array(base)
    result.real = value
    return result


def set_imag(base: Any, value: Any) -> np.ndarray:
    """A copy of `base` with a new imaginary part."""
    result = np.array(base)
    result.imag = value
    return result


def set_diagonal(base: Any, value: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> np.ndarray:
    """A copy of `base` with `value` assigned to the diagonal that `np.diagonal` shows."""
    result = np.array(base)
    diagonal = np.diagonal(result, offset, axis1, axis2)
    diagonal.flags.writeable = True
    diagonal[...] = value
    return result


def pack(*elements: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """`np.array` of nested sequences: `shape` is that of the sequences, `elements` are in C order."""
    result = np.empty(shape + np.shape(elements[0]) if elements else shape, dtype)
    flat = result.reshape((len(elements), *np.shape(elements[0]))) if elements else result
    for place, element in enumerate(elements):
        flat[place] = element
    return result


def check_windows(index: Index, shape: tuple[int, ...], operands: tuple[Any, ...]) -> None:
    """Refuse a window that reaches over the ends of its axis, where a slice would be shorter.

    Raises:
        Trapped: Such a window.
    """
    axis, left = 0, len(index.entries)
    for entry in index.entries:
        left -= 1
        if entry is None:
            continue
        if entry is Ellipsis:
            axis = len(shape) - sum(other is not None for other in index.entries[len(index.entries) - left :])
            continue
        if isinstance(entry, Window) and entry.length:
            first = int(operands[entry.operand])
            last = first + (entry.length - 1) * entry.step
            if not (0 <= first < shape[axis] and 0 <= last < shape[axis]):
                raise Trapped(f"a slice from {first} to {last} leaves an axis of length {shape[axis]}")
        axis += 1
