"""The `measured` policy: a compiled region is tried against the user's statements, and the faster one stays."""

from __future__ import annotations

import functools
import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autojit.compile.options import has_products, next_option
from autojit.errors import Reason, Trapped
from autojit.passes.pipeline import PIPELINE
from autojit.runtime import plans
from autojit.runtime.background import BACKGROUND
from autojit.runtime.compiler import Prepared, Recipe, other_rung, prepare
from autojit.runtime.heat import HOPELESS, KEEP_BELOW, PAYS_AFTER, VERY_HOPELESS, Heat
from autojit.runtime.interrupts import comes_from_a_signal, is_the_programs
from autojit.runtime.plan import NATIVE, Plan
from autojit.runtime.plan_writer import native_plan
from autojit.runtime.remembered import Verdict
from autojit.runtime.tuning import tuned

log = logging.getLogger("autojit")

#: NumPy is not timed a second time where that takes more seconds ...
LONG = 0.1
#: ... and not at all, but while XLA compiles, where the plan is this many times as fast.
BEYOND_DOUBT = 2.0
#: How many runs of a plan are timed; the first ones touch new memory.
TIMED_RUNS = 4
#: Where NumPy multiplies matrices the two take turns in blocks of so many seconds, or so many runs: the threads of its
#: library spin for some 60 ms after a product, and what comes next takes up to twice as long.
BLOCK, LONGEST_BLOCK = 0.15, 64
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
        verdict: What an earlier process has measured.
    """

    is_trial = True

    def __init__(
        self, prepared: Prepared, warm_up: Any, probe: Any, kind: tuple[Any, ...], verdict: Verdict | None = None
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
        self.is_tuned = False
        if verdict is not None and verdict.wins:
            self.rough.add(verdict.numpy_seconds)
            self.is_tuned = verdict.choice is not None
            self.prepared = replace(prepared, recipe=Recipe(choice=verdict.choice or ""))
        self.times: list[float] = []
        self.turns = 0
        #: How many blocks have ended, whose turn it is, and how far the block that runs has come.
        self.blocks, self._is_numpys_block, self._seconds, self._runs = 0, False, 0.0, 0
        #: What was slower than NumPy, with its times.
        self.slower: list[tuple[float, Prepared]] = []
        #: What is compiled next, when NumPy has taken so many seconds more.
        self._next: tuple[float, Callable[[], Prepared]] | None = None
        self.plan = Plan(self.enter, self.guard.source, prepared.capture, reason=self)
        self._lock = threading.RLock()  # a signal handler may make such a call, too

    # ---- in the background

    def compile(self) -> None:
        """Make the plan."""
        self._attempt(lambda: self.prepared)

    def _attempt(self, prepared: Callable[[], Prepared]) -> None:
        try:
            self.prepared = prepared()
            compiled = self.controller.maker.compile(self.prepared, self.probe)
            self.controller.recipes[self.probe.region.number] = self.prepared.recipe
            with self._lock:
                self.times, self.compiled = [], compiled
                self.blocks, self._is_numpys_block = 0, False
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
            if compiled is not None:
                self._took_turn(True, self.numpy.best)  # the time of an earlier run: this one's is not known yet
            if self.error is not None:
                self._fail()
            self.controller.trouble.of_the_disk()
            if self._next is not None:
                self._go_on()
            self.probe.time(self.rough if compiled is None else self.numpy)
            return NATIVE
        start = time.perf_counter()
        try:
            result = compiled.call(*values)
        except Trapped:  # NumPy takes this call, after all that the plan has done in vain
            self._took_turn(False, math.inf)
            self._note(compiled, math.inf)
            raise
        seconds = time.perf_counter() - start
        if result is not None and result is not NATIVE:
            self._took_turn(False, seconds)
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
        return self._is_numpys_block if self._in_blocks else self.turns.bit_count() % 2 == 1

    @functools.cached_property
    def _in_blocks(self) -> bool:
        return any(has_products(step.graph) for step in self.prepared.clusters)

    def _took_turn(self, is_numpys: bool, seconds: float) -> None:
        with self._lock:
            self.turns += 1
            if is_numpys is self._is_numpys_block:
                self._seconds, self._runs = self._seconds + seconds, self._runs + 1
                if self._seconds >= BLOCK or self._runs >= LONGEST_BLOCK:
                    self.blocks, self._is_numpys_block = self.blocks + 1, not is_numpys
                    self._seconds, self._runs = 0.0, 0

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
            is_enough = self.blocks >= 3 if self._in_blocks and seconds < LONG else runs >= TIMED_RUNS
            return seconds if hopeless or is_enough else 0.0
        return self.rough.best if self.rough.best >= max(LONG, BEYOND_DOUBT * best) else 0.0

    def _decide(self, compiled: Plan, best: float, numpy_seconds: float) -> None:
        """Keep a plan that is faster than NumPy; else try the other rung for its loops, once, and XLA's options."""
        if best <= KEEP_BELOW * numpy_seconds or self.controller.config.check:  # a check runs NumPy beside the plan
            self._win(compiled, best, numpy_seconds)
            return
        self.slower.append((best, self.prepared))
        self._next = None if best == math.inf else self._other_way(numpy_seconds)
        if self._next is None:
            self._lose(numpy_seconds)
        else:
            self._remember(False, best, numpy_seconds)  # as things are
            self._go_on()

    def _win(self, compiled: Plan, best: float, numpy_seconds: float) -> None:
        recipe = self.prepared.recipe

        def note(choice: str | None, seconds: float) -> None:
            # Later processes begin with the first rung.
            if recipe.passes is PIPELINE and not self.controller.config.check:
                self._remember(True, seconds, numpy_seconds, choice)

        note(recipe.choice if self.is_tuned else None, best)
        if not self.is_tuned:
            tried = [prepared.recipe.choice for _, prepared in self.slower]
            compiled = tuned(self.controller, self.probe, self.prepared, compiled, best, tried, note)
        plans.replace(self.probe, self.plan, compiled)

    def _other_way(self, numpy_seconds: float) -> tuple[float, Callable[[], Prepared]] | None:
        """What else may be faster than NumPy, and how long NumPy must have taken before it is tried."""
        config = self.controller.config
        if len(self.slower) == 1 and (passes := other_rung(self.prepared)) is not None:
            capture = self.prepared.capture
            return 0.0, lambda: prepare(capture, config, recipe=Recipe(passes))
        best, prepared = min(self.slower, key=lambda one: one[0])
        recipe, tried = prepared.recipe, [prepared.recipe.choice for _, prepared in self.slower]
        found = next_option((step.graph for step in prepared.clusters), tried, recipe.choice)
        if config.exact or found is None or best > found[0].gain * KEEP_BELOW * numpy_seconds:
            return None
        option, choice = found
        recipe = recipe._replace(choice=choice)
        return self._numpy_spent + option.loss * best - PAYS_AFTER, lambda: replace(prepared, recipe=recipe)

    def _go_on(self) -> None:
        """Compile what is tried next, when its time has come."""
        with self._lock:
            if self._next is None or self._numpy_spent < self._next[0]:
                return
            (_, prepared), self._next = self._next, None
        if not BACKGROUND.submit(lambda: self._attempt(prepared)):
            self._lose(self.numpy.best or self.rough.best)

    @property
    def _numpy_spent(self) -> float:
        """How long NumPy has taken for such calls since the capture."""
        return self.numpy.seconds + self.rough.seconds

    def _lose(self, numpy_seconds: float) -> None:
        """Such calls are NumPy's from now on."""
        best = min(seconds for seconds, _ in self.slower)
        self.controller.recipes.pop(self.probe.region.number, None)
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
            log.debug("what was tried next could not be compiled", exc_info=error)
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

    def _remember(self, wins: bool, best: float, numpy_seconds: float, choice: str | None = None) -> None:
        verdict = Verdict(wins, numpy_seconds, best, self.prepared.seconds, choice)
        self.warm_up.remember(self.probe, self.numpy.kind, verdict)


def try_later(warm_up: Any, probe: Any, heat: Heat, prepared: Prepared) -> Trial | None:
    """Have a captured call compiled in the background, while NumPy takes it and those like it.

    Where an earlier process has found that this call is faster even if it waits, and left its programs, they are
    loaded at once, and the trial is for this call already.
    """
    controller = warm_up.controller
    verdict, heat.verdict = heat.verdict, None
    trial = Trial(prepared, warm_up, probe, heat.kind, verdict)
    waits = verdict is not None and verdict.pays_at_once and controller.maker.is_at_hand(trial.prepared, probe)
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
