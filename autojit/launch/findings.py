"""What a report of a program tells: its functions by the time that they take, and what to change first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from autojit.launch.facts import Function, functions
from autojit.launch.samples import Place, Samples
from autojit.launch.spots import SETTLED, Spot, spots_of, to_change
from autojit.launch.verdicts import why_of
from autojit.runtime.door import DOOR

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.explain.report import Explanation

_explain_seen = DOOR.late("autojit.explain.seen", "explain_seen")
#: Looking again at what was captured may take so many seconds, for all functions; those that take most time go first.
_LOOKS = 20.0
_Times = dict[Place, float]


@dataclass(slots=True)
class Finding:
    """One function.

    Attributes:
        function: What is known of it.
        seconds: How long it was found running, without the functions of the program's that it calls, but with those
            inside it that have no finding of their own; with NumPy's.
        planned: The part of that which its plans took.
        explanations: What becomes of its calls, one for each of its controllers; none before anything was captured.
        spots: What stays native, by cost.
        state: As `Function.state`.
        why: The same in a few words more.
    """

    function: Function
    seconds: float
    planned: float
    explanations: list[Explanation] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    state: str = ""
    why: str = ""

    @property
    def settled(self) -> float:
        """Seconds of calls that were found to be no faster compiled."""
        if self.function.is_small:
            return self.seconds - self.planned
        return sum(spot.seconds for spot in self.spots if spot.reason.id in SETTLED)

    @property
    def waiting(self) -> float:
        """Seconds of calls of which it is not known yet whether they gain."""
        is_judged = self.state not in ("not judged yet", "on trial")
        return 0.0 if is_judged else self.seconds - self.planned - sum(spot.seconds for spot in self.spots)


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
        """The places of all functions that can be changed, in the order in which to do it."""
        return to_change([each.spots for each in self.functions], self.total)


def find(program: str, samples: Samples) -> Findings:
    """Gather what is known now. Nothing of the program's code runs.

    Args:
        program: Its name.
        samples: Where its time went.
    """
    known = functions()
    times, others = _divided(known, dict(samples.seconds))
    found = [_finding(*each) for each in zip(known, times, strict=True)]
    begin = perf_counter()
    for each, spent in sorted(zip(found, times, strict=True), key=lambda pair: -pair[0].seconds):
        if DOOR.is_open:  # before, nothing was captured
            _explain(each, perf_counter() - begin < _LOOKS)
        spots = spots_of(each.function, each.explanations, _of_kind(spent, "python"))
        each.spots = sorted(spots, key=lambda spot: -spot.seconds)
        each.why = why_of(each.function, each.state, each.spots)
    found.sort(key=lambda each: -each.seconds)
    unknown = {place: spent for place, spent in others.items() if place.kind != "autojit"}
    controllers = [controller for each in found for controller in each.function.controllers]
    counters = [controller.counters for controller in controllers]
    events = [event for controller in controllers for event in controller.history.events]
    return Findings(
        program=program,
        total=samples.total,
        functions=found,
        elsewhere=sum(unknown.values()),
        place=max(unknown, key=lambda place: unknown[place], default=None),
        own=sum(spent for place, spent in samples.seconds.items() if place.kind == "autojit"),
        captures=sum(each.captures for each in counters),
        capture_seconds=sum(event.seconds for event in events if event.what == "captured"),
        compiles=sum(each.compiles for each in counters),
        compile_seconds=sum(each.compile_seconds for each in counters),
        loads=sum(each.loads for each in counters),
    )


def _divided(known: Sequence[Function], seconds: _Times) -> tuple[list[_Times], _Times]:
    """The lines that were found running, by function, and those of none. What runs in a function inside of another one
    belongs to the inner one, if that was looked into.
    """
    times: list[_Times] = [{} for _ in known]
    others: _Times = {}
    for place, spent in seconds.items():
        around = [number for number, each in enumerate(known) if each.has(place.file, place.function, place.line)]
        inner = max(around, key=lambda number: len(known[number].name), default=None)
        (others if inner is None else times[inner])[place] = spent
    return times, others


def _of_kind(times: _Times, kind: str) -> _Times:
    return {place: spent for place, spent in times.items() if place.kind == kind}


def _finding(function: Function, times: _Times) -> Finding:
    planned = sum(_of_kind(times, "plan").values())
    native = sum(_of_kind(times, "python").values())
    return Finding(function, planned + native, planned, state=function.state)


def _explain(finding: Finding, explores: bool) -> None:
    for controller in finding.function.controllers:
        try:
            finding.explanations.append(_explain_seen(controller, explores))
        except Exception:  # the report tells what else is known
            finding.explanations.append(_explain_seen(controller, False))
