"""Dead code elimination: drop the nodes whose outputs nobody needs."""

from __future__ import annotations

from dataclasses import replace

from autojit.ir.graph import Graph, Node, values_of
from autojit.ir.index import Index


def dce(graph: Graph) -> Graph:
    """Drop nodes that neither a result nor another node needs.

    A node that may raise on its data stays: NumPy would raise. Inputs stay: they are the calling convention.

    >>> from tests.graphs import graph_of
    >>> from autojit.ir.text import to_text
    >>> before = graph_of("a = square(x); b = negative(x) -> a")
    >>> print(to_text(dce(before)))
    def f(x):  # float64[3]
        a = np.square(x)  # float64[3] | demo.py:1
        return a
    <BLANKLINE>
    """
    needed = {value.name for value in values_of(graph.results)}
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if may_raise(node) or any(value.name in needed for value in node.outputs):
            kept.append(node)
            needed.update(value.name for value in values_of(node.inputs))
    return graph if len(kept) == len(graph.nodes) else replace(graph, nodes=tuple(reversed(kept)))


def may_raise(node: Node) -> bool:
    """Whether NumPy may raise here, depending on the data."""
    if node.is_host:
        return True
    indices = [value for _, value in node.params if isinstance(value, Index)]
    # What was checked on the specs cannot be out of bounds later.
    return node.op.traps and not (indices and all(index.is_static for index in indices))
