"""`Takeover`: a loop that runs in NumPy goes on compiled, from the iteration at which its plan is ready."""

from __future__ import annotations

import time
from threading import get_ident
from typing import Any

from autojit.capture.capture import capture
from autojit.errors import AutojitWarning, Trapped
from autojit.runtime import plans
from autojit.runtime.background import BACKGROUND, MAKING
from autojit.runtime.compiler import Prepared, prepare
from autojit.runtime.environment import is_default
from autojit.runtime.heat import price_of
from autojit.runtime.measured import BEYOND_DOUBT, HOPELESS, KEEP_BELOW, TIMED_RUNS, VERY_HOPELESS
from autojit.runtime.plan import NATIVE, UNSET, Plan

#: A plan is tried with as many iterations as take NumPy so many seconds.
CHUNK = 0.05
#: How often a loop is captured: the types of its variables may be others at the next time.
MOST_PLANS = 4
_RANGE_ITERATOR = type(iter(range(0)))


class Takeover:
    """The run-time side of the rest of a loop: `for i in range(i, stop)`, which can be entered at any iteration.

    Nothing happens until it is `due`, which asking for costs some 10 ns an iteration. Then the loop is captured where
    it is and compiled in the background. When it is due again, NumPy's iterations are timed, and at the next time the
    plan is given runs of iterations to try it; if it is faster, all that are left.

    Attributes:
        due: Whether there is something to do at the next iteration.
        unset: The value of a live-out name that stays as it is.
        probe: Counts what the plans do; its region is the rest of the loop.
    """

    __slots__ = ("_begun", "_error", "_expected", "_pace", "_state", "_times", "controller", "due", "probe")
    unset = UNSET
    iter = staticmethod(iter)

    def __init__(self, probe: Any, controller: Any) -> None:
        self.probe = probe
        self.controller = controller
        self.reset()

    def reset(self) -> None:
        """Begin as if nothing had been tried."""
        self.due = False
        self._error: BaseException | None = None
        self._begin_trial("new")

    def _begin_trial(self, state: str) -> None:
        self._state = state  # new, compiling, ready, wins, off
        self._times: list[float] = []  # how long the plan took, as fractions of what NumPy takes
        self._begun: Any = None  # the iterator whose iterations NumPy runs, how many were left, and when that was
        self._pace: Any = None  # the iterator, and the seconds that NumPy takes for an iteration
        self._expected: Any = None  # the thread that tries the plan, and how many seconds NumPy would take

    def is_due_after(self, seconds: float) -> bool:
        """Whether to ask at the next iteration, when the function has run that long."""
        return self._state in ("ready", "wins") or (self._state == "new" and seconds >= price_of(self.probe.price, 0))

    def is_at_work(self) -> bool:
        """Whether a plan is made or tried."""
        return self._state in ("compiling", "ready")

    def begin(self, iterator: Any) -> int | None:
        """Where the iterations that begin now should stop; `None` if NumPy goes on."""
        if self._error is not None:
            error, self._error = self._error, None
            self.controller.tell_failure(error)
        is_ours = type(iterator) is _RANGE_ITERATOR and self.controller.enabled and get_ident() not in MAKING
        if not is_ours or self._state in ("compiling", "off") or not is_default():
            self.due = False
            return None
        ahead, stop = _ahead(iterator)
        if self._state != "ready":
            return stop
        now = time.perf_counter()
        if self._pace is None or self._pace[0] is not iterator:
            if self._begun is None or self._begun[0] is not iterator:
                self._begun = iterator, len(ahead), now
                self.due = False
                return None
            _, left, start = self._begun
            self._pace = iterator, (now - start) / max(1, left - len(ahead))
        count = 1 + int(CHUNK / self._pace[1])
        if count > len(ahead):
            count = len(ahead) + 1
        else:
            stop = ahead[count - 1]
        self._expected = get_ident(), count * self._pace[1]
        return stop

    def enter(self, *values: Any) -> tuple[Any, ...] | None:
        """The region's exit and results, or `None`: NumPy goes on."""
        for plan in self.probe.plans:
            start = time.perf_counter()
            try:
                result = plan.call(*values)
            except Trapped:
                self.probe.traps += 1
                return self._give_up()
            except AutojitWarning:
                raise
            except Exception as error:
                self._give_up()
                return self.controller.plan_failed(self.probe, plan, error)
            if result is NATIVE:
                return self._give_up()
            if result is not None:
                self.probe.hits += 1
                self._judge(time.perf_counter() - start)
                return result
        self.due = False
        if len(self.probe.plans) >= MOST_PLANS:
            return self._give_up()
        try:
            self._make(values)
        except Exception as error:
            self._give_up()
            self.controller.tell_failure(error)
        return None

    def advance(self, iterator: Any, stop: int) -> None:
        """The iterations before `stop` have been run: let the loop go on there."""
        ahead, _ = _ahead(iterator)
        iterator.__setstate__((iterator.__reduce__()[2] or 0) + len(range(ahead.start, stop, ahead.step)))

    def _give_up(self) -> None:
        self.due = False
        self._begin_trial("off")

    def _judge(self, seconds: float) -> None:
        expected, self._expected = self._expected, None
        if self._state != "ready" or expected is None or expected[0] != get_ident():
            return
        self._times.append(seconds / expected[1])
        best, count = min(self._times), len(self._times)
        if best * BEYOND_DOUBT <= 1 or (count >= TIMED_RUNS and best <= KEEP_BELOW):
            self._begin_trial("wins")
        elif count >= TIMED_RUNS or best > VERY_HOPELESS or (count > 1 and best > HOPELESS):
            self._give_up()

    def _make(self, values: tuple[Any, ...]) -> None:
        """Capture the rest of the loop for these values, and have it compiled."""
        controller, region = self.controller, self.probe.region
        with controller.capturing() as may_capture:
            if not may_capture or self._state == "compiling":
                return
            start = time.perf_counter()
            controller.counters.captures += 1
            named = dict(zip(region.live_in, values, strict=True))
            captured = capture(controller.tree, region, named, controller.options)
            if captured.cuts or captured.graph is None or not captured.graph.nodes:
                self._give_up()
                return
            prepared = prepare(captured, controller.config)
            self.probe.price = time.perf_counter() - start
            self._begin_trial("compiling")
            if not BACKGROUND.submit(lambda: self._compile(prepared)):
                self._give_up()

    def _compile(self, prepared: Prepared) -> None:
        try:
            plan: Plan = self.controller.compile(prepared, self.probe)
            plans.add(self.probe, plan)
            self._begin_trial("ready")
        except BaseException as error:  # nobody else would tell it
            self._begin_trial("off")
            self._error, self.due = error, True


def _ahead(iterator: Any) -> tuple[range, int]:
    """The numbers behind the current one, and a stop behind all of them."""
    _, (numbers,), taken = iterator.__reduce__()
    return numbers[taken or 0 :], numbers.stop
