"""Where a plan goes wrong: in the capture, in a pass, in a cluster, at an operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autojit.compile.executable import Executable
from autojit.compile.outside import has_arrived
from autojit.errors import Trapped
from autojit.ir.evaluate import evaluate, read, run_node
from autojit.ir.graph import Graph, Node
from autojit.partition.steps import ClusterStep
from autojit.runtime.agree import compare_arrays
from autojit.runtime.compiler import Prepared
from autojit.runtime.plan import Plan


def locate(prepared: Prepared, plan: Plan, arguments: Sequence[Any], least: float) -> str:
    """A sentence that names the first place at which a plan's numbers leave NumPy's.

    Args:
        prepared: The region's graph, with the stages it went through.
        plan: The plan.
        arguments: The graph's inputs.
        least: The least tolerance.
    """
    try:
        with np.errstate(all="ignore"):
            return _cluster(prepared, plan, arguments, least) or _pass(prepared, arguments, least) or _CAPTURE
    except Exception as error:
        if has_arrived(error):
            raise
        return f"the place was not found: {type(error).__name__}: {error}"


_CAPTURE = "the captured graph, run in NumPy, gives the plan's results: the statements were captured wrongly"


def _pass(prepared: Prepared, arguments: Sequence[Any], least: float) -> str:
    """The first pass that changes the graph's results."""
    first, *others = prepared.stages
    wanted = evaluate(first.graph, arguments)
    for stage in others:
        if _different(wanted, evaluate(stage.graph, arguments), least):
            return f"the pass `{stage.name}` changes the results"
    return ""


def _cluster(prepared: Prepared, plan: Plan, arguments: Sequence[Any], least: float) -> str:
    """The first cluster whose results differ from those of its graph in NumPy."""
    values = {value.name: argument for value, argument in zip(prepared.graph.inputs, arguments, strict=True)}
    for step in prepared.steps:
        if not isinstance(step, ClusterStep):
            run_node(step.node, values)
            continue
        assert plan.executables is not None
        inputs = [read(value, values) for value in step.graph.inputs]
        wanted = evaluate(step.graph, inputs)
        problem = _different(wanted, plan.executables[step.name].run(inputs), least)
        if problem:
            found = (
                _operation(step.graph, inputs, least)
                or f"`{step.name}` differs, none of its operations alone: {problem}"
            )
            return f"{found}\n(in `{step.name}`)"
        names = [value.name for value in (*step.graph.outputs, *(write.value for write in step.graph.writes))]  # type: ignore[union-attr] -- a step's results are values
        values.update(zip(names, wanted, strict=True))
    return ""


def _operation(graph: Graph, inputs: Sequence[Any], least: float) -> str:
    """The first operation whose result differs when every operation's result leaves the program."""
    outputs = tuple(value for node in graph.nodes for value in node.outputs)
    try:
        results = Executable(replace(graph, outputs=outputs, writes=())).run(inputs)
    except Trapped:
        return ""
    actual = dict(zip((value.name for value in outputs), results, strict=True))
    values = {value.name: argument for value, argument in zip(graph.inputs, inputs, strict=True)}
    for node in graph.nodes:
        run_node(node, values)
        for value in node.outputs:
            one, other = np.asarray(values[value.name]), np.asarray(actual[value.name])
            outcome = compare_arrays(one, other, _name(node), least=least)
            if not outcome:
                return outcome.problem
    return ""


def _name(node: Node) -> str:
    where = f" at {node.source}: {node.source.text}" if node.source is not None else ""
    return f"`{node.op.name}`{where}\nits result"


def _different(wanted: Sequence[Any], actual: Sequence[Any], least: float) -> str:
    for one, other in zip(wanted, actual, strict=True):
        outcome = compare_arrays(np.asarray(one), np.asarray(other), "a result", least=least)
        if not outcome:
            return outcome.problem
    return ""
