"""Strips: a loop of too many iterations for one batch, as a loop over strips of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from autojit.ir.graph import Graph, Node
from autojit.ops.chapters import TABLE
from autojit.passes.affine import Trips
from autojit.passes.lanes import Emitter, names_of


def strips(node: Node, trips: Trips, length: int, taken: Collection[str]) -> tuple[Node, Node]:
    """Two loops that take the place of one: one over whole strips, with a loop over a strip in it, and the rest.

    The order of the iterations stays.

    Args:
        node: The loop.
        trips: Its range.
        length: The iterations in a strip.
        taken: Names that the new nodes must not use in the place of the loop.
    """
    params = node.keywords
    body: Graph = params["body"]
    carried: int = params["carried"]
    index, values = body.inputs[0], body.inputs[1:]
    count = trips.count // length
    middle = trips.start + count * length * trips.step

    outside = Emitter(taken)
    whole, inside = Emitter(names_of(body)), Emitter(names_of(body))
    number = whole.input(index.spec)
    whole.inputs += values
    (base,) = whole.add(TABLE["py_multiply"], [number, whole.const(length * trips.step)], source=node.source)
    local, offset = inside.input(index.spec), inside.input(base.spec)
    moved = Node(TABLE["py_add"], (local, offset), (), (index,), node.source)
    strip = Graph(body.name, (local, *values, offset), (moved, *body.nodes), body.outputs)
    bounds = whole.const(trips.start), whole.const(trips.start + length * trips.step)
    inner = {"body": strip, "step": trips.step, "carried": carried}
    results = whole.add(node.op, [*bounds, *values, base], inner, node.source)

    outer = {"body": whole.graph(body.name, results), "step": 1, "carried": carried}
    operands = [outside.const(0), outside.const(count), *node.inputs[2:]]
    after = outside.add(node.op, operands, outer, node.source)
    ends = outside.const(middle), outside.const(trips.start + trips.count * trips.step)
    rest = replace(node, inputs=(*ends, *after, *node.inputs[2 + carried :]))
    return outside.nodes[-1], rest
