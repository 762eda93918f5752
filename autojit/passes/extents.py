"""Extents: where a region writes parts of a caller's array, nothing else of it is written.

A plan makes a new array and copies it into the caller's. Other threads, or processes that share the memory, may write
other parts meanwhile, which NumPy would leave alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from autojit.ir.extent import Bound, Extent, Part
from autojit.ir.graph import Graph, Node, Operand, Value, Write
from autojit.ir.index import Index, Place, Slice, Window, ends_of
from autojit.ops.index_plan import Axis, plan_index
from autojit.passes.affine import Affine, affine_forms, form_of, forms_of

#: More parts than these of one array are not told apart.
MOST = 8


def extents(graph: Graph) -> Graph:
    """Tell for each write which parts of the array may differ from what was there, where indices say so.

    Followed are assignments and loops of them: an index by integers or slices that depend on integers of the call, and
    on the indices of the loops, in a linear way. Where something else makes the array it is written as a whole.
    """
    if not graph.writes:
        return graph
    level = _Level(graph, forms_of(graph))
    writes = [replace(write, parts=_parts(write, level)) for write in graph.writes]
    return replace(graph, writes=tuple(writes)) if any(write.parts for write in writes) else graph


def _parts(write: Write, level: _Level) -> tuple[Part, ...]:
    if write.index is not None or not write.target.spec.shape:
        return ()
    boxes = level.boxes(write.value, write.target)
    if boxes is None:
        return ()
    parts = [tuple(None if one is None else one.extent for one in box) for box in boxes]
    return tuple(parts) if all(any(part) for part in parts) else ()


@dataclass(frozen=True, slots=True)
class _Reach:
    """The places of one axis, whose bounds may depend on the index of the loop around."""

    low: Affine
    high: Affine
    step: int = 1

    @property
    def extent(self) -> Extent:
        return Extent(Bound(self.low.offset, self.low.symbols), Bound(self.high.offset, self.high.symbols), self.step)

    @property
    def is_one(self) -> bool:
        return self.high == self.low.plus(Affine(0, 1))


#: One reach for each axis; `None` for a whole axis.
_Box = tuple[_Reach | None, ...]


class _Level:
    """A graph, or the body of a loop, and which parts its values have been given."""

    def __init__(self, graph: Graph, forms: Mapping[str, Affine]) -> None:
        self.forms = forms
        self._makers = {value.name: node for node in graph.nodes for value in node.outputs}

    def _maker(self, operand: Operand) -> Node | None:
        return self._makers.get(operand.name) if isinstance(operand, Value) else None

    def boxes(self, value: Operand, head: Value) -> list[_Box] | None:
        """Where `value` may differ from `head`, of which it was made; `None` where too little is known, or too much."""
        found: list[_Box] = []
        while isinstance(value, Value) and value.name != head.name:
            node = self._maker(value)
            if node is None or node.op.name not in ("setitem", "loop"):
                return None
            if node.op.name == "setitem":
                value, more = node.inputs[0], [self._assigned(node)]
            else:
                number = [output.name for output in node.outputs].index(value.name)
                inner = self._looped(node, number)
                if inner is None:
                    return None
                value, more = node.inputs[2 + number], inner
            found += [box for box in more if box not in found]
            if len(found) > MOST:
                return None
        return found if isinstance(value, Value) else None

    def _assigned(self, node: Node) -> _Box:
        """Where an assignment writes."""
        base, operands = node.inputs[0], node.inputs[2:]
        index: Index = node.keywords["index"]
        if (condition := self._puts_back(node)) is not None:
            operands = tuple(self._where(operand, condition) for operand in operands)
        plan = plan_index(index, base.spec, [operand.spec for operand in operands])
        masked = range(0) if plan.mask is None else range(plan.mask[0], plan.mask[0] + plan.mask[1])
        return tuple(
            None if number in masked else self._reach(axis, operands) for number, axis in enumerate(plan.axes)
        )

    def _reach(self, axis: Axis, operands: Sequence[Operand]) -> _Reach | None:
        entry = axis.entry
        if isinstance(entry, int):
            place = entry % axis.length
            return _Reach(Affine(0, place), Affine(0, place + 1))
        if isinstance(entry, Slice):
            if axis.whole:
                return None
            places = range(*slice(entry.start, entry.stop, entry.step).indices(axis.length))
            low, high = ends_of(places) if places else (0, -1)
            return _Reach(Affine(0, low), Affine(0, high + 1), abs(places.step))
        assert isinstance(entry, Place | Window)
        operand = operands[entry.operand]
        form = form_of(operand, self.forms) if operand.spec.kind == "python" else None
        if form is None:
            return None
        length, step = (entry.length, entry.step) if isinstance(entry, Window) else (1, 1)
        ends = 0, max(0, length - 1) * step
        return _Reach(form.plus(Affine(0, min(ends))), form.plus(Affine(0, max(ends) + 1)), abs(step))

    def _puts_back(self, node: Node) -> Operand | None:
        """The condition without which an assignment puts back what is there."""
        made = self._maker(node.inputs[1])
        if made is None or made.op.name != "np.where" or len(made.inputs) != 3:
            return None
        if made.outputs[0].spec.dtype != node.inputs[0].spec.dtype:  # what is there is rounded
            return None
        old = self._maker(made.inputs[2])
        if old is None or old.op.name != "getitem" or old.params != node.params:
            return None
        is_there = _are_same(old.inputs, (node.inputs[0], *node.inputs[2:]))
        return made.inputs[0] if is_there else None

    def _where(self, operand: Operand, condition: Operand) -> Operand:
        """What an operand is where a condition holds."""
        made = self._maker(operand)
        if made is not None and made.op.name == "select" and _are_same(made.inputs[:1], (condition,)):
            return made.inputs[1]
        return operand

    def _looped(self, node: Node, number: int) -> list[_Box] | None:
        """Where a loop writes the array that it carries under a number, in any of its iterations."""
        body, step, carried = (node.keywords[word] for word in ("body", "step", "carried"))
        boxes = _Level(body, affine_forms(body, carried)).boxes(body.outputs[number], body.inputs[1 + number])
        if boxes is None:
            return None
        start, stop = (form_of(bound, self.forms) for bound in (node.inputs[0], self._stop(node)))
        names = [value.name for value in body.inputs[1 + carried :]]
        outside = {
            name: form_of(operand, self.forms) for name, operand in zip(names, node.inputs[2 + carried :], strict=True)
        }
        return [tuple(one and _swept(one, start, stop, step, outside) for one in box) for box in boxes]

    def _stop(self, node: Node) -> Operand:
        """Where a loop ends, also where a condition has it not begin at all."""
        start, stop = node.inputs[:2]
        made = self._maker(stop)
        if made is not None and made.op.name == "select" and _are_same(made.inputs[2:], (start,)):
            return made.inputs[1]
        return stop


def _are_same(ones: Sequence[Operand], others: Sequence[Operand]) -> bool:
    """Whether two lists hold the same values; a constant is the same as itself only."""
    return len(ones) == len(others) and all(
        one is other or (isinstance(one, Value) and isinstance(other, Value) and one.name == other.name)
        for one, other in zip(ones, others, strict=True)
    )


def _swept(
    reach: _Reach, start: Affine | None, stop: Affine | None, step: int, outside: Mapping[str, Affine | None]
) -> _Reach | None:
    """The places of all iterations, in what is known outside of the loop; `None` where that is not enough."""
    low, high = reach.low, reach.high
    if (low.coefficient or high.coefficient) and (start is None or stop is None):
        return None
    if any(outside.get(name) is None for bound in (low, high) for name, _ in bound.symbols):
        return None
    least, most = start, None if stop is None else stop.plus(Affine(0, -1 if step > 0 else 1))
    if step < 0:
        least, most = most, least
    moves = low.coefficient * step
    if reach.is_one and moves > 0:  # from the first iteration's place on
        stride = moves
    else:
        stride = 1 if low.coefficient or high.coefficient else reach.step
    return _Reach(
        _outside(low, least if low.coefficient > 0 else most, outside),
        _outside(high, most if high.coefficient > 0 else least, outside),
        stride,
    )


def _outside(bound: Affine, index: Affine | None, outside: Mapping[str, Affine | None]) -> Affine:
    """A bound with the loop's index at one end, in values from outside."""
    found = Affine(0, bound.offset)
    if bound.coefficient:
        assert index is not None
        found = found.plus(index, bound.coefficient)
    for name, factor in bound.symbols:
        form = outside[name]
        assert form is not None
        found = found.plus(form, factor)
    return found
