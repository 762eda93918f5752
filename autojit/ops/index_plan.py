"""What an `Index` does to each axis of an array of known shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from autojit.errors import CannotCapture
from autojit.ir.index import Entry, Index, Place, Slice, Window
from autojit.ir.spec import Spec


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of the base and the entry that indexes it: an int, `Slice`, `Window` or `Place`."""

    entry: Any
    length: int

    @property
    def count(self) -> int:
        """The number of elements that stay; 1 for an integer."""
        if isinstance(self.entry, Slice):
            return len(range(*slice(self.entry.start, self.entry.stop, self.entry.step).indices(self.length)))
        return self.entry.length if isinstance(self.entry, Window) else 1

    @property
    def step(self) -> int:
        return (self.entry.step or 1) if isinstance(self.entry, Slice | Window) else 1

    @property
    def whole(self) -> bool:
        """Whether the entry is a slice that takes the whole axis, in order."""
        return isinstance(self.entry, Slice) and self.step == 1 and self.count == self.length

    @property
    def drops(self) -> bool:
        """Whether the axis is gone from the result."""
        return not isinstance(self.entry, Slice | Window)


@dataclass(frozen=True, slots=True)
class Plan:
    """An index matched to the axes of its base.

    Attributes:
        axes: One per axis of the base.
        arrays: The axes that are indexed by arrays, or by integers beside arrays.
        mask: `(first axis, number of axes, operand)` of a boolean array, or `None`.
        at: Where the broadcast axes of the index arrays (or the selected elements) go in the result.
        broadcast: The broadcast shape of the index arrays.
        rest: The shape of the result without `broadcast`.
        new: The places of `np.newaxis` in `rest`.
    """

    axes: tuple[Axis, ...]
    arrays: tuple[int, ...]
    mask: tuple[int, int, int] | None
    at: int
    broadcast: tuple[int, ...]
    rest: tuple[int, ...]
    new: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result, for an index without a mask."""
        return self.rest[: self.at] + self.broadcast + self.rest[self.at :]


def plan_index(index: Index, base: Spec, operands: Sequence[Spec]) -> Plan:
    """Match an index to its base, by NumPy's rules.

    Raises:
        IndexError: NumPy's own error for these shapes.
        CannotCapture: An index that is not compiled.
    """
    # A key of the cache cannot tell `True` from 1.
    if any(isinstance(e, bool | np.bool_) for e in index.entries):
        raise CannotCapture("data-shape", "a boolean scalar as an index")
    return _plan(index, base, tuple(operands))


@lru_cache(maxsize=4096)
def _plan(index: Index, base: Spec, operands: tuple[Spec, ...]) -> Plan:
    def is_mask(entry: Entry) -> bool:
        return isinstance(entry, Place) and operands[entry.operand].dtype == np.bool_

    fancy = [e for e in index.entries if isinstance(e, Place) and not is_mask(e) and operands[e.operand].shape]
    masks = sum(map(is_mask, index.entries))
    if masks > 1 or (masks and fancy):
        raise CannotCapture("data-shape", "several arrays, one of them boolean, as an index")
    _check(index, base, operands)
    axes: list[Axis] = []
    rest: list[int] = []
    new: list[int] = []
    mask = None
    for entry in _expand(index.entries, base.ndim, operands):
        if entry is None:
            new.append(len(rest))
            rest.append(1)
        elif isinstance(entry, Place) and is_mask(entry):
            mask = (len(axes), operands[entry.operand].ndim, entry.operand)
            covered = base.shape[mask[0] : mask[0] + mask[1]]
            if operands[entry.operand].shape != covered:
                raise TypeError("a mask of another shape than what it selects from; this is not compiled")
            axes += [Axis(Slice(None, None, None), n) for n in base.shape[len(axes) : len(axes) + mask[1]]]
        else:
            axis = Axis(entry, base.shape[len(axes)])
            _check_axis(axis, len(axes))
            axes.append(axis)
            rest += [] if axis.drops else [axis.count]
    return Plan(
        axes=tuple(axes),
        arrays=tuple(i for i, axis in enumerate(axes) if axis.drops) if fancy else (),
        mask=mask,
        at=_placement(index, base.ndim, operands) if fancy or masks else 0,
        broadcast=_broadcast(operands[e.operand].shape for e in fancy) if fancy else (),
        rest=tuple(rest),
        new=tuple(new),
    )


def _check_axis(axis: Axis, number: int) -> None:
    entry, n = axis.entry, axis.length
    if isinstance(entry, int) and not -n <= entry < n:
        raise IndexError(f"index {entry} is out of bounds for axis {number} with size {n}")
    if isinstance(entry, Window) and axis.count and (axis.count - 1) * abs(axis.step) >= n:
        raise CannotCapture("data-shape", f"a slice of {axis.count} elements on an axis of length {n}")


def _expand(entries: Sequence[Entry], ndim: int, operands: Sequence[Spec]) -> list[Entry]:
    """The entries with whole slices in place of the ellipsis, and after the last entry."""
    used = 0
    for entry in entries:
        if isinstance(entry, Place) and operands[entry.operand].dtype == np.bool_:
            used += operands[entry.operand].ndim
        else:
            used += entry is not None and entry is not Ellipsis
    missing = [Slice(None, None, None)] * (ndim - used)
    if Ellipsis not in entries:
        return [*entries, *missing]
    place = entries.index(Ellipsis)
    return [*entries[:place], *missing, *entries[place + 1 :]]


def _check(index: Index, base: Spec, operands: Sequence[Spec]) -> None:
    """Let NumPy raise its own error for too many indices, wrong dtypes and static integers out of bounds."""
    dummy = np.broadcast_to(np.zeros((), base.dtype), base.shape)
    parts: list[Any] = []
    for entry in index.entries:
        if isinstance(entry, Slice):
            parts.append(slice(entry.start, entry.stop, entry.step))
        elif isinstance(entry, Window):
            parts.append(slice(0, 0))
        elif isinstance(entry, Place):
            spec = operands[entry.operand]
            # An empty array selects nothing, so that the test costs nothing however large the result is.
            one = np.zeros(spec.shape if spec.dtype == np.bool_ else (0,) if spec.shape else (), spec.dtype)
            parts.append(slice(0, 0) if not spec.shape and spec.dtype.kind in "iu" else one)
        else:
            parts.append(entry)
    dummy[tuple(parts)]


def _broadcast(shapes: Any) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        text = "shape mismatch: indexing arrays could not be broadcast together"
        raise IndexError(text) from None


def _placement(index: Index, ndim: int, operands: Sequence[Spec]) -> int:
    """Ask NumPy on an array of one element where the axes of the index arrays go."""
    parts: list[Any] = []
    for entry in index.entries:
        if isinstance(entry, Slice | Window):
            parts.append(slice(None))
        elif isinstance(entry, Place):
            spec = operands[entry.operand]
            if spec.dtype == np.bool_:
                # One axis stands for all that the mask covers.
                parts.append(np.zeros(2, int))
                ndim -= spec.ndim - 1
            else:
                parts.append(np.zeros(2, int) if spec.shape else 0)
        else:
            parts.append(0 if isinstance(entry, int) else entry)
    return np.zeros((1,) * ndim)[tuple(parts)].shape.index(2)
