"""The policy `measured` before there are plans: NumPy runs, timed, until a plan pays for its compilation."""

from __future__ import annotations

from typing import Any

from autojit.compile.persistent import disk_cache
from autojit.runtime.background import BACKGROUND
from autojit.runtime.compiler import Prepared
from autojit.runtime.heat import Heat, price_of
from autojit.runtime.measured import Trial
from autojit.runtime.probe import Probe
from autojit.runtime.remembered import Verdict, digest_of, key_of, recall, remember


class WarmUp:
    """Decides for one function when its regions are captured and compiled.

    Args:
        controller: The function's.
    """

    def __init__(self, controller: Any) -> None:
        self.controller = controller
        self._digest = ""

    def pays(self, probe: Probe, heat: Heat) -> bool:
        """Whether a call should be captured; what earlier processes have measured is asked once."""
        price = price_of(probe.price, probe.dropped)
        if heat.is_new:
            heat.is_new = False
            disk = disk_cache(self.controller.config)
            verdict = None if disk is None else recall(disk, self._key(probe, heat))
            if verdict is not None:
                heat.is_settled = not verdict.wins
                heat.seconds = price if verdict.wins else 0.0
                heat.is_awaited = verdict.pays_at_once
        return not heat.is_settled and heat.seconds >= price

    def run_numpy(self, probe: Probe, heat: Heat) -> None:
        """NumPy takes a call, timed unless nothing follows from it."""
        if (heat.is_settled or heat.is_tiny()) and not probe.plans and probe.heats.are_tiny():
            probe.sleep()
        elif not heat.is_settled:
            probe.time(heat)

    def compile_later(self, probe: Probe, heat: Heat, prepared: Prepared) -> None:
        """Compile a captured call in the background, while NumPy takes it and those like it."""
        trial = Trial(prepared, self, probe, heat.kind)
        self.controller.add(probe, trial.plan)
        if BACKGROUND.submit(trial.compile):
            probe.time(trial.numpy)
        else:
            self.controller.remove(probe, trial.plan)

    def remember(self, probe: Probe, kind: tuple[Any, ...], verdict: Verdict) -> None:
        """Keep for later processes what a trial has found, without making the caller wait."""
        disk = disk_cache(self.controller.config)
        # Of calls with other numbers a loss says nothing.
        if disk is not None and (verdict.wins or all(isinstance(part, tuple) for part in kind)):
            BACKGROUND.submit(lambda: remember(disk, key_of(self.digest, probe.region, kind), verdict))

    @property
    def digest(self) -> str:
        """The function's code, as a digest."""
        if not self._digest:
            self._digest = digest_of(self.controller.original.__code__)
        return self._digest

    def _key(self, probe: Probe, heat: Heat) -> str:
        return key_of(self.digest, probe.region, heat.kind)
