"""Matrix products that NumPy may take between clusters: its BLAS is often faster than XLA's products."""

from __future__ import annotations

from autojit.ir.graph import Graph, Node
from autojit.partition.cost import estimate, flops, numpy_cost

#: Products that take a smaller part of a plan are no reason to take it apart.
_LEAST_SHARE = 0.25
#: Nor is a plan that takes more than this part of what NumPy takes.
_LARGEST_PART = 0.95
#: No library makes more operations per second on two cores; with more of them what is no product takes less, too.
_FASTEST_FLOPS = 200e9
#: A library that makes more operations per second is a BLAS, no slower than XLA; without one NumPy makes a tenth.
_LIKE_BLAS = 10e9
#: What is no product may take so many times as long as it is estimated to: it touches new memory.
_ERROR = 2.0
#: Families whose costs can be estimated.
_ESTIMATED = frozenset("contraction creation elementwise indexing reduction shaping".split())


def is_product(node: Node) -> bool:
    """Whether NumPy leaves a node to BLAS, and it sums: `a[:, None] @ b[None]` does not."""
    axes = max((spec.ndim for spec in node.specs), default=0)
    if len(node.outputs) != 1 or not 0 < axes <= node.op.blas_axes:
        return False
    result = node.outputs[0].spec
    has_blas = result.dtype.kind in "fc" and result.dtype.itemsize >= 4
    return has_blas and flops(node) > 2.5 * result.size


def may_pay_apart(graph: Graph) -> bool:
    """Whether a graph, partitioned with its products on the host, may be faster for it."""
    if not any(node.cluster for node in graph.nodes):
        return False
    products = sum(numpy_cost(node) for node in graph.nodes if node.cluster is None and is_product(node))
    cost = estimate(graph)
    return products > _LEAST_SHARE * cost.plan_seconds and cost.plan_seconds < _LARGEST_PART * cost.numpy_seconds


def leave_nothing(graph: Graph, numpy_seconds: float) -> bool:
    """Whether products take so much of NumPy's time that no plan could be faster.

    Args:
        graph: What was captured.
        numpy_seconds: How long NumPy was measured to take for it.
    """
    if any(node.op.family not in _ESTIMATED for node in graph.nodes):
        return False
    products = sum(flops(node) for node in graph.nodes if is_product(node))
    others = sum(numpy_cost(node) for node in graph.nodes if not is_product(node))
    return products > _LIKE_BLAS * numpy_seconds and _ERROR * others < (1 - _LARGEST_PART) * numpy_seconds


def share_of_products(graph: Graph) -> float:
    """The part of a graph's time that matrix products take at least."""
    products = sum(flops(node) for node in graph.nodes if is_product(node)) / _FASTEST_FLOPS
    others = sum(numpy_cost(node) for node in graph.nodes if not is_product(node))
    return products / (products + others) if products else 0.0
