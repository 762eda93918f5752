"""The passes in their order, and the runner, which is the only place that times and verifies them."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

from autojit.ir.graph import Graph
from autojit.ir.verify import GraphError, verify
from autojit.passes.bodies import bodies
from autojit.passes.cse import cse
from autojit.passes.dce import dce
from autojit.passes.extents import extents
from autojit.passes.fold import fold
from autojit.passes.forward import forward
from autojit.passes.hoist import hoist
from autojit.passes.narrow import narrow
from autojit.passes.vectorize import Rung, keep_rolled, vectorize, vectorize_always

Pass = Callable[..., Graph]

#: All passes, in the order in which they run.
PIPELINE: tuple[Pass, ...] = (extents, forward, fold, cse, bodies, vectorize, hoist, dce, narrow)

_RUNGS = (vectorize, vectorize_always, keep_rolled)


def with_rung(choose: Pass) -> tuple[Pass, ...]:
    """All passes, with another one in the place of `vectorize`."""
    return tuple(choose if step is vectorize else step for step in PIPELINE)


class Stage(NamedTuple):
    """The graph after one pass.

    Attributes:
        name: The name of the pass; "captured" for the graph before the first.
        graph: The graph.
        seconds: How long the pass took.
        rungs: What became of each loop, from the pass that decides it.
    """

    name: str
    graph: Graph
    seconds: float
    rungs: tuple[Rung, ...] = ()


def run_pipeline(graph: Graph, record: list[Stage] | None = None, passes: tuple[Pass, ...] = PIPELINE) -> Graph:
    """The graph after all passes.

    Args:
        graph: The graph as captured.
        record: Takes every stage, when given.
        passes: What to run.

    Raises:
        GraphError: The captured graph or one that a pass returned is not well formed.
    """
    stage = Stage("captured", graph, 0.0)
    _finish(stage, record)
    for step in passes:
        start = perf_counter()
        rungs: list[Rung] = []
        graph = step(stage.graph, rungs) if step in _RUNGS else step(stage.graph)
        seconds = perf_counter() - start
        unchanged = graph is stage.graph
        stage = Stage(getattr(step, "__name__", str(step)), graph, seconds, tuple(rungs))
        _finish(stage, record, unchanged)
    return stage.graph


def _finish(stage: Stage, record: list[Stage] | None, verified: bool = False) -> None:
    if record is not None:
        record.append(stage)
    if verified:
        return
    try:
        verify(stage.graph)
    except GraphError as error:
        error.add_note(f"after the pass `{stage.name}`" if stage.name != "captured" else "in the captured graph")
        raise
