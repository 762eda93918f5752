"""What a report of a program tells: its functions by the time that they take, and what to change first."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from autojit.capture.source import source_line
from autojit.errors import Reason
from autojit.launch.facts import Function, functions
from autojit.launch.samples import Place, Samples
from autojit.runtime.door import DOOR
from autojit.runtime.plan import Plan

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.explain.report import Explanation

_explain_seen = DOOR.late("autojit.explain.seen", "explain_seen")
#: Looking again at what was captured may take so many seconds, for all functions; those that take most time go first.
_LOOKS = 20.0
#: Reasons about which there is nothing to do in the source.
_SETTLED = frozenset(["slower", "too-small"])

#: A native place in a function: its line, and the id of its reason.
_Key = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Spot:
    """A place that stays NumPy's or Python's, and what it costs.

    Attributes:
        function: The function's name.
        file: Its file.
        line: The line at which it begins.
        text: The line itself, or "".
        seconds: How long its lines were found running.
        reason: Why it stays.
        others: The lines that wait for what this one makes, when their seconds are counted with its own.
    """

    function: str
    file: str
    line: int
    text: str
    seconds: float
    reason: Reason
    others: tuple[int, ...] = ()


@dataclass(slots=True)
class Finding:
    """One function.

    Attributes:
        function: What is known of it.
        seconds: How long it was found running, without the functions of the program's that it calls; with NumPy's.
        planned: The part of that which its plans took.
        explanations: What becomes of its calls, one for each of its controllers; none before anything was captured.
        spots: What stays native, by cost.
        state: As `Function.state`.
        speed: As `Function.speed`.
    """

    function: Function
    seconds: float
    planned: float
    explanations: list[Explanation] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    state: str = ""
    speed: Plan | None = None


@dataclass(slots=True)
class Findings:
    """A whole program.

    Attributes:
        program: Its name.
        total: How many seconds it ran.
        functions: Those that were looked into; what took longest first.
        elsewhere: Seconds in the program's own code that was not looked into.
        place: The line that took most of those.
        own: Seconds that autojit took from the program's threads.
        captures: How many regions were captured.
        capture_seconds: How long that took, as far as the histories go back.
        compiles: How many programs were compiled, in the background for the most part.
        compile_seconds: How long that took.
        loads: How many were taken from the disk cache.
    """

    program: str
    total: float
    functions: list[Finding]
    elsewhere: float
    place: Place | None
    own: float
    captures: int
    capture_seconds: float
    compiles: int
    compile_seconds: float
    loads: int

    @property
    def spots(self) -> list[Spot]:
        """Those of all functions that can be changed; what took longest first, and only what was found running at all,
        unless nothing was. Lines that wait for another one are counted with it.
        """
        found = [spot for each in self.functions for spot in _by_cause(each.spots) if spot.reason.id not in _SETTLED]
        running = [spot for spot in found if spot.seconds]
        return sorted(running or found, key=lambda spot: -spot.seconds)


def find(program: str, samples: Samples) -> Findings:
    """Gather what is known now. Nothing of the program's code runs.

    Args:
        program: Its name.
        samples: Where its time went.
    """
    seconds = dict(samples.seconds)
    found = [_finding(function, seconds) for function in functions()]
    found.sort(key=lambda each: -each.seconds)
    others = {
        place: spent
        for place, spent in seconds.items()
        if place.kind != "autojit"
        and not any(each.function.has(place.file, place.function, place.line) for each in found)
    }
    begin = time.perf_counter()
    for each in found:
        if DOOR.is_open:  # before, nothing was captured
            _explain(each, time.perf_counter() - begin < _LOOKS)
        each.spots = sorted(_spots(each, seconds), key=lambda spot: -spot.seconds)
    controllers = [controller for each in found for controller in each.function.controllers]
    counters = [controller.counters for controller in controllers]
    events = [event for controller in controllers for event in controller.history.events]
    return Findings(
        program=program,
        total=samples.total,
        functions=found,
        elsewhere=sum(others.values()),
        place=max(others, key=lambda place: others[place], default=None),
        own=sum(spent for place, spent in seconds.items() if place.kind == "autojit"),
        captures=sum(each.captures for each in counters),
        capture_seconds=sum(event.seconds for event in events if event.what == "captured"),
        compiles=sum(each.compiles for each in counters),
        compile_seconds=sum(each.compile_seconds for each in counters),
        loads=sum(each.loads for each in counters),
    )


def _times(function: Function, seconds: dict[Place, float], kind: str) -> dict[Place, float]:
    """How long the lines of a function were found running."""
    return {
        place: spent
        for place, spent in seconds.items()
        if place.kind == kind and function.has(place.file, place.function, place.line)
    }


def _finding(function: Function, seconds: dict[Place, float]) -> Finding:
    planned = sum(_times(function, seconds, "plan").values())
    native = sum(_times(function, seconds, "python").values())
    return Finding(function, planned + native, planned, state=function.state, speed=function.speed)


def _explain(finding: Finding, explores: bool) -> None:
    for controller in finding.function.controllers:
        try:
            finding.explanations.append(_explain_seen(controller, explores))
        except Exception:  # the report tells what else is known
            finding.explanations.append(_explain_seen(controller, False))


def _spots(finding: Finding, seconds: dict[Place, float]) -> Iterator[Spot]:
    """The native places of a function, each once, with the time of those lines that are in no smaller one."""
    function = finding.function
    found: dict[_Key, tuple[tuple[int, int], Reason]] = {}
    for explanation in finding.explanations:
        for reason in [*explanation.native_statements, *explanation.host_nodes, *explanation.unknown]:
            if reason.source is not None and reason.source.file == function.file:
                lines = _smallest(function, reason.source.line, ast.stmt)
                found.setdefault((reason.source.line, reason.id), (lines, reason))
    for native in function.natives():
        source = native.reason.source
        line = source.line if source is not None and source.file == function.file else native.lines[0]
        found.setdefault((line, native.reason.id), (native.lines, native.reason))
    costs = dict.fromkeys(found, 0.0)
    spans = {key: lines for key, (lines, _) in found.items()}
    for place, spent in _times(function, seconds, "python").items():
        meant = _meant(function, spans, place)
        for key in meant:
            costs[key] += spent / len(meant)
    for (line, id), (_, reason) in found.items():
        text = source_line(function.file, line, function.name).text
        yield Spot(function.name, function.file, line, text, costs[line, id], reason)


def _by_cause(spots: list[Spot]) -> Iterator[Spot]:
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
