"""Replace values by other operands: what the rewriting passes have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from autojit.ir.graph import Const, Graph, Node, Operand

#: `rewrite(node)` returns what takes the place of the node's outputs, or the node to keep, changed or not.
Rewrite = Callable[[Node], "tuple[Operand, ...] | Node"]


def substitute(graph: Graph, rewrite: Rewrite) -> Graph:
    """The graph without the nodes that `rewrite` replaces; it sees each node with its operands replaced already."""
    found: dict[str, Operand] = {}

    def current(operand: Operand) -> Operand:
        return operand if isinstance(operand, Const) else found.get(operand.name, operand)

    nodes: list[Node] = []
    changed = False
    for old in graph.nodes:
        inputs = tuple(current(operand) for operand in old.inputs)
        same = all(new is was for new, was in zip(inputs, old.inputs, strict=True))
        node = old if same else replace(old, inputs=inputs)
        result = rewrite(node)
        changed = changed or result is not old
        if isinstance(result, Node):
            nodes.append(result)
        else:
            found |= {value.name: operand for value, operand in zip(node.outputs, result, strict=True)}
    if not changed:
        return graph
    outputs = tuple(current(operand) for operand in graph.outputs)
    writes = tuple(replace(write, value=current(write.value)) for write in graph.writes)
    return replace(graph, nodes=tuple(nodes), outputs=outputs, writes=writes)


def with_body(node: Node, body: Graph) -> Node:
    """A loop with another body."""
    return replace(node, params=tuple((name, body if name == "body" else value) for name, value in node.params))
