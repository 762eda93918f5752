"""The key of a cluster: equal keys mean the same compiled program."""

from __future__ import annotations

import hashlib
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np

from autojit.ir.graph import Const, Graph, Node, Operand
from autojit.ir.index import Index, Place, Slice, Window
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jax_version
from autojit.ops.table import TABLE

#: Stands before an identity, which means something in this process only. Nothing else in a key can contain it.
_LOCAL = "\0"


class Key(NamedTuple):
    """What is compiled, in short.

    Attributes:
        digest: Equal digests mean the same program, in this process.
        is_portable: Whether that is so in other processes, too.
    """

    digest: str
    is_portable: bool


def cluster_key(graph: Graph, choice: str = "") -> Key:
    """A digest of everything that decides a cluster's program: ops, parameters, wiring, specs, constants, jax, options.

    Names do not count: values are numbered in order. Neither do the user's lines, which only stand in the program's
    metadata, nor the cluster's name: of two clusters with one key the first one's lines and name are kept.
    """
    text = "\n".join([f"choice {choice}", *_graph(graph)])
    return Key(hashlib.sha256(text.encode()).hexdigest(), _LOCAL not in text)


def _graph(graph: Graph) -> list[str]:
    numbers: dict[str, int] = {}
    lines = [f"jax {jax_version()}"]
    for value in graph.inputs:
        lines.append(f"input {numbers.setdefault(value.name, len(numbers))} {_spec(value.spec)}")
    for node in graph.nodes:
        lines.append(_node(node, numbers))
    lines += [f"result {_operand(operand, numbers)}" for operand in graph.results]
    return lines


def _node(node: Node, numbers: dict[str, int]) -> str:
    inputs = " ".join(_operand(operand, numbers) for operand in node.inputs)
    params = _static(tuple(sorted(node.params)))
    outputs = " ".join(f"{numbers.setdefault(value.name, len(numbers))} {_spec(value.spec)}" for value in node.outputs)
    return f"{_op(node.op)} ({inputs}) {params} -> {outputs}"


def _op(op: Op) -> str:
    # A row outside of the table may have any name, so its identity counts; a cached executable keeps it alive.
    return op.name if TABLE.rows.get(op.name) is op else f"{op.name}@{_LOCAL}{id(op)}"


def _operand(operand: Operand, numbers: dict[str, int]) -> str:
    if isinstance(operand, Const):
        data = np.asarray(operand.value, operand.spec.dtype).tobytes()
        return f"[{_spec(operand.spec)} {hashlib.sha256(data).hexdigest() if len(data) > 64 else data.hex()}]"
    return str(numbers[operand.name])


def _spec(spec: Spec) -> str:
    return f"{spec.kind}:{spec.dtype.str}:{spec.shape}:{spec.sharding}"


def _static(value: Any) -> str:
    """Static data as text, such that different data has different text."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | EllipsisType):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({','.join(map(_static, value))})"
    if isinstance(value, dict):
        return f"dict({_static(tuple(value.items()))})"
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        return f"{type(value).__name__}:{array.dtype.str}:{array.shape}:{array.tobytes().hex()}"
    if isinstance(value, Graph):
        return f"graph({';'.join(_graph(value))})"
    if isinstance(value, Index | Slice | Window | Place | Spec | slice | np.dtype):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, type):
        return f"type:{value.__module__}.{value.__qualname__}"
    # Its identity is the least that is safe; the graph of the cached executable keeps the object alive.
    return f"object:{type(value).__qualname__}:{_LOCAL}{id(value)}"
