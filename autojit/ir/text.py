"""Print a graph as a NumPy function, and run what was printed, with its helpers (`run_text`)."""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any

import numpy as np

from autojit.ir.extent import index_of
from autojit.ir.graph import Const, Graph, Node, Operand, Write
from autojit.ir.index import Index, Place, Slice, Window, put, window_slice
from autojit.ir.op import Op
from autojit.ir.spec import COMPILED_DTYPES
from autojit.ir.syntax import parse

#: Arrays of at most this many elements are printed in full.
_INLINE_SIZE = 16

_RESERVED = frozenset({"np", "aj", "complex", "slice", "float", "int", "bool"})


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed graph.

    Attributes:
        text: The text.
        constants: The values of the names in it that stand for large constants.
        calls: The functions behind the dotted names in it that neither NumPy nor a row's own text explains.
    """

    text: str
    constants: dict[str, Any]
    calls: dict[str, Any]


def to_text(graph: Graph) -> str:
    """The graph as a NumPy function, one node per line. `run_text` knows what stands for `aj` in it.

    The comments tell each node's spec, its cluster or why it has none, and the user's line. Written values are
    returned after the outputs. Constants too large to print are names, bound by `constants_of(graph)`.
    """
    return print_graph(graph).text


def constants_of(graph: Graph) -> dict[str, Any]:
    """The values of the constants that `to_text` prints as names."""
    return print_graph(graph).constants


def print_graph(graph: Graph) -> Printed:
    """The text and its constants in one go."""
    return _Printer(graph).run()


def node_text(node: Node) -> str:
    """The line of one node, without the comment. Large constants are names that nothing binds."""
    return _Printer(Graph("node", (), (node,), ())).assignment(node)


def run_text(
    graph: Graph | str,
    arguments: Sequence[Any],
    constants: Mapping[str, Any] | None = None,
    namespace: Mapping[str, Any] | None = None,
) -> tuple[Any, ...]:
    """The results (outputs, then written values) of running a printed graph.

    Args:
        graph: A graph, which is printed first, or the text of one.
        arguments: One per input.
        constants: The values of the names of large constants; a graph brings its own.
        namespace: What `aj` and other roots stand for in the texts of rows that print themselves. NumPy, index
            entries and, for a graph, the ops whose rows have no text are known.
    """
    names: dict[str, Any] = {"np": np, **(namespace or {})}
    printed = print_graph(graph) if isinstance(graph, Graph) else Printed(graph, {}, {})
    helpers = SimpleNamespace(**(_public(names.get("aj")) | _HELPERS))
    names |= _bind({"aj": helpers}, printed.calls) | printed.constants | dict(constants or {})
    tree = parse(printed.text)
    function = next(statement for statement in tree.body if isinstance(statement, ast.FunctionDef))
    last = function.body[-1]
    exec(compile(tree, f"<graph {function.name}>", "exec"), names)
    result = names[function.name](*arguments)
    return result if isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple) else (result,)


def _window(start: Any, length: int, step: int = 1) -> slice:
    return window_slice(int(start), length, step)


_HELPERS: dict[str, Any] = {
    "Index": Index,
    "Slice": Slice,
    "Window": Window,
    "Place": Place,
    "window_slice": _window,
    "put": put,
}


def _public(holder: Any) -> dict[str, Any]:
    return {name: value for name, value in getattr(holder, "__dict__", {}).items() if not name.startswith("_")}


def _bind(roots: dict[str, Any], calls: dict[str, Any]) -> dict[str, Any]:
    """Bind dotted names below their roots, which are made where they are missing."""
    for name, call in calls.items():
        root, *path = name.split(".")
        holder = roots.setdefault(root, SimpleNamespace())
        for part in path[:-1]:
            if not hasattr(holder, part):
                setattr(holder, part, SimpleNamespace())
            holder = getattr(holder, part)
        setattr(holder, path[-1], call)
    return roots


def _identifier(name: str) -> str:
    name = re.sub(r"\W", "_", name) or "_"
    return f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) or name in _RESERVED else name


class _Printer:
    """Prints one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.constants: dict[str, Any] = {}
        self._bound: dict[int, str] = {}
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._ops: dict[Op, str] = {}
        self.calls: dict[str, Any] = {}
        self._roots: set[str] = set()
        for node in graph.nodes:
            if node.op.text is None:
                self._roots.add(self.call_name(node.op).split(".")[0])
        self._taken |= self._roots
        for value in graph.inputs:
            self.name(value.name)
        for node in graph.nodes:
            for value in node.outputs:
                self.name(value.name)

    def run(self) -> Printed:
        graph = self.graph
        inputs = ", ".join(self.name(value.name) for value in graph.inputs)
        specs = ", ".join(str(value.spec) for value in graph.inputs)
        # The function must not hide what its calls start from.
        name = _identifier(graph.name)
        while name in self._roots:
            name += "_"
        lines = [f"def {name}({inputs}):" + (f"  # {specs}" if specs else "")]
        for node in graph.nodes:
            lines += [f"    # {line}" for line in self.inner(node)]
            lines.append(f"    {self.assignment(node)}  # {self.comment(node)}")
        results = [*map(self.operand, graph.outputs), *map(self.written, graph.writes)]
        returned = results[0] if len(results) == 1 else f"({', '.join(results)})" if not results else ", ".join(results)
        targets = ", ".join(self.target(write) for write in graph.writes)
        lines.append(f"    return {returned}" + (f"  # writes: {targets}" if targets else ""))
        return Printed("\n".join(lines) + "\n", self.constants, self.calls)

    def written(self, write: Write) -> str:
        """What the written array holds afterwards."""
        value = self.operand(write.value)
        if write.index is None:
            return value
        return f"aj.put({self.name(write.target.name)}, {value}, np.s_[{self._index(write, write.index)}])"

    def target(self, write: Write) -> str:
        """What is written."""
        name = self.name(write.target.name)
        if write.parts:
            return ", ".join(f"{name}[{index_of(part, self.name)}]" for part in write.parts)
        return name if write.index is None else f"{name}[{self._index(write, write.index)}]"

    def _index(self, write: Write, index: Index) -> str:
        return index.text([self.name(operand.name) for operand in write.operands])

    def name(self, name: str) -> str:
        """The identifier for a value's name; they differ only where the name is no free identifier."""
        if name not in self._names:
            text = _identifier(name)
            while text in self._taken:
                text += "_"
            self._taken.add(text)
            self._names[name] = text
        return self._names[name]

    def call_name(self, op: Op) -> str:
        """The op's name as an expression; names without a module are found in `aj`."""
        if op.name.startswith("np."):
            return op.name
        if op not in self._ops:
            parts = op.name.split(".") if "." in op.name else ["aj", op.name]
            root = parts[0] if parts[0] == "aj" else _identifier(parts[0])
            name = ".".join([root, *map(_identifier, parts[1:])])
            # Functions of the user's may share a name, lambdas for instance, or have the name of another's module.
            while name in self.calls:
                name += "_"
            while any(f"{name}.".startswith(f"{call}.") or call.startswith(f"{name}.") for call in self.calls):
                name = f"_{name}"
            self._ops[op] = name
            self.calls[name] = op.call
        return self._ops[op]

    def assignment(self, node: Node) -> str:
        targets = ", ".join(self.name(value.name) for value in node.outputs)
        return f"{targets or '_'} = {self.call(node)}"

    def call(self, node: Node) -> str:
        """A node's call: by the row's own text, or as `name(operands, param=...)`."""
        operands = [self.operand(operand) for operand in node.inputs]
        if node.op.text is not None:
            # The row may put an operand next to an operator or a bracket.
            safe = [text if text.isidentifier() else f"({text})" for text in operands]
            return node.op.text(safe, node.keywords)
        arguments = _positional(node.op, operands)
        arguments += [f"{name}={self.param(value)}" for name, value in node.params]
        return f"{self.call_name(node.op)}({', '.join(arguments)})"

    def comment(self, node: Node) -> str:
        parts = [", ".join(str(value.spec) for value in node.outputs)]
        if node.cluster is not None:
            parts.append(node.cluster)
        if node.reason is not None:
            parts.append(node.reason.id)
        if node.source is not None:
            parts.append(f"{PurePath(node.source.file).name}:{node.source.line}")
        return " ".join(" | ".join(parts).split())

    def inner(self, node: Node) -> list[str]:
        """The text of the graphs in a node's parameters, for the reader; the call gets the graphs themselves."""
        lines: list[str] = []
        for _, value in node.params:
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, Graph):
                    lines += to_text(part).splitlines()
        return lines

    def operand(self, operand: Operand) -> str:
        if not isinstance(operand, Const):
            return self.name(operand.name)
        return _constant(operand.value) or self.bind(operand.value)

    def param(self, value: Any) -> str:
        """A parameter as an expression."""
        if type(value) is tuple:
            return "(" + "".join(f"{self.param(part)}, " for part in value).rstrip() + ")" if value else "()"
        if isinstance(value, slice):
            return f"slice({self.param(value.start)}, {self.param(value.stop)}, {self.param(value.step)})"
        if isinstance(value, Index | Slice | Window | Place):
            parts = [(getattr(value, field.name), field.default) for field in fields(value)]
            while parts and parts[-1][0] is parts[-1][1]:
                parts.pop()
            return f"aj.{type(value).__name__}({', '.join(self.param(part) for part, _ in parts)})"
        return _static(value) or _constant(value) or self.bind(value)

    def bind(self, value: Any) -> str:
        """A new name for a constant, the same for the same object."""
        if id(value) not in self._bound:
            name = f"c{len(self._bound)}"
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            self._bound[id(value)] = name
            self.constants[name] = value
        return self._bound[id(value)]


