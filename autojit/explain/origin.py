"""Where a place in a function that is called belongs in the text of the function which is explained."""

from __future__ import annotations

import os.path
from collections.abc import Iterator

from autojit.errors import SourceLine

#: A function's file, the number of its first line, and its lines.
Source = tuple[str, int, list[str]]


def way_to(place: SourceLine) -> Iterator[SourceLine]:
    """A place, and the lines of the calls that lead to it, the outermost last."""
    step: SourceLine | None = place
    while step is not None:
        yield step
        step = step.caller


def own_line(place: SourceLine | None, source: Source | None) -> int | None:
    """The line of a function's own text that a place is shown at: its own, or that of the call which leads there."""
    if place is None or source is None:
        return None
    return next((step.line for step in way_to(place) if is_in(step, source)), None)


def is_in(place: SourceLine, source: Source) -> bool:
    """Whether a place stands in a function's own text."""
    file, first, lines = source
    return place.file == file and first <= place.line < first + len(lines)


def base(file: str) -> str:
    """A file's name without its directory."""
    return os.path.basename(file)
