"""A static estimate of what a graph costs in NumPy and as compiled programs, to spare hopeless cases a measurement."""

from __future__ import annotations

import math
from dataclasses import dataclass

from autojit.ir.graph import Graph, Node, values_of
from autojit.ir.index import Index
from autojit.partition.compilable import subgraphs

# Rough numbers of one machine; decisions that matter are measured.
_CALL_SECONDS = 1e-6
_VIEW_SECONDS = 3e-7
_PLAN_SECONDS = 15e-6
_NUMPY_BYTES_PER_SECOND = 5e9
_PLAN_BYTES_PER_SECOND = 15e9
_FLOPS_PER_SECOND = 20e9

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
        plan_seconds += _PLAN_SECONDS + sum(_flops(node) for node in nodes) / _FLOPS_PER_SECOND
    return Cost(numpy_seconds, plan_seconds + traffic / _PLAN_BYTES_PER_SECOND)


def numpy_cost(node: Node) -> float:
    """Seconds of one node in NumPy: the call, the memory it reads and writes, the arithmetic of contractions."""
    if _is_view(node):
        return _VIEW_SECONDS
    size = sum(spec.nbytes for spec in node.specs) + sum(value.spec.nbytes for value in node.outputs)
    inner = sum(numpy_cost(inner) for graph in subgraphs(node) for inner in graph.nodes)
    return _CALL_SECONDS + size / _NUMPY_BYTES_PER_SECOND + _flops(node) / _FLOPS_PER_SECOND + inner


def _is_view(node: Node) -> bool:
    if node.op.name == "getitem":
        index = node.keywords.get("index")
        return isinstance(index, Index) and index.is_static
    return node.op.name in _VIEWS


def _flops(node: Node) -> float:
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
