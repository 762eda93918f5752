"""Results that hold memory which nobody has written: `np.empty` means something else in every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autojit.ir.evaluate import evaluate
from autojit.ir.graph import Graph, Node
from autojit.ops.chapters import TABLE
from autojit.passes.substitute import with_body

_FILLED = {"np.empty": ("np.zeros", "np.ones"), "np.empty_like": ("np.zeros_like", "np.ones_like")}


def is_unwritten(graph: Graph, arguments: Sequence[Any]) -> bool:
    """Whether some result changes with what unwritten memory holds.

    Args:
        graph: A region's graph.
        arguments: Its inputs.
    """
    zeros, ones = (_filled(graph, choice) for choice in (0, 1))
    if zeros is graph:
        return False
    pairs = zip(evaluate(zeros, arguments), evaluate(ones, arguments), strict=True)
    return not all(np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind in "fc") for one, other in pairs)


def _filled(graph: Graph, choice: int) -> Graph:
    """The graph with all zeros, or all ones, where memory is not written."""

    def fill(node: Node) -> Node:
        if node.op.name in _FILLED:
            return replace(node, op=TABLE[_FILLED[node.op.name][choice]])
        if node.op.name == "loop":
            body = _filled(node.keywords["body"], choice)
            return node if body is node.keywords["body"] else with_body(node, body)
        return node

    nodes = tuple(map(fill, graph.nodes))
    same = all(new is old for new, old in zip(nodes, graph.nodes, strict=True))
    return graph if same else replace(graph, nodes=nodes)
