"""Forwarding: what was just assigned to a part of an array need not be read back from it."""

from __future__ import annotations

from dataclasses import replace

from autojit.ir.build import exact_key
from autojit.ir.graph import Graph, Node, Operand, Value, values_of
from autojit.ir.index import Index
from autojit.passes.substitute import substitute


def forward(graph: Graph) -> Graph:
    """Read the assigned value instead of the array, and skip an assignment that the next one covers.

    Both hold for one and the same basic index without run-time operands. A read that is a result of the graph stays,
    since in NumPy the caller gets an array of its own.

    >>> from tests.graphs import graph_of
    >>> from autojit.ir.text import to_text
    >>> text = "a = square(y); b = setitem(x, a, index=I[...]); c = getitem(b, index=I[...]); d = sqrt(c) -> d, b"
    >>> before = graph_of(text)
    >>> print(to_text(forward(before)))
    def f(y, x):  # float64[3], float64[3]
        a = np.square(y)  # float64[3] | demo.py:1
        b = aj.setitem(x, a, index=aj.Index((Ellipsis,)))  # float64[3] | demo.py:2
        d = np.sqrt(a)  # float64[3] | demo.py:4
        return d, b
    <BLANKLINE>
    """
    results = {value.name for value in values_of(graph.results)}
    stores: dict[str, Node] = {}

    def rewrite(node: Node) -> tuple[Operand, ...] | Node:
        index = _static_index(node)
        if index is None:
            return node
        base = node.inputs[0]
        store = stores.get(base.name) if isinstance(base, Value) else None
        covered = store is not None and exact_key(_static_index(store)) == exact_key(index)
        if node.op.name == "setitem":
            if store is not None and covered:
                node = replace(node, inputs=(store.inputs[0], *node.inputs[1:]))
            stores[node.outputs[0].name] = node
            return node
        if store is None or not covered or node.outputs[0].name in results:
            return node
        stored = store.inputs[1]
        return (stored,) if stored.spec == node.outputs[0].spec else node

    return substitute(graph, rewrite)


def _static_index(node: Node) -> Index | None:
    """The index of an assignment or a read that has no run-time part."""
    if node.op.name not in ("getitem", "setitem"):
        return None
    index = node.keywords["index"]
    return index if index.is_static else None
