"""Split full reductions of large arrays into an aligned middle and the few elements around it.

XLA does not read NumPy's large arrays in place, because they start 16 bytes past a page, and its fast reductions do not
read a window of a larger array. But the elements of an array that is only reduced to scalars may be taken in any
order. So `np.sum(x * 2)` becomes `np.sum(x_middle * 2) + np.sum(x_edges * 2)`: `x_middle` starts at the first aligned
element of `x` and is read in place, `x_edges` is a small copy of the elements before and after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autojit.ir.graph import Const, Graph, Node, Operand, Value
from autojit.ir.spec import Spec, spec_of
from autojit.lowering.alignment import ALIGNMENT
from autojit.ops.reductions_common import normal_axes
from autojit.ops.table import TABLE

#: The number of elements in the middle is a multiple of this, which lets XLA cut it into equal rows.
_ROW = 256

#: Copying smaller arrays costs less than what the split adds.
SPLIT_BYTES = 512 * 1024

#: The ops that put two partial results together.
_COMBINE = {
    "np.sum": "np.add",
    "np.prod": "np.multiply",
    "np.max": "np.maximum",
    "np.min": "np.minimum",
    "np.any": "np.logical_or",
    "np.all": "np.logical_and",
    "np.count_nonzero": "np.add",
    "np.nansum": "np.add",
    "np.nanprod": "np.multiply",
}


@dataclass(frozen=True, slots=True)
class Halves:
    """An array in two parts, flat: `middle`, nearly all elements, and `edges`, those before and after them."""

    middle: Value
    edges: Value


@dataclass(frozen=True, slots=True)
class Split:
    """A split cluster: the halves of each array input, by its name, and the graph on them."""

    halves: dict[str, Halves]
    graph: Graph


class _CannotSplit(Exception):
    """The cluster is not made of elementwise ops and full reductions."""


def split(graph: Graph) -> Split | None:
    """The split form of a cluster of elementwise ops on arrays of one shape and full reductions of them, or `None`."""
    shapes = {value.spec.shape for value in _values(graph)} - {()}
    if len(shapes) != 1:
        return None
    (shape,) = shapes
    arrays = [value for value in graph.inputs if value.spec.shape == shape]
    if not any(value.spec.nbytes >= SPLIT_BYTES for value in arrays):
        return None
    if any(operand.spec.shape for operand in graph.results):
        return None
    try:
        return _split(graph, arrays)
    except _CannotSplit:
        return None


def _values(graph: Graph) -> Iterable[Operand]:
    yield from graph.inputs
    for node in graph.nodes:
        yield from node.inputs
        yield from node.outputs


def _split(graph: Graph, arrays: list[Value]) -> Split:
    size = arrays[0].spec.size
    # The middle starts at one of the first elements: so many that the aligned one is among them, whatever the dtype.
    least = ALIGNMENT // min(value.spec.dtype.itemsize for value in arrays)
    edges = least + (size - least) % _ROW
    halves = {value.name: _halve(value, edges) for value in arrays}
    nodes: list[Node] = []
    for node in graph.nodes:
        is_whole = not any(operand.spec.shape for operand in (*node.inputs, *node.outputs))
        if is_whole:
            nodes.append(node)
        elif node.op.family == "elementwise" and all(value.spec.shape for value in node.outputs):
            nodes += _elementwise(node, halves, edges)
        else:
            nodes += _reduction(node, halves)
    inputs = [value for value in graph.inputs if value.name not in halves]
    for value in arrays:
        inputs += [halves[value.name].middle, halves[value.name].edges]
    taken = {value.name: halves[value.name] for value in arrays}
    return Split(taken, replace(graph, inputs=tuple(inputs), nodes=tuple(nodes)))


def _halve(value: Value, edges: int) -> Halves:
    spec = value.spec
    middle = Spec((spec.size - edges,), spec.dtype)
    return Halves(Value(f"{value.name}_middle", middle), Value(f"{value.name}_edges", Spec((edges,), spec.dtype)))


def _elementwise(node: Node, halves: dict[str, Halves], edges: int) -> Iterable[Node]:
    for value in node.outputs:
        halves[value.name] = _halve(value, edges)
    for part in ("middle", "edges"):
        inputs = tuple(_part(operand, halves, part) for operand in node.inputs)
        outputs = tuple(getattr(halves[value.name], part) for value in node.outputs)
        yield replace(node, inputs=inputs, outputs=outputs)


def _part(operand: Operand, halves: dict[str, Halves], part: str) -> Operand:
    if not operand.spec.shape:
        return operand
    if isinstance(operand, Const) or operand.name not in halves:
        raise _CannotSplit
    return getattr(halves[operand.name], part)


def _is_full(axis: Any, operand: Operand) -> bool:
    """Whether an `axis` argument names all axes."""
    return len(normal_axes(axis, operand.spec.ndim)) == operand.spec.ndim


def _reduction(node: Node, halves: dict[str, Halves]) -> Iterable[Node]:
    """The reductions of both halves, and what puts their results together."""
    (out,) = node.outputs if len(node.outputs) == 1 else (None,)
    name, keywords = node.op.name, node.keywords
    if out is None or out.spec.shape or len(node.inputs) != 1 or not _is_full(keywords.get("axis"), node.inputs[0]):
        raise _CannotSplit
    is_mean = name == "np.mean" and out.spec.dtype in (np.float32, np.float64)
    reduce = TABLE.rows.get("np.sum" if is_mean else name)
    combine = TABLE.rows.get("np.add" if is_mean else _COMBINE.get(name, ""))
    divide = TABLE.rows.get("np.divide")
    if reduce is None or combine is None or divide is None:
        raise _CannotSplit
    params = tuple((key, value) for key, value in node.params if key != "axis")  # the halves are flat
    if is_mean:
        params = (("dtype", out.spec.dtype),)
    parts = []
    for part in ("middle", "edges"):
        parts.append(Value(f"{out.name}_{part}", out.spec))
        yield replace(
            node, op=reduce, inputs=(_part(node.inputs[0], halves, part),), params=params, outputs=(parts[-1],)
        )
    total = Value(f"{out.name}_total", out.spec) if is_mean else out
    yield replace(node, op=combine, inputs=tuple(parts), params=(), outputs=(total,))
    if is_mean:
        count = out.spec.dtype.type(node.inputs[0].spec.size)
        yield replace(node, op=divide, inputs=(total, Const(count, spec_of(count))), params=(), outputs=(out,))
