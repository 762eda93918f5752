"""Assignments within one memory that NumPy does while it reads: the result depends on its order of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.lists import is_index_tuple
from autojit.capture.values import Arr, Items
from autojit.errors import CannotCapture
from autojit.ir.index import Index, Place, Slice, Window


def mask_is_apart(key: Any, array: Any) -> None:
    """Whether writing to an array leaves the mask alone that says where to write: NumPy reads it meanwhile.

    Raises:
        CannotCapture: The mask is another view of the same memory.
    """
    for mask in key.values if isinstance(key, Items) and is_index_tuple(key) else [key]:
        if isinstance(mask, Arr) and mask.dtype == np.bool_ and mask.dummy.ndim and isinstance(array, Arr):
            if mask.storage is array.storage and mask.steps != array.steps:
                raise CannotCapture("overlap", "the mask lies in the array that is written")


def items_are_apart(array: Arr, index: Index, operands: list[Any], items: list[Any]) -> None:
    """Whether the items of a list may be assigned at once: NumPy fills a basic index with one after the other.

    Raises:
        CannotCapture: One of them lies in the array that is written.
    """
    if _has_arrays(index, operands):
        return
    for item in items:
        if isinstance(item, Arr) and item.kind == "array" and item.storage.may_be(array.storage):
            raise CannotCapture("overlap", "the items of a list lie in the array that they are assigned to")


def are_apart(one: Arr, other: Arr) -> bool:
    """Whether two arrays have no element in common, as far as the ways to them tell."""
    if not one.storage.may_be(other.storage):
        return True
    if one.storage is not other.storage or any(step.operands for step in (*one.steps, *other.steps)):
        return False
    spec = one.storage.spec
    whole = np.empty(spec.shape, spec.dtype)  # nobody touches its memory
    views = [whole, whole]
    for number, array in enumerate((one, other)):
        for step in array.steps:
            views[number] = step.op.call(views[number], **dict(step.params))
        if not np.may_share_memory(views[number], whole):
            return not array.spec.size
    return not np.may_share_memory(views[0], views[1])


def flat_is_apart(array: Arr, value: Any) -> None:
    """Whether values may be assigned to flat elements at once: NumPy copies one after the other.

    Raises:
        CannotCapture: They lie in the array that is written.
    """
    if isinstance(value, Arr) and value.spec.size > 1 and value.storage.may_be(array.storage):
        raise CannotCapture("overlap", "flat elements are assigned from the same memory")


def vector_is_apart(array: Arr, index: Index, operands: list[Any], value: Any) -> None:
    """Whether `array[index] = value` may be done at once: NumPy copies the value first, except for some vectors.

    Raises:
        CannotCapture: A vector is assigned to another one in the same memory, in one direction with other steps, or
            to the elements that a mask selects.
    """
    if not isinstance(value, Arr) or value.storage is not array.storage:
        return
    is_mask = index.entries == (Place(0),) and operands[0].spec.dtype == np.bool_
    if value.dtype != array.dtype and value.kind == "array" and (is_mask or not _has_arrays(index, operands)):
        # Part of a complex number: it is cast anew for each element, of which it is one.
        raise CannotCapture("overlap", "a part of complex numbers is assigned to them")
    if not value.dummy.ndim:
        return
    if is_mask:
        count_axis = array.dummy.ndim - operands[0].spec.ndim
        if value.dummy.ndim > count_axis and value.shape[-count_axis - 1] != 1:
            raise CannotCapture("overlap", "elements that a mask selects are assigned from the same memory")
    steps = _steps(array, index, operands)
    step = value.dummy.strides[-1]
    if len(steps) == 1 and value.shape[-1] > 1 and steps[0] * step > 0 and steps[0] != step:
        raise CannotCapture("overlap", "a vector is assigned to another one in the same memory")


def _has_arrays(index: Index, operands: list[Any]) -> bool:
    """Whether an index has arrays, whose assignment NumPy does otherwise."""
    specs = [operands[entry.operand].spec for entry in index.entries if isinstance(entry, Place)]
    return any(spec.shape or spec.dtype == np.bool_ for spec in specs)


def _steps(array: Arr, index: Index, operands: list[Any]) -> list[int]:
    """The strides of what an index selects; none for an index with arrays, whose assignment NumPy does otherwise."""
    if _has_arrays(index, operands):
        return []
    strides = array.dummy.strides
    taken = sum(entry is not None and entry is not Ellipsis for entry in index.entries)
    steps: list[int] = []
    axis = 0
    for entry in index.entries:
        if entry is Ellipsis:
            after = axis + array.dummy.ndim - taken
            steps += strides[axis:after]
            axis = after
        elif entry is not None:
            if isinstance(entry, Slice | Window):
                steps.append(strides[axis] * (entry.step or 1))
            axis += 1
    return steps + list(strides[axis:])
