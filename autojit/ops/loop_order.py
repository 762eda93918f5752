"""Lower the body of a loop so that XLA updates the carried arrays in place.

XLA copies an array before it is updated if something that reads the old values is not certain to run before: if the
update does not depend on it, or if it is fused with the update or with a user that comes later. Each costs a copy of
the whole array in every iteration. So reads and updates of parts of a carried array become calls that are not inlined,
and each update takes what was read before it as an operand that it ignores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.graph import Const, Graph, Node, Operand, Value, values_of
from autojit.jax_names import jnp
from autojit.ops.index_plan import plan_index
from autojit.ops.loop_stores import made_in_place
from autojit.ops.reductions_moments import by_rows
from autojit.ops.separate import expanding, lower_apart, separate
from autojit.ops.writing import in_place

Trap = Callable[[Any], None]

#: What is read from an array that is updated in place is stored by itself up to this part of the array.
_PART = 2


def run_body(body: Graph, values: Sequence[Any], trap: Trap) -> list[Any]:
    """The jax values of a body's outputs for those of its inputs."""
    known = dict(zip((value.name for value in body.inputs), values, strict=True))
    steps = _Steps(body)

    def read(operand: Operand) -> Any:
        if isinstance(operand, Const):
            return jnp.asarray(np.asarray(operand.value, operand.spec.dtype))
        return known[operand.name]

    for node in body.nodes:
        with by_rows():
            results = steps.lower(node, [read(operand) for operand in node.inputs], trap)
        results = results if isinstance(results, tuple | list) else (results,)
        for value, result in zip(node.outputs, results, strict=True):
            known[value.name] = result
        if (reader := steps.made_in_place.get(node.outputs[0].name)) is not None:
            assert reader.op.lower is not None
            (known[reader.outputs[0].name],) = reader.op.lower(reader, [known[node.outputs[0].name]], trap)
    return [read(operand) for operand in body.outputs]


class _Steps:
    """Lowers the nodes of one body, in order."""

    def __init__(self, body: Graph) -> None:
        self.arrays = _versions(body)
        self.expanding = expanding(body)
        self.made_in_place = made_in_place(body)
        #: What was read from each array since it was last written.
        self.pending: dict[str, list[Any]] = {name: [] for name in self.arrays.values()}

    def lower(self, node: Node, xs: Sequence[Any], trap: Trap) -> Any:
        assert node.op.lower is not None
        lower = _in_place(node.op.lower) if node.outputs[0].name in self.made_in_place else node.op.lower
        read = {self.arrays[value.name] for value in values_of(node.inputs) if value.name in self.arrays}
        if not read:
            if node.outputs[0].name in self.expanding:
                return lower_apart(node, xs, trap)
            return lower(node, xs, trap)
        if node.op.name == "setitem" and node.outputs[0].name in self.arrays:
            array = self.arrays[node.outputs[0].name]
            before = self._taken({array})
            return separate(lambda trap, *xs: lower(node, xs[: len(node.inputs)], trap), trap, *xs, *before)
        if node.op.name == "loop":
            written = {self.arrays[value.name] for value in node.outputs if value.name in self.arrays}
            before = self._taken(written)
            if before:
                start = separate(lambda trap, start, *_: start, trap, xs[0], *before)
                xs = [*start, *xs[1:]]
            results = lower(node, xs, trap)
            self._note(read - written, node, results)
            return results
        if node.op.name == "getitem" and _is_part(node):
            results = separate(lambda trap, *xs: lower(node, xs, trap), trap, *xs)
        else:
            results = lower(node, xs, trap)
        self._note(read, node, results)
        return results

    def _taken(self, arrays: set[str]) -> list[Any]:
        taken = [result for array in sorted(arrays) for result in self.pending[array]]
        for array in arrays:
            self.pending[array] = []
        return taken

    def _note(self, arrays: set[str], node: Node, results: Any) -> None:
        results = results if isinstance(results, tuple | list) else (results,)
        for array in arrays:
            base = max(v.spec.size for v in values_of(node.inputs) if self.arrays.get(v.name) == array)
            small = [r for value, r in zip(node.outputs, results, strict=True) if value.spec.size * _PART <= base]
            self.pending[array] += small[:1]


def _in_place(lower: Callable[..., Any]) -> Callable[..., Any]:
    def lowered(*given: Any) -> Any:
        with in_place():
            return lower(*given)

    return lowered


def _versions(body: Graph) -> dict[str, str]:
    """For each version of an array that is updated in place, by the version's name, the name of its first one."""
    found: dict[str, str] = {}
    written = set()
    for value in body.inputs:
        if value.spec.size > 1:
            found[value.name] = value.name
    for node in body.nodes:
        base = node.inputs[0] if node.inputs else None
        if node.op.name == "setitem" and isinstance(base, Value) and base.name in found and _is_part(node):
            found[node.outputs[0].name] = found[base.name]
            written.add(found[base.name])
        elif node.op.name == "np.reshape" and isinstance(base, Value) and base.name in found:
            found[node.outputs[0].name] = found[base.name]  # the same memory
        elif node.op.name == "loop":
            for operand, value in zip(node.inputs[2:], node.outputs, strict=False):
                if isinstance(operand, Value) and operand.name in found and node.keywords["body"] is not None:
                    found[value.name] = found[operand.name]
                    written.add(found[operand.name])
    return {version: first for version, first in found.items() if first in written}


def _is_part(node: Node) -> bool:
    """Whether a read or write is of a box that is clearly smaller than its array."""
    base = node.inputs[0].spec
    operands = [operand.spec for operand in node.inputs[1 if node.op.name == "getitem" else 2 :]]
    plan = plan_index(node.keywords["index"], base, operands)
    if plan.arrays or plan.mask is not None:
        return False
    size = 1
    for axis in plan.axes:
        size *= axis.count
    return size * _PART <= base.size
