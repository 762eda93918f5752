"""The outputs on the page of one call: what every stage makes of its function when the documentation is built."""

from __future__ import annotations

import ast
import contextlib
import difflib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import autojit
from autojit.capture import probes
from autojit.ir.text import to_text
from autojit.partition.steps import ClusterStep
from autojit.runtime.compiler import Prepared
from docs.gen_snippets import fenced, run

#: The page, in the folder of the documentation.
PAGE = "internals/one-call.md"

_OUTPUT = re.compile(r"^<!-- output: (.+) -->$", re.M)
_COUNTERS = ("captures", "compiles", "misses", "hits")


def call_page() -> str:
    """The page with its outputs in their places."""
    text = (Path(__file__).resolve().parent / PAGE).read_text()
    found = outputs(re.search(r"```python\n(.*?)\n\n\nu = ", text, re.S)[1])  # type: ignore[index] -- it is there
    return _OUTPUT.sub(lambda place: "\n".join(found[place[1]]).rstrip(), text)


def outputs(source: str) -> dict[str, list[str]]:
    """By name, what the stages make of `relax`, in lines of Markdown.

    Args:
        source: The program that defines it.
    """
    autojit.clear_cache()
    decorated, u = run(source, "relax.py")["relax"], np.random.default_rng(0).random((200, 300))
    before = _code(decorated)
    with contextlib.redirect_stdout(io.StringIO()):
        calls = [_called(decorated, *args) for args in ((u, 0.1), (u, 0.2), (u.astype(np.float32), 0.1))]
    ir, clusters = decorated.get_compiler_ir(u, 0.1), decorated.explain(u, 0.1).clusters
    first, second = dict.fromkeys(cluster.prepared for cluster in clusters)
    return {
        "decorated": fenced(before, "py"),
        "split": fenced(_code(decorated), "py"),
        "prologue": fenced("\n".join(first.capture.prologue.render("")), "py"),
        "captured 1": fenced(to_text(first.stages[0].graph), "py"),
        "captured 2": fenced(to_text(second.stages[0].graph), "py"),
        "passes": fenced(", ".join(stage.name for stage in first.stages[1:])),
        "changes": [*_changes(first, 1), *_changes(second, 2)],
        "partition": fenced(to_text(second.graph), "py"),
        "steps": fenced("\n".join(map(_step, second.steps))),
        "stablehlo": fenced(_without_lines(ir("stablehlo", ir.clusters[0]))),
        "optimized_hlo": fenced(_computations(ir("optimized_hlo", ir.clusters[0]))),
        "plan": fenced(ir("plan", ir.clusters[-1]), "py"),
        "counters": [f"| call | {' | '.join(_COUNTERS)} |", f"| --- |{' --- |' * len(_COUNTERS)}", *calls],
    }


def _code(decorated: Any) -> str:
    """The function as it is now, with names for the probes."""
    controller = decorated.__autojit_controller__
    node = controller.tree.source.node
    body = probes.with_probes(controller.tree, controller.probes, False)
    made = ast.FunctionDef(node.name, node.args, body, [], None, None)
    text = ast.unparse(ast.fix_missing_locations(made))
    return re.sub(rf"'{probes.MARK}(\d+)'", r"probe_\1", text).replace(probes.TEMPORARY, "answer")


def _called(decorated: Any, u: np.ndarray, rate: float) -> str:
    """A row with the counters after a call."""
    decorated(u.copy(), rate)
    info = decorated.cache_info()
    return f"| `relax(u, {rate})`, {u.dtype} | {' | '.join(str(getattr(info, name)) for name in _COUNTERS)} |"


def _changes(prepared: Prepared, number: int) -> Iterator[str]:
    """What each pass changes."""
    for before, after in zip(prepared.stages, prepared.stages[1:], strict=False):
        found = difflib.unified_diff(
            to_text(before.graph).splitlines(), to_text(after.graph).splitlines(), n=1, lineterm=""
        )
        if lines := [line for line in found if not line.startswith(("---", "+++", "@@"))]:
            yield from (f"`passes/{after.name}.py`, region {number}:", "", *fenced("\n".join(lines), "diff"))


def _step(step: Any) -> str:
    if isinstance(step, ClusterStep):
        return f"{step.name}: {', '.join(node.op.name for node in step.graph.nodes)}"
    return f"host node: {step.node.op.name}"


def _without_lines(text: str) -> str:
    """StableHLO without locations."""
    return re.sub(r" loc\(.*?\)(?=[\n,)])|^#loc.*\n", "", text, flags=re.M)


def _computations(text: str) -> str:
    """Optimized HLO without what stands before the first computation, and without metadata."""
    return re.sub(r", metadata=\{[^}]*\}", "", re.sub(r"\A.*?^(?=%|ENTRY)", "", text, flags=re.M | re.S))
