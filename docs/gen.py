"""Pages made from the package's own tables, as an MkDocs hook: flags, reasons, ops. They cannot be out of date."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

# The hook documents the tree it stands in, not an installed copy.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from autojit.config import ENVIRONMENT_VARIABLE, FLAGS
from autojit.errors import REASONS
from autojit.ops.chapters import CHAPTERS


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages (called by MkDocs)."""
    for name, text in (("flags", flags()), ("reasons", reasons()), ("ops", ops())):
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def flags() -> str:
    """One row per flag."""
    lines = [
        "# Flags",
        "",
        f"Flags are given for the process in `{ENVIRONMENT_VARIABLE}`, for example "
        f'`{ENVIRONMENT_VARIABLE}="--auto_jit=0"`, and for one function as keywords of the decorators. An unknown '
        "flag is an error that suggests the nearest.",
        "",
        *table(
            ["flag", "default", "takes", "meaning"],
            [[f"`--{f.name}`", default(f.default), f.accepts, f.doc] for f in FLAGS.values()],
        ),
    ]
    return "\n".join(lines)


def default(value: Any) -> str:
    """A default as a user would write it."""
    return "none" if value in (None, (), "") else f"`{value}`"


def reasons() -> str:
    """One section per reason, so that a report can link to it."""
    lines = ["# Reasons", "", "Everything that is not compiled has one of these reasons; `explain()` says which.", ""]
    for reason in REASONS.values():
        lines += [f"## {reason.id}", "", f"**{reason.title}.** {sentence(reason.why)}", "", sentence(reason.hint), ""]
    return "\n".join(lines)


def sentence(text: str) -> str:
    """Text with a capital and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def ops() -> str:
    """One table per chapter of the op table."""
    rows = [row for chapter in CHAPTERS for row in chapter.ROWS]
    compiled = sum(row.compilable for row in rows)
    lines = [
        "# Ops",
        "",
        f"{len(rows)} rows, {compiled} of them compiled. A row without a lowering is a host op: it keeps its graph "
        "whole and runs in NumPy between two clusters. *May trap* means that some data (an index out of bounds, an "
        "integer division by zero) is left to NumPy, which repeats the statements.",
        "",
    ]
    titles = ["op", "method", "family", "runs in", "may trap", "note"]
    for chapter in filter(lambda chapter: chapter.ROWS, CHAPTERS):
        title = chapter.__name__.rsplit(".", 1)[1].replace("_", " ")
        lines += [f"## {title}", "", *table(titles, map(op, chapter.ROWS)), ""]
    return "\n".join(lines)


def op(row: Any) -> list[str]:
    """The cells of one op."""
    methods = ", ".join(f"`.{name}`" for name in row.methods)
    place = "XLA" if row.compilable else "NumPy"
    return [f"`{row.name}`", methods, row.family, place, "yes" if row.traps else "", row.note]


def table(titles: list[str], rows: Any) -> list[str]:
    """A Markdown table."""
    lines = [titles, ["---"] * len(titles), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
