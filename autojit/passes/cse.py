"""Common subexpression elimination: equal nodes become one."""

from __future__ import annotations

from autojit.ir.build import Key, node_key
from autojit.ir.graph import Graph, Node, Operand
from autojit.passes.substitute import substitute


def cse(graph: Graph) -> Graph:
    """Replace a node by an earlier one of the same op, operands and parameters.

    >>> from tests.graphs import graph_of
    >>> from autojit.ir.text import to_text
    >>> before = graph_of("a = square(x); b = square(x); c = add(a, b) -> c")
    >>> print(to_text(cse(before)))
    def f(x):  # float64[3]
        a = np.square(x)  # float64[3] | demo.py:1
        c = np.add(a, a)  # float64[3] | demo.py:3
        return c
    <BLANKLINE>
    """
    seen: dict[Key, Node] = {}

    def rewrite(node: Node) -> tuple[Operand, ...] | Node:
        first = seen.setdefault(node_key(node.op, node.inputs, node.params), node)
        return node if first is node else first.outputs

    return substitute(graph, rewrite)
