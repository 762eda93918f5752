"""`Place` and its spans: what a profile shows, with the function and the line."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from jax.profiler import TraceAnnotation

#: How the names of all spans begin.
PREFIX = "autojit "
#: What a span can be, and what that means, in the order in which they are told.
KINDS = {
    "cluster": "compiled programs",
    "host": "NumPy calls between them",
    "enter": "guards, arguments and results of compiled regions",
    "native": "statements that stay Python",
    "numpy": "NumPy's turns: what may be compiled, while that is not known to be faster, or since it is not",
    "capture": "captures",
    "compile": "compilations",
}
#: What has a meaning of its own in the text that the profiler takes; `unquote` of `urllib.parse` gives it back.
_MARKS = str.maketrans({mark: f"%{ord(mark):02X}" for mark in "%#=,"})


@dataclass(frozen=True, slots=True)
class Place:
    """Something that takes time, somewhere.

    Attributes:
        kind: One of `KINDS`.
        function: The decorated function.
        file: The file that it stands in.
        lines: The first and the last line.
        name: Of the cluster or the operation; "" for others.
        nbytes: What one call reads and writes at least; 0 where that is not known.
    """

    kind: str
    function: str
    file: str
    lines: tuple[int, int]
    name: str = ""
    nbytes: int = 0

    @property
    def where(self) -> str:
        """The file, without its folder, and the lines: "heat.py:12-14"."""
        first, last = self.lines
        return f"{os.path.basename(self.file)}:{first}" + (f"-{last}" if last > first else "")

    def span(self) -> TraceAnnotation:
        """What is entered and left around it. It takes a microsecond while a profile is taken."""
        return TraceAnnotation(
            f"{PREFIX}{self.kind} {self.function} {self.where} {self.name}".translate(_MARKS).rstrip(),
            kind=self.kind,
            function=self.function.translate(_MARKS),
            file=self.file.translate(_MARKS),
            first=self.lines[0],
            last=self.lines[1],
            name=self.name.translate(_MARKS),
            nbytes=self.nbytes,
        )


def within(place: Place, run: Callable[..., Any], note: Callable[[float], None] | None = None) -> Callable[..., Any]:
    """A function whose calls are spans; `note` is told how many seconds each took."""

    def told(*values: Any) -> Any:
        start = perf_counter()
        with place.span():
            result = run(*values)
        if note is not None:
            note(perf_counter() - start)
        return result

    return told
