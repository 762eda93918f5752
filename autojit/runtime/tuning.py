"""The options of a plan that is kept: others are compiled in the background, and take turns with it."""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, NamedTuple

from autojit.compile.executable import Executable
from autojit.compile.service import SERVICE
from autojit.errors import Trapped
from autojit.logs import log
from autojit.runtime import heat, plans
from autojit.runtime.allowance import ALLOWANCE, MOST_BESIDE, lost, part_of_compiling
from autojit.runtime.background import BACKGROUND
from autojit.runtime.compiler import Prepared, note_recipe
from autojit.runtime.interrupts import comes_from_outside, is_the_programs
from autojit.runtime.locks import if_free
from autojit.runtime.plan import NATIVE, Plan
from autojit.runtime.rivals import is_apart, largest_loss, next_choice, with_choice
from autojit.runtime.turns import Turns

#: Plans that take fewer seconds stay as they are: entering them is a good part of it.
SHORTEST = 50e-6
#: How many times as long as a further compilation a plan must have run, and as the slowest run that may come.
PAYS = 4.0
#: How many runs of each are timed, after one that is not: the first one touches new memory.
RUNS = 6
#: ... but fewer where it has run for so many seconds: other programs may have been in its way.
_LOSES_AFTER = 0.03
#: Where NumPy's products and others take turns, so many blocks have ended by then.
_BLOCKS = 2
#: What is tried must need at most this fraction of the time ...
BETTER = 0.95
#: ... and is given up after two timed runs that took more than this many times as long ...
HOPELESS = 1.5
#: ... or one that took this many times as long.
VERY_HOPELESS = 4.0
#: Compiling a program takes about so many times as long as loading it.
_LOADING = 20.0

#: Takes a choice of options, the seconds of a run with it, and whether there is nothing left to try.
Remember = Callable[[str, float, bool], None]


class _Race:
    """A plan with other options against the one in use.

    Args:
        choice: The options.
        price: How many seconds the plan in use must have run before the other one is compiled.
        in_blocks: Whether one of them, and only one, has matrix products of NumPy's.
        cost: How many seconds the program may lose by it.
    """

    def __init__(self, choice: str, price: float, in_blocks: bool = False, cost: float = 0.0) -> None:
        self.choice = choice
        self.price = price
        self.cost = cost
        self.spent = 0.0
        self.is_compiling = False
        self.rival: Plan | None = None
        self.prepared: Prepared | None = None
        self.turns = Turns(in_blocks)
        self._times: dict[bool, list[float]] = {False: [], True: []}

    def add(self, is_rivals: bool, seconds: float) -> None:
        """Note a run."""
        self.turns.took(seconds)
        self._times[is_rivals].append(seconds)

    @property
    def seconds(self) -> tuple[float, float]:
        """The shortest timed runs, ours and the rival's; infinite where there is none."""
        ours, theirs = (min(times[1:], default=float("inf")) for times in self._times.values())
        return ours, theirs

    @property
    def loss(self) -> float:
        """How many seconds the rival's runs have taken more than ours."""
        ours, _ = self.seconds
        return sum(seconds - ours for seconds in self._times[True] if ours < seconds < math.inf)

    @property
    def is_over(self) -> bool:
        """Whether the runs decide."""
        (ours, theirs), runs = self.seconds, min(map(len, self._times.values())) - 1
        if runs < 1 or (self.turns.in_blocks and self.turns.blocks < _BLOCKS):
            return False
        if runs >= RUNS:
            return True
        is_hopeless = theirs > VERY_HOPELESS * ours or (runs > 1 and theirs > HOPELESS * ours)
        return is_hopeless and sum(self._times[True]) >= _LOSES_AFTER


class _State(NamedTuple):
    """The plan in use, what it was compiled from, the choices that were tried, and what is tried now, if anything is.

    It is replaced as a whole: an exception from outside may come between any two steps.
    """

    plan: Plan
    prepared: Prepared
    seconds: float
    tried: frozenset[str]
    race: _Race | None


