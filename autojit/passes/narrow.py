"""Narrow writes: where a region changes one window of a caller's array, only that is computed and copied."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from autojit.ir.graph import Graph, Node, Value, Write, values_of
from autojit.ir.index import Index


def narrow(graph: Graph) -> Graph:
    """Write what a last `setitem` puts into a caller's array, not the array that it makes of it.

    The new array would be as large as the caller's, to be filled with what stays as it is and copied back. The index
    must be basic, its run-time integers inputs of the graph, the item must come from the graph, have the array's dtype
    and no more axes than the window, and nobody else may read the new array.
    """
    makers = {value.name: node for node in graph.nodes for value in node.outputs}
    uses = Counter(value.name for node in graph.nodes for value in values_of(node.inputs))
    uses.update(value.name for value in values_of(graph.results))
    writes = [_narrowed(write, makers, uses, graph.integers) for write in graph.writes]
    gone = {id(node) for node, _ in writes if node is not None}
    if not gone:
        return graph
    nodes = tuple(node for node in graph.nodes if id(node) not in gone)
    return replace(graph, nodes=nodes, writes=tuple(write for _, write in writes))


def _narrowed(
    write: Write, makers: dict[str, Node], uses: Counter[str], integers: frozenset[str]
) -> tuple[Node | None, Write]:
    """The node that is not needed any more, and the write without it."""
    node = makers.get(write.value.name) if isinstance(write.value, Value) else None
    if node is None or node.op.name != "setitem" or uses[node.outputs[0].name] > 1:
        return None, write
    base, item, *numbers = node.inputs
    index: Index = node.keywords["index"]
    operands = tuple(one for one in numbers if isinstance(one, Value) and one.name in integers)
    is_ours = isinstance(base, Value) and base.name == write.target.name and len(operands) == len(numbers)
    is_made = isinstance(item, Value) and item.name in makers and item.spec.dtype == base.spec.dtype
    if not is_ours or not is_made or write.index is not None or 0 in base.spec.shape:
        return None, write
    narrowed = Write(write.target, item, index, operands=operands)
    # An assignment leaves out leading axes of one element, a copy does not.
    return (node, narrowed) if item.spec.ndim <= len(narrowed.shape) else (None, write)
