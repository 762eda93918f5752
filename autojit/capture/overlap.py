"""Assignments within one memory that NumPy does while it reads: the result depends on its order of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.values import Arr, Items
from autojit.errors import CannotCapture
from autojit.ir.index import Index, Place, Slice, Window


def mask_is_apart(key: Any, array: Any) -> None:
    """Whether writing to an array leaves the mask alone that says where to write: NumPy reads it meanwhile.

    Raises:
        CannotCapture: The mask is another view of the same memory.
    """
    for mask in key.values if isinstance(key, Items) and key.kind is tuple else [key]:
        if isinstance(mask, Arr) and mask.dtype == np.bool_ and mask.dummy.ndim and isinstance(array, Arr):
            if mask.storage is array.storage and mask.steps != array.steps:
                raise CannotCapture("overlap", "the mask lies in the array that is written")


def vector_is_apart(array: Arr, index: Index, operands: list[Any], value: Any) -> None:
    """Whether `array[index] = value` may be done at once: NumPy copies the value first, except for some vectors.

    Raises:
        CannotCapture: A vector is assigned to another one in the same memory, in one direction with other steps, or
            to the elements that a mask selects.
    """
    if not isinstance(value, Arr) or value.storage is not array.storage or not value.dummy.ndim:
        return
    if index.entries == (Place(0),) and operands[0].spec.dtype == np.bool_:
        count_axis = array.dummy.ndim - operands[0].spec.ndim
        if value.dummy.ndim > count_axis and value.shape[-count_axis - 1] != 1:
            raise CannotCapture("overlap", "elements that a mask selects are assigned from the same memory")
    steps = _steps(array, index, operands)
    step = value.dummy.strides[-1]
    if len(steps) == 1 and value.shape[-1] > 1 and steps[0] * step > 0 and steps[0] != step:
        raise CannotCapture("overlap", "a vector is assigned to another one in the same memory")


def _steps(array: Arr, index: Index, operands: list[Any]) -> list[int]:
    """The strides of what an index selects; none for an index with arrays, whose assignment NumPy does otherwise."""
    strides = array.dummy.strides
    taken = sum(entry is not None and entry is not Ellipsis for entry in index.entries)
    steps: list[int] = []
    axis = 0
    for entry in index.entries:
        if isinstance(entry, Place):
            spec = operands[entry.operand].spec
            if spec.shape or spec.dtype == np.bool_:
                return []
        if entry is Ellipsis:
            after = axis + array.dummy.ndim - taken
            steps += strides[axis:after]
            axis = after
        elif entry is not None:
            if isinstance(entry, Slice | Window):
                steps.append(strides[axis] * (entry.step or 1))
            axis += 1
    return steps + list(strides[axis:])
