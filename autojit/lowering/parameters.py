"""The parameters of a compiled cluster: how the graph's inputs are spread over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from autojit.ir.graph import Graph, Node, Value
from autojit.jax_names import lax
from autojit.lowering.alignment import ALIGNMENT
from autojit.lowering.boxes import Box, box

#: Array inputs of at least this size may become windows.
WINDOW_BYTES = 256 * 1024

#: Ops of these families are fused into loops that can read a window at no cost. XLA's products, and its reductions but
#: for some (`Op.fuses`), would copy it first.
_FUSING = frozenset({"elementwise", "shaping", "indexing", "creation"})
#: What moves elements to other places by padding: where it reads a window, the loop does not become vector code, and
#: takes three times as long.
_MOVING = frozenset({"np.roll", "np.pad"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of the compiled function.

    Attributes:
        name: The input's name, or a name for a pack.
        shape: The shape.
        dtype: The dtype.
        positions: The graph's inputs that it carries.
        kind: "array": one array. "pack": a vector with one scalar input per element. "window": the aligned memory
            around one array, as a vector. "offsets": for each window, how many elements precede the array.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    positions: tuple[int, ...]
    kind: Literal["array", "pack", "window", "offsets"] = "array"

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


def parameters_of(graph: Graph) -> tuple[Parameter, ...]:
    """How the inputs of a cluster become parameters. Inputs that no node reads have none.

    NumPy's own large arrays start 16 bytes past a page, where XLA does not read them in place. Where every op of the
    cluster is fused into a loop, a large input is passed as a window: the aligned memory that contains it and, at run
    time, the number of elements before it. Scalars are packed, one vector per dtype, because each separate argument
    costs time at every call.
    """
    fuses = all(map(_fuses, graph.nodes))
    moved = _behind(graph, _MOVING)
    used = graph.users()
    parameters: list[Parameter] = []
    packs: dict[np.dtype, list[int]] = {}
    for position, value in enumerate(graph.inputs):
        if value.name not in used:
            continue
        if value.spec.kind != "array":
            packs.setdefault(value.spec.dtype, []).append(position)
        elif fuses and value.name not in moved and value.spec.nbytes >= WINDOW_BYTES:
            parameters.append(_window(value, position))
        else:
            parameters.append(Parameter(_name(value, position), value.spec.shape, value.spec.dtype, (position,)))
    for dtype, positions in packs.items():
        parameters.append(Parameter(f"{dtype.name}_scalars", (len(positions),), dtype, tuple(positions), "pack"))
    windows = tuple(parameter.positions[0] for parameter in parameters if parameter.kind == "window")
    if windows:
        parameters.append(Parameter("offsets", (len(windows),), np.dtype(np.int64), windows, "offsets"))
    return _distinct(parameters)


def _fuses(node: Node) -> bool:
    return node.op.family in _FUSING or node.op.fuses


def unpack(
    graph: Graph, parameters: Sequence[Parameter], arguments: Sequence[Any]
) -> tuple[dict[str, Any], dict[str, Box]]:
    """The jax values of a cluster's inputs, by name, from its parameters.

    And those that are in windows as boxes.
    """
    values: dict[str, Any] = {}
    boxes: dict[str, Box] = {}
    windows = [argument for parameter, argument in zip(parameters, arguments) if parameter.kind == "window"]
    for parameter, argument in zip(parameters, arguments, strict=True):
        for number, position in enumerate(parameter.positions):
            value = graph.inputs[position]
            if parameter.kind == "array":
                values[value.name] = argument
            elif parameter.kind == "pack":
                values[value.name] = lax.index_in_dim(argument, number, keepdims=False)
            elif parameter.kind == "offsets":
                start = lax.index_in_dim(argument, number, keepdims=False)
                values[value.name] = _inside(windows[number], start, value)
                boxes[value.name] = box(windows[number], start, value)
    return values, boxes


def _inside(window: Any, start: Any, value: Value) -> Any:
    """The array inside of a window."""
    flat = lax.dynamic_slice(window, (start,), (value.spec.size,), allow_negative_indices=False)
    return flat.reshape(value.spec.shape)


def _behind(graph: Graph, names: frozenset[str]) -> set[str]:
    """The values of which ops of these names are computed."""
    found: set[str] = set()
    for node in reversed(graph.nodes):
        if node.op.name in names or any(value.name in found for value in node.outputs):
            found |= {operand.name for operand in node.inputs if isinstance(operand, Value)}
    return found


def _window(value: Value, position: int) -> Parameter:
    itemsize = value.spec.dtype.itemsize
    # From the aligned address below the array to the one above its end.
    nbytes = -(-value.spec.nbytes // ALIGNMENT) * ALIGNMENT + ALIGNMENT
    return Parameter(_name(value, position), (nbytes // itemsize,), value.spec.dtype, (position,), "window")


def _name(value: Value, position: int) -> str:
    return value.name if value.name.isidentifier() else f"input_{position}"


def _distinct(parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    names: set[str] = set()
    distinct = []
    for parameter in parameters:
        name = parameter.name
        while name in names:
            name += "_"
        names.add(name)
        distinct.append(Parameter(name, parameter.shape, parameter.dtype, parameter.positions, parameter.kind))
    return tuple(distinct)
