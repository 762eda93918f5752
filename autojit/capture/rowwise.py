"""Whether a program treats the rows of arrays one by one: then one for many rows does for fewer.

What is filled up behind the rows of a call must not reach them. Two captures of the same statements, for arrays of two
lengths, are compared operation by operation: an axis whose length differs holds the rows. Each operation has to keep
them apart, and nothing else may differ: neither a number made of the length nor the way the statements have taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from autojit.capture.products import labels_of
from autojit.capture.reduced import neutral_of
from autojit.ir.build import exact_key
from autojit.ir.graph import Const, Graph, Node, Operand, Value
from autojit.ir.index import Index, Slice
from autojit.ir.spec import Spec


class Refused(Exception):
    """There is no plan for several lengths; the text says why."""


#: The axis of the rows of each operand, and of each result; `None` where there are none.
Axes = Sequence["int | None"]
#: `rule(node, axes, check) -> the axis of the result's rows`; at least one operand has rows.
Rule = Callable[[Node, Axes, "_Check"], "int | None"]


def check_rowwise(
    few: Graph, many: Graph, lengths: tuple[int, int], least: int, counts: frozenset[str] = frozenset()
) -> frozenset[int]:
    """The numbers of the outputs whose first axis holds rows; the others are the same for any number of rows.

    Args:
        few: The statements, captured for arrays of one length.
        many: The same for a greater length.
        lengths: The two lengths.
        least: All calls of the plan have more rows than that.
        counts: The names of inputs of the graph of many that say how many rows a call has.

    Raises:
        Refused: What is computed for a row may depend on others, or on how many there are.
    """
    sizes = [(len(one.inputs), len(one.nodes), len(one.outputs), len(one.writes)) for one in (few, many)]
    if sizes[0] != sizes[1]:
        raise Refused("another length leads to other operations")
    check = _Check(many, lengths, least, counts)
    check.names = {one.name: other.name for one, other in zip(few.inputs, many.inputs, strict=True)}
    for one, other in zip(few.nodes, many.nodes, strict=True):
        check.node(one, other)
    rows = set()
    for number, (one, other) in enumerate(zip(few.outputs, many.outputs, strict=True)):
        check.operand(one, other)
        axis = check.axis(one.spec, other.spec)
        if axis:
            raise Refused("the rows of a result are not its first axis")
        if axis == 0:
            rows.add(number)
    for one, other in zip(few.writes, many.writes, strict=True):
        check.operand(one.target, other.target)
        check.operand(one.value, other.value)
        axes = check.axis(one.target.spec, other.target.spec), check.axis(one.value.spec, other.value.spec)
        if one.index is not None or axes[0] != axes[1] or one.value.spec.shape != one.target.spec.shape:
            raise Refused("rows are written to other places")
    return frozenset(rows)


class _Check:
    """Compares two captures.

    Args:
        many: The one for more rows.
        lengths: How many rows the one has, and the other.
        least: All calls have more rows than that.
        counts: The names of inputs that say how many rows a call has.

    Attributes:
        names: By the name of a value in the one, that in the other.
    """

    def __init__(self, many: Graph, lengths: tuple[int, int], least: int, counts: frozenset[str]) -> None:
        self.lengths, self.least, self.counts = lengths, least, counts
        self.names: dict[str, str] = {}
        self._makers = {value.name: node for node in many.nodes for value in node.outputs}

    def node(self, one: Node, other: Node) -> None:
        """Compare two operations."""
        if one.op is not other.op or len(one.inputs) != len(other.inputs):
            raise Refused("another length leads to other operations")
        for mine, theirs in zip(one.inputs, other.inputs, strict=True):
            self.operand(mine, theirs)
        given, wanted = one.keywords, other.keywords
        differing = {name for name in given.keys() | wanted.keys() if not _equal(given.get(name), wanted.get(name))}
        if differing - _of_length(one):
            raise Refused(f"`{one.op.name}` depends on the length")
        axes = [self.axis(a.spec, b.spec) for a, b in zip(one.inputs, other.inputs, strict=True)]
        results = [self.axis(a.spec, b.spec) for a, b in zip(one.outputs, other.outputs, strict=True)]
        self.names |= {a.name: b.name for a, b in zip(one.outputs, other.outputs, strict=True)}
        if all(axis is None for axis in axes):
            if any(axis is not None for axis in results) and one.op.name not in _MAKING:
                raise Refused(f"`{one.op.name}` makes rows")
            return
        rule = _broadcast if one.op.broadcasts else _RULES.get(one.op.name)
        if rule is None:
            raise Refused(f"`{one.op.name}` may mix rows")
        expected = rule(other, axes, self)
        if any(axis != expected for axis in results):
            raise Refused(f"`{one.op.name}` mixes rows")

    def operand(self, one: Operand, other: Operand) -> None:
        """Compare two operands, of operations of which all before were the same."""
        if isinstance(one, Const) or isinstance(other, Const):
            same = isinstance(one, Const) and isinstance(other, Const) and _equal(one.value, other.value)
            if not same or one.spec != other.spec:
                raise Refused("a number depends on the length")
        elif self.names.get(one.name) != other.name:
            raise Refused("another length leads to other operations")

    def axis(self, one: Spec, other: Spec) -> int | None:
        """The axis that holds rows."""
        if (one.dtype, one.kind, one.ndim) != (other.dtype, other.kind, other.ndim):
            raise Refused("another length leads to other operations")
        found = [axis for axis, (a, b) in enumerate(zip(one.shape, other.shape, strict=True)) if a != b]
        if len(found) > 1 or any((one.shape[axis], other.shape[axis]) != self.lengths for axis in found):
            raise Refused("the shape of an array depends on the length in another way")
        return found[0] if found else None

    def is_masked(self, operand: Operand, neutral: Any) -> bool:
        """Whether an array has only the call's rows, and a certain value behind them."""
        node = self._maker(operand)
        if node is None or node.op.name != "np.where":
            return False
        condition, _, other = node.inputs
        value = other.spec.dtype.type(neutral)
        return isinstance(other, Const) and _equal(other.value, value) and self.is_inside(condition)

    def is_inside(self, condition: Operand) -> bool:
        """Whether an array says which rows are the call's: `np.arange(most) < count`, perhaps with more axes."""
        node = self._maker(condition)
        if node is not None and node.op.name == "np.reshape":
            node = self._maker(node.inputs[0])
        if node is None or node.op.name != "np.less" or node.params:
            return False
        numbers, count = self._maker(node.inputs[0]), node.inputs[1]
        is_counting = (
            numbers is not None and numbers.op.name == "np.arange" and list(numbers.keywords) == ["start_or_stop"]
        )
        return is_counting and isinstance(count, Value) and count.name in self.counts

    def _maker(self, operand: Operand) -> Node | None:
        return self._makers.get(operand.name) if isinstance(operand, Value) else None


