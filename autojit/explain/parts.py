"""The parts of an explanation that are compiled: clusters and loops, with the places that they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autojit.capture.capture import Cut
from autojit.compile.options import in_words, what_applies
from autojit.errors import SourceLine
from autojit.explain.origin import Source, base, is_in, way_to
from autojit.ir.graph import Graph, Node
from autojit.partition.steps import ClusterStep
from autojit.runtime.compiler import Prepared


@dataclass(frozen=True, slots=True)
class Helper:
    """What a cluster has of a function that is called.

    Attributes:
        function: The function.
        file: Its file.
        lines: The lines of it.
    """

    function: str
    file: str
    lines: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """The helper as plain data."""
        return {"function": self.function, "file": self.file, "lines": list(self.lines)}


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """One cluster.

    Attributes:
        name: Its name; unique in the function.
        lines: The lines of the function that it covers; what a call of another function does counts for the call.
        operations: How many operations it has.
        text: Its graph as NumPy code.
        prepared: The region it belongs to.
        step: The cluster itself.
        helpers: The other functions that it has operations of.
    """

    name: str
    lines: tuple[int, ...]
    operations: int
    text: str
    prepared: Prepared = field(repr=False)
    step: ClusterStep = field(repr=False)
    helpers: tuple[Helper, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The cluster as plain data."""
        return {
            "name": self.name,
            "lines": list(self.lines),
            "operations": self.operations,
            "options": self.options,
            "graph": self.text,
            "helpers": [helper.to_dict() for helper in self.helpers],
        }

    @property
    def options(self) -> str:
        """XLA's options that measurement has chosen for it, in words; "" for the usual ones."""
        return in_words(what_applies(self.prepared.recipe.choice, self.step.graph))


@dataclass(frozen=True, slots=True)
class LoopInfo:
    """What became of one loop.

    Attributes:
        rung: "vectorized" (one batched operation), "rolled" (a loop of the program), "unrolled", "python" (a loop that
            Python runs) or "unknown" (known after a first run).
        reason: Why no better rung was taken; "" for the best.
        source: Its line.
    """

    rung: str
    reason: str
    source: SourceLine | None

    def to_dict(self) -> dict[str, Any]:
        """The loop as plain data."""
        place = self.source
        return {
            "rung": self.rung,
            "reason": self.reason,
            "file": place.file if place else None,
            "line": place.line if place else None,
            "called_at": place.outermost.line if place and place.caller else None,
        }

    def __str__(self) -> str:
        line = "a loop"
        if self.source is not None:
            place, outermost = self.source, self.source.outermost
            line = f"line {place.line}" + (f" of {base(place.file)}" if place.file != outermost.file else "")
            line += f" in `{place.function}`, called at line {outermost.line}" if place.caller is not None else ""
        return f"loop, {line}: {self.rung}" + (f" ({self.reason})" if self.reason else "")


def places(nodes: Sequence[Node]) -> Iterator[SourceLine]:
    """The lines of operations, those in the bodies of loops too."""
    for node in nodes:
        if node.source is not None:
            yield node.source
        for _, value in node.params:
            if isinstance(value, Graph):
                yield from places(value.nodes)


def lines_of(found: Iterable[SourceLine], source: Source | None) -> tuple[tuple[int, ...], tuple[Helper, ...]]:
    """The function's own lines among places and the calls that lead there, and the lines of other functions."""
    own: set[int] = set()
    others: dict[tuple[str, str], set[int]] = {}
    for step in {(step.file, step.function, step.line): step for place in found for step in way_to(place)}.values():
        if is_in(step, source) if source is not None else step.caller is None:
            own.add(step.line)
        else:
            others.setdefault((step.function, step.file), set()).add(step.line)
    helpers = (Helper(function, file, tuple(sorted(lines))) for (function, file), lines in others.items())
    return tuple(sorted(own)), tuple(helpers)


def loops_of(prepared: Prepared) -> list[LoopInfo]:
    """The loops of a region by line; each line once for a call of its function."""
    found: dict[Any, LoopInfo] = {}
    for line, why in prepared.capture.unrolled:
        found[_key(line)] = LoopInfo("unrolled", why, line)
    for stage in prepared.stages:
        for rung in stage.rungs:
            found[_key(rung.source)] = LoopInfo(rung.taken, rung.reason, rung.source)
    return sorted(found.values(), key=lambda loop: loop.source.outermost.line if loop.source else 0)


def _key(place: SourceLine | None) -> Any:
    return place, place.outermost.line if place else 0


def native_loop(cut: Cut, line: SourceLine, stays: bool) -> LoopInfo:
    """A loop that is no part of a program: what keeps it is the first thing in it that stays native.

    Args:
        cut: The loop, and that thing.
        line: Where the loop stands.
        stays: Whether it is Python's; else more is known after a first run.
    """
    reason = cut.reason
    if not stays:
        return LoopInfo("unknown", reason.detail, line)
    where = f"line {reason.source.line}: " if reason.source is not None and reason.source.line != line.line else ""
    return LoopInfo("python", f"{where}[{reason.id}] {reason.detail}", line)
