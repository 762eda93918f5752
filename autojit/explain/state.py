"""What the runs of a function have left: its plans with what they ask for, measured times, memory, the disk cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from autojit.compile.persistent import disk_cache
from autojit.errors import Reason
from autojit.ir.graph import Graph
from autojit.runtime.function import Controller
from autojit.runtime.history import Guard, guards_of
from autojit.runtime.info import memory_info
from autojit.runtime.plan import Plan

#: What calls are left to NumPy for though they could be compiled.
_JUDGED = frozenset(["slower", "too-small", "products", "too-many-plans", "trapped"])


@dataclass(frozen=True, slots=True)
class PlanInfo:
    """A plan that calls are answered with now, or left to NumPy by.

    Attributes:
        lines: The first and the last line of its region.
        state: "compiled", "on trial" or "native".
        guards: What a call must be like.
        reason: Why its calls are NumPy's, where they are.
        seconds: What a call takes, where that was measured; else 0.0.
        numpy_seconds: What it takes in NumPy, where that was measured; else 0.0.
        traps: How many calls met data that is NumPy's.
        nbytes: Bytes of the arrays that a call reads and writes, those in between left out; of the longest ones where
            a plan takes arrays of several lengths.
    """

    lines: tuple[int, int]
    state: str
    guards: tuple[Guard, ...]
    reason: Reason | None
    seconds: float
    numpy_seconds: float
    traps: int
    nbytes: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {
            "lines": list(self.lines),
            "state": self.state,
            "guards": [{"text": guard.text, "line": guard.line} for guard in self.guards],
            "reason": self.reason.to_dict() if self.reason else None,
            "seconds": self.seconds,
            "numpy_seconds": self.numpy_seconds,
            "traps": self.traps,
            "nbytes": self.nbytes,
        }


@dataclass(slots=True)
class Left:
    """Plans of one region that leave their calls to NumPy for one reason.

    Attributes:
        lines: The first and the last line of the region.
        reason: The reason.
        guards: What the calls of the latest plan are like.
        count: How many plans.
    """

    lines: tuple[int, int]
    reason: Reason
    guards: tuple[Guard, ...]
    count: int = 1


@dataclass(frozen=True, slots=True)
class Resources:
    """What is kept for later calls.

    Attributes:
        result_bytes: Memory for results, of the whole process.
        staging_bytes: Memory into which inputs are copied, of the whole process.
        disk_cache: The directory of the disk cache; "" where there is none.
        loads: How many programs of the function came from there.
        compiles: How many were compiled.
    """

    result_bytes: int
    staging_bytes: int
    disk_cache: str
    loads: int
    compiles: int

    def to_dict(self) -> dict[str, Any]:
        """The resources as plain data."""
        return {
            "result_bytes": self.result_bytes,
            "staging_bytes": self.staging_bytes,
            "disk_cache": self.disk_cache or None,
            "loads": self.loads,
            "compiles": self.compiles,
        }


def plans_of(controller: Controller) -> list[PlanInfo]:
    """The plans of a function, in the order of its lines, the latest of a region first."""
    file = controller.history.file
    found = [
        _plan_info(probe.region.lines, plan, file) for probe in list(controller.probes.values()) for plan in probe.plans
    ]
    return sorted(found, key=lambda plan: plan.lines)


def left_of(plans: Iterable[PlanInfo]) -> list[Left]:
    """The plans that leave calls to NumPy, those for one reason together."""
    found: dict[tuple[tuple[int, int], str, str], Left] = {}
    for plan in plans:
        if plan.reason is not None:
            key = plan.lines, plan.reason.id, plan.reason.detail
            known = found.setdefault(key, Left(plan.lines, plan.reason, plan.guards, 0))
            known.count += 1
    return list(found.values())


def unused_of(plans: Sequence[PlanInfo]) -> list[Left]:
    """The regions that could be compiled and are not worth it: no plan of theirs is used, one at least was judged. Of
    regions in each other that were judged alike only the innermost.
    """
    used = {plan.lines for plan in plans if plan.reason is None}
    judged = [left for left in left_of(plans) if left.lines not in used and left.reason.id in _JUDGED]
    found: dict[tuple[tuple[int, int], str], Left] = {}
    for left in sorted(judged, key=lambda left: left.lines[1] - left.lines[0]):
        first, last = left.lines
        if not any(first <= lines[0] and lines[1] <= last and id == left.reason.id for lines, id in found):
            found[left.lines, left.reason.id] = left
    return sorted(found.values(), key=lambda left: left.lines)


def _plan_info(lines: tuple[int, int], plan: Plan, file: str) -> PlanInfo:
    is_trial = getattr(plan.reason, "is_trial", False)
    state = "on trial" if is_trial else "native" if plan.is_native else "compiled"
    reason = None if is_trial or not plan.is_native else plan.reason
    guards = guards_of(plan.capture.prologue, file)
    nbytes = _traffic(plan.graph) if plan.graph is not None else 0
    return PlanInfo(lines, state, guards, reason, plan.seconds, plan.numpy_seconds, plan.traps, nbytes)


def _traffic(graph: Graph) -> int:
    read = [value.spec.nbytes for value in graph.inputs if value.spec.kind == "array"]
    return sum(read) + sum(result.spec.nbytes for result in {id(one): one for one in graph.results}.values())


def resources_of(controller: Controller) -> Resources:
    """What is kept now, and what of it this function has used."""
    memory, disk, counters = memory_info(), disk_cache(controller.config), controller.counters
    place = str(disk.root) if disk is not None else ""
    return Resources(memory.results, memory.staging, place, counters.loads, counters.compiles)
