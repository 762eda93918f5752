"""The graph: NumPy-level operations in SSA form, as frozen data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autojit.errors import Reason, SourceLine
from autojit.ir.extent import Part
from autojit.ir.index import Index
from autojit.ir.op import Op
from autojit.ir.spec import Spec


@dataclass(frozen=True, slots=True)
class Value:
    """A name that is assigned once. Names are fixed when the graph is built, so that stages can be compared."""

    name: str
    spec: Spec

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A value known when the graph was built: a Python or NumPy scalar, or a small array."""

    value: Any
    spec: Spec


Operand = Value | Const


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operation. `inputs` are the op's operands in order; `params` its static parameters."""

    op: Op
    inputs: tuple[Operand, ...]
    params: tuple[tuple[str, Any], ...]
    outputs: tuple[Value, ...]
    source: SourceLine | None = None
    cluster: str | None = None
    reason: Reason | None = None

    @property
    def keywords(self) -> dict[str, Any]:
        return dict(self.params)

    @property
    def specs(self) -> tuple[Spec, ...]:
        return tuple(operand.spec for operand in self.inputs)

    @property
    def is_host(self) -> bool:
        return self.op.lower is None


@dataclass(frozen=True, slots=True)
class Write:
    """An in-place effect: after the graph has run, the caller's array `target` holds `value`.

    With an `index`, `target[index]` does, and the rest of it is as before; `operands` are its run-time integers, which
    are inputs of the graph. With `parts`, `value` is as before outside of all of them.
    """

    target: Value
    value: Operand
    index: Index | None = None
    parts: tuple[Part, ...] = ()
    operands: tuple[Value, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the part that is written."""
        whole = self.target.spec.shape
        if self.index is None:
            return whole
        inside = {number: least for number, least, _ in self.index.limits(whole)}
        places = [max(0, inside.get(number, 0)) for number in range(len(self.operands))]
        return np.broadcast_to(np.zeros((), bool), whole)[self.index.fill(places)].shape


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A straight line of nodes from inputs to outputs and writes."""

    name: str
    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Operand, ...]
    writes: tuple[Write, ...] = field(default=())

    @property
    def results(self) -> tuple[Operand, ...]:
        """Everything that must be computed: the outputs, then the written values."""
        return self.outputs + tuple(write.value for write in self.writes)

    @property
    def integers(self) -> frozenset[str]:
        """The names of the inputs that are integers of the call's, Python's or NumPy's."""
        return frozenset(x.name for x in self.inputs if x.spec.kind != "array" and x.spec.dtype.kind in "iu")

    def users(self) -> dict[str, list[Node]]:
        """The nodes that read each value, by the value's name."""
        users: dict[str, list[Node]] = {}
        for node in self.nodes:
            for value in values_of(node.inputs):
                users.setdefault(value.name, []).append(node)
        return users


def values_of(operands: tuple[Operand, ...]) -> Iterator[Value]:
    """The operands that are values, not constants."""
    return (operand for operand in operands if isinstance(operand, Value))
