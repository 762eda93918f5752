"""The `measured` policy: a compiled region is tried against the user's statements, and the faster one stays."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from autojit.compile.options import has_products
from autojit.errors import NoRoom, Reason, Trapped, Varies
from autojit.logs import log
from autojit.passes.pipeline import PIPELINE
from autojit.runtime import plans
from autojit.runtime.allowance import ALLOWANCE, part_of_compiling
from autojit.runtime.background import BACKGROUND
from autojit.runtime.compiler import Prepared, Recipe, note_recipe, other_rung, prepare
from autojit.runtime.doubt import hits_until
from autojit.runtime.fuel import same_fuel
from autojit.runtime.heat import HOPELESS, KEEP_BELOW, LAST, PAYS_AFTER, VERY_HOPELESS, Heat
from autojit.runtime.interrupts import comes_from_outside, is_the_programs
from autojit.runtime.locks import if_free
from autojit.runtime.plan import NATIVE, Plan
from autojit.runtime.plan_writer import native_plan
from autojit.runtime.remembered import Verdict
from autojit.runtime.rivals import largest_gain, largest_loss, next_choice, with_choice
from autojit.runtime.trouble import left_to_numpy
from autojit.runtime.tuning import Tuning
from autojit.runtime.turns import Turns
from autojit.runtime.waiting import begin_waiting, end_waiting

#: NumPy is not timed a second time where that takes more seconds, unless the plan takes more than this part of it: then
#: as often as the plan, since either may have met with new memory, and little is lost by which of the two runs ...
LONG, CLOSE = 0.1, 0.8
#: ... and not at all, but while XLA compiles, where the plan is this many times as fast.
BEYOND_DOUBT = 2.0
#: A single run, which touches new memory, decides only where it takes more than this share of NumPy's time till then.
FIRST_RUN = 0.5
#: How many runs of a plan are timed; the first ones touch new memory ...
TIMED_RUNS = 4
#: ... or two of those that are `LONG`, where the better one takes this many times as long as NumPy.
CLEARLY_SLOWER = 1.25
#: After so many blocks a plan that takes turns in blocks has come a second time.
TIMED_BLOCKS = 2
#: A plan does not lose before it has run for so many seconds, or so often: other programs may have been in its way.
LOSES_AFTER, MOST_RUNS = 0.03, 32


class _Next(NamedTuple):
    """What is compiled next, once NumPy has taken so many seconds since the capture."""

    numpy_seconds: float
    prepare: Callable[[], Prepared]


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

    @property
    def waits(self) -> bool:
        """Whether there is nothing yet that its calls could try."""
        return self.compiled is None and self.error is None

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
        #: Whether XLA's options were all tried.
        self.is_tuned = False
        if verdict is not None and verdict.wins:
            self.rough.add(verdict.numpy_seconds)
            self.is_tuned = verdict.is_tuned
            self.prepared = with_choice(prepared, verdict.choice, self.controller.config)
        self.times: list[float] = []
        self.turns = self._new_turns()
        #: What was slower than NumPy, with its times.
        self.slower: list[tuple[float, Prepared]] = []
        #: What is compiled next, once NumPy has taken long enough.
        self.next: _Next | None = None
        self.plan = Plan(self.enter, self.guard.source, prepared.capture, reason=self)
        self._lock = threading.RLock()  # a signal handler may make such a call, too

    # ---- in the background

    def compile(self) -> None:
        """Make the plan."""
        self._attempt(lambda: self.prepared)

    def _attempt(self, prepared: Callable[[], Prepared]) -> None:
        try:
            with ALLOWANCE.spending(part_of_compiling() if BACKGROUND.is_here() else 1.0):
                self.prepared = prepared()
                compiled = self.controller.maker.compile(self.prepared, self.probe)
            with self._lock:
                self.times, self.turns, self.compiled = [], self._new_turns(), compiled
            self.probe.rouse()
        except BaseException as error:  # nobody else would tell it
            if not BACKGROUND.is_here() and (not isinstance(error, Exception) or is_the_programs(error)):
                raise
            self.error = error
        finally:
            end_waiting(self)

    # ---- in the foreground

    def enter(self, *values: Any) -> Any:
        """One call: a timed run of the compiled plan, or of the statements."""
        compiled = self.compiled
        if compiled is None or self._is_numpys_turn():
            if self.guard.call(*values) is None:
                return None
            if compiled is not None:
                self._took(self.numpy.best)  # what an earlier run took: this one is to come
            if self.error is not None:
                self._fail()
            self.controller.trouble.of_the_disk()
            if self.next is not None:
                self._try_next()
            if not self.probe.naps(self.numpy, self.rough):
                self.probe.time(self.rough if compiled is None else self.numpy)
            return NATIVE
        start = perf_counter()
        try:
            result = compiled.call(*values)
        except Varies:  # there will be another plan
            raise
        except (Trapped, NoRoom):  # NumPy takes this call, after all that the plan has done in vain
            self._took(math.inf)
            self._note(compiled, math.inf)
            raise
        seconds = perf_counter() - start
        if result is not None and result is not NATIVE:
            self._took(seconds)
            self._note(compiled, seconds)
        return result

    def _is_numpys_turn(self) -> bool:
        """The two take turns, but where NumPy takes long only if they are close; if it loses by far it is not timed."""
        if self.numpy.best >= LONG:
            is_open = _is_doubtful(self.numpy, self.rough) or _are_close(self.times, self.numpy.best)
            return is_open and self.numpy.calls < min(TIMED_RUNS, len(self.times))
        if not self.numpy.calls and self.rough.best >= LONG:
            return bool(self.times)
        return self.turns.is_seconds

    def _new_turns(self) -> Turns:
        return Turns(has_products(self.prepared.graph))

    def _took(self, seconds: float) -> None:
        with if_free(self._lock) as is_free:
            if is_free:
                self.turns.took(seconds)

    def _note(self, compiled: Plan, seconds: float) -> None:
        try:
            with if_free(self._lock) as is_free:
                if not is_free or compiled is not self.compiled:
                    return  # another thread decides, or has decided
                self.times.append(seconds)
                numpy_seconds = self._reference()
                if numpy_seconds and self._is_open(numpy_seconds):
                    self.times, self.turns = [], Turns(in_blocks=True)
                elif numpy_seconds:
                    self._end(compiled, numpy_seconds)
        except Exception as error:  # what the plan has done is done
            if comes_from_outside(error):
                raise
            log.debug("a trial could not be decided", exc_info=error)

    def _end(self, compiled: Plan, numpy_seconds: float) -> None:
        """Decide; where something comes in between, the next call does, and a failure of ours is told."""
        self.compiled = None
        try:
            self._decide(compiled, min(self.times), numpy_seconds)
        except BaseException as error:
            if isinstance(error, Exception) and not comes_from_outside(error):
                self.error = error
            else:
                self.compiled = compiled
            raise

    def _is_open(self, numpy_seconds: float) -> bool:
        """Whether calls in turns do not decide: where each finds the caches as the other has left them, blocks do."""
        if self.turns.in_blocks or not self.numpy.calls or numpy_seconds >= LONG or self.controller.config.check:
            return False
        return CLOSE * numpy_seconds < min(self.times) < numpy_seconds / CLOSE

    def _reference(self) -> float:
        """NumPy's time, if what was measured decides between it and the plan; else 0.0."""
        best = min(self.times)
        if self.numpy.calls:
            seconds = self.numpy.best
            runs = len(self.times)
            loses = not _is_faster(self.times, self.numpy.last, seconds) and not self.controller.config.check
            if loses and runs < MOST_RUNS and sum(self.times) < LOSES_AFTER:
                return 0.0
            very = best > VERY_HOPELESS * seconds and best > FIRST_RUN * max(self._numpy_spent, PAYS_AFTER)
            limit = CLEARLY_SLOWER if seconds >= LONG else HOPELESS
            hopeless = very or (runs > 1 and best > limit * seconds)
            is_open = _is_doubtful(self.numpy, self.rough) or _are_close(self.times, seconds)
            if is_open and self.numpy.calls < TIMED_RUNS and not hopeless:
                return 0.0
            in_blocks = self.turns.in_blocks and seconds < LONG
            is_enough = self.turns.blocks > TIMED_BLOCKS if in_blocks else runs >= TIMED_RUNS
            return seconds if hopeless or is_enough else 0.0
        return self.rough.best if self.rough.best >= max(LONG, BEYOND_DOUBT * best) else 0.0

    def _decide(self, compiled: Plan, best: float, numpy_seconds: float) -> None:
        """Keep a plan that is faster than NumPy; else try the other rung for its loops, once, and XLA's options."""
        if (
            _is_faster(self.times, self.numpy.last, numpy_seconds) or self.controller.config.check
        ):  # a check runs NumPy beside the plan
            self._win(compiled, best, numpy_seconds)
            return
        ALLOWANCE.spend(sum(seconds - numpy_seconds for seconds in self.times if numpy_seconds < seconds < math.inf))
        self.slower.append((best, self.prepared))
        self.next = None if best == math.inf else self._other_way(numpy_seconds)
        if self.next is None:
            self._lose(numpy_seconds)
            return
        if self.next.numpy_seconds > self._numpy_spent and self.prepared.recipe.passes is PIPELINE:
            self._remember(Verdict(False, numpy_seconds, best, self.prepared.seconds))  # the process may end before
        self._try_next()

    def _win(self, compiled: Plan, best: float, numpy_seconds: float) -> None:
        controller, prepared = self.controller, self.prepared
        compiled.seconds, compiled.numpy_seconds = best, numpy_seconds
        ALLOWANCE.keep(self.probe, numpy_seconds - best)
        controller.history.note("kept", self.probe.region, best, f"NumPy takes {numpy_seconds * 1e3:.3g} ms")
        plans.replace(self.probe, self.plan, compiled)
        plans.ask_early(self.probe)
        if controller.config.check:
            return
        self.probe.doubts_at = min(self.probe.doubts_at, self.probe.hits + hits_until(compiled))
        note_recipe(controller.recipes, prepared)

        def remember(choice: str, seconds: float, is_tuned: bool) -> None:
            if prepared.recipe.passes is PIPELINE:  # later processes begin with the first rung
                self._remember(Verdict(True, numpy_seconds, seconds, prepared.seconds, choice, is_tuned))

        tried = [slower.recipe.choice for _, slower in self.slower]
        is_tried = False
        if not self.is_tuned and not controller.config.exact:
            is_tried = Tuning(controller, self.probe, prepared, compiled, best, tried, remember).begin()
        remember(prepared.recipe.choice, best, not is_tried)

    def _other_way(self, numpy_seconds: float) -> _Next | None:
        """What else may be faster than NumPy."""
        config, capture = self.controller.config, self.prepared.capture
        if len(self.slower) == 1 and (passes := other_rung(self.prepared)) is not None:
            fueled = same_fuel(config, len(self.prepared.clusters))
            return _Next(0.0, lambda: prepare(capture, fueled, recipe=Recipe(passes)))
        best, prepared = min(self.slower, key=lambda one: one[0])
        tried = [slower.recipe.choice for _, slower in self.slower]
        if "" not in tried:  # an earlier process has chosen
            return _Next(0.0, lambda: with_choice(prepared, "", config))
        found = None if config.exact else next_choice(prepared, tried, config)
        if found is None or best > largest_gain(found[0], prepared) * KEEP_BELOW * numpy_seconds:
            return None
        option, choice = found
        # One slow run may take as long as NumPy has by then; what it took before the capture counts, too.
        price = self._numpy_spent + largest_loss(option, prepared) * best - PAYS_AFTER
        return _Next(price, lambda: with_choice(prepared, choice, config))

    def _try_next(self) -> None:
        """Compile what is tried next, if NumPy has taken long enough."""
        with if_free(self._lock) as is_free:
            following = self.next
            if not is_free or following is None or self._numpy_spent < following.numpy_seconds:
                return
            self.next = None
        if not BACKGROUND.submit(lambda: self._attempt(following.prepare)):
            self._lose(self.numpy.best or self.rough.best)

    @property
    def _numpy_spent(self) -> float:
        """How long NumPy has taken for such calls since the capture."""
        return self.numpy.seconds + self.rough.seconds

    def _lose(self, numpy_seconds: float) -> None:
        """Such calls are NumPy's from now on."""
        best = min(seconds for seconds, _ in self.slower)
        if best == math.inf:
            self._leave(left_to_numpy(len(self.times), self._line))
            return
        self._leave(
            Reason("slower", f"{best * 1e3:.3g} ms compiled, {numpy_seconds * 1e3:.3g} ms in NumPy", self._line)
        )
        self._remember(Verdict(False, numpy_seconds, best, self.prepared.seconds))

    def _fail(self) -> None:
        """Compiling has failed: tell it where it can be caught, and has the user's line."""
        with if_free(self._lock) as is_free:
            if not is_free:
                return
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
        self.controller.history.note("left", self.probe.region, detail=reason.detail)
        plans.replace(self.probe, self.plan, native_plan(self.prepared.capture, reason))
        plans.ask_early(self.probe)
        self.controller.idle(self.probe)

    @property
    def _line(self) -> Any:
        return self.controller.tree.source.line(self.probe.region.statements[0])

    def _remember(self, verdict: Verdict) -> None:
        self.warm_up.remember(self.probe, self.numpy.kind, verdict)


