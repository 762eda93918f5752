"""What a launched program has gained, and what it still spends in NumPy."""

from __future__ import annotations

from autojit.launch.facts import STATES, Function, functions
from autojit.launch.places import short
from autojit.runtime.history import milliseconds, span

#: How many native places are told.
_PLACES = 5


def summary() -> str:
    """The summary as text."""
    everyone = functions()
    compiled = [each for each in everyone if each.is_compiled]
    states = [each.state for each in everyone]
    early = "".join(f", {states.count(state)} {state}" for state in STATES[-2:] if state in states)
    lines = [f"autojit: {len(compiled)} of {len(everyone)} functions that were looked into are compiled{early}"]
    saved = sum(each.gain for each in compiled)
    if saved:
        told = f"  their calls took some {saved:.2f} s less than in NumPy"
        lines.append(f"{told}; capturing took {_captured(everyone):.2f} s")
    for each in sorted(compiled, key=lambda each: each.gain, reverse=True):
        lines.append(f"  {each.name} ({short(each.file)}): {_speed(each)}")
    native = sorted((place for each in everyone for place in each.natives()), key=lambda place: -place.seconds)
    if native:
        lines.append("what stays in NumPy and Python:")
    for place in native[:_PLACES]:
        kind = place.reason.kind
        lines.append(f"  {place.name}, {span(place.lines)}: [{place.reason.id}] {place.reason.detail}; {kind.hint}")
    return "\n".join(lines)


def _captured(everyone: list[Function]) -> float:
    """How many seconds the program has waited for captures, as far as the histories go back."""
    events = [event for each in everyone for one in each.controllers for event in one.history.events]
    return sum(event.seconds for event in events if event.what == "captured")


def _speed(function: Function) -> str:
    told, best = f"{function.hits} calls of compiled parts", function.speed
    if best is not None:
        told += f", {milliseconds(best.seconds)} where NumPy takes {milliseconds(best.numpy_seconds)}"
    return told
