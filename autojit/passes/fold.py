"""Constant folding: compute what depends on no input, and drop the operations that change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.errors import comes_from_a_signal
from autojit.ir.graph import Const, Graph, Node, Operand, values_of
from autojit.ir.index import Index, Slice
from autojit.ir.spec import spec_of
from autojit.ir.warned import asked
from autojit.passes.substitute import substitute

#: Results of more elements than this stay operations: a program with large constants is slow to compile.
LARGEST = 64

#: Operations that return their first operand's elements, in order, when the spec does not change.
_SHAPE_ONLY = frozenset(
    "np.reshape np.ravel np.squeeze np.broadcast_to np.atleast_1d np.atleast_2d np.atleast_3d "
    "np.positive np.asarray np.ascontiguousarray astype np.astype np.copy".split()
)


def fold(graph: Graph) -> Graph:
    """Evaluate nodes of constants in NumPy, and drop reshapes, casts and the like that change nothing.

    A node whose evaluation raises or warns stays, so that the run raises or warns. A no-operation that is a result
    of the graph stays too, since in NumPy the caller gets an array of its own.

    >>> from tests.graphs import graph_of
    >>> from autojit.ir.text import to_text
    >>> before = graph_of("a = square(3.0); b = reshape(x, shape=(3,)); c = multiply(a, b) -> c")
    >>> print(to_text(fold(before)))
    def f(x):  # float64[3]
        c = np.multiply(np.float64(9.0), x)  # float64[3] | demo.py:3
        return c
    <BLANKLINE>
    """
    results = {value.name for value in values_of(graph.results)}

    def rewrite(node: Node) -> tuple[Operand, ...] | Node:
        if all(isinstance(operand, Const) for operand in node.inputs):
            return _evaluate(node) or node
        if _changes_nothing(node) and node.outputs[0].name not in results:
            return node.inputs[:1]
        return node

    return substitute(graph, rewrite)


def _evaluate(node: Node) -> tuple[Operand, ...] | None:
    """The outputs as constants, or `None` when they cannot be."""
    # The compiler folds creations itself, and `np.empty` would freeze what happened to be in memory.
    # A loop takes as long as its iterations.
    if node.is_host or node.op.family in ("creation", "loop"):
        return None
    if any(value.spec.size > LARGEST for value in node.outputs):
        return None
    constants = [operand.value for operand in node.inputs if isinstance(operand, Const)]
    try:
        with np.errstate(all="raise"):
            result, warned = asked(lambda: node.op.call(*constants, **node.keywords))
    except Exception as error:  # NumPy raises when the program runs
        if comes_from_a_signal(error):
            raise
        return None
    if warned:
        return None
    parts: tuple[Any, ...] = (result,) if len(node.outputs) == 1 else tuple(result)
    folded = tuple(_own(part) for part in parts)
    agree = len(folded) == len(node.outputs) and all(
        const is not None and const.spec == value.spec for const, value in zip(folded, node.outputs, strict=True)
    )
    return folded if agree else None  # type: ignore[return-value] -- constants are operands


def _own(value: Any) -> Const | None:
    """A constant that shares no memory with another one."""
    try:
        spec = spec_of(value)
    except TypeError:
        return None
    if type(value) is int and not -(2**63) <= value < 2**63:  # the program traps where it comes to that
        return None
    return Const(value.copy() if isinstance(value, np.ndarray) else value, spec)


def _changes_nothing(node: Node) -> bool:
    """Whether the only output equals the first operand."""
    if len(node.outputs) != 1 or not node.inputs or node.inputs[0].spec != node.outputs[0].spec:
        return False
    name = node.op.name
    if name in _SHAPE_ONLY:
        return len(node.inputs) == 1
    if name == "getitem":
        index = node.keywords["index"]
        return isinstance(index, Index) and all(map(_keeps_axis, index.entries))
    if name == "np.transpose":
        ndim = node.inputs[0].spec.ndim
        axes = node.keywords.get("axes")
        return ndim < 2 or (axes is not None and tuple(axis % ndim for axis in axes) == tuple(range(ndim)))
    return False


def _keeps_axis(entry: object) -> bool:
    """Whether an index entry, when the shape stays the same, takes every element in order."""
    return entry is Ellipsis or (isinstance(entry, Slice) and entry.step in (None, 1))
