"""Arrays like the user's, to capture a region from while the user goes on with theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def sketch(values: Sequence[Any]) -> tuple[Any, ...]:
    """The same values, with untouched arrays of the same layout and flags in place of arrays.

    Nothing keeps the user's arrays alive or adds to their references: `resize` would refuse an array that another
    thread looks at. Where one array stands twice, so does the one in its place.
    """
    made: dict[int, Any] = {}
    return tuple([made.setdefault(id(value), _like(value)) for value in values])


def _like(value: Any) -> Any:
    if type(value) is not np.ndarray or value.dtype.hasobject:
        return value
    array = np.empty_like(value)
    if value.base is not None or array.strides != value.strides:
        array = _view_like(value)
    if not value.flags.writeable:
        array.flags.writeable = False
    return array


def _view_like(value: np.ndarray) -> np.ndarray:
    """A view with the strides of another array."""
    ends = [step * (length - 1) for step, length in zip(value.strides, value.shape, strict=True) if length]
    first = -sum(end for end in ends if end < 0)
    memory = np.empty(first + sum(end for end in ends if end > 0) + value.itemsize, np.uint8)
    return np.ndarray(value.shape, value.dtype, memory, first, value.strides)
