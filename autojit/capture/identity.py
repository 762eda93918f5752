"""Identity: `left is right`."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from autojit.capture.values import Arr, Items, Known, Opaque, Sym
from autojit.errors import CannotCapture


def is_same(self: Any, left: Any, right: Any) -> bool:
    """Whether two abstract values are one object.

    Raises:
        CannotCapture: The data decides, or Python does as it likes.
    """
    for value in (left, right):
        if isinstance(value, Opaque):
            raise value.error()
    if left is right or (_is_empty_tuple(left) and _is_empty_tuple(right)):
        return True
    if isinstance(left, Known) and isinstance(right, Known):
        same = left.value is right.value
        is_certain = isinstance(left.value, enum.Enum) and isinstance(right.value, enum.Enum)  # the guard knows them
        if (left.path or right.path) and not (left.made or right.made or is_certain):
            one, other = (known.path or self.prologue.constant(known.value) for known in (left, right))
            self.prologue.check(f"({one} is {other}) is {same}", "two objects are one, or are not")
        return same
    if isinstance(left, Sym) or isinstance(right, Sym):
        one, other = (v.value if isinstance(v, Known | Sym) else v for v in (left, right))
        if one is None or other is None or type(one) is not type(other):
            return False
        raise CannotCapture("unsupported-syntax", "the identity of numbers")
    if _may_be_shared(left, right) or _may_be_shared(right, left):
        raise CannotCapture("data-value", "the identity of a number or truth value that the data decides")
    if isinstance(left, Arr) and isinstance(right, Arr):
        paths = [array.storage.path for array in (left, right) if not array.steps]
        if len(paths) == 2 and None not in paths and paths[0] != paths[1]:
            # The caller may pass one array twice.
            self.prologue.check(f"{paths[0]} is not {paths[1]}", "two arguments are not one array", soft=True)
    return False


def _is_empty_tuple(value: Any) -> bool:
    """Whether a value is the one tuple without items."""
    if isinstance(value, Items):
        return value.kind is tuple and not value.items
    return isinstance(value, Known) and type(value.value) is tuple and not value.value


def _may_be_shared(value: Any, other: Any) -> bool:
    """Whether a computed scalar may be an object that exists once, such as `True`, and `other` the same."""
    if not isinstance(value, Arr) or value.kind == "array" or (value.kind == "scalar" and value.dtype != np.bool_):
        return False
    if isinstance(other, Known):
        return isinstance(other.value, bool | int | np.bool_)
    return isinstance(other, Arr) and other.kind != "array"
