"""Run a graph in NumPy: the oracle of the tests, the fallback for a cluster, the measure of its cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autojit.ir.graph import Const, Graph, Node, Operand, Write


def evaluate(graph: Graph, arguments: Sequence[Any]) -> tuple[Any, ...]:
    """The graph's results (outputs, then written values) for concrete inputs. Inputs are never changed."""
    values = dict(zip((value.name for value in graph.inputs), arguments, strict=True))
    for node in graph.nodes:
        run_node(node, values)
    return (*(read(operand, values) for operand in graph.outputs), *(_written(write, values) for write in graph.writes))


def _written(write: Write, values: dict[str, Any]) -> Any:
    """What an array holds afterwards."""
    value = read(write.value, values)
    if write.index is None:
        return value
    array = values[write.target.name].copy()
    array[write.index.fill([values[operand.name] for operand in write.operands])] = value
    return array


def run_node(node: Node, values: dict[str, Any]) -> None:
    """Run one node and bind its outputs in `values`."""
    result = node.op.call(*(read(operand, values) for operand in node.inputs), **node.keywords)
    if len(node.outputs) == 1:
        values[node.outputs[0].name] = result
        return
    for value, part in zip(node.outputs, result, strict=True):
        values[value.name] = part


def read(operand: Operand, values: dict[str, Any]) -> Any:
    """The concrete value of an operand."""
    return operand.value if isinstance(operand, Const) else values[operand.name]
