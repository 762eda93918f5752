"""Doubts: a plan that was kept is compared with NumPy again from time to time.

Calls of one kind may be given other data, for which NumPy takes a shorter way than before.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from autojit.errors import Reason
from autojit.logs import log
from autojit.runtime import plans
from autojit.runtime.heat import LAST, Heat
from autojit.runtime.interrupts import comes_from_outside
from autojit.runtime.plan import NATIVE, Plan
from autojit.runtime.plan_writer import native_plan
from autojit.runtime.turns import LONGEST_BLOCK, Turns

#: How many calls of each are timed.
RUNS = 4
#: What part of a plan's time NumPy's calls may take, and how many answered calls lie between two looks at least; each
#: look that finds the plan to be faster doubles that, so often.
SHARE, LEAST, DOUBLINGS = 0.01, 500, 8
#: NumPy must take less than this part of the plan's time, at so many looks in a row.
FASTER, STRIKES = 0.8, 2
#: A look that has not ended after so many calls ends without a verdict.
_MOST = 16 * RUNS
#: A plan that has won by less than this part of NumPy's time is looked at sooner: call by call in turns with NumPy's it
#: may have found other caches than it does alone, so that each has a block of calls now. Then the faster one stays.
CLOSE, SOON, FASTER_IF_CLOSE = 0.8, 64, 0.95


def is_close(plan: Plan) -> bool:
    """Whether a plan has won by little, and has not been looked at since."""
    return not plan.looks and plan.seconds > CLOSE * plan.numpy_seconds


def hits_until(plan: Plan) -> int:
    """After how many answered calls a plan is compared again."""
    if is_close(plan):
        return min(SOON, LEAST)
    calls = RUNS * plan.numpy_seconds / (SHARE * plan.seconds) if plan.seconds else 0
    return max(LEAST, int(calls)) << min(plan.looks, DOUBLINGS)


def look_again(controller: Any, probe: Any, plan: Plan) -> None:
    """Compare a plan with NumPy at the calls that come, which it has answered often enough."""
    probe.doubts_at = probe.hits + 4 * hits_until(plan)  # something else may take the plan's place before the end
    if not plan.numpy_seconds or controller.config.check:
        return
    try:
        plan.call = _Doubt(controller, probe, plan).enter
    except Exception as error:  # the call that leads here has been answered
        if comes_from_outside(error):
            raise
        log.debug("a plan could not be compared again", exc_info=error)


class _Doubt:
    """One look; it takes the place of the plan's function."""

    def __init__(self, controller: Any, probe: Any, plan: Plan) -> None:
        self.controller, self.probe, self.plan = controller, probe, plan
        self.call = plan.call
        self.guard = native_plan(plan.capture, None)
        self.is_close = is_close(plan)
        self.turns = Turns(in_blocks=self.is_close)
        self.times: list[float] = []
        self.numpy = Heat(())
        self.calls = 0
        self._lock = threading.RLock()  # a signal handler may make such a call, too

    def enter(self, *values: Any) -> Any:
        """One call, in turns."""
        if self.turns.is_seconds:
            if self.guard.call(*values) is None:
                return None
            self._took(0.0)
            self.probe.time(self.numpy)
            return NATIVE
        start = time.perf_counter()
        result = self.call(*values)
        seconds = time.perf_counter() - start
        if result is not None and result is not NATIVE:
            self.times.append(seconds)
            self._took(seconds)
        return result

    def _took(self, seconds: float) -> None:
        try:
            with self._lock:
                self.turns.took(seconds)
                self.calls += 1
                is_enough = min(len(self.times), self.numpy.calls) >= (LAST if self.is_close else RUNS)
                most = 2 * _MOST + LONGEST_BLOCK if self.is_close else _MOST
                if self.plan.call == self.enter and (is_enough or self.calls >= most):
                    self.plan.call = self.call
                    self._decide(is_enough)
        except Exception as error:  # what the plan has done is done
            if comes_from_outside(error):
                raise
            log.debug("a plan could not be compared again", exc_info=error)

    def _decide(self, is_enough: bool) -> None:
        plan, probe = self.plan, self.probe
        limit = FASTER_IF_CLOSE if self.is_close else FASTER
        loses = is_enough and all(theirs < limit * ours for ours, theirs in zip(*map(_typical, self._both)))
        plan.strikes = plan.strikes + 1 if loses else 0
        if plan.strikes >= STRIKES:
            self._leave()
            return
        plan.looks += not loses
        probe.doubts_at = probe.hits + (RUNS if loses else hits_until(plan))

    @property
    def _both(self) -> tuple[list[float], list[float]]:
        return self.times[-LAST:], list(self.numpy.last)

    def _leave(self) -> None:
        """Such calls are NumPy's from now on."""
        controller, probe, plan = self.controller, self.probe, self.plan
        ours, theirs = (min(times) * 1e3 for times in self._both)
        line = controller.line(probe)
        reason = Reason("slower", f"{ours:.3g} ms compiled, {theirs:.3g} ms in NumPy, for the data of late", line)
        controller.history.note("left", probe.region, detail=reason.detail)
        plans.replace(probe, plan, native_plan(plan.capture, reason))
        controller.ask_early(probe.region, True)
        controller.idle(probe)


def _typical(times: list[float]) -> tuple[float, float]:
    """The shortest and the middle one, of an even number the longer."""
    return min(times), sorted(times)[len(times) // 2]
