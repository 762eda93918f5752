"""Signs of zero: the sum of negated numbers is a zero in NumPy where it is one, never a negative zero."""

from __future__ import annotations

from dataclasses import replace

from autojit.ir.graph import Const, Graph, Node, Value, values_of
from autojit.ir.spec import spec_of
from autojit.ops.chapters import TABLE
from autojit.passes.lanes import names_of
from autojit.passes.substitute import with_body

_NEGATIONS = frozenset(["np.negative", "py_negative", "np.conjugate"])
_SUMS = frozenset(["np.sum", "np.add.reduce", "np.mean", "np.average", "np.einsum"])
_ZERO = Const(0.0, spec_of(0.0))


def zeros(graph: Graph) -> Graph:
    """Add zero to sums of what may be negated numbers.

    XLA takes the sign out of such a sum, and makes a negative zero of a sum that is zero.

    >>> from tests.graphs import graph_of
    >>> from autojit.ir.text import to_text
    >>> before = graph_of("a = negative(x); b = sum(a) -> b")
    >>> print(to_text(zeros(before)))
    def f(x):  # float64[3]
        a = np.negative(x)  # float64[3] | demo.py:1
        b_sum = np.sum(a)  # scalar float64[] | demo.py:2
        b = np.add(b_sum, 0.0)  # scalar float64[] | demo.py:2
        return b
    <BLANKLINE>
    """
    return _zeros(graph, set(), names_of(graph))


def _zeros(graph: Graph, negated: set[str], taken: set[str]) -> Graph:
    """As `zeros`; what may be negated, which is all that a negation reaches, is noted in `negated`."""
    nodes: list[Node] = []
    for node in graph.nodes:
        names = {value.name for value in node.outputs}
        if node.op.name in _NEGATIONS:
            negated |= names
        elif node.op.name == "loop":
            node = _inside(node, negated)
        elif any(value.name in negated for value in values_of(node.inputs)):
            if node.op.name in _SUMS and _loses_sign(node):
                nodes += _with_zero(node, taken)
                continue
            negated |= names
        nodes.append(node)
    same = len(nodes) == len(graph.nodes) and all(new is old for new, old in zip(nodes, graph.nodes, strict=True))
    return graph if same else replace(graph, nodes=tuple(nodes))


def _inside(node: Node, negated: set[str]) -> Node:
    """A loop. What goes around in it may be negated wherever something is that enters it or is made in it."""
    before: Graph = node.keywords["body"]
    inputs = {value.name for value in before.inputs}
    enters = any(value.name in negated for value in values_of(node.inputs))
    inner = set(inputs) if enters else set()
    body = _zeros(before, inner, names_of(before))
    if inner and not enters:
        body = _zeros(before, inner | inputs, names_of(before))
    if inner:
        negated |= {value.name for value in node.outputs}
    return node if body is before else with_body(node, body)


def _loses_sign(node: Node) -> bool:
    spec = node.outputs[0].spec
    return spec.dtype.kind in "fc" and (spec.kind != "array" or spec.ndim > 0)


def _with_zero(node: Node, taken: set[str]) -> list[Node]:
    (result,) = node.outputs
    name = f"{result.name}_sum"
    while name in taken:
        name += "_"
    taken.add(name)
    total = Value(name, result.spec)
    return [
        replace(node, outputs=(total,)),
        Node(TABLE["np.add"], (total, _ZERO), (), (result,), node.source, node.cluster),
    ]
