"""Contraction: a sum of products over shared axes becomes a matrix product."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from autojit.ir.graph import Graph, Node, Operand, Value
from autojit.ops.chapters import TABLE
from autojit.passes.lanes import Emitter

#: Products with fewer rows, columns or terms than this stay sums: they are as fast in one fused pass.
_LEAST = 4
_DTYPES = frozenset(map(np.dtype, ("float32", "float64", "complex64", "complex128")))


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes of a product, sorted by which factor has them and whether they are summed."""

    summed: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]


def contract(graph: Graph, taken: Iterable[str] = ()) -> Graph:
    """Replace `np.sum(x * y, axes)` by `np.matmul` where both factors have the summed axes and share no other.

    Args:
        graph: The graph.
        taken: Names that new nodes must not use, besides the graph's own.

    >>> from tests.graphs import graph_of, FLOAT33
    >>> from autojit.ir.spec import Spec
    >>> from autojit.ir.text import to_text
    >>> left, right = Spec((8, 1, 9), FLOAT33.dtype), Spec((7, 9), FLOAT33.dtype)
    >>> before = graph_of("a = multiply(x, y); b = sum(a, axis=2) -> b", x=left, y=right)
    >>> print(to_text(contract(before)))
    def f(x, y):  # float64[8,1,9], float64[7,9]
        v0 = np.reshape(x, shape=(8, 9,))  # float64[8,9] | demo.py:2
        v1 = np.transpose(y, axes=(1, 0,))  # float64[9,7] | demo.py:2
        v2 = np.matmul(v0, v1)  # float64[8,7] | demo.py:2
        return v2
    <BLANKLINE>
    """
    makers = {node.outputs[0].name: node for node in graph.nodes if node.op.name == "np.multiply"}
    if not makers or not any(node.op.name == "np.sum" for node in graph.nodes):
        return graph
    users = graph.users()
    taken = {*taken, *(value.name for value in graph.inputs), *(v.name for node in graph.nodes for v in node.outputs)}
    kept = {value.name for value in graph.results if isinstance(value, Value)}
    nodes: list[Node] = []
    found: dict[str, Operand] = {}
    for old in graph.nodes:
        inputs = tuple(found.get(x.name, x) if isinstance(x, Value) else x for x in old.inputs)
        node = old if inputs == old.inputs else replace(old, inputs=inputs)
        nodes.append(node)
        if node.op.name != "np.sum":
            continue
        factor = node.inputs[0]
        product = makers.get(factor.name) if isinstance(factor, Value) else None
        if product is None or len(users[product.outputs[0].name]) != 1 or product.outputs[0].name in kept:
            continue
        product = next(one for one in nodes if one.outputs == product.outputs)
        axes = _axes(node, product)
        if axes is None:
            continue
        emitter = Emitter(taken)
        result = _matmul(emitter, node, product, axes)
        if result.spec != node.outputs[0].spec:
            continue
        nodes.pop()
        nodes.remove(product)
        nodes += emitter.nodes
        taken.update(value.name for one in emitter.nodes for value in one.outputs)
        found[node.outputs[0].name] = result
    if not found:
        return graph
    outputs = tuple(found.get(x.name, x) if isinstance(x, Value) else x for x in graph.outputs)
    writes = tuple(
        replace(one, value=found.get(one.value.name, one.value) if isinstance(one.value, Value) else one.value)
        for one in graph.writes
    )
    return replace(graph, nodes=tuple(nodes), outputs=outputs, writes=writes)


def _axes(node: Node, product: Node) -> _Axes | None:
    """The axes of a sum of products that a matrix product computes."""
    spec = product.outputs[0].spec
    if spec.dtype not in _DTYPES or product.params or node.keywords.get("dtype", spec.dtype) != spec.dtype:
        return None
    if any(x.spec.kind != "array" or x.spec.dtype.kind not in "fc" for x in product.inputs):
        return None
    axis = node.keywords.get("axis")
    ndim = spec.ndim
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    summed = tuple(one % ndim for one in axes)
    first, second = ((1,) * (ndim - x.spec.ndim) + x.spec.shape for x in product.inputs)
    left, right, shared = [], [], []
    for place, length in enumerate(spec.shape):
        if length == 1:
            continue
        has = first[place] == length, second[place] == length
        if place in summed:
            if has != (True, True):
                return None
            shared.append(place)
        elif has == (True, True):
            return None
        else:
            (left if has[0] else right).append(place)
    sizes = [prod(spec.shape[place] for place in places) for places in (left, right, shared)]
    if min(sizes) < _LEAST:
        return None
    return _Axes(tuple(shared), tuple(left), tuple(right))


def _matmul(emitter: Emitter, node: Node, product: Node, axes: _Axes) -> Operand:
    shape, dtype = product.outputs[0].spec.shape, product.outputs[0].spec.dtype

    def call(name: str, *inputs: Operand, **params: object) -> Operand:
        (value,) = emitter.add(TABLE[name], inputs, params, node.source)
        return value

    def matrix(x: Operand, rows: tuple[int, ...], columns: tuple[int, ...]) -> Operand:
        """The factor with some axes laid out as rows and the others as columns."""
        if x.spec.dtype != dtype:  # as `np.multiply` casts it
            x = call("astype", x, dtype=dtype)
        before = len(shape) - x.spec.ndim
        wanted = [place - before for place in (*rows, *columns)]
        squeezed = sorted(wanted)
        short = tuple(x.spec.shape[place] for place in squeezed)
        if short != x.spec.shape:
            x = call("np.reshape", x, shape=short)
        order = tuple(squeezed.index(place) for place in wanted)
        if order != tuple(range(len(order))):
            x = call("np.transpose", x, axes=order)
        flat = prod(shape[place] for place in rows), prod(shape[place] for place in columns)
        return x if x.spec.shape == flat else call("np.reshape", x, shape=flat)

    first, second = product.inputs
    value = call("np.matmul", matrix(first, axes.left, axes.summed), matrix(second, axes.summed, axes.right))
    places = (*axes.left, *axes.right)
    full = tuple(shape[place] for place in places)
    if value.spec.shape != full:
        value = call("np.reshape", value, shape=full)
    order = tuple(places.index(place) for place in sorted(places))
    if order != tuple(range(len(order))):
        value = call("np.transpose", value, axes=order)
    wanted = node.outputs[0].spec.shape
    return value if value.spec.shape == wanted else call("np.reshape", value, shape=wanted)
