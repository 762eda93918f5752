"""The passes inside loops: a loop's body is simplified as the graph around it is."""

from __future__ import annotations

from dataclasses import replace

from autojit.ir.graph import Const, Graph, Node, Operand, values_of
from autojit.ir.index import Slice
from autojit.ir.places import with_operands
from autojit.passes.cse import cse
from autojit.passes.dce import dce
from autojit.passes.fold import fold
from autojit.passes.forward import forward
from autojit.passes.substitute import substitute, with_body


def bodies(graph: Graph) -> Graph:
    """Simplify the bodies of all loops, inner ones first.

    What a body carries stays, and so do its inputs: they are the loop's calling convention.
    """
    nodes = tuple(map(_simplified, graph.nodes))
    same = all(new is old for new, old in zip(nodes, graph.nodes, strict=True))
    return graph if same else replace(graph, nodes=nodes)


def _simplified(node: Node) -> Node:
    if node.op.name != "loop":
        return node
    before: Graph = node.keywords["body"]
    body = _with_constants(node, before)
    for step in (forward, fold, covered, cse, bodies, dce):
        body = step(body)
    return node if body is before else with_body(node, body)


def _with_constants(node: Node, body: Graph) -> Graph:
    """The body with the constants that it is given in their places."""
    inputs = node.inputs[2 + node.keywords["carried"] :]
    known: dict[str, Operand] = {
        value.name: operand
        for value, operand in zip(body.inputs[len(body.inputs) - len(inputs) :], inputs, strict=True)
        if isinstance(operand, Const)
    }
    return with_operands(body, known) if known else body


def covered(graph: Graph) -> Graph:
    """Take the assigned value for the array where an assignment covers all of it.

    An assignment that is a result of the graph stays: there the array is another one.
    """
    results = {value.name for value in values_of(graph.results)}

    def rewrite(node: Node) -> tuple[Operand, ...] | Node:
        if node.op.name != "setitem" or len(node.inputs) != 2 or node.outputs[0].name in results:
            return node
        entries, stored = node.keywords["index"].entries, node.inputs[1]
        whole = all(entry is Ellipsis or entry == Slice(None, None, None) for entry in entries)
        return (stored,) if whole and stored.spec == node.outputs[0].spec else node

    return substitute(graph, rewrite)
