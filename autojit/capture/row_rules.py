"""What operations do with the rows of arrays: where those of the result are, if each depends on nothing but its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Protocol

import numpy as np

from autojit.capture.products import labels_of
from autojit.capture.reduced import neutral_of
from autojit.ir.graph import Node, Operand
from autojit.ir.index import Index, Slice


class Refused(Exception):
    """There is no plan for several lengths; the text says why."""


class Check(Protocol):
    """What rules ask about the program.

    Attributes:
        least: All calls have more rows than that.
    """

    least: int

    def is_masked(self, operand: Operand, neutral: Any) -> bool:
        """Whether an array has only the call's rows, and a certain value behind them."""
        ...

    def is_inside(self, condition: Operand) -> bool:
        """Whether an array says which rows are the call's."""
        ...


#: The axis of the rows of each operand, and of each result; `None` where there are none.
Axes = Sequence["int | None"]
#: `rule(node, axes, check) -> the axis of the result's rows`; at least one operand has rows.
Rule = Callable[[Node, Axes, Check], "int | None"]


def rule_of(node: Node) -> Rule:
    """The rule for an operation.

    Raises:
        Refused: There is none.
    """
    rule = broadcast if node.op.broadcasts else _RULES.get(node.op.name)
    if rule is None:
        raise Refused(f"`{node.op.name}` may mix rows")
    return rule


def of_length(node: Node) -> set[str]:
    """The parameters that say how many rows there are."""
    if node.op.name == "np.arange":
        return {"stop" if "stop" in node.keywords else "start_or_stop"}
    return {"shape"} if node.op.name in _SHAPED else set()


def broadcast(node: Node, axes: Axes, check: Check) -> int | None:
    """Operands are lined up at their last axes; beside rows another one has an axis of length 1, or none."""
    ndim = node.outputs[0].spec.ndim
    found = {ndim - spec.ndim + axis for spec, axis in zip(node.specs, axes, strict=True) if axis is not None}
    if len(found) > 1:
        raise Refused(f"`{node.op.name}` lines up rows with columns")
    return found.pop()


def _reduced(node: Node, axes: Axes, check: Check) -> int | None:
    if len(axes) != 1 or axes[0] is None:
        raise Refused(f"`{node.op.name}` may mix rows")
    params, ndim = node.keywords, node.specs[0].ndim
    over = params.get("axis")
    over = range(ndim) if over is None else over if isinstance(over, tuple) else (over,)
    gone = {axis % ndim for axis in over}
    if axes[0] in gone:
        if node.op.name in _PLACES and prod(node.specs[0].shape[: axes[0]]) != 1 and len(gone) > 1:
            raise Refused(f"`{node.op.name}` counts all elements before a row")
        neutral = neutral_of(node.op.name, node.specs[0].dtype)
        if (
            neutral is None
            or params.get("ord") not in (None, 1, 2, "fro")
            or not check.is_masked(node.inputs[0], neutral)
        ):
            raise Refused(f"`{node.op.name}` mixes rows")
        return None
    return axes[0] if params.get("keepdims") else axes[0] - sum(axis < axes[0] for axis in gone)


def _along(node: Node, axes: Axes, check: Check) -> int | None:
    axis = node.keywords.get("axis")
    if len(axes) != 1 or axis is None or axis % node.specs[0].ndim == axes[0]:
        raise Refused(f"`{node.op.name}` may mix rows")
    return axes[0]


def _scanned(node: Node, axes: Axes, check: Check) -> int | None:
    """A running sum along the rows knows only those before."""
    if len(axes) != 1 or (node.keywords.get("axis") is None and node.specs[0].ndim > 1):
        raise Refused(f"`{node.op.name}` may mix rows")
    return axes[0]


def _counted(node: Node, axes: Axes, check: Check) -> int | None:
    if not check.is_inside(node.inputs[1]):
        raise Refused(f"`{node.op.name}` mixes rows")
    return None


def _multiplied(node: Node, axes: Axes, check: Check) -> int | None:
    found = labels_of(node.op, [spec.ndim for spec in node.specs], node.keywords)
    if found is None:
        raise Refused(f"`{node.op.name}` may mix rows")
    labels, result = found
    rows = {own[axis] for own, axis in zip(labels, axes, strict=True) if axis is not None}
    if len(rows) > 1:
        raise Refused(f"`{node.op.name}` lines up rows with columns")
    (label,) = rows
    if any(
        own.count(label) > 1 or (label in own) != (axis is not None) for own, axis in zip(labels, axes, strict=True)
    ):
        raise Refused(f"`{node.op.name}` lines up rows with columns")
    if label in result:
        return result.index(label)
    parts = [operand for operand, axis in zip(node.inputs, axes, strict=True) if axis is not None]
    if not all(check.is_masked(part, 0) for part in parts):
        raise Refused(f"`{node.op.name}` mixes rows")
    return None


def _same(node: Node, axes: Axes, check: Check) -> int | None:
    return axes[0]


def _transposed(node: Node, axes: Axes, check: Check) -> int | None:
    ndim = node.specs[0].ndim
    order = [axis % ndim for axis in node.keywords.get("axes") or reversed(range(ndim))]
    return order.index(axes[0])


