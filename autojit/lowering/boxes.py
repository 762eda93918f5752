"""Boxes: the parts of an array inside of a window, each read from the window in one step.

XLA vectorizes neither a slice of a reshaped part of a window nor what is fused with it. A box `x[a:b, c:d]` of an array
in a window is read as one run of the window's elements, from the box's first to its last; the run is cut into rows of
the array's length, and the rows are cut to the box's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from autojit.ir.graph import Graph, Node, Value
from autojit.jax_names import lax


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A part of an array in a window.

    Attributes:
        window: The window, a jax vector.
        start: Where in it the array begins, a jax number.
        size: How many elements the array has.
        view: An array of bytes without memory of its own, whose shape, strides and address are the part's, in elements.
        base: The address of the array's first element.
    """

    window: Any
    start: Any
    size: int
    view: np.ndarray
    base: int


def are_useful(graph: Graph) -> bool:
    """Whether parts are taken of the inputs only.

    Where a computed array is cut, too, XLA makes a function of what computes its elements, and the five boxes of a
    Laplacian in such a function make it slower, twice as slow in the horizontal diffusion of NPBench.
    """
    parts = {value.name for value in graph.inputs}
    for node in graph.nodes:
        if node.op.family == "indexing":
            base = node.inputs[0]
            if isinstance(base, Value) and base.name not in parts:
                return False
            parts.update(value.name for value in node.outputs)
    return True


def box(window: Any, start: Any, value: Value) -> Box:
    """The whole array."""
    shape = value.spec.shape
    strides = [int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]
    view = np.lib.stride_tricks.as_strided(np.empty(1, np.uint8), shape, strides, writeable=False)
    return Box(window, start, value.spec.size, view, _address(view))


def part_of(node: Node, boxes: Mapping[str, Box]) -> Box | None:
    """The box that a node takes of another one, if it does that and no more."""
    if node.op.name != "getitem" or not isinstance(node.inputs[0], Value):
        return None
    whole, index = boxes.get(node.inputs[0].name), node.keywords["index"]
    if whole is None or not index.is_static:
        return None
    rest = () if Ellipsis in index.entries else (Ellipsis,)  # so that there is no reading a number
    return Box(whole.window, whole.start, whole.size, whole.view[(*index.fill(()), *rest)], whole.base)


def is_readable(box: Box) -> bool:
    """Whether the part is made of rows that lie one behind the other."""
    lengths, steps = _axes(box.view)
    rows = zip(steps, steps[1:], lengths[1:])
    return box.view.size > 1 and steps[-1] == 1 and all(not s % t and length * t <= s for s, t, length in rows)


def read(box: Box) -> Any:
    """The jax array of a part that `is_readable`."""
    lengths, steps = _axes(box.view)
    first = _address(box.view) - box.base
    count = min(lengths[0] * steps[0], box.size - first)
    run = lax.dynamic_slice(box.window, (box.start + first,), (count,), allow_negative_indices=False)
    rows = [lengths[0], *(outer // step for outer, step in pairwise(steps))]
    run = lax.pad(run, np.zeros((), run.dtype), [(0, lengths[0] * steps[0] - run.size, 0)])
    return lax.slice(run.reshape(rows), [0] * len(rows), lengths).reshape(box.view.shape)


def _axes(view: np.ndarray) -> tuple[list[int], list[int]]:
    """The lengths and steps of the axes that are longer than one element."""
    pairs = [(length, step) for length, step in zip(view.shape, view.strides, strict=True) if length > 1]
    return [length for length, _ in pairs], [step for _, step in pairs]


def _address(view: np.ndarray) -> int:
    return view.__array_interface__["data"][0]