def _is_faster(times: Sequence[float], numpy: Sequence[float], numpy_seconds: float) -> bool:
    """Whether a plan's best run is faster than NumPy's, and its usual one, too: of many runs one may have been lucky.

    Args:
        times: The plan's.
        numpy: The last ones of NumPy's, if there are any.
        numpy_seconds: NumPy's best one.
    """
    if min(times) > KEEP_BELOW * numpy_seconds:
        return False
    return not numpy or _middle(times[-LAST:]) <= numpy_seconds * _middle(numpy) / min(numpy)


def _are_close(times: Sequence[float], numpy_seconds: float) -> bool:
    """Whether a plan for long calls takes about as long as NumPy, as far as a few runs tell."""
    return len(times) > 1 and numpy_seconds >= LONG and min(times) > CLOSE * numpy_seconds


def _is_doubtful(numpy: Any, rough: Any) -> bool:
    """Whether NumPy was faster even beside XLA than in its few long runs since: these may have met new memory."""
    return numpy.best >= LONG and 0.0 < rough.best < CLOSE * numpy.best


def _middle(times: Iterable[float]) -> float:
    """The median, the longer one of two."""
    ordered = sorted(times)
    return ordered[len(ordered) // 2]


def try_later(warm_up: Any, probe: Any, heat: Heat, prepared: Prepared) -> Trial | None:
    """Have a captured call compiled in the background, while NumPy takes it and those like it.

    Where an earlier process has found that this call is faster even if it waits, and left its programs, they are
    loaded at once, and the trial is for this call already.
    """
    controller = warm_up.controller
    verdict, heat.verdict = heat.verdict, None
    trial = Trial(prepared, warm_up, probe, heat.kind, verdict)
    if heat.last:  # of rare calls there may be one alone while XLA compiles
        trial.rough.last.append(heat.best)
    waits = verdict is not None and verdict.pays_at_once and controller.maker.is_at_hand(trial.prepared, probe)
    if waits:
        trial.compile()
    plans.add(probe, trial.plan)
    plans.ask_early(probe)
    if waits:
        return trial
    begin_waiting(trial, prepared.capture.inlined)
    if BACKGROUND.submit(trial.compile):
        probe.time(trial.rough)
    else:
        end_waiting(trial)
        plans.remove(probe, trial.plan)
        plans.ask_early(probe)
    return None
