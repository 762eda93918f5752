"""Replace values by other operands: what the rewriting passes have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from autojit.ir.graph import Const, Graph, Node, Operand

#: `rewrite(node) -> operands` says what each output of a node is replaced by, or `None` to keep the node.
Rewrite = Callable[[Node], "tuple[Operand, ...] | None"]


def substitute(graph: Graph, rewrite: Rewrite) -> Graph:
    """The graph without the nodes that `rewrite` replaces; it sees each node with its operands replaced already."""
    found: dict[str, Operand] = {}

    def current(operand: Operand) -> Operand:
        return operand if isinstance(operand, Const) else found.get(operand.name, operand)

    nodes: list[Node] = []
    for node in graph.nodes:
        inputs = tuple(current(operand) for operand in node.inputs)
        if any(new is not old for new, old in zip(inputs, node.inputs, strict=True)):
            node = replace(node, inputs=inputs)
        operands = rewrite(node)
        if operands is None:
            nodes.append(node)
        else:
            found |= {value.name: operand for value, operand in zip(node.outputs, operands, strict=True)}
    if not found:
        return graph
    outputs = tuple(current(operand) for operand in graph.outputs)
    writes = tuple(replace(write, value=current(write.value)) for write in graph.writes)
    return replace(graph, nodes=tuple(nodes), outputs=outputs, writes=writes)
