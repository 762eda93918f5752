"""The places of a function that stay NumPy's or Python's, and what they cost."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from autojit.capture.source import source_line
from autojit.errors import Reason
from autojit.launch.facts import Function
from autojit.launch.samples import Place

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.explain.report import Explanation

#: Reasons about which there is nothing to do in the source: compiled, it would not be faster.
SETTLED = frozenset(["slower", "too-small", "products"])
#: ... and those for which that holds in most cases.
_LAST = frozenset(["host-op"])
#: What takes a smaller part of the program's time is not told among the first.
VISIBLE = 0.01

#: A native place in a function: its line, and the id of its reason.
_Key = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Spot:
    """A place that stays NumPy's or Python's, and what it costs.

    Attributes:
        function: The function's name.
        file: Its file.
        line: The line at which it begins.
        last: The line at which it ends, if it is more than a statement; else the same.
        text: The line itself, or "".
        seconds: How long its lines were found running.
        reason: Why it stays.
        others: The lines that wait for what this one makes, when their seconds are counted with its own.
    """

    function: str
    file: str
    line: int
    last: int
    text: str
    seconds: float
    reason: Reason
    others: tuple[int, ...] = ()


def spots_of(function: Function, explanations: Iterable[Explanation], seconds: dict[Place, float]) -> Iterator[Spot]:
    """The native places of a function, each once, with the time of those lines that are in no smaller one.

    Args:
        function: The function.
        explanations: What becomes of its calls.
        seconds: How long its lines were found running in Python and NumPy.
    """
    found: dict[_Key, tuple[tuple[int, int], int, Reason]] = {}
    for explanation in explanations:
        for reason in [*explanation.native_statements, *explanation.host_nodes, *explanation.unknown]:
            if reason.source is not None and reason.source.file == function.file:
                lines = _smallest(function, reason.source.line, ast.stmt)
                found.setdefault((reason.source.line, reason.id), (lines, reason.source.line, reason))
    for native in function.natives():
        source = native.reason.source
        line = source.line if source is not None and source.file == function.file else native.lines[0]
        last = native.lines[1] if line == native.lines[0] else line
        found.setdefault((line, native.reason.id), (native.lines, last, native.reason))
    costs = dict.fromkeys(found, 0.0)
    spans = {key: lines for key, (lines, _, _) in found.items()}
    for place, spent in seconds.items():
        meant = _meant(function, spans, place)
        for key in meant:
            costs[key] += spent / len(meant)
    for (line, id), (_, last, reason) in found.items():
        text = source_line(function.file, line, function.name).text
        yield Spot(function.name, function.file, line, last, text, costs[line, id], reason)


def to_change(spots: Iterable[Sequence[Spot]], total: float) -> list[Spot]:
    """The places that can be changed. First those that take a part of the time that is to be seen, the longest first,
    then those about which there is little to do; the others follow, but for what was not found running at all, unless
    nothing was.

    Args:
        spots: Those of each function. Lines that wait for another one are counted with it.
        total: How long the program ran.
    """
    found = [spot for each in spots for spot in by_cause(each) if spot.reason.id not in SETTLED]
    running = [spot for spot in found if spot.seconds] or found
    return sorted(running, key=lambda spot: (spot.seconds < VISIBLE * total, spot.reason.id in _LAST, -spot.seconds))


def by_cause(spots: Sequence[Spot]) -> Iterator[Spot]:
    """The spots that have a reason of their own, each with those that wait for what its line makes."""
    own = {spot.line for spot in spots if spot.reason.cause is None}
    groups: dict[int, list[Spot]] = {}
    for spot in spots:
        cause = spot.reason.cause
        groups.setdefault(cause.line if cause is not None and cause.line in own else spot.line, []).append(spot)
    for line, group in groups.items():
        first, *more = (spot for spot in group if spot.line == line)
        others = [spot for spot in group if spot.line != line]
        total = first.seconds + sum(other.seconds for other in others)
        yield replace(first, seconds=total, others=tuple(sorted({other.line for other in others})))
        yield from more


def _meant(function: Function, spans: dict[_Key, tuple[int, int]], place: Place) -> list[_Key]:
    """The native places that the time of a line belongs to: the smallest around it; where it is not known which line
    ran, the smallest ones in the loop.
    """
    if not place.is_exact:
        loop = _smallest(function, place.line, ast.For | ast.While)
        inside = {key: lines for key, lines in spans.items() if _is_in(lines, loop)}
        meant = [
            key
            for key, lines in inside.items()
            if not any(_is_in(other, lines) and other != lines for other in inside.values())
        ]
        if meant:
            return meant
    around = [key for key, lines in spans.items() if _is_in((place.line, place.line), lines)]
    return [min(around, key=lambda key: spans[key][1] - spans[key][0])] if around else []


def _is_in(lines: tuple[int, int], others: tuple[int, int]) -> bool:
    return others[0] <= lines[0] and lines[1] <= others[1]


def _smallest(function: Function, line: int, kind: Any) -> tuple[int, int]:
    """The lines of the smallest statement of a kind that a line is in; the line itself where there is none."""
    tree = function.controllers[0].tree
    nodes: Iterable[ast.AST] = ast.walk(tree.source.node) if tree is not None else ()
    around = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in nodes
        if isinstance(node, ast.stmt)
        and isinstance(node, kind)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return min(around, key=lambda lines: lines[1] - lines[0], default=(line, line))
