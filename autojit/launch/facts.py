"""What became of the functions of a launched program: the facts that its summary and its report tell."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autojit.errors import Reason
from autojit.launch.arm import ARMED
from autojit.launch.module_loops import LOOPS
from autojit.runtime.function import Controller
from autojit.runtime.info import with_callees
from autojit.runtime.plan import Plan
from autojit.runtime.plans import is_numpys
from autojit.runtime.probe import Probe

#: What a function can be. Partly: compiled in parts; on trial: compiled or about to be, and not yet known to be faster.
STATES = ("compiled", "partly", "native", "on trial", "not judged yet")


@dataclass(frozen=True, slots=True)
class Native:
    """A region whose calls are left to NumPy.

    Attributes:
        seconds: What NumPy has taken for one of them, as far as it was timed.
        name: The function.
        lines: The region's first and last line.
        reason: Why.
    """

    seconds: float
    name: str
    lines: tuple[int, int]
    reason: Reason


@dataclass(frozen=True)
class Function:
    """A function that was looked into.

    Attributes:
        controllers: Its own, and those of its twins: it has one for each function that calls it from a statement that
            stays Python's.
    """

    controllers: tuple[Controller, ...]

    @property
    def name(self) -> str:
        """Its qualified name."""
        return self.controllers[0].original.__qualname__

    @property
    def file(self) -> str:
        """The file that it stands in."""
        return self.controllers[0].history.file

    @property
    def line(self) -> int:
        """The line that it begins at."""
        return self.controllers[0].original.__code__.co_firstlineno

    def has(self, file: str, name: str, line: int) -> bool:
        """Whether a line of a function of this name is one of its own, or of a function inside it."""
        if file != self.file or not (name == self.name or name.startswith(f"{self.name}.<locals>.")):
            return False
        return self.line <= line <= self._last

    @functools.cached_property
    def _last(self) -> int:
        return max(_lines(self.controllers[0].original.__code__))

    @property
    def probes(self) -> list[Probe]:
        """Those of all its controllers."""
        return [probe for each in self.controllers for probe in list(each.probes.values())]

    @property
    def plans(self) -> list[Plan]:
        """Those of all its probes."""
        return [plan for probe in self.probes for plan in probe.plans]

    @property
    def is_compiled(self) -> bool:
        """Whether there is a compiled plan."""
        return any(not plan.is_native for plan in self.plans)

    @property
    def hits(self) -> int:
        """How many calls of regions were answered by plans."""
        return sum(probe.hits for probe in self.probes)

    @property
    def state(self) -> str:
        """One of `STATES`."""
        if all(map(_is_whole, self.controllers)):
            return "compiled"
        is_left = any(map(is_numpys, self.plans)) or any(probe.region.parts for probe in self.probes)
        if self.is_compiled:
            return "partly" if is_left else "compiled"
        if self.trials:
            return "on trial"
        is_off = any(each.no_source is not None for each in self.controllers) or (
            bool(self.probes) and all(probe.state == "off" for probe in self.probes)
        )
        return "native" if is_left or is_off or self.is_small else "not judged yet"

    @property
    def trials(self) -> list[Any]:
        """What is being compiled, or measured against NumPy."""
        return [plan.reason for plan in self.plans if plan.is_native and not is_numpys(plan)]

    @property
    def is_small(self) -> bool:
        """Whether its calls were found to take microseconds, so that nothing is captured."""
        probes = self.probes
        if self.plans or any(probe.region.parts for probe in probes):
            return False
        is_timed = any(probe.heats.hottest is not None for probe in probes if not probe.sleeps)
        return not is_timed and any(probe.sleeps and probe.forgets for probe in probes)

    @property
    def speed(self) -> Plan | None:
        """Of the plans that were measured against NumPy, the one whose calls NumPy takes longest for."""
        return max(measured(self.plans), key=lambda plan: plan.numpy_seconds, default=None)

    @property
    def gain(self) -> float:
        """Seconds by which the calls of compiled parts were measured to be shorter. Those of functions may be added up:
        where one's plan answers, none of the functions that it calls is asked.
        """
        found = 0.0
        for probe in self.probes:
            known = measured(probe.plans)
            if known:
                found += probe.hits * sum(plan.numpy_seconds - plan.seconds for plan in known) / len(known)
        return found

    def natives(self) -> Iterator[Native]:
        """The regions whose calls are left to NumPy; where the body as a whole is compiled, parts do not count."""
        for each in self.controllers:
            if each.no_source is not None:
                yield Native(0.0, self.name, (self.line, self.line), each.no_source)
            if _is_whole(each):
                continue
            for probe in list(each.probes.values()):
                for plan in filter(is_numpys, probe.plans):
                    if plan.reason is not None:
                        yield Native(plan.numpy_seconds, self.name, probe.region.lines, plan.reason)


def functions() -> list[Function]:
    """The functions that were looked into so far: those that were called or that they call, and loops of the script."""
    seen: set[int] = set()
    found: dict[object, list[Controller]] = {}
    ran = [loop for loop in LOOPS if loop.counters.misses]
    for controller in [*(first.controller for first in list(ARMED)), *ran]:
        if controller is not None:
            for each in with_callees(controller, seen):
                code = each.original.__code__
                found.setdefault((code.co_filename, code.co_firstlineno, code.co_qualname), []).append(each)
    return [Function(tuple(controllers)) for controllers in found.values()]


def measured(plans: list[Plan] | tuple[Plan, ...]) -> list[Plan]:
    """The compiled plans that were measured against NumPy."""
    return [plan for plan in plans if not plan.is_native and plan.seconds and plan.numpy_seconds]


def _lines(code: types.CodeType) -> Iterator[int]:
    """The lines of a function, and of those inside it."""
    yield code.co_firstlineno
    yield from (line for _, _, line in code.co_lines() if line is not None)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _lines(const)


def _is_whole(controller: Controller) -> bool:
    """Whether all calls that were captured are plans' of the whole body: its parts are asked no more."""
    root = controller.probes.get(controller.tree.root.number) if controller.tree is not None else None
    return root is not None and bool(root.plans) and not any(plan.is_native for plan in root.plans)
