"""Check that a graph is well formed, between passes and after capture."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from autojit.errors import REASONS, AutojitError, comes_from_a_signal
from autojit.ir.extent import symbols_of
from autojit.ir.graph import Const, Graph, Node, Operand, Value, Write
from autojit.ir.index import Place, Window
from autojit.ir.spec import Spec, spec_of
from autojit.ir.text import node_text


class GraphError(AutojitError):
    """A graph breaks one of its rules; the message names the graph's line and the user's line.

    Attributes:
        graph: The name of the graph.
        node: The node where the rule is broken, if it is one.
    """

    def __init__(self, message: str, graph: Graph, node: Node | None = None) -> None:
        self.graph = graph.name
        self.node = node
        lines = [f"graph `{graph.name}`: {message}"]
        if node is not None:
            lines.append(f"    in the graph: {_line(node)}")
            if node.source is not None:
                lines.append(f"    in the program: {node.source}  {node.source.text}".rstrip())
        super().__init__("\n".join(lines))


def _line(node: Node) -> str:
    try:
        return node_text(node)
    except Exception:
        # A malformed node may be too broken for its row to print.
        return f"{', '.join(map(str, node.outputs))} = {node.op.name}(...)"


def verify(graph: Graph) -> None:
    """Check that names are assigned once and before use, and that specs are what the ops say.

    Raises:
        GraphError: The first rule that is broken.
    """
    known: dict[str, Value] = {}
    for value in graph.inputs:
        if value.name in known:
            raise GraphError(f"two inputs are named `{value.name}`", graph)
        _check_spec(value, graph, None)
        known[value.name] = value
    for node in graph.nodes:
        _check_node(node, known, graph)
        for value in node.outputs:
            if value.name in known:
                raise GraphError(f"`{value.name}` is assigned twice", graph, node)
            _check_spec(value, graph, node)
            known[value.name] = value
    for operand in graph.results:
        _check_operand(operand, known, graph, None)
    _check_writes(graph)


def _check_node(node: Node, known: dict[str, Value], graph: Graph) -> None:
    for operand in node.inputs:
        _check_operand(operand, known, graph, node)
    for name, value in node.params:
        try:
            hash(value)
        except TypeError:
            if not isinstance(value, slice):
                raise GraphError(f"parameter `{name}` cannot be hashed", graph, node) from None
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Graph):
                verify(part)
    if node.cluster is not None and node.is_host:
        raise GraphError(f"`{node.op.name}` has no lowering but is in `{node.cluster}`", graph, node)
    if node.reason is not None and node.reason.id not in REASONS:
        raise GraphError(f"`{node.reason.id}` is not a reason", graph, node)
    _check_inferred(node, graph)


def _check_inferred(node: Node, graph: Graph) -> None:
    """The specs must be what the op's own rule derives from the operands."""
    if node.op.infer is None:
        return
    try:
        specs = tuple(node.op.infer(node.specs, node.keywords))
    except Exception as error:
        if comes_from_a_signal(error):
            raise
        raise GraphError(f"`{node.op.name}` does not take these operands: {error}", graph, node) from error
    stated = tuple(value.spec for value in node.outputs)
    if [_facts(spec) for spec in specs] != [_facts(spec) for spec in stated]:
        shown = ", ".join(map(str, stated))
        derived = ", ".join(map(str, specs))
        raise GraphError(f"`{node.op.name}` gives {derived}, but the node says {shown}", graph, node)


def _check_operand(operand: Operand, known: dict[str, Value], graph: Graph, node: Node | None) -> None:
    if isinstance(operand, Const):
        try:
            spec = spec_of(operand.value)
        except TypeError as error:
            raise GraphError(f"a constant is no array or scalar: {error}", graph, node) from None
        if _facts(spec) != _facts(operand.spec):
            raise GraphError(f"a constant is {spec}, but says {operand.spec}", graph, node)
        return
    value = known.get(operand.name)
    if value is None:
        raise GraphError(f"`{operand.name}` is used before it is assigned", graph, node)
    if _facts(value.spec) != _facts(operand.spec):
        message = f"`{operand.name}` is {value.spec} where it is assigned and {operand.spec} here"
        raise GraphError(message, graph, node)


def _check_spec(value: Value, graph: Graph, node: Node | None) -> None:
    spec = value.spec
    if not isinstance(spec.dtype, np.dtype):
        _fail(value, "a dtype that is not an `np.dtype`", graph, node)
    if not isinstance(spec.shape, tuple) or not all(type(length) is int and length >= 0 for length in spec.shape):
        _fail(value, f"the shape {spec.shape!r}, not a tuple of lengths", graph, node)
    if spec.kind not in ("array", "scalar", "python"):
        _fail(value, f"the unknown kind `{spec.kind}`", graph, node)
    if spec.kind != "array" and spec.shape:
        _fail(value, f"axes, but is a {spec.kind}", graph, node)


def _fail(value: Value, what: str, graph: Graph, node: Node | None) -> NoReturn:
    raise GraphError(f"`{value.name}` has {what}", graph, node)


def _check_writes(graph: Graph) -> None:
    inputs = {value.name for value in graph.inputs}
    written: set[str] = set()
    numbers = {value.name for value in graph.inputs if value.spec.kind == "python"}
    integers = graph.integers
    for write in graph.writes:
        target = write.target
        if target.name not in inputs:
            raise GraphError(f"`{target.name}` is written but is not an input", graph)
        if target.name in written:
            raise GraphError(f"`{target.name}` is written twice", graph)
        written.add(target.name)
        have, want = write.value.spec, target.spec
        if not symbols_of(write.parts) <= numbers or any(len(part) != want.ndim for part in write.parts):
            raise GraphError(f"`{target.name}` is written in parts that are not known", graph)
        if target.spec.kind != "array":
            raise GraphError(f"`{target.name}` is written but is not an array", graph)
        if not {operand.name for operand in write.operands} <= integers or _misses_operands(write):
            raise GraphError(f"`{target.name}` is written where the data says", graph)
        is_whole = write.index is None and have.shape == want.shape
        if have.dtype != want.dtype or not (is_whole or (write.index is not None and _fits(have.shape, write.shape))):
            raise GraphError(f"`{target.name}` is {want} but is written with {have}", graph)


def _misses_operands(write: Write) -> bool:
    """Whether the index of a write has places for more operands than there are."""
    entries = () if write.index is None else write.index.entries
    return any(isinstance(one, Place | Window) and one.operand >= len(write.operands) for one in entries)


def _fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, into) == into
    except ValueError:
        return False


def _facts(spec: Spec) -> tuple[object, ...]:
    return spec.shape, spec.dtype, spec.kind