def _positional(op: Op, operands: list[str]) -> list[str]:
    """The operands as arguments: the operands of a sequence parameter go into one list."""
    places = [place for place, name in enumerate(op.operands) if name.startswith("[")]
    if not places:
        return operands
    start = places[0]
    stop = len(operands) - (len(op.operands) - start - 1)
    return [*operands[:start], f"[{', '.join(operands[start:stop])}]", *operands[stop:]]


def _static(value: Any) -> str | None:
    """`None`, strings, dtypes and types as expressions; `None` for anything else."""
    if value is None or value is Ellipsis or type(value) is str:
        return repr(value)
    if isinstance(value, np.dtype):
        return f"np.dtype('{value.name}')" if value in COMPILED_DTYPES else None
    if value in (bool, int, float, complex):
        return value.__name__
    if isinstance(value, type) and issubclass(value, np.generic) and getattr(np, value.__name__, None) is value:
        return f"np.{value.__name__}"
    return None


def _constant(value: Any) -> str | None:
    """A scalar or a small array as an expression that gives it back exactly; `None` when it has none."""
    if type(value) in (bool, int, float, complex):
        return _number(value)
    if isinstance(value, np.generic) and value.dtype in COMPILED_DTYPES:
        known = getattr(np, value.dtype.name, None) is type(value)
        return f"np.{value.dtype.name}({_number(value.item())})" if known else None
    if type(value) is np.ndarray and value.dtype in COMPILED_DTYPES and value.size <= _INLINE_SIZE:
        if value.size == 0:
            return f"np.zeros({value.shape}, dtype='{value.dtype.name}')"
        return f"np.array({_nested(value.tolist())}, dtype='{value.dtype.name}')"
    return None


def _nested(value: Any) -> str:
    return f"[{', '.join(map(_nested, value))}]" if isinstance(value, list) else _number(value)


def _number(value: Any) -> str:
    """A Python number as an expression that gives it back, signed zeros and the sign of NaN included."""
    if isinstance(value, complex):
        # The repr does not keep the sign of a zero part.
        return f"complex({_number(value.real)}, {_number(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        sign = "-" if math.copysign(1.0, value) < 0 else ""
        return f"{sign}np.{'nan' if math.isnan(value) else 'inf'}"
    return repr(value)
