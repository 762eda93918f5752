"""Identity: `left is right`."""

from __future__ import annotations

import ast
import enum
from typing import Any

import numpy as np

from autojit.capture.lists import is_tuple
from autojit.capture.plain import is_method
from autojit.capture.values import Arr, Items, Known, LoopInt, Opaque, Rows, Sym
from autojit.errors import CannotCapture
from autojit.ir.syntax import walk

_NUMBERS = (bool, int, float, complex, np.generic)
#: A plan asks whether they are equal.
_EQUAL = (str, bytes, tuple, range, slice, np.dtype)
#: Of a Python number taken out of an array.
_PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def is_same(self: Any, left: Any, right: Any) -> bool:
    """Whether two abstract values are one object.

    Raises:
        CannotCapture: The data decides, or Python does as it likes.
    """
    for value in (left, right):
        if isinstance(value, Opaque):
            raise value.error()
    if isinstance(left, Known) and isinstance(right, Known) and is_method(left.value) and is_method(right.value):
        raise CannotCapture("data-value", "the identity of methods, which each look-up makes anew")
    if left is right or (_is_empty_tuple(left) and _is_empty_tuple(right)):
        return True
    if isinstance(left, Known) and isinstance(right, Known):
        return _is_same_known(self, left, right)
    if _types(left) & _types(right):
        raise CannotCapture("data-value", "the identity of numbers")
    if is_tuple(left) and is_tuple(right):
        raise CannotCapture("data-value", "the identity of tuples")
    if isinstance(left, Arr) and isinstance(right, Arr) and left.kind == right.kind == "array":
        if (left.several or right.several) and left.spec == right.spec:
            raise CannotCapture("data-value", "the identity of an array that a loop or a branch has chosen")
        paths = [array.storage.path for array in (left, right) if not array.steps]
        if len(paths) == 2 and None not in paths and paths[0] != paths[1]:
            # The caller may pass one array twice.
            self.prologue.check(f"{paths[0]} is not {paths[1]}", "two arguments are not one array", soft=True)
    return False


def is_chosen_number(value: Any) -> bool:
    """Whether a plan makes numbers of what Python takes from one object or another."""
    if isinstance(value, Rows):
        return value.spec.kind != "array"
    return isinstance(value, LoopInt) or (isinstance(value, Arr) and value.several and value.kind != "array")


def asks_for_identity(function: ast.AST) -> bool:
    """Whether a function asks, of other objects than `None` and its like, whether they are one."""
    for node in walk(function):
        if isinstance(node, ast.Compare):
            for op, left, right in zip(node.ops, [node.left, *node.comparators], node.comparators, strict=False):
                if isinstance(op, ast.Is | ast.IsNot) and ast.Constant not in (type(left), type(right)):
                    return True
    return False


def _is_same_known(self: Any, left: Known, right: Known) -> bool:
    same = left.value is right.value
    if same and not (left.path or right.path) and isinstance(left.value, _EQUAL):
        raise CannotCapture("data-value", "the identity of equal objects, which no guard asks")
    if not same and type(left.value) is type(right.value) and not (left.path or right.path) and _is_equal(left, right):
        raise CannotCapture("data-value", "the identity of equal constants")
    if not same and left.path is not None and left.path == right.path:
        raise CannotCapture("data-value", "the identity of what each look-up makes anew, such as a method")
    is_certain = isinstance(left.value, enum.Enum) and isinstance(right.value, enum.Enum)  # the guard knows them
    if (left.path or right.path) and not (left.made or right.made or is_certain):
        one, other = (known.path or self.prologue.constant(known.value) for known in (left, right))
        self.prologue.check(f"({one} is {other}) is {same}", "two objects are one, or are not")
    return same


def _is_equal(left: Known, right: Known) -> bool:
    """Whether two constants are equal, which Python may have made one object of."""
    return isinstance(left.value, (*_NUMBERS, *_EQUAL)) and bool(left.value == right.value)


def _is_empty_tuple(value: Any) -> bool:
    """Whether a value is the one tuple without items."""
    if isinstance(value, Items):
        return value.kind is tuple and not value.items
    return isinstance(value, Known) and type(value.value) is tuple and not value.value


def _types(value: Any) -> set[type]:
    """The types that a number may have; none for other objects."""
    if isinstance(value, Known | Sym):
        return {type(value.value)} if isinstance(value.value, _NUMBERS) else set()
    if isinstance(value, LoopInt):
        return {int}
    if not isinstance(value, Arr) or value.kind == "array":
        return set()
    python = _PYTHON.get(value.dtype.kind, object)
    if value.kind == "python" and value.python is None:
        return {python}
    return {value.dtype.type} if value.python is None else {value.dtype.type, python, int, float}
