"""Dummies: arrays of any shape over a few bytes of memory, of which NumPy's rules for views can be asked."""

from __future__ import annotations

import functools

import numpy as np
from numpy.lib.stride_tricks import as_strided

from autojit.ir.spec import is_canonical

_ONE = np.zeros(2, np.complex128)  # memory for dummies; never read, never written


def make_dummy(shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...] | None = None) -> np.ndarray:
    """An array of any shape and strides over a few bytes of memory: NumPy's own view rules can be asked of it."""
    # Equal dtypes may be different ones.
    return (_known_dummy if is_canonical(dtype) else _new_dummy)(tuple(shape), dtype, strides)


def _new_dummy(shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...] | None) -> np.ndarray:
    if strides is None:
        strides = contiguous_strides(shape, dtype.itemsize)
    base = np.ndarray((1,), dtype, buffer=_ONE.data)
    return as_strided(base, shape, strides)


_known_dummy = functools.lru_cache(maxsize=4096)(_new_dummy)


def contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides of a C-ordered array; those of one without elements are what NumPy says."""
    if 0 in shape:
        return np.empty(shape, f"V{itemsize}").strides
    strides = []
    step = itemsize
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(reversed(strides))
