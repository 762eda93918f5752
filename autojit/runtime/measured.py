"""The `measured` policy: a compiled region is tried against the user's statements, and the faster one stays."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from typing import Any

from autojit.errors import Reason, Trapped
from autojit.passes.pipeline import Pass
from autojit.runtime import plans
from autojit.runtime.background import BACKGROUND
from autojit.runtime.compiler import Prepared, other_rung, prepare
from autojit.runtime.heat import HOPELESS, KEEP_BELOW, VERY_HOPELESS, Heat
from autojit.runtime.interrupts import comes_from_a_signal, is_the_programs
from autojit.runtime.plan import NATIVE, Plan
from autojit.runtime.plan_writer import native_plan
from autojit.runtime.remembered import Verdict

log = logging.getLogger("autojit")

#: NumPy is not timed a second time where that takes more seconds ...
LONG = 0.1
#: ... and not at all, but while XLA compiles, where the plan is this many times as fast.
BEYOND_DOUBT = 2.0
#: How many runs of a plan are timed; the first ones touch new memory.
TIMED_RUNS = 4
#: A plan does not lose before it has run for so many seconds, or so often: other programs may have been in its way.
LOSES_AFTER, MOST_RUNS = 0.03, 32


class Trial:
    """Measures a captured region against the user's statements, and decides.

    It takes part as a plan: its calls are NumPy's until the region is compiled. Then they go to the compiled plan and
    to NumPy in turns, or the machine's load would decide.

    Args:
        prepared: What is compiled.
        warm_up: What had it captured.
        probe: The region's.
        kind: Of the calls.
        numpy_seconds: What an earlier process has measured for NumPy; 0.0 for nothing.
    """

    is_trial = True

    def __init__(
        self, prepared: Prepared, warm_up: Any, probe: Any, kind: tuple[Any, ...], numpy_seconds: float = 0.0
    ) -> None:
        self.prepared = prepared
        self.warm_up = warm_up
        self.controller = warm_up.controller
        self.probe = probe
        self.guard = native_plan(prepared.capture, None)
        self.compiled: Plan | None = None
        self.error: BaseException | None = None
        #: NumPy's times for the calls that the plan would take.
        self.numpy = Heat(kind)
        #: The same while XLA compiles, which takes processors from NumPy.
        self.rough = Heat(kind)
        if numpy_seconds:
            self.rough.add(numpy_seconds)
        self.times: list[float] = []
        self.turns = 0
        self.slower: list[float] = []
        self.plan = Plan(self.enter, self.guard.source, prepared.capture, reason=self)
        self._lock = threading.RLock()  # a signal handler may make such a call, too

    # ---- in the background

    def compile(self) -> None:
        """Make the plan."""
        self._attempt(lambda: self.prepared)

    def _compile_again(self, passes: tuple[Pass, ...]) -> None:
        """Make a plan with other passes."""
        region = self.probe.region.number
        self._attempt(lambda: prepare(self.prepared.capture, self.controller.config, passes=passes))
        if self.error is None:
            self.controller.rungs[region] = passes

    def _attempt(self, prepared: Callable[[], Prepared]) -> None:
        try:
            self.prepared = prepared()
            compiled = self.controller.maker.compile(self.prepared, self.probe)
            with self._lock:
                self.times, self.compiled = [], compiled
        except BaseException as error:  # nobody else would tell it
            if not BACKGROUND.is_here() and (not isinstance(error, Exception) or is_the_programs(error)):
                raise
            self.error = error

    # ---- in the foreground

    def enter(self, *values: Any) -> Any:
        """One call: a timed run of the compiled plan, or of the statements."""
        compiled = self.compiled
        if compiled is None or self._is_numpys_turn():
            if self.guard.call(*values) is None:
                return None
            self.turns += compiled is not None
            if self.error is not None:
                self._fail()
            self.controller.trouble.of_the_disk()
            self.probe.time(self.rough if compiled is None else self.numpy)
            return NATIVE
        start = time.perf_counter()
        try:
            result = compiled.call(*values)
        except Trapped:  # NumPy takes this call, after all that the plan has done in vain
            self.turns += 1
            self._note(compiled, math.inf)
            raise
        seconds = time.perf_counter() - start
        if result is not None and result is not NATIVE:
            self.turns += 1
            self._note(compiled, seconds)
        return result

    def _is_numpys_turn(self) -> bool:
        """The two take turns like 0110 1001: then calls that differ in some order of their own count alike.

        Where NumPy takes long it is timed once, and not at all if the plan is faster beyond doubt.
        """
        if self.numpy.best >= LONG:
            return False
        if not self.numpy.calls and self.rough.best >= LONG:
            return bool(self.times)
        return self.turns.bit_count() % 2 == 1

    def _note(self, compiled: Plan, seconds: float) -> None:
        try:
            with self._lock:
                if compiled is not self.compiled:
                    return  # another thread has decided
                self.times.append(seconds)
                numpy_seconds = self._reference()
                if numpy_seconds:
                    self.compiled = None
                    self._decide(compiled, min(self.times), numpy_seconds)
        except Exception as error:  # what the plan has done is done
            if comes_from_a_signal(error):
                raise
            log.debug("a trial could not be decided", exc_info=error)

    def _reference(self) -> float:
        """NumPy's time, if what was measured decides between it and the plan; else 0.0."""
        best = min(self.times)
        if self.numpy.calls:
            seconds = self.numpy.best
            runs = len(self.times)
            loses = best > KEEP_BELOW * seconds and not self.controller.config.check
            if loses and runs < MOST_RUNS and sum(self.times) < LOSES_AFTER:
                return 0.0
            hopeless = best > VERY_HOPELESS * seconds or (runs > 1 and best > HOPELESS * seconds)
            return seconds if hopeless or runs >= TIMED_RUNS else 0.0
        return self.rough.best if self.rough.best >= max(LONG, BEYOND_DOUBT * best) else 0.0

    def _decide(self, compiled: Plan, best: float, numpy_seconds: float) -> None:
        """Keep a plan that is faster than NumPy; else try the other rung for its loops, once; else go back to NumPy."""
        if best <= KEEP_BELOW * numpy_seconds or self.controller.config.check:  # a check runs NumPy beside the plan
            plans.replace(self.probe, self.plan, compiled)
            if not self.slower and not self.controller.config.check:  # later processes begin with the first rung
                self._remember(True, best, numpy_seconds)
            return
        passes = None if self.slower else other_rung(self.prepared)
        self.slower.append(best)
        if passes is None or best == math.inf or not BACKGROUND.submit(lambda: self._compile_again(passes)):
            self._lose(numpy_seconds)

    def _lose(self, numpy_seconds: float) -> None:
        """Such calls are NumPy's from now on."""
        best = min(self.slower)
        self.controller.rungs.pop(self.probe.region.number, None)
        if best == math.inf:
            self._leave(Reason("trapped", "the data raised errors", self._line))
            return
        self._leave(
            Reason("slower", f"{best * 1e3:.3g} ms compiled, {numpy_seconds * 1e3:.3g} ms in NumPy", self._line)
        )
        self._remember(False, best, numpy_seconds)

    def _fail(self) -> None:
        """Compiling has failed: tell it where it can be caught, and has the user's line."""
        with self._lock:
            error, self.error = self.error, None
        if error is None:
            return  # another thread tells it
        if self.slower:
            log.debug("the other rung could not be compiled", exc_info=error)
            self._lose(self.numpy.best or self.rough.best)
            return
        self._leave(Reason("internal", f"compiling failed: {error}", self._line))
        self.controller.trouble.of_compiling(error)

    def _leave(self, reason: Reason) -> None:
        plans.replace(self.probe, self.plan, native_plan(self.prepared.capture, reason))
        self.controller.ask_early(self.probe.region, True)
        self.controller.idle(self.probe)

    @property
    def _line(self) -> Any:
        return self.controller.tree.source.line(self.probe.region.statements[0])

    def _remember(self, wins: bool, best: float, numpy_seconds: float) -> None:
        verdict = Verdict(wins, numpy_seconds, best, self.prepared.seconds)
        self.warm_up.remember(self.probe, self.numpy.kind, verdict)


def try_later(warm_up: Any, probe: Any, heat: Heat, prepared: Prepared) -> Trial | None:
    """Have a captured call compiled in the background, while NumPy takes it and those like it.

    Where an earlier process has found that this call is faster even if it waits, and left its programs, they are
    loaded at once, and the trial is for this call already.
    """
    controller = warm_up.controller
    verdict, heat.verdict = heat.verdict, None
    seconds = verdict.numpy_seconds if verdict is not None and verdict.wins else 0.0
    trial = Trial(prepared, warm_up, probe, heat.kind, seconds)
    waits = verdict is not None and verdict.pays_at_once and controller.maker.is_at_hand(prepared, probe)
    if waits:
        trial.compile()
    plans.add(probe, trial.plan)
    controller.ask_early(probe.region, False)
    if waits:
        return trial
    if BACKGROUND.submit(trial.compile):
        probe.time(trial.rough)
    else:
        plans.remove(probe, trial.plan)
        controller.ask_early(probe.region, True)
    return None
