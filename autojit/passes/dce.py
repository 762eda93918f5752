"""Dead code elimination: drop the nodes whose outputs nobody needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autojit.ir.graph import Graph, Node, Operand, Value, values_of
from autojit.ir.index import Index
from autojit.ops.python_math import RAISING

#: Operations whose programs trap where NumPy gives a warning, never an exception.
_ONLY_WARN = frozenset(["np.sort", "np.argsort", "np.searchsorted"])
#: Elementwise operations and reductions that raise for some numbers; the others never do.
_RAISE = frozenset(
    "np.average np.power np.power.outer item_int py_divide py_floor_divide py_modulo py_left_shift py_right_shift "
    "np.quantile np.percentile np.nanquantile np.nanpercentile each_number".split()
) | {f"math.{name}" for name in RAISING}


def dce(graph: Graph) -> Graph:
    """Drop nodes that neither a result nor another node needs.

    A node that may raise on its data stays: NumPy would raise. Inputs stay: they are the calling convention.

    >>> from tests.graphs import graph_of
    >>> from autojit.ir.text import to_text
    >>> before = graph_of("a = square(x); b = negative(x) -> a")
    >>> print(to_text(dce(before)))
    def f(x):  # float64[3]
        a = np.square(x)  # float64[3] | demo.py:1
        return a
    <BLANKLINE>
    """
    needed = {value.name for value in values_of(graph.results)}
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if may_raise(node) or any(value.name in needed for value in node.outputs):
            kept.append(node)
            needed.update(value.name for value in values_of(node.inputs))
    return graph if len(kept) == len(graph.nodes) else replace(graph, nodes=tuple(reversed(kept)))


def may_raise(node: Node) -> bool:
    """Whether NumPy may raise here, depending on the data."""
    if node.is_host:
        return True
    if not node.op.traps:
        return False
    if node.op.family == "elementwise" and node.outputs[0].spec.dtype == np.bool_:
        return False
    if not all(_fits(operand, node.outputs[0].spec.dtype) for operand in node.inputs):
        return True
    if node.op.name in _ONLY_WARN or node.op.name.startswith("np.fft."):
        return False
    if node.op.family in ("elementwise", "reduction", "contraction") and node.op.name not in _RAISE:
        return False
    if node.op.name == "np.power":
        return node.outputs[0].spec.dtype.kind in "iu"  # a negative exponent
    indices = [value for _, value in node.params if isinstance(value, Index)]
    # What was checked on the specs cannot be out of bounds later.
    return not indices or not all(index.is_static for index in indices)


def _fits(operand: Operand, dtype: np.dtype) -> bool:
    """Whether NumPy takes an operand for this dtype: a scalar may be too large for it, or NaN for integers."""
    spec = operand.spec
    if spec.kind == "array":
        return True
    if isinstance(operand, Value):
        if spec.dtype.kind in "biu" and dtype.kind in "fc" and dtype.itemsize > 2:
            return True
        return spec.dtype == dtype or (spec.dtype.kind in "fc" and np.can_cast(spec.dtype, dtype, "same_kind"))
    if spec.dtype.kind == "c" and dtype.kind != "c":
        return False
    try:
        with np.errstate(all="ignore"):
            np.empty(1, dtype)[0] = operand.value
    except (OverflowError, ValueError, TypeError):
        return False
    return True
