"""Values like the user's, to capture a region from while the user goes on with theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: How many items of lists, tuples and dicts are copied at most, and how deep.
_MOST, _DEEPEST = 10_000, 8


def sketch(values: Sequence[Any]) -> tuple[Any, ...]:
    """The same values, with untouched arrays of the same layout and flags in place of arrays, and containers copied.

    So what the program does meanwhile to its lists is not seen, and nothing keeps its arrays alive or adds to their
    references: `resize` would refuse an array that another thread looks at. Where one object stands twice, so does
    the one in its place. Objects of other types are the user's own.
    """
    return tuple(map(_Sketcher().of, values))


class _Sketcher:
    def __init__(self) -> None:
        self._made: dict[int, Any] = {}
        self._left = _MOST

    def of(self, value: Any, depth: int = 0) -> Any:
        kind = type(value)
        if kind not in (np.ndarray, list, tuple, dict):
            return value
        if kind is dict and not all(type(key) in (str, int, bool) for key in value):
            return value  # looking up such keys may run the user's code
        if id(value) not in self._made:
            if kind is np.ndarray:
                self._made[id(value)] = _like(value)
            elif depth < _DEEPEST and len(value) <= self._left:
                self._left -= len(value)
                self._copy(value, depth + 1)
            else:
                self._made[id(value)] = value
        return self._made[id(value)]

    def _copy(self, value: Any, depth: int) -> None:
        if type(value) is tuple:
            self._made[id(value)] = tuple([self.of(item, depth) for item in value])
            return
        made = self._made[id(value)] = type(value)()  # first: it may hold itself
        if type(value) is list:
            made += [self.of(item, depth) for item in value]
        else:
            made.update({key: self.of(item, depth) for key, item in value.items()})


def _like(value: np.ndarray) -> np.ndarray:
    if value.dtype.hasobject:
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
