"""Matrix products that NumPy may take between clusters: its BLAS is often faster than XLA's products."""

from __future__ import annotations

from autojit.ir.graph import Graph, Node
from autojit.partition.cost import estimate, flops, numpy_cost

#: Products that take a smaller part of a plan are no reason to take it apart.
_LEAST_SHARE = 0.25
#: Nor is a plan that takes more than this part of what NumPy takes.
_LARGEST_PART = 0.95


def is_product(node: Node) -> bool:
    """Whether a node is a product of BLAS's dtypes that sums: `np.outer` does not."""
    (result,) = node.outputs if len(node.outputs) == 1 else (None,)
    if result is None or node.op.family != "contraction":
        return False
    has_blas = result.spec.dtype.kind in "fc" and result.spec.dtype.itemsize >= 4
    return has_blas and flops(node) > 2.5 * result.spec.size


def may_pay_apart(graph: Graph) -> bool:
    """Whether a graph, partitioned with its products on the host, may be faster for it."""
    if not any(node.cluster for node in graph.nodes):
        return False
    products = sum(numpy_cost(node) for node in graph.nodes if node.cluster is None and is_product(node))
    cost = estimate(graph)
    return products > _LEAST_SHARE * cost.plan_seconds and cost.plan_seconds < _LARGEST_PART * cost.numpy_seconds
