"""Doubts: a plan that was kept is compared with NumPy again from time to time.

Calls of one kind may be given other data, for which NumPy takes a shorter way than before. And what a plan gains may be
lost around it: its results lie in the caches of other processors, or NumPy's memory is new again at each call.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from autojit.errors import Reason
from autojit.logs import log
from autojit.runtime import plans
from autojit.runtime.background import BACKGROUND
from autojit.runtime.heat import LAST, Heat
from autojit.runtime.interrupts import comes_from_outside
from autojit.runtime.locks import if_free
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
#: A plan that takes more than this part of NumPy's time is compared in blocks: call by call in turns it may find other
#: caches than it does alone. The first look comes sooner. Then the faster one stays.
CLOSE, SOON, FASTER_IF_CLOSE = 0.5, 64, 0.95
#: A round lasts from one call to the next, in a block; of long calls there are too few. Rounds count if NumPy's call
#: takes at least this part of one, ...
IN_ROUND = 1 / 64
#: ... and if the usual one takes at most so many times as long as the shortest.
STEADY = 1.25
#: Those of NumPy's calls must take less than this part of the plan's.
FASTER_ROUND = 0.98

_numbers = itertools.count()


def is_close(plan: Plan) -> bool:
    """Whether a plan takes more than `CLOSE` of NumPy's time."""
    return plan.seconds > CLOSE * plan.numpy_seconds


def hits_until(plan: Plan) -> int:
    """After how many answered calls a plan is compared again."""
    if is_close(plan) and not plan.looks:
        return min(SOON, LEAST)
    runs = LAST if is_close(plan) else RUNS
    calls = runs * plan.numpy_seconds / (SHARE * plan.seconds) if plan.seconds else 0
    return max(LEAST, int(calls)) << min(plan.looks, DOUBLINGS)


def look_again(controller: Any, probe: Any, plan: Plan) -> None:
    """Compare a plan with NumPy at the calls that come, which it has answered often enough."""
    probe.doubts_at = probe.hits + 4 * hits_until(plan)  # something else may take the plan's place before the end
    if not plan.numpy_seconds or controller.config.check:
        return
    if is_close(plan) and BACKGROUND.is_busy():  # what is compiled takes processors from both
        probe.doubts_at = probe.hits + min(SOON, LEAST)
        return
    try:
        plan.call = Doubt(controller, probe, plan).enter
    except Exception as error:  # the call that leads here has been answered
        if comes_from_outside(error):
            raise
        log.debug("a plan could not be compared again", exc_info=error)


class Doubt:
    """One look; it takes the place of the plan's function."""

    #: Of all looks: whose the last call was, whether NumPy's, which thread's, and when it began.
    last: tuple[int, bool, int, float] = -1, False, 0, 0.0

    def __init__(self, controller: Any, probe: Any, plan: Plan) -> None:
        self.controller, self.probe, self.plan = controller, probe, plan
        self.call = plan.call
        self.guard = native_plan(plan.capture, None)
        self.is_close = is_close(plan)
        self.turns = Turns(in_blocks=self.is_close)
        self.times: list[float] = []
        self.numpy = Heat(())
        #: The last rounds of the plan and of NumPy.
        self.rounds: tuple[deque[float], deque[float]] = deque(maxlen=LAST), deque(maxlen=LAST)
        self.number = next(_numbers)
        #: Where rounds become shorter and shorter, NumPy would win both looks if it came last in both.
        self.numpy_begins = self.is_close and plan.strikes % 2 == 1
        #: Whether something was compiled meanwhile.
        self.is_disturbed = False
        self.calls = 0
        self._lock = threading.RLock()  # a signal handler may make such a call, too

    def enter(self, *values: Any) -> Any:
        """One call, in turns."""
        start = perf_counter()
        if self.turns.is_seconds != self.numpy_begins:
            if self.guard.call(*values) is None:
                return None
            self._begun(True, start)
            self._took(self.numpy.best)  # what an earlier run took: this one is to come
            self.probe.time(self.numpy)
            return NATIVE
        result = self.call(*values)
        seconds = perf_counter() - start
        if result is not None and result is not NATIVE:
            self._begun(False, start)
            self.times.append(seconds)
            self._took(seconds)
        return result

    def _begun(self, is_numpys: bool, start: float) -> None:
        """A call has begun: a round has ended, if the last call of any look was of the same kind."""
        *before, since = Doubt.last
        now = self.number, is_numpys, threading.get_ident()
        Doubt.last = *now, start
        if now == tuple(before):
            self.rounds[is_numpys].append(start - since)

    def _took(self, seconds: float) -> None:
        try:
            with if_free(self._lock) as is_free:
                if not is_free:
                    return
                self.turns.took(seconds)
                self.calls += 1
                self.is_disturbed |= self.is_close and BACKGROUND.is_busy()
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
        is_fair = is_enough and not self.is_disturbed
        loses = is_fair and (_are_faster(self._both, limit) or self._loses_in_rounds())
        plan.strikes = plan.strikes + 1 if loses else 0
        if plan.strikes >= STRIKES:
            self._leave()
            return
        plan.looks += not loses and not self.is_disturbed
        probe.doubts_at = probe.hits + (RUNS if loses else hits_until(plan))

    def _loses_in_rounds(self) -> bool:
        """Whether more is lost between its calls than it gains."""
        if not self.is_close or any(len(rounds) < LAST - 1 for rounds in self.rounds):
            return False
        are_steady = all(usual <= STEADY * least for least, usual in map(_typical, self.rounds))
        is_part = min(self.numpy.last) >= IN_ROUND * min(self.rounds[True])
        return are_steady and is_part and _are_faster(self.rounds, FASTER_ROUND)

    @property
    def _both(self) -> tuple[list[float], list[float]]:
        return self.times[-LAST:], list(self.numpy.last)

    def _leave(self) -> None:
        """Such calls are NumPy's from now on."""
        controller, probe, plan = self.controller, self.probe, self.plan
        ours, theirs = (min(times) * 1e3 for times in self._both)
        detail = f"{ours:.3g} ms compiled, {theirs:.3g} ms in NumPy, for the data of late"
        if self._loses_in_rounds():
            ours, theirs = (min(rounds) * 1e3 for rounds in self.rounds)
            detail = f"{ours:.3g} ms from one call to the next, {theirs:.3g} ms where NumPy takes it"
        reason = Reason("slower", detail, controller.line(probe))
        controller.history.note("left", probe.region, detail=reason.detail)
        plans.replace(probe, plan, native_plan(plan.capture, reason))
        plans.ask_early(probe)
        controller.idle(probe)


def _are_faster(both: Sequence[Sequence[float]], limit: float) -> bool:
    """Whether NumPy, the second of the two, takes less than this part of the first one's time, at best and usually."""
    return all(theirs < limit * ours for ours, theirs in zip(*map(_typical, both), strict=True))


def _typical(times: Sequence[float]) -> tuple[float, float]:
    """The shortest and the middle one, of an even number the longer."""
    return min(times), sorted(times)[len(times) // 2]