def _reshaped(node: Node, axes: Axes, check: Check) -> int | None:
    before, after, axis = node.specs[0].shape, node.outputs[0].spec.shape, axes[0]
    assert axis is not None
    for place, length in enumerate(after):
        if length == before[axis] and prod(after[:place]) == prod(before[:axis]):
            return place
    raise Refused("`np.reshape` breaks rows up")


def _stacked(node: Node, axes: Axes, check: Check) -> int | None:
    ndim = node.outputs[0].spec.ndim
    new = node.keywords.get("axis", 0) % ndim
    if len(set(axes)) > 1 or axes[0] is None:
        raise Refused(f"`{node.op.name}` may mix rows")
    return axes[0] + (new <= axes[0])


def _joined(node: Node, axes: Axes, check: Check) -> int | None:
    axis = node.keywords.get("axis", 0)
    if axis is None or len(set(axes)) > 1 or axes[0] is None or axis % node.specs[0].ndim == axes[0]:
        raise Refused(f"`{node.op.name}` may mix rows")
    return axes[0]


def _indexed(node: Node, axes: Axes, check: Check) -> int | None:
    if axes[0] is None:
        raise Refused("an index that is computed")
    return place_of_rows(node.keywords["index"], node.specs[0].ndim, axes[0], check.least)


def place_of_rows(index: Index, ndim: int, rows: int, least: int) -> int | None:
    """Which axis of `array[index]` holds the rows; `None` if only some are taken that all calls have.

    Args:
        index: A static index.
        ndim: How many axes the array has.
        rows: Which of them holds the rows.
        least: All calls have more rows than that.

    Raises:
        Refused: What is taken depends on how many rows there are.
    """
    if not index.is_static:
        raise Refused("an index that is computed")
    taken = sum(entry is not None and entry is not Ellipsis for entry in index.entries)
    axis = place = 0
    for entry in index.entries:
        if entry is None:
            place += 1
            continue
        if entry is Ellipsis:
            wide = ndim - taken
            if axis <= rows < axis + wide:
                return place + rows - axis
            axis, place = axis + wide, place + wide
            continue
        if axis == rows:
            return place if _is_whole(entry, least) else None
        axis += 1
        place += isinstance(entry, Slice)
    return place + rows - axis


def _is_whole(entry: Any, least: int) -> bool:
    """Whether all rows are taken, or some of the first ones."""
    if isinstance(entry, Slice):
        start, stop, step = entry.start or 0, entry.stop, entry.step or 1
        if (start, stop, step) == (0, None, 1):
            return True
        if start >= 0 and stop is not None and 0 <= stop <= least and step > 0:
            return False
    elif isinstance(entry, int) and 0 <= entry < least:
        return False
    raise Refused("a part of the rows is taken")


def _written(node: Node, axes: Axes, check: Check) -> int | None:
    """`base[index] = value`."""
    place = _indexed(node, axes, check)
    value = node.specs[1]
    if axes[1] is not None:
        if place is None:
            raise Refused("rows are written to columns")
        part = np.broadcast_to(np.zeros((), bool), node.specs[0].shape)[node.keywords["index"].fill(())]
        if part.ndim - value.ndim + axes[1] != place:
            raise Refused("rows are written to columns")
    return axes[0]


#: What makes rows of which each is the same for any number of them.
MAKING = ("np.broadcast_to", "np.zeros", "np.ones", "np.empty", "np.full", "np.arange")
#: What has a parameter `shape`.
_SHAPED = ("np.reshape", "np.broadcast_to", "np.zeros", "np.ones", "np.empty", "np.full")
_REDUCING = """
    np.sum np.prod np.mean np.std np.var np.max np.min np.ptp np.argmax np.argmin np.any np.all np.count_nonzero
    np.nansum np.nanprod np.nanmean np.nanvar np.nanstd np.nanmax np.nanmin np.add.reduce np.multiply.reduce
    np.maximum.reduce np.minimum.reduce np.logical_and.reduce np.logical_or.reduce np.median np.linalg.norm
"""
#: Reductions that tell the place of an element.
_PLACES = ("np.argmax", "np.argmin")
_SCANS = "np.cumsum np.cumprod np.nancumsum np.nancumprod np.add.accumulate np.multiply.accumulate"
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_REDUCING.split(), _reduced),
    **dict.fromkeys(_SCANS.split(), _scanned),
    **dict.fromkeys(["np.sort", "np.argsort"], _along),
    **dict.fromkeys(["np.dot", "np.matmul", "np.inner", "np.vdot", "np.einsum"], _multiplied),
    "sum_and_count": _counted,
    "astype": _same,
    "np.copy": _same,
    "np.transpose": _transposed,
    "np.reshape": _reshaped,
    "np.broadcast_to": broadcast,
    "np.full": broadcast,
    "np.stack": _stacked,
    "np.concatenate": _joined,
    "np.zeros_like": _same,
    "np.ones_like": _same,
    "np.empty_like": _same,
    "getitem": _indexed,
    "setitem": _written,
}
