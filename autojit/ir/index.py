"""`Index`: an index expression as static data, with numbered places for run-time operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice with static bounds."""

    start: int | None
    stop: int | None
    step: int | None


@dataclass(frozen=True, slots=True)
class Window:
    """A slice of fixed `length` and `step` whose first element is the run-time integer `operand`.

    `proven`: no run can make it reach outside, so that nothing has to be checked.
    """

    operand: int
    length: int
    step: int = 1
    proven: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A run-time integer, integer array or boolean array: the index operand with this number.

    `proven`: no run can give an integer that is negative or too large, so that nothing has to be checked.
    """

    operand: int
    proven: bool = False


Entry = int | None | EllipsisType | Slice | Window | Place


@dataclass(frozen=True, slots=True)
class Index:
    """An index tuple. `None` is `np.newaxis`; `Place(0)` is a node's first index operand."""

    entries: tuple[Entry, ...]

    @property
    def is_static(self) -> bool:
        """Whether the index is basic and has no run-time operand."""
        return not any(isinstance(entry, Place | Window) for entry in self.entries)

    def fill(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """The NumPy index tuple with the operands in place."""
        return tuple(_fill(entry, operands) for entry in self.entries)

    def limits(self, shape: Sequence[int]) -> list[tuple[int, int, int]]:
        """Operands that are integers, with the least and the greatest that lie inside an array of a shape."""
        found: list[tuple[int, int, int]] = []
        wide = len(shape) - sum(entry is not None and entry is not Ellipsis for entry in self.entries)
        axis = 0
        for entry in self.entries:
            if isinstance(entry, Place):
                found.append((entry.operand, -shape[axis], shape[axis] - 1))
            elif isinstance(entry, Window) and entry.length:
                reach = (entry.length - 1) * entry.step
                found.append((entry.operand, max(0, -reach), shape[axis] - 1 - max(0, reach)))
            axis += wide if entry is Ellipsis else entry is not None
        return found

    def text(self, operands: Sequence[str]) -> str:
        """The index as Python source, without the brackets."""
        if not self.entries:
            return "()"
        parts = [_text(entry, operands) for entry in self.entries]
        return ", ".join(parts) + ("," if len(parts) == 1 and self.entries[0] is Ellipsis else "")


def _fill(entry: Entry, operands: Sequence[Any]) -> Any:
    if isinstance(entry, Slice):
        return slice(entry.start, entry.stop, entry.step)
    if isinstance(entry, Window):
        return window_slice(int(operands[entry.operand]), entry.length, entry.step)
    if isinstance(entry, Place):
        operand = operands[entry.operand]
        # A NumPy integer scalar indexes like an int; an array of no axes would make the index advanced.
        return operand if isinstance(operand, np.ndarray) and operand.ndim else _scalar(operand)
    return entry


def _scalar(operand: Any) -> Any:
    dtype = getattr(operand, "dtype", None)
    return operand if dtype is None or dtype == np.bool_ else int(operand)


def window_slice(start: int, length: int, step: int) -> slice:
    """The slice of `length` elements from `start` in steps of `step` (which may be negative)."""
    stop: int | None = start + length * step
    if length == 0:
        return slice(0, 0, step)
    return slice(start, None if stop is not None and stop < 0 else stop, step)


def put(base: Any, value: Any, index: Any) -> np.ndarray:
    """A copy of `base` with `value` assigned at `index`."""
    result = np.array(base)
    result[index] = value
    return result


def _text(entry: Entry, operands: Sequence[str]) -> str:
    if isinstance(entry, Slice):
        start, stop, step = ("" if part is None else str(part) for part in (entry.start, entry.stop, entry.step))
        return f"{start}:{stop}" + (f":{step}" if step else "")
    if isinstance(entry, Window):
        return f"aj.window_slice({operands[entry.operand]}, {entry.length}, {entry.step})"
    if isinstance(entry, Place):
        return operands[entry.operand]
    return "..." if entry is Ellipsis else str(entry)


def ends_of(indices: range) -> tuple[int, int]:
    """The least and the greatest of some indices, of which there is at least one; `min` would walk through all."""
    return min(indices[0], indices[-1]), max(indices[0], indices[-1])
