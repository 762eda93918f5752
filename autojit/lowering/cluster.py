"""A cluster's graph as one Python function of jax values, ready for `jax.jit`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from autojit.errors import AutojitError, SourceLine
from autojit.ir.graph import Const, Graph, Node, Operand, Value
from autojit.ir.spec import Spec
from autojit.jax_names import jnp
from autojit.lowering.boxes import Box, are_useful, is_readable, part_of, read
from autojit.lowering.parameters import Parameter, parameters_of, unpack
from autojit.lowering.source import call_from
from autojit.ops.flushing import Flags, any_of
from autojit.ops.reductions_moments import by_rows
from autojit.ops.separate import expanding, lower_apart
from autojit.passes.edges import edges
from autojit.passes.ranges import ranges


class LoweringError(AutojitError):
    """Internal: a lowering built a value that is not what its node's spec says."""


@dataclass(frozen=True, slots=True)
class Result:
    """Where one of the graph's results comes from.

    Attributes:
        kind: "computed": output number `index`; "input": a copy of input number `index`; "const": `value`.
        dtype: The dtype.
        index: A number of an output or an input.
        value: The array of a "const" result.
    """

    kind: Literal["computed", "input", "const"]
    dtype: np.dtype
    index: int = -1
    value: np.ndarray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """A cluster as a function of jax values.

    Attributes:
        name: The cluster's name, which is the function's name too.
        graph: The cluster.
        function: Takes one jax value per parameter; returns the list of computed results and, when a node may
            trap, one jax bool more.
        parameters: The parameters in order.
        results: One entry per result of the graph.
        computed: The specs of the computed results.
        source: The line of the first node, for what belongs to no node.
    """

    name: str
    graph: Graph
    function: Callable[..., list[Any]]
    parameters: tuple[Parameter, ...]
    results: tuple[Result, ...]
    computed: tuple[Spec, ...]
    source: SourceLine | None


def lower(graph: Graph) -> Lowered:
    """A cluster's graph as a function of jax values.

    The function must be traced with 64-bit types enabled.

    Args:
        graph: A graph without host nodes. Its results are its outputs and the values it writes.

    Raises:
        LoweringError: The graph has a host node; at tracing, a value differs from its node's spec.
    """
    for node in graph.nodes:
        if node.op.lower is None:
            raise LoweringError(f"`{node.op.name}` has no lowering and cannot stand in cluster `{graph.name}`")
    graph = edges(ranges(graph))
    parameters = parameters_of(graph)
    nodes, apart = graph.nodes, expanding(graph)
    loops = any(node.op.family == "loop" for node in nodes)
    results, wanted = _results(graph)
    source = next((node.source for node in graph.nodes if node.source), None)
    in_boxes = are_useful(graph)

    def function(*arguments: Any) -> list[Any]:
        values, boxes = call_from(source, unpack, graph, parameters, arguments)
        boxes = boxes if in_boxes else {}
        flags = Flags()
        with by_rows() if loops else nullcontext():
            for node in nodes:
                _run(node, values, boxes, flags, apart)
        outputs = [values[value.name] for value in wanted]
        # A program without outputs would be none: XLA may crash on what is left of it.
        return outputs + ([call_from(source, any_of, flags.met)] if flags.met or not outputs else [])

    function.__name__ = function.__qualname__ = graph.name
    # jax names the program's parameters after the signature.
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined] -- functions take attributes
        [inspect.Parameter(p.name, inspect.Parameter.POSITIONAL_ONLY) for p in parameters]
    )
    computed = tuple(value.spec for value in wanted)
    return Lowered(graph.name, graph, function, parameters, results, computed, source)


def _results(graph: Graph) -> tuple[tuple[Result, ...], list[Value]]:
    inputs = {value.name: position for position, value in enumerate(graph.inputs)}
    wanted: list[Value] = []
    results = []
    for operand in graph.results:
        dtype = operand.spec.dtype
        if isinstance(operand, Const):
            results.append(Result("const", dtype, value=np.asarray(operand.value, dtype)))
        elif operand.name in inputs:
            results.append(Result("input", dtype, inputs[operand.name]))
        else:
            # XLA gives each output its own buffer, also when two outputs are the same value.
            results.append(Result("computed", dtype, len(wanted)))
            wanted.append(operand)
    return tuple(results), wanted


def _run(
    node: Node,
    values: dict[str, Any],
    boxes: dict[str, Box],
    trap: Callable[[Any], None],
    apart: frozenset[str],
) -> None:
    """Build a node's jax values, from the user's line, and bind them."""
    xs = [_read(operand, values) for operand in node.inputs]
    lower = lower_apart if node.outputs and node.outputs[0].name in apart else node.op.lower
    part = part_of(node, boxes)
    if part is not None:
        boxes[node.outputs[0].name] = part
    if part is not None and is_readable(part):
        outputs = call_from(node.source, read, part)
    else:
        outputs = call_from(node.source, lower, node, xs, trap)  # type: ignore[arg-type] -- `lower` is given
    if not isinstance(outputs, tuple | list):
        outputs = (outputs,)
    if len(outputs) != len(node.outputs):
        raise LoweringError(f"{_where(node)} gave {len(outputs)} values, not {len(node.outputs)}")
    for value, output in zip(node.outputs, outputs, strict=True):
        if output.shape != value.spec.shape or output.dtype != value.spec.dtype:
            got = f"{output.dtype}[{','.join(map(str, output.shape))}]"
            raise LoweringError(f"{_where(node)} gave {got} for `{value.name}`, not {value.spec}")
        values[value.name] = output


def _where(node: Node) -> str:
    return f"the lowering of `{node.op.name}`" + (f" ({node.source})" if node.source else "")


def _read(operand: Operand, values: dict[str, Any]) -> Any:
    if isinstance(operand, Const):
        return jnp.asarray(np.asarray(operand.value, operand.spec.dtype))
    return values[operand.name]
