"""The policy `measured` before there are plans: NumPy runs, and plans are made in the background when that pays."""

from __future__ import annotations

import functools
import threading
from typing import Any

from autojit.compile.persistent import disk_cache
from autojit.runtime.background import BACKGROUND
from autojit.runtime.heat import PAYS_AFTER, Heat
from autojit.runtime.measured import Trial
from autojit.runtime.probe import Probe
from autojit.runtime.remembered import Verdict, key_of, recall, remember
from autojit.runtime.sketch import sketch

#: So often a plan is tried to be made.
_MAX_FAILURES = 3


class WarmUp:
    """Decides for one function when its regions are compiled.

    Args:
        controller: The function's.
    """

    def __init__(self, controller: Any) -> None:
        self.controller = controller

    def is_known_to_pay(self, probe: Probe, heat: Heat) -> bool:
        """Ask once what earlier processes have measured for such calls: whether one should wait for its plan."""
        if not heat.is_new:
            return False
        heat.is_new = False
        disk = disk_cache(self.controller.config)
        verdict = None if disk is None else recall(disk, self._key(probe, heat))
        if verdict is None:
            return False
        if verdict.wins:
            heat.seconds = PAYS_AFTER
        else:
            heat.is_busy = True
        return verdict.pays_at_once

    def run_numpy(self, probe: Probe, heat: Heat, values: tuple[Any, ...]) -> None:
        """NumPy takes a call, timed. If enough such calls came, a plan is made meanwhile."""
        probe.heat = heat
        if heat.is_busy:
            return
        if heat.pays(probe.dropped):
            heat.is_busy = True  # before the job can be done
            try:
                named = dict(zip(probe.region.live_in, sketch(values), strict=True))
            except MemoryError:
                return
            if not BACKGROUND.submit(functools.partial(self._make, probe, heat, named)):
                heat.is_busy = False
        elif heat.is_tiny():
            probe.sleep()

    def _make(self, probe: Probe, heat: Heat, values: dict[str, Any]) -> None:
        """In the background thread: capture and compile a region, and let it be tried."""
        controller, me = self.controller, threading.get_ident()
        controller.makers.add(me)
        try:
            prepared = controller.prepare_later(probe, values)
            if prepared is not None:
                trial = Trial(prepared, controller.compile(prepared, probe), self, probe, heat)
                controller.add(probe, trial.plan)
            heat.cool()
        except Exception as error:
            self.failed(probe, heat, error)
        finally:
            controller.makers.discard(me)

    def failed(self, probe: Probe, heat: Heat, error: Exception) -> None:
        """Making a plan failed. The program may have changed its objects meanwhile, so it is tried again."""
        heat.failures += 1
        if heat.failures < _MAX_FAILURES:
            heat.cool()
        else:  # such calls stay NumPy's
            self.controller.tell_failure(error)

    def remember(self, probe: Probe, heat: Heat, verdict: Verdict) -> None:
        """Keep for later processes what a trial has found."""
        if (disk := disk_cache(self.controller.config)) is not None:
            remember(disk, self._key(probe, heat), verdict)

    def _key(self, probe: Probe, heat: Heat) -> str:
        return key_of(self.controller.original.__code__, probe.region, heat.kind)
