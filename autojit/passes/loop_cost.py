"""What loops and batched operations are expected to cost, to choose a rung.

The constants are nanoseconds an element, measured on one core of a machine with AVX-512: a rolled loop of small
iterations is one machine function without vector instructions across iterations; batched operations are fused, use
vector instructions and several cores; only matrix products of some size run in a tuned kernel.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from autojit.ir.graph import Const, Graph, Node
from autojit.ir.index import Slice

#: As often a loop is taken to run whose bounds are not known yet.
UNKNOWN_TRIPS = 100
#: One trip of a loop, one operation outside of loops, one element of plain arithmetic in and out of a loop.
_TRIP, _CALL, _INSIDE, _OUTSIDE = 2.0, 300.0, 0.3, 0.1
#: The least cost of an operation inside a loop: a number is computed alone.
_SCALAR = 0.6
_SLOW = frozenset("exp log sin cos tan tanh sinh cosh power arctan2 exp2 expm1 log1p cbrt".split())
_PRODUCTS = {"np.matmul", "np.dot"}
#: Iterations that touch more than this are not one machine function: each operation is started by itself.
_SMALL = 256 << 10
_START = 120.0
#: Results outside of loops that are larger than this go through memory, so many nanoseconds a byte.
_CACHED, _MEMORY = 1 << 20, 0.08
_FREE = {"np.reshape", "np.broadcast_to", "np.arange", "np.zeros", "np.empty", "np.full", "np.transpose"}


def cost(graph: Graph, unknown: int = UNKNOWN_TRIPS) -> float:
    """The expected nanoseconds of a graph that is not part of a loop.

    Args:
        graph: The graph.
        unknown: How often a loop is taken to run whose bounds are not known yet.
    """
    return nodes_cost(graph.nodes, inside=False, unknown=unknown)


def nodes_cost(nodes: Iterable[Node], inside: bool, unknown: int = UNKNOWN_TRIPS) -> float:
    """The expected nanoseconds of nodes, inside or outside of a loop; `unknown` as for `cost`."""
    return sum(_loop(node, unknown) if node.op.name == "loop" else _node(node, inside) for node in nodes)


def strips_cost(nodes: Iterable[Node]) -> float:
    """The expected nanoseconds of nodes with loops over strips: the operations in these are as large as outside."""
    return sum(
        _trips(node, UNKNOWN_TRIPS) * (_TRIP + nodes_cost(node.keywords["body"].nodes, inside=False))
        if node.op.name == "loop"
        else _node(node, inside=False)
        for node in nodes
    )


def loop_cost(body: Graph, trips: int, unknown: int = UNKNOWN_TRIPS) -> float:
    """The expected nanoseconds of a loop; `unknown` as for `cost`, for those inside."""
    touched = sum(_touched(node) for node in body.nodes)
    start = _START * len(body.nodes) if touched > _SMALL else 0.0
    return trips * (_TRIP + start + nodes_cost(body.nodes, True, unknown))


def _loop(node: Node, unknown: int) -> float:
    return loop_cost(node.keywords["body"], _trips(node, unknown), unknown)


def _trips(node: Node, unknown: int) -> int:
    start, stop = node.inputs[:2]
    if isinstance(start, Const) and isinstance(stop, Const):
        return len(range(int(start.value), int(stop.value), node.keywords["step"]))
    return unknown


def _touched(node: Node) -> int:
    if node.op.name == "setitem":
        return node.inputs[1].spec.nbytes
    return sum(value.spec.nbytes for value in node.outputs)


def _node(node: Node, inside: bool) -> float:
    name, size = node.op.name, sum(value.spec.size for value in node.outputs)
    if name.startswith("py_"):
        return 0.2 if inside else 0.0
    if name in _FREE:
        return 0.0
    fixed = 0.0 if inside else _CALL
    if name in _PRODUCTS:
        return fixed + _product(node, inside)
    if name == "getitem":
        gathers = any(operand.spec.shape for operand in node.inputs[1:])
        return size * (2.0 if gathers else 0.1 if inside else 0.0)
    if name == "setitem":
        return _store(node, inside)
    if name in ("np.stack", "np.concatenate", "np.hstack"):
        return fixed + 0.6 * size
    if node.op.family == "reduction":
        return fixed + 0.35 * sum(operand.spec.size for operand in node.inputs)
    each = _INSIDE if inside else _OUTSIDE
    if name.removeprefix("np.") in _SLOW:
        each *= 10
    total = max(size * each, _SCALAR if inside else 0.0)
    if not inside and size * node.outputs[0].spec.dtype.itemsize > _CACHED:
        total += _MEMORY * size * node.outputs[0].spec.dtype.itemsize
    return fixed * 0.3 + total


def _store(node: Node, inside: bool) -> float:
    stored, base = node.inputs[1].spec.size, node.inputs[0].spec.size
    if inside:
        return max(_SCALAR, _INSIDE * stored)
    if any(operand.spec.shape for operand in node.inputs[2:]):
        return _CALL + 4.0 * stored
    covers = all(isinstance(entry, Slice) for entry in node.keywords["index"].entries)
    return _CALL * 0.3 + _OUTSIDE * (stored if covers else base)


def _product(node: Node, inside: bool) -> float:
    first, second = (operand.spec.shape for operand in node.inputs)
    terms = first[-1] if first else 1
    count = prod(node.outputs[0].spec.shape) * terms
    tuned = not inside and len(first) == 2 and len(second) == 2 and min(*first, *second) >= 8
    return count * (0.05 if tuned else 0.4)
