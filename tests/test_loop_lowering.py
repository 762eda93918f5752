"""Rolled loops as XLA programs: what they compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autojit.compile.executable import Executable
from autojit.ir.build import Builder
from autojit.ir.evaluate import evaluate
from autojit.ir.graph import Graph
from autojit.ir.spec import Spec
from autojit.ops.chapters import TABLE

INT = Spec((), np.dtype(np.int64), "python")
FLOAT = Spec((), np.dtype(np.float64), "scalar")
BOOL = Spec((), np.dtype(np.bool_), "scalar")


def _halving(stop: int, exits: bool, found: bool = False) -> tuple[Graph, list[Any]]:
    """Halve `x` until it is below 1."""
    inner = Builder()
    _, x, _ = (inner.input(spec) for spec in (INT, FLOAT, BOOL))
    (half,) = inner.add(TABLE["np.multiply"], [x, inner.const(0.5)])
    (small,) = inner.add(TABLE["np.less"], [half, inner.const(1.0)])
    body = Graph("body", tuple(inner.inputs), tuple(inner.nodes), (half, small))
    outer = Builder()
    start, last, x = outer.input(INT), outer.input(INT), outer.input(FLOAT)
    done = outer.input(BOOL)
    params = {"body": body, "step": 1, "carried": 2} | ({"exits": True} if exits else {})
    outputs = outer.add(TABLE["loop"], [start, last, x, done], params)
    return Graph("halving", tuple(outer.inputs), tuple(outer.nodes), outputs), [
        0,
        stop,
        np.float64(40.0),
        np.bool_(found),
    ]


@pytest.mark.parametrize(
    ("stop", "exits", "found"), [(100, True, False), (3, True, False), (9, False, False), (9, True, True)]
)
def test_a_loop_that_exits(stop: int, exits: bool, found: bool) -> None:
    graph, arguments = _halving(stop, exits, found)
    wanted = evaluate(graph, arguments)
    results = Executable(graph).run(arguments)
    assert [result.item() for result in results] == [value.item() for value in wanted]
    steps = 0 if found else 6 if exits and stop == 100 else stop
    assert results[0].item() == 40.0 * 0.5**steps


def test_what_ends_a_loop_is_a_bool() -> None:
    inner = Builder()
    _, x = inner.input(INT), inner.input(FLOAT)
    (half,) = inner.add(TABLE["np.multiply"], [x, inner.const(0.5)])
    body = Graph("body", tuple(inner.inputs), tuple(inner.nodes), (half,))
    with pytest.raises(TypeError, match="not a bool"):
        TABLE["loop"].infer((INT, INT, FLOAT), {"body": body, "step": 1, "carried": 1, "exits": True})