class Tuning:
    """Tries other options for a plan, one after the other, while it is used. It stands in the plan's place.

    Args:
        controller: The function's.
        probe: The region's.
        prepared: What was compiled.
        compiled: The plan.
        seconds: How long a run takes.
        tried: Choices of options that were slower.
        remember: Is told what has won, each time, and at the end.
    """

    def __init__(
        self,
        controller: Any,
        probe: Any,
        prepared: Prepared,
        compiled: Plan,
        seconds: float,
        tried: Iterable[str],
        remember: Remember,
    ) -> None:
        self.controller = controller
        self.probe = probe
        self.remember = remember
        self.plan = copy.copy(compiled)
        self.plan.call = self.enter
        self._lock = threading.RLock()  # a signal handler may make such a call, too
        self.state = self._looked_on(compiled, prepared, seconds, frozenset([*tried, prepared.recipe.choice]))

    def begin(self) -> bool:
        """Stand in the plan's place, if there is anything to try and it may pay; whether that is so."""
        state = self.state
        if state.seconds < SHORTEST or state.race is None:
            return False
        plans.replace(self.probe, state.plan, self.plan)
        return True

    def enter(self, *values: Any) -> Any:
        """One call of the plan in use, or of what is tried beside it."""
        state = self.state
        race = state.race
        is_rivals = race is not None and race.rival is not None and race.turns.is_seconds
        start = perf_counter()
        if is_rivals:
            assert race is not None and race.rival is not None
            try:
                result = race.rival.call(*values)
            except Trapped:  # or it would be asked again and again
                self._add(race, True, math.inf)
                raise
            except Exception as error:
                if is_the_programs(error):
                    raise
                self._end(race, error)
                return state.plan.call(*values)
        else:
            result = state.plan.call(*values)
        seconds = perf_counter() - start
        if race is not None and result is not None and result is not NATIVE:
            try:
                self._add(race, is_rivals, seconds)
            except Exception as error:  # what the plan has done is done
                if comes_from_outside(error):
                    raise
                log.debug("options could not be tried", exc_info=error)
        return result

    def _add(self, race: _Race, is_rivals: bool, seconds: float) -> None:
        with if_free(self._lock) as is_free:
            if not is_free or race is not self.state.race:
                return  # another thread decides, or has decided
            if race.rival is not None:
                race.add(is_rivals, seconds)
                if race.is_over:
                    self._decide(race)
                return
            race.spent += seconds
            if race.spent >= race.price and not race.is_compiling:
                may = not ALLOWANCE.has_no(race.cost)
                race.is_compiling = may and BACKGROUND.submit(lambda: self._compile(race))
                race.spent = 0.0 if may else race.price / 2  # or where there is no thread for it, later

    def _compile(self, race: _Race) -> None:
        """In the background."""
        prepared = self.state.prepared
        try:
            with ALLOWANCE.spending(part_of_compiling() if BACKGROUND.is_here() else 1.0):
                race.prepared = with_choice(prepared, race.choice, self.controller.config)
                rival = self.controller.maker.compile(race.prepared, self.probe)
        except BaseException as error:
            if not BACKGROUND.is_here() and (not isinstance(error, Exception) or is_the_programs(error)):
                raise
            self._end(race, error)
            return
        with self._lock:
            race.rival = rival

    def _decide(self, race: _Race) -> None:
        ours, theirs = race.seconds
        ALLOWANCE.spend(race.loss)
        plan, prepared, _, tried, _ = self.state
        if theirs <= BETTER * ours:
            assert race.rival is not None and race.prepared is not None
            self._go_on(race.rival, race.prepared, theirs, tried | {race.choice})
        else:
            self._go_on(plan, prepared, ours, tried | {race.choice})

    def _end(self, race: _Race, error: BaseException) -> None:
        """What is tried has failed."""
        log.debug("other options failed", exc_info=error)
        ALLOWANCE.spend(race.loss)
        with self._lock:
            if race is self.state.race:
                plan, prepared, seconds, tried, _ = self.state
                self._go_on(plan, prepared, seconds, tried | {race.choice})

    def _go_on(self, plan: Plan, prepared: Prepared, seconds: float, tried: frozenset[str]) -> None:
        state, is_new = self._looked_on(plan, prepared, seconds, tried), plan is not self.state.plan
        plan.seconds = self.plan.seconds = seconds
        plan.numpy_seconds = self.plan.numpy_seconds
        if state.race is None:
            plan.traps = self.plan.traps
            plans.replace(self.probe, self.plan, plan)
        self.state = state
        note_recipe(self.controller.recipes, prepared)
        if state.race is None or is_new:  # or a process that ends sooner leaves nothing to the next one
            self.remember(prepared.recipe.choice, seconds, state.race is None)

    def _looked_on(self, plan: Plan, prepared: Prepared, seconds: float, tried: frozenset[str]) -> _State:
        """The state in which the next option is tried, if there is one."""
        found = next_choice(prepared, tried, self.controller.config)
        if found is None:
            return _State(plan, prepared, seconds, tried, None)
        option, choice = found
        compiling = sum(map(_compile_seconds, (plan.executables or {}).values()))
        if SERVICE.is_used:  # another process, of which the program sees little; the first one's start counts, too
            compiling = min(compiling, MOST_BESIDE)
        loss = largest_loss(option, prepared) * seconds
        price = PAYS * max(heat.PAYS_AFTER, compiling, loss)
        in_blocks = is_apart(choice) != is_apart(prepared.recipe.choice)
        cost = lost(compiling, part_of_compiling()) + loss
        return _State(plan, prepared, seconds, tried, _Race(choice, price, in_blocks, cost))


def _compile_seconds(executable: Executable) -> float:
    return executable.compile_seconds * (_LOADING if executable.is_loaded else 1.0)
