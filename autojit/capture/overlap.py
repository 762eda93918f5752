"""Assignments within one memory that NumPy does while it reads: the result depends on its order of elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autojit.capture.lists import is_index_tuple, is_list
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
            is_same = mask.storage is array.storage and mask.steps == array.steps
            if mask.storage.may_be(array.storage) and not is_same:
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
    if not isinstance(value, Arr) or not value.storage.may_be(array.storage):
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
    is_chosen = value.storage is not array.storage  # from two arrays, one of which is this
    if len(steps) == 1 and value.shape[-1] > 1 and (is_chosen or (steps[0] * step > 0 and steps[0] != step)):
        raise CannotCapture("overlap", "a vector is assigned to another one in the same memory")


def are_in_order(self: Any, array: Arr, index: Index, parts: Sequence[Any], value: Any) -> None:
    """Whether `array[parts] = value` writes element after element: of those for one place the last one stays.

    NumPy goes through arrays of indices, and the values beside them, as they lie in memory.

    Args:
        self: The capture.
        array: The array.
        index: The index.
        parts: Its parts.
        value: What is assigned.

    Raises:
        CannotCapture: It writes in another order, or may do so.
    """
    places = [part for part in parts if isinstance(part, Arr) and part.dummy.ndim and part.dtype != np.bool_]
    if not isinstance(value, Arr) or not value.dummy.ndim or not places:
        return
    has_more = any(_is_long(part) for part in parts if not isinstance(part, Arr) or part.dtype == np.bool_)
    if len(places) == 1 and places[0].dummy.ndim == 1 and not has_more:
        return
    has_slices = any(isinstance(entry, Slice | Window) or entry is Ellipsis for entry in index.entries)
    has_slices = has_slices or sum(map(self.axes_used, parts)) < array.dummy.ndim
    beside = [] if has_slices else [value]
    operands = (*places, *beside)
    for one in operands:
        if one.storage.input is not None and len(one.storage.spec.shape) < 2:
            self.layout_matters(one)  # it may run backwards; of arrays with more axes the strides are asked anyway
    if has_slices and not value.dummy.flags.c_contiguous:
        raise CannotCapture("overlap", "values that are not in C order are assigned to places that arrays name")
    small = [_shortened(one.dummy) for one in operands]
    small += [_of_new(self, part) for part in parts if not isinstance(part, Arr) or part.dtype == np.bool_]
    try:
        walk = np.nditer(small, flags=["multi_index", "zerosize_ok"], order="K")
    except ValueError:  # shapes that do not fit: the assignment will tell
        return
    visited = [walk.multi_index for _ in walk]
    if visited != sorted(visited):
        raise CannotCapture("overlap", "NumPy writes to the places that arrays name in another order than theirs")


def _shortened(array: np.ndarray) -> np.ndarray:
    """An array with short axes that lie in memory as those of another one."""
    lengths = [min(length, 2) for length in array.shape]
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    held = np.zeros([lengths[axis] if array.strides[axis] else 1 for axis in order])
    held = held.transpose([order.index(axis) for axis in range(array.ndim)])
    held = held[tuple(slice(None, None, -1 if step < 0 else 1) for step in array.strides)]
    return np.broadcast_to(held, lengths)


def _of_new(self: Any, part: Any) -> np.ndarray:
    """An array with short axes for the array of places that a list or a mask becomes."""
    if not _is_long(part):
        return np.zeros(())
    shape, items = self.flatten(part) if is_list(part) else ((), [])
    if all(isinstance(getattr(item, "value", None), bool | np.bool_) for item in items):
        return np.zeros(2)
    inner = next((item.shape for item in items if isinstance(item, Arr)), ())
    return np.zeros([min(length, 2) for length in (*shape, *inner)])


def _is_long(part: Any) -> bool:
    """Whether a part of an index is an array of places that is new."""
    return is_list(part) or isinstance(part, Arr)


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
