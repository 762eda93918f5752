"""The page of ops: what became of every public NumPy name, then the op table by chapter."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from autojit.ops.chapters import CHAPTERS

SURFACE = Path(__file__).resolve().parent / "reference" / "ops-surface.json"

_STATUSES = {
    "compiled": "part of an XLA program, or answered at capture",
    "host": "runs in NumPy before a program, or between two",
    "interpreted": "NumPy's own Python source is captured",
    "native": "a statement with it runs in NumPy, and regions go on before and behind it",
    "not applicable": "nothing to compile",
}
_TITLES = {"np": "numpy", "ufunc methods": "Methods of ufuncs"}


def ops() -> str:
    """The whole page."""
    return "\n".join(["# Ops", "", *surface(), *chapters()])


def surface() -> list[str]:
    """Counts, and one table for each namespace."""
    found = json.loads(SURFACE.read_text())
    names: dict[str, dict[str, Any]] = found["names"]
    spaces: dict[str, list[str]] = {}
    for name, one in names.items():
        spaces.setdefault(one["namespace"], []).append(name)
    lines = [
        f"Every public name of NumPy {found['numpy']} was called through autojit in one or more ways, cold and warm, "
        "and compared with NumPy: `python -m tests.surface` does it again. The status is that of the usual call; where "
        "other calls have another one, the table says so.",
        "",
        *table(["status", "meaning"], [[status, meaning] for status, meaning in _STATUSES.items()]),
        "",
        *table(["namespace", *_STATUSES], [_counts(space, inside, names) for space, inside in spaces.items()]),
        "",
    ]
    for space, inside in spaces.items():
        rows = [[f"`{name}`", names[name]["status"], _note(names[name])] for name in inside]
        lines += [f"## {_TITLES.get(space, space)}", "", *table(["name", "status", "remarks"], rows), ""]
    return lines


def _counts(space: str, inside: list[str], names: dict[str, dict[str, Any]]) -> list[str]:
    counter = Counter(names[name]["status"] for name in inside)
    return [_TITLES.get(space, space), *(str(counter[status]) for status in _STATUSES)]


def _note(one: dict[str, Any]) -> str:
    """The reason, or the calls that have another status."""
    if "reason" in one:
        return one["reason"]
    others: dict[str, list[str]] = {}
    for text, outcome in one.get("samples", {}).items():
        status = outcome.partition(":")[0]
        if status not in (one["status"], "raises"):
            others.setdefault(status, []).append(f"`{text}`")
    return "; ".join(f"{status}: {', '.join(texts)}" for status, texts in others.items())


def chapters() -> list[str]:
    """One table per chapter of the op table."""
    rows = [row for chapter in CHAPTERS for row in chapter.ROWS]
    compiled = sum(row.compilable for row in rows)
    lines = [
        "## The op table",
        "",
        f"{len(rows)} rows, {compiled} of them compiled. A row without a lowering is a host op: it keeps its graph "
        "whole and runs in NumPy between two clusters. *May trap* means that some data (an index out of bounds, an "
        "integer division by zero) is left to NumPy, which repeats the statements.",
        "",
    ]
    titles = ["op", "method", "family", "runs in", "may trap", "note"]
    for chapter in filter(lambda chapter: chapter.ROWS, CHAPTERS):
        title = chapter.__name__.rsplit(".", 1)[1].replace("_", " ")
        lines += [f"### {title}", "", *table(titles, map(op, chapter.ROWS)), ""]
    return lines


def op(row: Any) -> list[str]:
    """The cells of one op."""
    methods = ", ".join(f"`.{name}`" for name in row.methods)
    place = "XLA" if row.compilable else "NumPy"
    return [f"`{row.name}`", methods, row.family, place, "yes" if row.traps else "", row.note]


def table(titles: list[str], rows: Any) -> list[str]:
    """A Markdown table."""
    lines = [titles, ["---"] * len(titles), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
