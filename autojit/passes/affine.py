"""Affine forms: which of a loop body's integers are `a * index + b`, up to integers that do not change in the loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from autojit.ir.graph import Const, Graph, Node, Operand, Value


@dataclass(frozen=True, slots=True)
class Affine:
    """`coefficient * index + offset + sum of factor * symbol`; symbols are the names of the loop's constants."""

    coefficient: int
    offset: int
    symbols: tuple[tuple[str, int], ...] = ()

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """The form of `self + factor * other`."""
        symbols = dict(self.symbols)
        for name, count in other.symbols:
            symbols[name] = symbols.get(name, 0) + factor * count
        kept = tuple(sorted((name, count) for name, count in symbols.items() if count))
        return Affine(self.coefficient + factor * other.coefficient, self.offset + factor * other.offset, kept)

    @property
    def constant(self) -> int | None:
        """The value, when it depends on nothing."""
        return None if self.coefficient or self.symbols else self.offset


@dataclass(frozen=True, slots=True)
class Trips:
    """The range of a loop whose bounds are known: `count` indices from `start` in steps of `step`."""

    start: int
    step: int
    count: int

    def at(self, form: Affine) -> tuple[int, int]:
        """`(first, change)`: the value at the first trip, symbols left out, and by how much each trip adds to it."""
        return form.coefficient * self.start + form.offset, form.coefficient * self.step

    def bounds(self, form: Affine) -> tuple[int, int]:
        """The least and the largest value over the trips, symbols left out."""
        first, change = self.at(form)
        last = first + change * (self.count - 1)
        return min(first, last), max(first, last)


def affine_forms(body: Graph, carried: int, known: Mapping[str, int] | None = None) -> dict[str, Affine]:
    """The forms of the body's Python ints, by name.

    Args:
        body: The graph of a loop's body; its inputs are the index, the carried values and the loop's constants.
        carried: The number of carried values.
        known: Constants of the loop whose value is known.
    """
    index, constants = body.inputs[0], body.inputs[1 + carried :]
    forms = {index.name: Affine(1, 0)} | _symbols(constants)
    forms |= {value.name: Affine(0, known[value.name]) for value in constants if known and value.name in known}
    return _with_nodes(body, forms)


def forms_of(graph: Graph) -> dict[str, Affine]:
    """The forms of a graph's Python ints, by name, in those of its inputs."""
    return _with_nodes(graph, _symbols(graph.inputs))


def _symbols(values: Iterable[Value]) -> dict[str, Affine]:
    return {value.name: Affine(0, 0, ((value.name, 1),)) for value in values if _is_int(value)}


def _with_nodes(graph: Graph, forms: dict[str, Affine]) -> dict[str, Affine]:
    for node in graph.nodes:
        form = _form(node, forms)
        if form is not None:
            forms[node.outputs[0].name] = form
    return forms


def form_of(operand: Operand, forms: Mapping[str, Affine]) -> Affine | None:
    """The form of an operand, constants included; `None` when it has none."""
    if isinstance(operand, Const):
        value = operand.value
        is_int = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return Affine(0, int(value)) if is_int else None
    return forms.get(operand.name)


def _is_int(operand: Operand) -> bool:
    spec = operand.spec
    return spec.kind == "python" and spec.dtype == np.int64


def _form(node: Node, forms: Mapping[str, Affine]) -> Affine | None:
    if len(node.outputs) != 1 or not _is_int(node.outputs[0]):
        return None
    parts = [form_of(operand, forms) if _is_int(operand) else None for operand in node.inputs]
    if not parts or any(part is None for part in parts):
        return None
    first = parts[0]
    assert first is not None
    if node.op.name == "py_negative":
        return Affine(0, 0).plus(first, -1)
    if len(parts) != 2:
        return None
    second = parts[1]
    assert second is not None
    if node.op.name == "py_add":
        return first.plus(second)
    if node.op.name == "py_subtract":
        return first.plus(second, -1)
    if node.op.name == "py_multiply":
        for one, other in ((first, second), (second, first)):
            if one.constant is not None:
                return Affine(0, 0).plus(other, one.constant)
    return None
