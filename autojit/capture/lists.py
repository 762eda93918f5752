"""Lists in place of arrays: NumPy looks at each Python number in them, which a cast does not."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.values import Arr, Items, Known, is_number
from autojit.capture.words import describe
from autojit.errors import CannotCapture
from autojit.ir.index import Index, Place

#: Ints up to here are floats too.
EXACT_INT = 2**53
#: More numbers are not passed one by one.
MOST = 256
#: ... and no more parts of an array have a node each.
_PARTS = 1024


def check_single(value: Any) -> None:
    """Refuse what is no number where as many values would be needed as the data selects.

    Raises:
        CannotCapture: It is a list, say, or a string.
    """
    if not is_number(value) and not (isinstance(value, Arr) and not value.dummy.ndim):
        raise CannotCapture("data-shape", f"{describe(value)} assigned to elements that the data counts")


def check_parts(count: int) -> None:
    """Refuse to make a node for each of very many parts of an array.

    Raises:
        CannotCapture: There are too many.
    """
    if count > _PARTS:
        raise CannotCapture("budget", f"{count} parts of an array")


def is_list(value: Any) -> bool:
    """Whether a value is a list or tuple."""
    if isinstance(value, Items):
        return value.kind in (list, tuple)
    return isinstance(value, Known) and isinstance(value.value, list | tuple)


def is_tuple(value: Any) -> bool:
    """Whether a value is a tuple."""
    return (value.kind if isinstance(value, Items) else type(getattr(value, "value", None))) is tuple


def is_index_tuple(value: Any) -> bool:
    """Whether a value as an index has a part for each axis: a tuple, or what is derived from it, as a named tuple."""
    return issubclass(value.kind if isinstance(value, Items) else type(getattr(value, "value", None)), tuple)


def from_list(self: Any, value: Any, dtype: np.dtype) -> Any:
    """A list or number that goes into an array of a dtype; arrays and all that needs no look stay as they are.

    NumPy rounds each item to the dtype by itself: Python's ints by way of a double, its own at once.

    Raises:
        CannotCapture: A number does not fit, or only the run knows whether it does.
    """
    if isinstance(value, Arr) and value.kind == "array":
        return value
    items = self.flatten(value)[1] if is_list(value) else [value]
    if dtype.kind not in "iu":
        return self.as_array(value, dtype if dtype.kind in "fc" else None) if is_list(value) else value
    if all(isinstance(item, Known) for item in items):
        made = self.ask(np.array, self.static(value), dtype)
        return self.fresh_constant(made) if is_list(value) else value
    for item in items:
        if isinstance(item, Arr) and item.kind == "array" and item.dummy.ndim:
            continue
        if not np.can_cast(self.operand(item).spec.dtype, dtype, "safe"):
            raise CannotCapture("argument-type", f"a number that may not fit into `{dtype}`")
    return self.as_array(value) if is_list(value) else value


def check_axes(self: Any, array: Arr, index: Index, operands: list[Any], value: Arr) -> None:
    """An assigned list has no more axes than what it is assigned to.

    Raises:
        CannotCapture: NumPy raises.
    """
    ndim = array.dummy.ndim
    for entry in index.entries:
        if isinstance(entry, Place) and (
            operands[entry.operand].spec.shape or operands[entry.operand].spec.dtype == bool
        ):
            return  # such an assignment broadcasts as usual
        ndim += 1 if entry is None else -1 if isinstance(entry, int | Place) else 0
    if value.dummy.ndim > ndim:
        raise CannotCapture("raises", "ValueError: setting an array element with a sequence.")


__all__ = ["MOST", "check_axes", "from_list", "is_index_tuple", "is_list", "is_tuple"]
