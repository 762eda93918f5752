"""Run code that a generated page shows, as if it stood in a file of its own."""

from __future__ import annotations

import linecache
from typing import Any

from autojit.config import override


def run(text: str, file: str) -> dict[str, Any]:
    """Execute a program. What it compiles is not kept on disk, so that the pages do not depend on what is there.

    Args:
        text: Its source, which autojit reads as that of a file.
        file: The name of the file. There is none; the reports name it.

    Returns:
        The names that it defines.
    """
    # Without a time of change, so that nobody looks whether the file has changed.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "page"}
    with override(disk_cache=False, check=False):  # for the decorators
        exec(compile(text, file, "exec"), names)
    return names


def fenced(text: str, kind: str = "text") -> list[str]:
    """The lines of a block of code, and an empty one."""
    return [f"```{kind}", *text.rstrip().splitlines(), "```", ""]
