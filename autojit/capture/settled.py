"""Ints from outside that bound indices: they become constants of the plan, so that indices can be proven to be inside.

`view[np.clip(place, 0, self.bins - 1.001).astype(int)]` needs no check where `self.bins` is known, which is the same
from call to call in most programs. What is seen to change is no constant any more (`varying.py`).
"""

from __future__ import annotations

from typing import Any

from autojit.ir.graph import Const, Graph, Operand, Value
from autojit.ir.places import has_open_places, with_operands

#: Operations whose results lie between bounds, and which of their operands these are.
_BOUNDS = {
    "np.clip": (1, 2),
    "np.maximum": (0, 1),
    "np.minimum": (0, 1),
    "np.remainder": (1,),
    "py_modulo": (1,),
}
_LARGEST = 1 << 63


def settled(recorder: Any, graph: Graph) -> Graph:
    """The graph with constants in the places of the numbers that bound something, if it has indices to be checked.

    Args:
        recorder: What is known of the graph's scalars; takes the guards.
        graph: The graph.
    """
    names = _bounds(graph) if has_open_places(graph) else frozenset()
    known: dict[str, Operand] = {}
    for name, value in list(recorder.scalars.items()) if names else ():
        sym = recorder.syms.get(name)
        is_of_ints = bool(recorder.ints_of.get(name)) and name not in recorder.of_floats
        if value.name in names and sym is not None and is_of_ints and not sym.moving and abs(sym.value) < _LARGEST:
            known[value.name] = Const(recorder.demand(sym), value.spec)
    return with_operands(graph, known) if known else graph


def _bounds(graph: Graph) -> frozenset[str]:
    """The names of the numbers that are bounds of something, those inside of loops included."""
    names: set[str] = set()
    for node in graph.nodes:
        operands: list[Operand] = []
        if node.op.name == "loop":
            body, outside = node.keywords["body"], 1 + node.keywords["carried"]
            inner = _bounds(body)
            pairs = zip(body.inputs[outside:], node.inputs[1 + outside :], strict=True)
            operands = [operand for value, operand in pairs if value.name in inner]
        elif node.op.name in _BOUNDS:
            operands = [node.inputs[place] for place in _BOUNDS[node.op.name]]
        names.update(operand.name for operand in operands if isinstance(operand, Value) and not operand.spec.shape)
    return frozenset(names)
