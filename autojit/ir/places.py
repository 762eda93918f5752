"""Indices of the run that have to be checked, and operands that are put in the places of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autojit.ir.graph import Graph, Operand, Value
from autojit.ir.index import Entry, Place


def is_open(entry: Entry) -> bool:
    """Whether an entry of an index may be out of bounds, as far as is known."""
    return isinstance(entry, Place) and not entry.proven


def has_open_places(graph: Graph) -> bool:
    """Whether one of a graph's indices may be, those in its loops included."""
    for node in graph.nodes:
        if node.op.name == "loop" and has_open_places(node.keywords["body"]):
            return True
        if node.op.name in ("getitem", "setitem") and any(map(is_open, node.keywords["index"].entries)):
            return True
    return False


def with_operands(graph: Graph, known: Mapping[str, Operand]) -> Graph:
    """The graph with other operands in the places of some values; its inputs stay, which are how it is called."""

    def current(operand: Operand) -> Operand:
        return known.get(operand.name, operand) if isinstance(operand, Value) else operand

    nodes = tuple(replace(node, inputs=tuple(map(current, node.inputs))) for node in graph.nodes)
    writes = tuple(replace(write, value=current(write.value)) for write in graph.writes)
    return replace(graph, nodes=nodes, outputs=tuple(map(current, graph.outputs)), writes=writes)
