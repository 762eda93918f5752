"""The vectorized rung: a loop whose iterations do not need each other becomes operations on all of them at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from autojit.errors import SourceLine
from autojit.ir.graph import Const, Graph, Node, Operand, Value
from autojit.ir.spec import Spec
from autojit.ops.index_plan import plan_index
from autojit.passes.access import Refused, told
from autojit.passes.affine import Affine, Trips, affine_forms
from autojit.passes.batch_index import read, write
from autojit.passes.batch_rules import apply
from autojit.passes.contract import contract
from autojit.passes.dce import dce
from autojit.passes.dependence import Dependence, Last, Reduction, Stores, Unchanged, dependence
from autojit.passes.lanes import Batch, Emitter, Lane, TooLarge, constant_lane, names_of
from autojit.passes.loop_cost import nodes_cost, strips_cost
from autojit.passes.strips import strips
from autojit.passes.substitute import with_body

#: Loops of more iterations, and batches of more operations, stay loops: the analysis, or the compiler, takes too long.
MOST_TRIPS, MOST_NODES = 1 << 22, 400
#: Where all iterations at once are too large: the bytes of the largest value of a strip, and its least iterations.
STRIP, LEAST_STRIP = 1 << 20, 16
_INT64 = np.dtype(np.int64)


@dataclass(frozen=True, slots=True)
class Rung:
    """What became of one loop.

    Attributes:
        taken: "vectorized" or "rolled".
        reason: Why the loop was not vectorized; "" when it was.
        source: The user's line.
        depth: The number of loops around it.
        dearer: Whether only the expected cost speaks against vectorizing it.
    """

    taken: str
    reason: str
    source: SourceLine | None
    depth: int
    dearer: bool = False

    def __str__(self) -> str:
        return f"{self.taken}: {self.reason}" if self.reason else self.taken


def vectorize(graph: Graph, rungs: list[Rung] | None = None) -> Graph:
    """Replace loops by batched operations where the iterations are independent or only accumulate.

    Inner loops come first: a loop whose inner loops are gone may follow them.

    Args:
        graph: The graph.
        rungs: Takes what became of each loop, outer ones before inner ones.
    """
    return _vectorize(graph, [] if rungs is None else rungs, 0)


def vectorize_always(graph: Graph, rungs: list[Rung] | None = None) -> Graph:
    """Replace loops by batched operations wherever that is possible, whatever it is expected to cost."""
    return _vectorize(graph, [] if rungs is None else rungs, 0, always=True)


def keep_rolled(graph: Graph, rungs: list[Rung] | None = None, depth: int = 0) -> Graph:
    """Leave every loop as it is, and say so."""
    for node in graph.nodes:
        if node.op.name == "loop" and rungs is not None:
            rungs.append(Rung("rolled", "measured: all iterations at once are slower", node.source, depth))
            keep_rolled(node.keywords["body"], rungs, depth + 1)
    return graph


class Dearer(Refused):
    """A loop could be vectorized, but that is expected to cost more."""


def _vectorize(graph: Graph, rungs: list[Rung], depth: int, always: bool = False) -> Graph:
    if not any(node.op.name == "loop" for node in graph.nodes):
        return graph
    taken = names_of(graph)
    found: dict[str, Operand] = {}

    def current(operand: Operand) -> Operand:
        return operand if isinstance(operand, Const) else found.get(operand.name, operand)

    nodes: list[Node] = []
    changed = False
    for old in graph.nodes:
        node = replace(old, inputs=tuple(map(current, old.inputs))) if found else old
        if node.op.name != "loop":
            nodes.append(node)
            continue
        place = len(rungs)
        body = _vectorize(node.keywords["body"], rungs, depth + 1, always)
        try:
            made, results = _replaced(node, taken, depth, always)
        except Refused as error:
            rungs.insert(place, Rung("rolled", str(error), node.source, depth, isinstance(error, Dearer)))
            if body is not node.keywords["body"]:
                node = with_body(node, body)
                changed = True
            nodes.append(node)
            continue
        inner = [Rung("vectorized", "", rung.source, rung.depth) for rung in rungs[place:]]
        rungs[place:] = [Rung("vectorized", "", node.source, depth), *inner]
        changed = True
        nodes += made
        taken.update(value.name for one in made for value in one.outputs)
        found |= {value.name: result for value, result in zip(node.outputs, results, strict=True)}
    if not changed:
        return graph
    outputs = tuple(map(current, graph.outputs))
    writes = tuple(replace(one, value=current(one.value)) for one in graph.writes)
    return replace(graph, nodes=tuple(nodes), outputs=outputs, writes=writes)


def _replaced(node: Node, taken: set[str], depth: int, always: bool) -> tuple[tuple[Node, ...], tuple[Operand, ...]]:
    """What takes the place of a loop and of the loops in it.

    Raises:
        Refused: It cannot be done, or does not pay.
    """
    forced = with_body(node, _forced(node.keywords["body"]))
    try:
        emitter, results = vectorize_loop(forced, taken)
        small = contract(Graph("batch", (), tuple(emitter.nodes), results), taken)
        batched = nodes_cost(small.nodes, inside=depth > 0)
    except TooLarge as error:
        small = _in_strips(forced, taken, error)
        batched = strips_cost(small.nodes)
    rolled = nodes_cost([node], inside=depth > 0)
    if batched > rolled and not always:
        text = f"{rolled / 1000:.1f} us are expected for it, {batched / 1000:.1f} us for all iterations at once"
        raise Dearer(text)
    return small.nodes, small.outputs


def _in_strips(node: Node, taken: set[str], error: TooLarge) -> Graph:
    """The loop as one over strips of iterations, each strip batched, and the rest.

    Args:
        node: The loop.
        taken: Names that the new nodes must not use.
        error: Why it is not one batch.

    Raises:
        Refused: It cannot be done.
    """
    trips = trips_of(node)
    length = trips.count
    refused = error
    while True:
        length = min(length // 2, length * STRIP // refused.size)
        if length < LEAST_STRIP:
            raise error
        outer, rest = strips(node, trips, length, taken)
        body = outer.keywords["body"]
        try:
            emitter, results = vectorize_loop(body.nodes[-1], names_of(body))
        except TooLarge as larger:
            refused = larger
            continue
        strip = replace(body, nodes=(*body.nodes[:-1], *emitter.nodes), outputs=results)
        outer = with_body(outer, contract(dce(strip), names_of(strip)))
        last, results = vectorize_loop(rest, taken | {value.name for value in outer.outputs})
        return contract(Graph("strips", (), (outer, *last.nodes), results), taken)


def _forced(body: Graph) -> Graph:
    """A body without loops, whatever that costs.

    Raises:
        Refused: One of its loops stays.
    """
    if not any(node.op.name == "loop" for node in body.nodes):
        return body
    taken = names_of(body)
    nodes: list[Node] = []
    found: dict[str, Operand] = {}
    for old in body.nodes:
        node = replace(old, inputs=tuple(found.get(x.name, x) if isinstance(x, Value) else x for x in old.inputs))
        if node.op.name != "loop":
            nodes.append(node)
            continue
        try:
            emitter, results = vectorize_loop(with_body(node, _forced(node.keywords["body"])), taken)
        except Refused as error:
            raise Refused(f"of a loop in it: {error}") from None
        nodes += emitter.nodes
        taken.update(value.name for one in emitter.nodes for value in one.outputs)
        found |= {value.name: result for value, result in zip(node.outputs, results, strict=True)}
    outputs = tuple(found.get(x.name, x) if isinstance(x, Value) else x for x in body.outputs)
    return dce(replace(body, nodes=tuple(nodes), outputs=outputs))


def trips_of(node: Node) -> Trips:
    """The trips of a loop.

    Raises:
        Refused: They are known only when the program runs, or the loop may be left early.
    """
    params = node.keywords
    if params.pop("exits", False) or set(params) - {"body", "step", "carried"}:
        raise Refused("the loop may be left early")
    bounds = node.inputs[:2]
    if not all(isinstance(bound, Const) for bound in bounds):
        raise Refused("the number of iterations is not known before the run")
    start, stop = (int(bound.value) for bound in bounds if isinstance(bound, Const))
    return Trips(start, params["step"], len(range(start, stop, params["step"])))


def vectorize_loop(node: Node, taken: set[str], exact: bool = False) -> tuple[Emitter, tuple[Operand, ...]]:
    """The nodes that take the place of a loop, and the operands that take the place of its outputs.

    Args:
        node: The loop.
        taken: Names that the new nodes must not use.
        exact: Whether floating point sums keep their order.

    Raises:
        Refused: The loop stays; the text says why.
    """
    trips = trips_of(node)
    carried = node.keywords["carried"]
    emitter = Emitter(taken)
    if trips.count == 0:
        return emitter, node.inputs[2 : 2 + carried]
    if trips.count > MOST_TRIPS:
        raise TooLarge(f"{trips.count} iterations are too many to look at", trips.count)
    results = _Loop(node, trips, emitter, exact).run()
    if len(emitter.nodes) > MOST_NODES:
        raise Refused(f"all iterations at once take {len(emitter.nodes)} operations")
    return emitter, results


@dataclass(slots=True)
class _State:
    """The carried arrays while the writes are taken over."""

    current: dict[int, Operand] = field(default_factory=dict)
    stored: dict[tuple[int, int], tuple[Lane, tuple[int, ...]]] = field(default_factory=dict)


class _Loop:
    """The rewriting of one loop."""

    def __init__(self, node: Node, trips: Trips, emitter: Emitter, exact: bool) -> None:
        params = node.keywords
        self.node, self.trips = node, trips
        self.body: Graph = params["body"]
        self.carried: int = params["carried"]
        self.heads = self.body.inputs[1 : 1 + self.carried]
        self.inits = node.inputs[2 : 2 + self.carried]
        captured = list(zip(self.body.inputs[1 + self.carried :], node.inputs[2 + self.carried :], strict=True))
        known = {
            value.name: int(operand.value)
            for value, operand in captured
            if isinstance(operand, Const) and operand.spec.kind == "python" and operand.spec.dtype == _INT64
        }
        self.forms = affine_forms(self.body, self.carried, known)
        self.verdict: Dependence = dependence(self.body, self.carried, trips, self.forms, exact)
        self.batch = Batch(emitter, trips, {value.name: operand for value, operand in captured})
        self.lanes: dict[str, Lane] = {
            value.name: Lane(operand, operand.spec, False, self.forms.get(value.name)) for value, operand in captured
        }
        self.lanes[self.body.inputs[0].name] = Lane(None, self.body.inputs[0].spec, True, Affine(1, 0))
        self.state = _State()
        #: Writes: the name of the new version -> number of the array, number of the write.
        self.writes: dict[str, tuple[int, int]] = {}
        self.links: set[str] = set()
        slots = self.verdict.slots
        #: Selections that are written, and reads that only put back what was there: the number of the array.
        self.kept = {k: n for k, n in self.verdict.kept.items() if isinstance(slots[n], Stores)}
        self.unread = {k: n for k, n in self.verdict.unread.items() if isinstance(slots[n], Stores)}

    def run(self) -> tuple[Operand, ...]:
        for number, slot in enumerate(self.verdict.slots):
            if isinstance(slot, Unchanged | Stores):
                self.lanes[self.heads[number].name] = constant_lane(self.inits[number])
            if isinstance(slot, Stores):
                self.state.current[number] = self.inits[number]
                for place, write_node in enumerate(slot.writes):
                    self.writes[write_node.outputs[0].name] = number, place
            chain = slot.element if isinstance(slot, Stores) else slot if isinstance(slot, Reduction) else None
            if chain is not None:
                self.links.update(link.outputs[0].name for link in chain.links)
                if chain.select is not None:
                    self.links.add(chain.select.outputs[0].name)
        for node in self.body.nodes:
            self._node(node)
        self.batch.source = self.node.source
        results = tuple(self._result(number) for number in range(self.carried))
        for result, output in zip(results, self.node.outputs, strict=True):
            if result.spec != output.spec:
                raise Refused(f"a result would be {result.spec}, not {output.spec}")
        return results

    def _lane(self, operand: Operand) -> Lane:
        if isinstance(operand, Const):
            return constant_lane(operand)
        lane = self.lanes.get(operand.name)
        if lane is None:
            raise Refused(f"{told(operand)} depends on the iteration before")
        return lane

    def _node(self, node: Node) -> None:
        """Compute the lanes of a node's outputs."""
        batch = self.batch
        batch.source = node.source
        name = node.outputs[0].name if node.outputs else ""
        if name in self.links:
            return
        if name in self.writes:
            self._write(node, *self.writes[name])
            return
        if name in self.kept:
            self._keep(node, self.kept[name])
            return
        if name in self.verdict.stored:
            self.lanes[name] = self._forwarded(node, *self.state.stored[self.verdict.stored[name]])
            return
        form = self.forms.get(name)
        if form is not None and form.coefficient:
            self.lanes[name] = Lane(None, node.outputs[0].spec, True, form)
            return
        if name in self.unread:
            return
        lanes = [self._lane(operand) for operand in node.inputs]
        if not any(lane.batched for lane in lanes):
            operands = [lane.operand for lane in lanes if lane.operand is not None]
            values = batch.calls(node.op, operands, node.keywords)
            for value, out in zip(values, node.outputs, strict=True):
                self.lanes[out.name] = Lane(value, out.spec, False, self.forms.get(out.name))
            return
        for lane, out in zip(apply(batch, node, lanes), node.outputs, strict=True):
            self.lanes[out.name] = lane

    def _keep(self, node: Node, number: int) -> None:
        """Select between something new and what is in the array by then."""
        old = node.inputs[2]
        maker = next(one for one in self.body.nodes if isinstance(old, Value) and one.outputs[0].name == old.name)
        operands = [self._lane(operand) for operand in maker.inputs[1:]]
        base = constant_lane(self.state.current[number])
        before = read(self.batch, base, maker.keywords["index"], operands, maker.outputs[0].spec)
        lanes = [self._lane(node.inputs[0]), self._lane(node.inputs[1]), before]
        name = node.outputs[0].name
        if not any(lane.batched for lane in lanes):
            value = self.batch.call("np.where", [lane.operand for lane in lanes if lane.operand is not None])
            self.lanes[name] = Lane(value, node.outputs[0].spec, False)
            return
        (self.lanes[name],) = apply(self.batch, node, lanes)

    def _write(self, node: Node, number: int, place: int) -> None:
        slot = self.verdict.slots[number]
        assert isinstance(slot, Stores)
        batch, index = self.batch, node.keywords["index"]
        operands = [self._lane(operand) for operand in node.inputs[2:]]
        base = self.state.current[number]
        if slot.element is not None:
            fixed = [lane.operand for lane in operands if lane.operand is not None]
            before = batch.call("getitem", [base, *fixed], index=index)
            after = self._reduce(slot.element, before)
            if slot.element.mask is not None:
                mask = self._lane(slot.element.mask)
                if mask.batched or mask.operand is None:
                    raise Refused("a sum under a mask that moves")
                after = batch.call("np.where", [mask.operand, after, before])
            self.state.current[number] = batch.call("setitem", [base, after, *fixed], index=index)
            return
        stored = self._lane(node.inputs[1])
        self.state.stored[number, place] = stored, plan_index(index, node.specs[0], node.specs[2:]).shape
        self.state.current[number] = write(batch, base, stored, index, operands, slot.last[place])

    def _forwarded(self, node: Node, stored: Lane, target: tuple[int, ...]) -> Lane:
        """What a read sees of a value that its own trip has stored, in a part of an array of the shape `target`.

        The read has the same elements in the same order; only axes of one element may be others.
        """
        batch, spec = self.batch, node.outputs[0].spec
        if not stored.batched:
            raise Refused("a constant is stored and read again")
        if stored.spec == spec:
            return stored
        batch.check_fits(stored, spec.dtype)
        value = batch.cast(batch.as_python_float(stored, batch.rows(stored), spec.dtype), spec.dtype)
        if stored.spec.size != spec.size:
            if stored.spec.ndim > len(target) or prod(target) != spec.size:
                raise Refused("a value with more axes than its target is stored and read again")
            value = batch.aligned(Lane(value, Spec(stored.spec.shape, spec.dtype), True), len(target))
            value = batch.call("np.broadcast_to", [value], shape=(batch.count, *target))
        return batch.lane(batch.reshape(value, (batch.count, *spec.shape)), spec)

    def _result(self, number: int) -> Operand:
        slot = self.verdict.slots[number]
        if isinstance(slot, Unchanged):
            return self.inits[number]
        if isinstance(slot, Stores):
            return self.state.current[number]
        if isinstance(slot, Reduction):
            return self._reduce(slot, self.inits[number])
        assert isinstance(slot, Last)
        return self.batch.last(self._lane(self.body.outputs[number]))

    def _reduce(self, reduction: Reduction, before: Operand) -> Operand:
        """The value before the loop combined with the terms of all trips."""
        batch, total = self.batch, before
        for link, term in zip(reduction.links, reduction.terms, strict=True):
            part = self._reduced(reduction.reduce, self._lane(term), before.spec)
            if before.spec.kind == "python" and part.spec.kind != "python":
                part = batch.call("item", [part])
            total = batch.call(link.op.name, [total, part])
        return total

    def _reduced(self, name: str, lane: Lane, spec: Spec) -> Operand:
        """The terms of all trips combined with each other."""
        batch = self.batch
        if spec.dtype == np.float16:
            raise Refused("float16 sums round after every step")
        if not lane.batched and name in ("np.sum", "np.prod"):
            if name == "np.prod":
                raise Refused("a power of a constant")
            lane = Lane(batch.rows(lane), lane.spec, True)
        if not lane.batched:
            assert lane.operand is not None
            return lane.operand
        if lane.spec.ndim > spec.ndim:
            raise Refused("a term has more axes than what it is added to")
        rows = batch.cast(batch.strong(lane, spec.dtype, lane.tail), spec.dtype)
        typed = {"dtype": spec.dtype} if name in ("np.sum", "np.prod") else {}
        return batch.call(name, [rows], axis=lane.place if name.endswith(".reduce") else (lane.place,), **typed)
