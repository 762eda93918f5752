"""A static estimate of what a graph costs in NumPy and as compiled programs, to spare hopeless cases a measurement."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from autojit.ir.graph import Graph, Node, values_of
from autojit.ir.index import Index
from autojit.partition.compilable import subgraphs

# Rough numbers of one machine; decisions that matter are measured.
_CALL_SECONDS = {"elementwise": 0.6e-6, "reduction": 1.5e-6, "linalg": 5e-6}
_OTHER_CALL_SECONDS = 1.5e-6
_VIEW_SECONDS = 0.3e-6
#: To enter a plan.
PLAN_SECONDS = 15e-6
#: Memory that is read or written.
BYTES_PER_SECOND = 20e9
_COPY_BYTES_PER_SECOND = 6e9
_COPIED_BYTES = 4096
_FLOPS_PER_SECOND = 20e9

# Seconds per element beyond the memory traffic; a program vectorizes them, on several cores.
_ELEMENT_SECONDS: dict[str, float] = {
    **dict.fromkeys(["np.sqrt", "np.exp", "np.log", "np.exp2", "np.log2", "np.divide", "np.where", "astype"], 0.5e-9),
    **dict.fromkeys(
        "np.sin np.cos np.tan np.arcsin np.arccos np.arctan np.arctan2 np.sinh np.cosh np.tanh np.arcsinh np.arccosh "
        "np.arctanh np.expm1 np.log1p np.log10 np.cbrt np.hypot np.power np.float_power np.floor_divide np.remainder "
        "np.logaddexp np.logaddexp2".split(),
        5e-9,
    ),
}
_PLAN_SPEEDUP = 4

_VIEWS = frozenset(
    "np.reshape np.ravel np.transpose np.swapaxes np.moveaxis np.squeeze np.expand_dims np.broadcast_to "
    "np.diagonal np.flip np.real np.imag np.atleast_1d np.atleast_2d np.atleast_3d".split()
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds for one run of a graph."""

    numpy_seconds: float
    plan_seconds: float

    @property
    def clearly_loses(self) -> bool:
        """Whether no error of the estimate is likely to make the compiled programs the faster way."""
        return self.plan_seconds > 4 * self.numpy_seconds


def estimate(graph: Graph) -> Cost:
    """The cost of a graph in NumPy, and as one program per cluster with its host nodes in NumPy.

    A graph that is not partitioned counts as one program.
    """
    numpy_seconds = sum(map(numpy_cost, graph.nodes))
    partitioned = any(node.cluster or node.reason for node in graph.nodes)
    clusters: dict[str, list[Node]] = {}
    plan_seconds = 0.0
    for node in graph.nodes:
        if partitioned and node.cluster is None:
            plan_seconds += numpy_cost(node)
        else:
            clusters.setdefault(node.cluster or "", []).append(node)
    traffic = _traffic(graph, clusters)
    for nodes in clusters.values():
        plan_seconds += PLAN_SECONDS + sum(flops(node) for node in nodes) / _FLOPS_PER_SECOND
        plan_seconds += sum(map(_arithmetic, nodes)) / _PLAN_SPEEDUP
    return Cost(numpy_seconds, plan_seconds + traffic / BYTES_PER_SECOND)


def numpy_cost(node: Node) -> float:
    """Seconds of one node in NumPy: the call, the memory it reads and writes, the arithmetic of contractions."""
    if _is_view(node):
        return _VIEW_SECONDS
    if node.op.name == "setitem":
        # In place: NumPy touches only what is written.
        return 2 * _VIEW_SECONDS + 2 * _written_bytes(node) / BYTES_PER_SECOND
    size = sum(spec.nbytes for spec in node.specs) + sum(value.spec.nbytes for value in node.outputs)
    inner = sum(numpy_cost(inner) for graph in subgraphs(node) for inner in graph.nodes)
    call = _CALL_SECONDS.get(node.op.family, _OTHER_CALL_SECONDS)
    return call + size / BYTES_PER_SECOND + _arithmetic(node) + flops(node) / _FLOPS_PER_SECOND + inner


def entry_cost(graph: Graph) -> float:
    """Seconds for handing arrays over: unaligned ones are copied in, written ones are copied back."""
    moved = sum(value.spec.nbytes for value in graph.inputs if value.spec.nbytes > _COPIED_BYTES)
    moved += 2 * sum(write.value.spec.nbytes for write in graph.writes)
    return moved / _COPY_BYTES_PER_SECOND


def _written_bytes(node: Node) -> int:
    base, value = node.specs[:2]
    index = node.keywords["index"]
    if not isinstance(index, Index):
        return base.nbytes
    try:
        operands = [np.broadcast_to(np.zeros((), spec.dtype), spec.shape) for spec in node.specs[2:]]
        part = np.broadcast_to(np.zeros((), base.dtype), base.shape)[index.fill(operands)]
    except (IndexError, ValueError, TypeError):
        return max(value.nbytes, base.dtype.itemsize)
    return max(part.nbytes, value.nbytes)


def _arithmetic(node: Node) -> float:
    return _ELEMENT_SECONDS.get(node.op.name, 0.0) * sum(value.spec.size for value in node.outputs)


def _is_view(node: Node) -> bool:
    if node.op.name == "getitem":
        index = node.keywords.get("index")
        return isinstance(index, Index) and index.is_static
    return node.op.name in _VIEWS


def flops(node: Node) -> float:
    """Multiplications and additions of a contraction."""
    if node.op.family != "contraction" or len(node.inputs) != 2:
        return 0.0
    # For (m, k) by (k, n) this is 2 m k n, and it holds for vectors alike.
    sizes = [spec.size for spec in node.specs] + [value.spec.size for value in node.outputs]
    return 2 * math.sqrt(math.prod(sizes))


def _traffic(graph: Graph, clusters: dict[str, list[Node]]) -> int:
    """The bytes that the clusters read from memory and write to it; what stays inside one is fused."""
    home = {value.name: name for name, nodes in clusters.items() for node in nodes for value in node.outputs}
    read: dict[tuple[str, str], int] = {}
    crossing = {value.name for value in values_of(graph.results)}
    for node in graph.nodes:
        reader = node.cluster or ""
        inside = reader in clusters and (node.cluster is not None or node.reason is None)
        for value in values_of(node.inputs):
            if not inside or home.get(value.name) != reader:
                crossing.add(value.name)
                if inside:
                    read[reader, value.name] = value.spec.nbytes
    written = sum(
        value.spec.nbytes
        for nodes in clusters.values()
        for node in nodes
        for value in node.outputs
        if value.name in crossing
    )
    return sum(read.values()) + written