def _equal(one: Any, other: Any) -> bool:
    return exact_key(one) == exact_key(other)


def _of_length(node: Node) -> set[str]:
    """The parameters that say how many rows there are."""
    if node.op.name == "np.arange":
        return {"stop" if "stop" in node.keywords else "start_or_stop"}
    return {"shape"} if node.op.name in _SHAPED else set()


# ---- rules: where the rows of the result are, if the operation keeps them apart


def _broadcast(node: Node, axes: Axes, check: _Check) -> int | None:
    """Operands are lined up at their last axes; beside rows another one has an axis of length 1, or none."""
    ndim = node.outputs[0].spec.ndim
    found = {ndim - spec.ndim + axis for spec, axis in zip(node.specs, axes, strict=True) if axis is not None}
    if len(found) > 1:
        raise Refused(f"`{node.op.name}` lines up rows with columns")
    return found.pop()


def _reduced(node: Node, axes: Axes, check: _Check) -> int | None:
    if len(axes) != 1 or axes[0] is None:
        raise Refused(f"`{node.op.name}` may mix rows")
    params, ndim = node.keywords, node.specs[0].ndim
    over = params.get("axis")
    over = range(ndim) if over is None else over if isinstance(over, tuple) else (over,)
    gone = {axis % ndim for axis in over}
    if axes[0] in gone:
        neutral = neutral_of(node.op.name, node.specs[0].dtype)
        if (
            neutral is None
            or params.get("ord") not in (None, 1, 2, "fro")
            or not check.is_masked(node.inputs[0], neutral)
        ):
            raise Refused(f"`{node.op.name}` mixes rows")
        return None
    return axes[0] if params.get("keepdims") else axes[0] - sum(axis < axes[0] for axis in gone)


