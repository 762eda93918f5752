"""What the runs of a function have left: its plans with what they ask for, measured times, memory, the disk cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autojit.compile.persistent import disk_cache
from autojit.errors import Reason
from autojit.runtime.function import Controller
from autojit.runtime.history import Guard, guards_of
from autojit.runtime.info import memory_info
from autojit.runtime.plan import Plan


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
    """

    lines: tuple[int, int]
    state: str
    guards: tuple[Guard, ...]
    reason: Reason | None
    seconds: float
    numpy_seconds: float
    traps: int

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
        }


@dataclass(frozen=True, slots=True)
class Resources:
    """What is kept for later calls.

    Attributes:
        result_bytes: Memory for results.
        staging_bytes: Memory into which inputs are copied.
        disk_cache: The directory of the disk cache; "" where there is none.
    """

    result_bytes: int
    staging_bytes: int
    disk_cache: str

    def to_dict(self) -> dict[str, Any]:
        """The resources as plain data."""
        return {
            "result_bytes": self.result_bytes,
            "staging_bytes": self.staging_bytes,
            "disk_cache": self.disk_cache or None,
        }


def plans_of(controller: Controller) -> list[PlanInfo]:
    """The plans of a function, in the order of its lines, the latest of a region first."""
    file = controller.history.file
    found = [
        _plan_info(probe.region.lines, plan, file) for probe in list(controller.probes.values()) for plan in probe.plans
    ]
    return sorted(found, key=lambda plan: plan.lines)


def _plan_info(lines: tuple[int, int], plan: Plan, file: str) -> PlanInfo:
    is_trial = getattr(plan.reason, "is_trial", False)
    state = "on trial" if is_trial else "native" if plan.is_native else "compiled"
    reason = None if is_trial or not plan.is_native else plan.reason
    guards = guards_of(plan.capture.prologue, file)
    return PlanInfo(lines, state, guards, reason, plan.seconds, plan.numpy_seconds, plan.traps)


def resources_of(controller: Controller) -> Resources:
    """What is kept now, in memory for the whole process."""
    memory, disk = memory_info(), disk_cache(controller.config)
    return Resources(memory.results, memory.staging, str(disk.root) if disk is not None else "")
