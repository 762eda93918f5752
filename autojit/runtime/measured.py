"""The `measured` policy: a compiled region is tried against the user's statements, and the faster one stays."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
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
#: NumPy is not timed again where that takes more seconds.
LONG = 0.1
#: How many runs of a plan are timed; the first ones touch new memory.
TIMED_RUNS = 4


class Trial:
    """Measures a captured region against the user's statements, and decides.

    It takes part as a plan: its calls are NumPy's until the region is compiled. Then they go to the compiled plan and
    to NumPy in turns, or the machine's load would decide; where NumPy takes long, the call that was captured counts.

    Args:
        prepared: What is compiled.
        warm_up: What had it captured.
        probe: The region's.
        kind: Of the calls.
    """

    def __init__(self, prepared: Prepared, warm_up: Any, probe: Any, kind: tuple[Any, ...]) -> None:
        self.prepared = prepared
        self.warm_up = warm_up
        self.controller = warm_up.controller
        self.probe = probe
        self.guard = native_plan(prepared.capture, None)
        self.compiled: Plan | None = None
        self.error: BaseException | None = None
        #: NumPy's times for the calls that the plan would take.
        self.numpy = Heat(kind)
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
            compiled = self.controller.compile(self.prepared, self.probe)
            with self._lock:
                self.times, self.compiled = [], compiled
        except BaseException as error:  # nobody else would tell it
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
            self.probe.time(self.numpy)
            return NATIVE
        start = time.perf_counter()
        result = compiled.call(*values)
        seconds = time.perf_counter() - start
        if result is not None and result is not NATIVE:
            self.turns += 1
            try:
                self._note(compiled, seconds)
            except Exception as error:  # what the plan has done is done
                log.debug("a trial could not be decided", exc_info=error)
        return result

    def _is_numpys_turn(self) -> bool:
        """The two take turns like 0110 1001: then calls that differ in some order of their own count alike."""
        return self.numpy.best < LONG and self.turns.bit_count() % 2 == 1

    def _note(self, compiled: Plan, seconds: float) -> None:
        with self._lock:
            if compiled is not self.compiled:
                return  # another thread has decided
            self.times.append(seconds)
            hopeless = len(self.times) >= 2 and min(self.times) > HOPELESS * self.numpy.best
            if self.numpy.calls and (len(self.times) >= TIMED_RUNS or hopeless):
                self.compiled = None
                self._decide(compiled, min(self.times), self.numpy.best)

    def _decide(self, compiled: Plan, best: float, numpy_seconds: float) -> None:
        """Keep a plan that is faster than NumPy; else try the other rung for its loops, once; else go back to NumPy."""
        if best <= KEEP_BELOW * numpy_seconds or self.controller.config.check:  # a check runs NumPy beside the plan
            self.controller.replace(self.probe, self.plan, compiled)
            self.controller.tell_trouble()
            if not self.slower and not self.controller.config.check:  # later processes begin with the first rung
                self._remember(True, best)
            return
        passes = None if self.slower else other_rung(self.prepared)
        self.slower.append(best)
        if passes is None or not BACKGROUND.submit(lambda: self._compile_again(passes)):
            self._lose(numpy_seconds)

    def _lose(self, numpy_seconds: float) -> None:
        """Such calls are NumPy's from now on."""
        best = min(self.slower)
        self.controller.rungs.pop(self.probe.region.number, None)
        self._leave(
            Reason("slower", f"{best * 1e3:.3g} ms compiled, {numpy_seconds * 1e3:.3g} ms in NumPy", self._line)
        )
        self._remember(False, best)

    def _fail(self) -> None:
        """Compiling has failed: tell it where it can be caught, and has the user's line."""
        with self._lock:
            error, self.error = self.error, None
        if error is None:
            return  # another thread tells it
        if self.slower:
            log.debug("the other rung could not be compiled", exc_info=error)
            self._lose(self.numpy.best)
            return
        self._leave(Reason("internal", f"compiling failed: {error}", self._line))
        self.controller.tell_failure(error)

    def _leave(self, reason: Reason) -> None:
        self.controller.replace(self.probe, self.plan, native_plan(self.prepared.capture, reason))
        self.controller.idle(self.probe)

    @property
    def _line(self) -> Any:
        return self.controller.tree.source.line(self.probe.region.statements[0])

    def _remember(self, wins: bool, best: float) -> None:
        verdict = Verdict(wins, self.numpy.best, best, self.prepared.seconds)
        self.warm_up.remember(self.probe, self.numpy.kind, verdict)
