"""XLA's options for a plan that is kept: others are compiled in the background, and take turns with it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from autojit.compile.options import next_option
from autojit.runtime import heat, plans
from autojit.runtime.background import BACKGROUND
from autojit.runtime.compiler import Prepared
from autojit.runtime.interrupts import comes_from_a_signal, is_the_programs
from autojit.runtime.plan import NATIVE, Plan

log = logging.getLogger("autojit")

#: Plans that take fewer seconds stay as they are: entering them is a good part of it.
SHORTEST = 50e-6
#: How many times as long as a further compilation a plan must have run, and as one slow run of what is tried.
PAYS = 4.0
#: How many runs of each are timed.
RUNS = 6
#: What is tried must need at most this fraction of the time ...
BETTER = 0.95
#: ... and is given up after two runs that took more than this many times as long ...
HOPELESS = 1.5
#: ... or one that took this many times as long.
VERY_HOPELESS = 4.0


class Tuning:
    """Tries other options for a plan, one after the other, while it is used. It takes part as that plan.

    Args:
        controller: The function's.
        probe: The region's.
        prepared: What was compiled.
        compiled: The plan.
        seconds: How long a run takes.
        tried: Choices of options that were slower.
        note: Takes the choice that has won and its seconds, at the end.
    """

    def __init__(
        self,
        controller: Any,
        probe: Any,
        prepared: Prepared,
        compiled: Plan,
        seconds: float,
        tried: Iterable[str],
        note: Callable[[str, float], None],
    ) -> None:
        self.controller = controller
        self.probe = probe
        self.prepared = prepared
        self.best = compiled
        self.seconds = seconds
        self.tried = {*tried, prepared.recipe.choice}
        self.note = note
        self.plan = replace(compiled, call=self.enter)
        self.choice: str | None = None
        self.rival: Plan | None = None
        #: The times of the best plan and of the rival.
        self.times: tuple[list[float], list[float]] = ([], [])
        self.turns = 0
        #: How long the plan has run since the last trial, and how long it must have before the next one.
        self.spent, self.price = 0.0, 0.0
        self._lock = threading.RLock()  # a signal handler may make such a call, too
        self._look_on()

    @property
    def is_over(self) -> bool:
        """Whether there is nothing to try."""
        return self.choice is None

    def enter(self, *values: Any) -> Any:
        """One call of the plan, or of what is tried beside it."""
        rival = self.rival
        # In turns like 0110 1001, see `Trial`.
        plan = self.best if rival is None or self.turns.bit_count() % 2 == 0 else rival
        start = time.perf_counter()
        result = plan.call(*values)
        seconds = time.perf_counter() - start
        if result is not None and result is not NATIVE:
            try:
                self._add(plan, seconds)
            except Exception as error:  # what the plan has done is done
                if comes_from_a_signal(error):
                    raise
                log.debug("options could not be tried", exc_info=error)
        return result

    def _add(self, plan: Plan, seconds: float) -> None:
        with self._lock:
            self.spent += seconds
            if self.choice is None:
                return
            if self.rival is not None:
                self.turns += 1
                self.times[plan is self.rival].append(seconds)
                self._decide(self.rival)
            elif self.spent >= self.price:
                self.price = float("inf")
                BACKGROUND.submit(self._compile)

    def _decide(self, rival: Plan) -> None:
        ours, theirs = self.times
        if not ours or not theirs:
            return
        factor = min(theirs) / min(ours)
        is_hopeless = factor > VERY_HOPELESS or (len(theirs) > 1 and factor > HOPELESS)
        if not is_hopeless and min(len(ours), len(theirs)) < RUNS:
            return
        if min(theirs) <= BETTER * min(ours):
            self.best, self.seconds = rival, min(theirs)
            self.prepared = self._with_choice()
            self.controller.recipes[self.probe.region.number] = self.prepared.recipe
        else:
            self.seconds = min(ours)
        self._next()

    def _next(self) -> None:
        assert self.choice is not None
        self.tried.add(self.choice)
        self.rival, self.times = None, ([], [])
        self._look_on()
        if self.choice is None:
            self.best.traps = self.plan.traps
            plans.replace(self.probe, self.plan, self.best)
            self.note(self.prepared.recipe.choice, self.seconds)

    def _look_on(self) -> None:
        """Choose what is tried next, and after how many seconds."""
        recipe = self.prepared.recipe
        found = next_option((step.graph for step in self.prepared.clusters), self.tried, recipe.choice)
        if found is None:
            self.choice = None
            return
        option, self.choice = found
        compiling = sum(executable.compile_seconds for executable in (self.best.executables or {}).values())
        self.spent = 0.0
        self.price = PAYS * max(heat.PAYS_AFTER, compiling, option.loss * self.seconds)

    def _with_choice(self) -> Prepared:
        assert self.choice is not None
        return replace(self.prepared, recipe=self.prepared.recipe._replace(choice=self.choice))

    def _compile(self) -> None:
        """In the background."""
        try:
            rival = self.controller.maker.compile(self._with_choice(), self.probe)
        except BaseException as error:
            if not BACKGROUND.is_here() and (not isinstance(error, Exception) or is_the_programs(error)):
                raise
            log.debug("other options could not be compiled", exc_info=error)
            with self._lock:
                self._next()
            return
        with self._lock:
            self.rival = rival


def tuned(
    controller: Any,
    probe: Any,
    prepared: Prepared,
    compiled: Plan,
    seconds: float,
    tried: Iterable[str],
    note: Callable[[str, float], None],
) -> Plan:
    """A plan for use: the one that was compiled, or one that tries other options for it. Takes what `Tuning` takes."""
    config = controller.config
    if config.check or config.exact or seconds < SHORTEST:
        return compiled
    tuning = Tuning(controller, probe, prepared, compiled, seconds, tried, note)
    return compiled if tuning.is_over else tuning.plan
