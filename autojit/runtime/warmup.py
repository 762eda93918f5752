"""The policy `measured` before there are plans: NumPy runs, timed, until a plan pays for its compilation."""

from __future__ import annotations

import math
from typing import Any

from autojit.compile.persistent import disk_cache
from autojit.runtime import plans
from autojit.runtime.background import BACKGROUND
from autojit.runtime.door import DOOR
from autojit.runtime.heat import Heat, price_of
from autojit.runtime.probe import Probe
from autojit.runtime.remembered import Remembered, Verdict, key_of, kind_of
from autojit.runtime.waiting import waits

#: How many times as long NumPy must have taken where an earlier process has found that the plan was slower.
LOST = 8.0
#: Where NumPy has taken that long for calls of a kind, the user is told what keeps them from being compiled.
LONG_CLOSED = 1.0


class WarmUp:
    """Decides for one function when its regions are captured and compiled.

    Args:
        controller: The function's.
    """

    def __init__(self, controller: Any) -> None:
        self.controller = controller
        self._memory: Remembered | None = None

    def pays(self, probe: Probe, heat: Heat) -> bool:
        """Whether a call should be captured; what earlier processes have measured is asked once."""
        if waits(self.controller.original.__code__):  # one compilation will do for both
            heat.cool()
            return False
        price = price_of(probe.price, probe.crowd.dropped)
        if heat.is_new:
            heat.is_new = False
            heat.verdict = self._recall(probe, heat)
        verdict = heat.verdict
        if verdict is not None:
            price = (0.0 if verdict.pays_at_once else verdict.capture_seconds) if verdict.wins else LOST * price
        if probe.around is not None:  # a loop's body: the loop goes first
            price *= math.inf if probe.around.is_at_work() else 2
        if heat.seconds < price:
            return False
        return DOOR.is_open or self._opens(heat)

    def _opens(self, heat: Heat) -> bool:
        """Whether the first plan of the process pays for what has to be imported."""
        if DOOR.pays(heat):
            return True
        if heat.seconds >= LONG_CLOSED and DOOR.found:
            self.controller.trouble.warn("not-imported", DOOR.found)
        return False

    def run_numpy(self, probe: Probe, heat: Heat) -> None:
        """NumPy takes a call, timed unless nothing follows from it."""
        if probe.watched:
            self.controller.wake()
        if probe.heats.are_tiny() and all(map(plans.is_numpys, probe.plans)):
            probe.sleep()
        elif not probe.naps():
            probe.time(heat)

    def remember(self, probe: Probe, kind: tuple[Any, ...], verdict: Verdict) -> None:
        """Keep for later processes what a trial has found, without making the caller wait."""
        memory = self._of_earlier()
        if memory is not None:
            memory.put(kind_of(probe.region, kind), verdict)
            BACKGROUND.submit(memory.save)

    def _recall(self, probe: Probe, heat: Heat) -> Verdict | None:
        memory = self._of_earlier()
        return None if memory is None else memory.get(kind_of(probe.region, heat.kind))

    def _of_earlier(self) -> Remembered | None:
        disk = disk_cache(self.controller.config)
        if disk is not None and self._memory is None:
            self._memory = Remembered(disk, key_of(self.controller.tree.source, repr(self.controller.config)))
        return self._memory
