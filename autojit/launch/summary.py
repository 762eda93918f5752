"""What a launched program has gained, and what it still spends in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from autojit.errors import Reason
from autojit.launch.arm import ARMED
from autojit.runtime.function import Controller
from autojit.runtime.history import milliseconds, span
from autojit.runtime.info import with_callees
from autojit.runtime.plan import Plan

#: How many native places are told.
_PLACES = 5


@dataclass(frozen=True, slots=True)
class _Native:
    """A place that stays NumPy's.

    Attributes:
        seconds: What NumPy has taken there, as far as it was timed.
    """

    seconds: float
    name: str
    lines: tuple[int, int]
    reason: Reason


def summary() -> str:
    """The summary as text."""
    seen: set[int] = set()
    looked_into = [first.controller for first in ARMED if first.controller is not None]
    everyone = [each for controller in looked_into for each in with_callees(controller, seen)]
    compiled = [each for each in everyone if any(not plan.is_native for plan in _plans(each))]
    lines = [f"autojit: {len(compiled)} of {len(everyone)} functions that were looked into are compiled"]
    for each in sorted(compiled, key=_gain, reverse=True):
        lines.append(f"  {each.original.__qualname__} ({each.history.file}): {_speed(each)}")
    native = sorted((place for each in everyone for place in _native(each)), key=lambda place: -place.seconds)
    if native:
        lines.append("what stays in NumPy and Python:")
    for place in native[:_PLACES]:
        kind = place.reason.kind
        lines.append(f"  {place.name}, {span(place.lines)}: [{place.reason.id}] {place.reason.detail}; {kind.hint}")
    return "\n".join(lines)


def _plans(controller: Controller) -> list[Plan]:
    return [plan for probe in list(controller.probes.values()) for plan in probe.plans]


def _gain(controller: Controller) -> float:
    """Seconds by which the calls of compiled parts were measured to be shorter. They are not to be added up: a part
    may call others.
    """
    found = 0.0
    for probe in list(controller.probes.values()):
        known = [plan for plan in probe.plans if not plan.is_native and plan.seconds and plan.numpy_seconds]
        if known:
            found += probe.hits * sum(plan.numpy_seconds - plan.seconds for plan in known) / len(known)
    return found


def _speed(controller: Controller) -> str:
    known = [plan for plan in _plans(controller) if not plan.is_native and plan.seconds and plan.numpy_seconds]
    hits = sum(probe.hits for probe in list(controller.probes.values()))
    told = f"{hits} calls of compiled parts"
    if known:
        best = max(known, key=lambda plan: plan.numpy_seconds)
        told += f", {milliseconds(best.seconds)} where NumPy takes {milliseconds(best.numpy_seconds)}"
    return told


def _native(controller: Controller) -> Iterator[_Native]:
    for probe in list(controller.probes.values()):
        for plan in probe.plans:
            if plan.is_native and plan.reason is not None and not getattr(plan.reason, "is_trial", False):
                yield _Native(plan.numpy_seconds, controller.original.__qualname__, probe.region.lines, plan.reason)
