"""The `measured` policy: a region stays in NumPy until compiling it pays, and goes back when it does not."""

from __future__ import annotations

import logging
import time
from typing import Any

from autojit.errors import Reason
from autojit.passes.pipeline import Pass
from autojit.runtime.background import BACKGROUND
from autojit.runtime.compiler import Prepared, other_rung, prepare
from autojit.runtime.heat import Heat
from autojit.runtime.plan import NATIVE, Plan, native_plan
from autojit.runtime.remembered import Verdict

log = logging.getLogger("autojit")

#: A plan is kept when it needs at most this fraction of NumPy's time.
KEEP_BELOW = 0.95
#: A plan is given up after two runs that took more than this many times as long as NumPy.
HOPELESS = 2.0
#: NumPy is timed again where that takes less seconds.
SHORT = 0.02
#: How many runs of a plan are timed; the first ones touch new memory.
TIMED_RUNS = 4


class Trial:
    """Measures a compiled region against the user's statements, and decides.

    It takes part as a plan. Where NumPy is quick its calls go to the compiled plan and to NumPy in turns, or the
    machine's load would decide; else NumPy's last times count.

    Args:
        prepared: What was compiled.
        compiled: The plan.
        warm_up: What had the plan made.
        probe: The region's.
        heat: How long NumPy takes for such calls.
    """

    def __init__(self, prepared: Prepared, compiled: Plan, warm_up: Any, probe: Any, heat: Heat) -> None:
        self.prepared = prepared
        self.compiled: Plan | None = compiled
        self.warm_up = warm_up
        self.controller = warm_up.controller
        self.probe = probe
        self.heat = heat
        self.guard = native_plan(prepared.capture, None)
        self.times: list[float] = []
        self.numpys_turn = False
        self.slower: list[float] = []
        self.plan = Plan(self.enter, self.guard.source, prepared.capture, reason=self)

    def enter(self, *values: Any) -> Any:
        """One call: a timed run of the compiled plan, or of the statements."""
        compiled = self.compiled
        if compiled is None or self.numpys_turn:
            if self.guard.call(*values) is None:
                return None
            self.numpys_turn = False
            self.probe.heat = self.heat
            return NATIVE
        start = time.perf_counter()
        result = compiled.call(*values)
        seconds = time.perf_counter() - start
        if result is not None and result is not NATIVE:
            self.times.append(seconds)
            self.numpys_turn = self.heat.best < SHORT
            hopeless = len(self.times) >= 2 and min(self.times) > HOPELESS * self.heat.best
            if len(self.times) >= TIMED_RUNS or hopeless:
                self._decide()
        return result

    def _decide(self) -> None:
        """Keep a plan that is faster than NumPy; else try the other rung for its loops, once; else go back to NumPy."""
        best, numpy_seconds, compiled = min(self.times), self.heat.best, self.compiled
        if compiled is None:
            return  # another thread has decided
        if best <= KEEP_BELOW * numpy_seconds or self.controller.config.check:  # a check runs NumPy beside the plan
            self.controller.replace(self.probe, self.plan, compiled)
            if not self.slower:  # later processes begin with the first rung
                self.warm_up.remember(self.probe, self.heat, Verdict(True, numpy_seconds, best, self.prepared.seconds))
            return
        self.compiled = None
        passes = None if self.slower else other_rung(self.prepared)
        self.slower.append(best)
        if passes is None or not BACKGROUND.submit(lambda: self._take(passes)):
            self._lose()

    def _take(self, passes: tuple[Pass, ...]) -> None:
        """Compile with other passes and try again."""
        try:
            prepared = prepare(self.prepared.capture, self.controller.config, passes=passes)
            compiled = self.controller.compile(prepared, self.probe)
        except Exception as error:
            log.debug("the other rung could not be compiled", exc_info=error)
            self._lose()
            return
        self.controller.rungs[self.probe.region.number] = passes
        self.prepared, self.times, self.compiled = prepared, [], compiled

    def _lose(self) -> None:
        """Such calls are NumPy's from now on."""
        best, numpy_seconds, region = min(self.slower), self.heat.best, self.probe.region
        self.controller.rungs.pop(region.number, None)
        detail = f"{best * 1e3:.3g} ms compiled, {numpy_seconds * 1e3:.3g} ms in NumPy"
        line = self.controller.tree.source.line(region.statements[0])
        native = native_plan(self.prepared.capture, Reason("slower", detail, line))
        self.controller.replace(self.probe, self.plan, native)
        self.warm_up.remember(self.probe, self.heat, Verdict(False, numpy_seconds, best, self.prepared.seconds))