def _along(node: Node, axes: Axes, check: _Check) -> int | None:
    axis = node.keywords.get("axis")
    if len(axes) != 1 or axis is None or axis % node.specs[0].ndim == axes[0]:
        raise Refused(f"`{node.op.name}` may mix rows")
    return axes[0]


def _scanned(node: Node, axes: Axes, check: _Check) -> int | None:
    """A running sum along the rows knows only those before."""
    if len(axes) != 1 or (node.keywords.get("axis") is None and node.specs[0].ndim > 1):
        raise Refused(f"`{node.op.name}` may mix rows")
    return axes[0]


def _counted(node: Node, axes: Axes, check: _Check) -> int | None:
    if not check.is_inside(node.inputs[1]):
        raise Refused(f"`{node.op.name}` mixes rows")
    return None


def _multiplied(node: Node, axes: Axes, check: _Check) -> int | None:
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


def _same(node: Node, axes: Axes, check: _Check) -> int | None:
    return axes[0]


def _transposed(node: Node, axes: Axes, check: _Check) -> int | None:
    ndim = node.specs[0].ndim
    order = [axis % ndim for axis in node.keywords.get("axes") or reversed(range(ndim))]
    return order.index(axes[0])


def _reshaped(node: Node, axes: Axes, check: _Check) -> int | None:
    before, after, axis = node.specs[0].shape, node.outputs[0].spec.shape, axes[0]
    assert axis is not None
    for place, length in enumerate(after):
        if length == before[axis] and prod(after[:place]) == prod(before[:axis]):
            return place
    raise Refused("`np.reshape` breaks rows up")


def _stacked(node: Node, axes: Axes, check: _Check) -> int | None:
    ndim = node.outputs[0].spec.ndim
    new = node.keywords.get("axis", 0) % ndim
    if len(set(axes)) > 1 or axes[0] is None:
        raise Refused(f"`{node.op.name}` may mix rows")
    return axes[0] + (new <= axes[0])


def _joined(node: Node, axes: Axes, check: _Check) -> int | None:
    axis = node.keywords.get("axis", 0)
    if axis is None or len(set(axes)) > 1 or axes[0] is None or axis % node.specs[0].ndim == axes[0]:
        raise Refused(f"`{node.op.name}` may mix rows")
    return axes[0]


def _indexed(node: Node, axes: Axes, check: _Check) -> int | None:
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


def _written(node: Node, axes: Axes, check: _Check) -> int | None:
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
_MAKING = ("np.broadcast_to", "np.zeros", "np.ones", "np.empty", "np.full", "np.arange")
#: What has a parameter `shape`.
_SHAPED = ("np.reshape", "np.broadcast_to", "np.zeros", "np.ones", "np.empty", "np.full")
_REDUCING = """
    np.sum np.prod np.mean np.std np.var np.max np.min np.ptp np.argmax np.argmin np.any np.all np.count_nonzero
    np.nansum np.nanprod np.nanmean np.nanvar np.nanstd np.nanmax np.nanmin np.add.reduce np.multiply.reduce
    np.maximum.reduce np.minimum.reduce np.logical_and.reduce np.logical_or.reduce np.median np.linalg.norm
"""
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
    "np.broadcast_to": _broadcast,
    "np.full": _broadcast,
    "np.stack": _stacked,
    "np.concatenate": _joined,
    "np.zeros_like": _same,
    "np.ones_like": _same,
    "np.empty_like": _same,
    "getitem": _indexed,
    "setitem": _written,
}
