"""Ragged accesses: which part of an array is meant when all of it is read or written under `np.arange(n) < bound`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from autojit.ir.graph import Graph, Node, Operand, Value
from autojit.ir.index import Slice
from autojit.passes.affine import Affine, form_of
from autojit.passes.dce import may_raise


@dataclass(frozen=True, slots=True)
class Span:
    """The places `low <= k < high` of an axis; `None` where there is no bound.

    Attributes:
        is_exact: Whether these are the places; else they are among these.
        moves: Whether they may be others in each trip, by these bounds or by one that was left out.
    """

    low: Affine | None = None
    high: Affine | None = None
    is_exact: bool = True
    moves: bool = False

    def meet(self, other: Span) -> Span:
        """The places in both; of two bounds on one side the first is kept."""
        is_exact = self.is_exact and other.is_exact
        is_exact = is_exact and None in (self.low, other.low) and None in (self.high, other.high)
        return Span(self.low or other.low, self.high or other.high, is_exact, self.moves or other.moves)


#: By axis of a value: the part that is needed. `None` in the place of all of this: nothing is.
Needed = dict[int, Span]
_ONE = Affine(0, 1)
_ORDER = {"np.less": -1, "np.less_equal": 0, "np.greater_equal": 0, "np.greater": 1}


class Masks:
    """The boolean values of a body that select a stretch of one axis.

    Args:
        body: The body.
        forms: The affine forms of its integers.
    """

    def __init__(self, body: Graph, forms: Mapping[str, Affine]) -> None:
        self.makers = {value.name: node for node in body.nodes for value in node.outputs}
        #: Name -> the axis, counted from the end, and the places on it.
        self.spans: dict[str, tuple[int, Span]] = {}
        for node in body.nodes:
            found = self._span(node, forms)
            if found is not None:
                self.spans[node.outputs[0].name] = found

    def of(self, operand: Operand) -> tuple[int, Span] | None:
        """The axis, counted from the end, and the places that a mask selects."""
        return self.spans.get(operand.name) if isinstance(operand, Value) else None

    def _span(self, node: Node, forms: Mapping[str, Affine]) -> tuple[int, Span] | None:
        name = node.op.name
        if name in _ORDER and not node.params:
            return self._compared(node, forms)
        if name == "np.logical_and" and not node.params:
            first, second = map(self.of, node.inputs)
            if first is None or second is None or first[0] != second[0]:
                return None
            return first[0], first[1].meet(second[1])
        if name == "np.reshape":
            inner = self.of(node.inputs[0])
            before, after = node.inputs[0].spec.shape, node.outputs[0].spec.shape
            if inner is None or before[inner[0]] != _length(before) or _length(after) != before[inner[0]]:
                return None
            places = [place for place, length in enumerate(after) if length == before[inner[0]]]
            return (places[0] - len(after), inner[1]) if len(places) == 1 else None
        return None

    def _compared(self, node: Node, forms: Mapping[str, Affine]) -> tuple[int, Span] | None:
        first, second = node.inputs
        name = node.op.name
        if self._is_count(second):
            first, second = second, first
            name = {"np.less": "np.greater", "np.greater": "np.less"}.get(
                name, "np.greater_equal" if name == "np.less_equal" else "np.less_equal"
            )
        bound = form_of(second, forms) if second.spec.kind == "python" else None
        if bound is None or not self._is_count(first):
            return None
        moves = bound.coefficient != 0
        if name.startswith("np.less"):
            return -1, Span(None, bound if name == "np.less" else bound.plus(_ONE), moves=moves)
        return -1, Span(bound if name == "np.greater_equal" else bound.plus(_ONE), None, moves=moves)

    def _is_count(self, operand: Operand) -> bool:
        """Whether a value is 0, 1, 2, ..., and not 0 alone, which would stand for all elements of an axis."""
        maker = self.makers.get(operand.name) if isinstance(operand, Value) else None
        if maker is None or maker.op.name != "np.arange" or operand.spec.dtype != np.int64:
            return False
        params = maker.keywords
        begins = params.get("stop") is None or params["start_or_stop"] == 0
        return begins and params.get("step") in (None, 1) and operand.spec.shape != (1,)


def _length(shape: tuple[int, ...]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def needs(
    body: Graph, masks: Masks, kept: Iterable[tuple[str, str]], arrays: Collection[str]
) -> dict[str, Needed | None]:
    """What is needed of each value of a body, by name; values that are not in the answer are needed in full.

    Args:
        body: The body.
        masks: Its masks.
        kept: Pairs of a selection and the value in it that stays where the mask is false: what is written back
            unchanged is not needed.
        arrays: Values whose elements are read and written by index; such uses do not count.
    """
    unneeded = set(kept)
    found: dict[str, Needed | None] = {value.name: {} for value in body.outputs if isinstance(value, Value)}
    for node in reversed(body.nodes):
        for place, operand in enumerate(node.inputs):
            indexed = place == 0 and node.op.name in ("getitem", "setitem")
            if isinstance(operand, Value) and not (indexed and operand.name in arrays):
                _add(found, operand, _through(node, place, operand, masks, unneeded, found))
    return found


def _through(
    node: Node, place: int, operand: Value, masks: Masks, unneeded: set[tuple[str, str]],
    found: Mapping[str, Needed | None],
) -> Needed | None:  # fmt: skip
    """What one use needs of an operand."""
    out = node.outputs[0]
    wanted = found.get(out.name, None if not node.op.traps else {})
    if node.op.name == "np.where":
        if place == 2 and (out.name, operand.name) in unneeded:
            return None
        if wanted is None:
            return None
        span = masks.of(node.inputs[0])
        if place == 1 and span is not None:
            axis = out.spec.ndim + span[0]
            wanted = {**wanted, axis: span[1].meet(wanted[axis]) if axis in wanted else span[1]}
    elif node.op.name == "np.transpose":
        axes = node.keywords.get("axes") or tuple(reversed(range(out.spec.ndim)))
        return None if wanted is None else {axes[axis] % len(axes): span for axis, span in wanted.items()}
    elif node.op.name in ("np.reshape", "getitem"):
        axes = _kept_axes(node) if place == 0 else None
        if axes is None:
            return {}
        return None if wanted is None else {axes[axis]: span for axis, span in wanted.items() if axis in axes}
    elif not node.op.broadcasts or len(node.outputs) != 1 or may_raise(node):
        return {}  # NumPy raises for elements that nobody needs, too
    if wanted is None:
        return None if not node.op.traps else {}
    shift = out.spec.ndim - operand.spec.ndim
    shape = operand.spec.shape
    return {
        axis - shift: span
        for axis, span in wanted.items()
        if axis >= shift and shape[axis - shift] == out.spec.shape[axis]
    }


def _kept_axes(node: Node) -> dict[int, int] | None:
    """The operand's axis behind each axis of the result, where only axes of length 1 come or go."""
    before, after = node.inputs[0].spec.shape, node.outputs[0].spec.shape
    if node.op.name == "getitem" and not all(
        entry is None or entry is Ellipsis or entry == Slice(None, None, None)
        for entry in node.keywords["index"].entries
    ):
        return None
    old = [axis for axis, length in enumerate(before) if length != 1]
    new = [axis for axis, length in enumerate(after) if length != 1]
    if [before[axis] for axis in old] != [after[axis] for axis in new]:
        return None
    return dict(zip(new, old, strict=True))


def _add(found: dict[str, Needed | None], operand: Value, wanted: Needed | None) -> None:
    """Add a use: what all uses need."""
    name = operand.name
    if name not in found or found[name] is None:
        found[name] = wanted
    elif wanted is not None:
        known = found[name]
        assert known is not None
        found[name] = {axis: span for axis, span in known.items() if wanted.get(axis) == span}
