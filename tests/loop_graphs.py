"""Loops for the tests of the passes: captured from a few lines of source, not compiled."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np

from autojit.capture.capture import capture
from autojit.capture.options import Options
from autojit.capture.regions import RegionTree
from autojit.capture.source import source_of
from autojit.errors import Reason
from autojit.ir.graph import Graph, Node
from autojit.runtime.plan_writer import native_plan

SIZE = 14
PARAMETERS = ("A", "a", "b", "c")


def arrays(seed: int = 0, dtype: Any = float) -> list[np.ndarray]:
    """A matrix and three vectors of small whole numbers."""
    rng = np.random.default_rng(seed)
    shapes = ((SIZE, SIZE), (SIZE,), (SIZE,), (SIZE,))
    return [rng.integers(-3, 4, shape).astype(dtype) for shape in shapes]


def function_of(text: str) -> Any:
    """`f(A, a, b, c)` with this body, in a file that only the line cache knows.

    The body starts with `s`, `t` and `u` bound to a number and two vectors, and returns all there is.
    """
    lines = [
        "import numpy as np",
        f"def f({', '.join(PARAMETERS)}):",
        "    s, t, u = a[0] * 1.0, a[:6] * 0.0, b[:6] * 1.0",
    ]
    lines += [f"    {line}" for line in text.strip("\n").splitlines()]
    lines.append("    return A, a, b, c, s, t, u")
    full = "\n".join(lines) + "\n"
    name = f"<loops {hash(full)}>"
    linecache.cache[name] = (len(full), None, full.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(full, name, "exec"), namespace)
    return namespace["f"]


def captured(function: Any, arguments: list[Any]) -> tuple[Graph, list[Any]] | None:
    """The graph of a function as captured, and its inputs; `None` when it is not captured as a whole."""
    tree = RegionTree(source_of(function))
    values = dict(zip(PARAMETERS, arguments, strict=True))
    found = capture(tree, tree.root, values, Options())
    if found.cuts or found.graph is None:
        return None
    live = [values[name] for name in tree.root.live_in]
    lines = [f"def inputs({', '.join(found.prologue.parameters)}):", *found.prologue.render()]
    lines.append(f"    return [{', '.join(found.input_names)}]")
    namespace = dict(native_plan(found, Reason("too-small", "a test")).call.__globals__)
    exec("\n".join(lines), namespace)
    return found.graph, namespace["inputs"](*live)


def loops_in(graph: Graph) -> list[Node]:
    """The loops of a graph, inner ones included."""
    found: list[Node] = []
    for node in graph.nodes:
        if node.op.name == "loop":
            found += [node, *loops_in(node.keywords["body"])]
    return found
