"""`Takeover`: a loop that runs in NumPy goes on compiled, as long as that is faster."""

from __future__ import annotations

import sys
from threading import get_ident
from time import perf_counter
from typing import TYPE_CHECKING, Any

from autojit.compile.garbage import uncollected
from autojit.errors import AutojitWarning, Trapped
from autojit.logs import log
from autojit.runtime import plans
from autojit.runtime.allowance import ALLOWANCE, LATENCY, part_of_compiling
from autojit.runtime.background import BACKGROUND, MAKING
from autojit.runtime.course import WHOLE, Course, whole
from autojit.runtime.door import DOOR
from autojit.runtime.heat import LOST, price_of
from autojit.runtime.interrupts import begin_run, comes_from_outside, is_the_programs, settle
from autojit.runtime.plan import NATIVE, UNSET
from autojit.runtime.remembered import Verdict
from autojit.runtime.unasked import reduced
from autojit.runtime.waiting import begin_waiting, end_waiting

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.runtime.compiler import Prepared

#: How often a loop is captured: the types of its variables may be others at the next time.
MOST_PLANS = 4
_RANGE_ITERATOR = type(iter(range(0)))


class Takeover:
    """The run-time side of the rest of a loop: `for i in range(i, stop)`, which can be entered at any iteration.

    Nothing happens until it is `due`, which asking for costs some 10 ns an iteration. Then the loop is captured where
    it is and compiled in the background. From then on NumPy and the plan take turns: NumPy's iterations are timed until
    it is due again, and the plan is given a run of the next ones, longer from time to time. What either needs for an
    iteration may change in the loop, so that they are compared after each run.

    Attributes:
        due: Whether there is something to do at the next iteration.
        unset: The value of a live-out name that stays as it is.
        probe: Counts what the plans do; its region is the rest of the loop.
        body: The probe of the loop's body, if there is one.
    """

    __slots__ = (
        "_course",
        "_error",
        "_job",
        "_outlook",
        "_patience",
        "_pays",
        "_state",
        "body",
        "due",
        "probe",
    )
    unset = UNSET
    settle = staticmethod(settle)
    __reduce__ = reduced
    #: What a `while` loop counts over.
    forever = range(sys.maxsize)

    def __init__(self, probe: Any) -> None:
        self.probe = probe
        self.body: Any = None
        self.reset()

    @property
    def controller(self) -> Any:
        """The function's."""
        return self.probe.owner

    def reset(self) -> None:
        """Begin as if nothing had been tried; what is being compiled comes too late."""
        with uncollected(), plans.CHANGES.lock:
            dropped = self.probe.plans
            self._job: object = None
            self.probe.plans = ()
        del dropped
        self.due = False
        self._error: BaseException | None = None
        self._state = "new"  # or: compiling, ready, off
        self._course: Course | None = None
        self._patience = 1.0  # how many times as long to wait before the next capture
        self._outlook: tuple[bool, bool] | None = None
        self._pays: bool | None = None

    @staticmethod
    def iter(items: Any) -> Any:
        """An iterator that can be moved on, if the items are a range's."""
        return iter(items) if type(items) is range else items

    def is_due_after(self, seconds: float) -> bool:
        """Whether to ask at the next iteration, when the function has run that long."""
        if self._state == "ready" or self._error is not None:
            return True
        if self._state != "new" or seconds < self._patience * price_of(self.probe.price, 0):
            return False
        if ALLOWANCE.is_limited and BACKGROUND.is_busy():  # as `WarmUp.pays` has it
            return False
        if not ALLOWANCE.is_limited:
            return not ALLOWANCE.lacks(self._expects()) and DOOR.is_worth(seconds)
        if self._outlook is None:  # the program's thread is to look
            return True
        wins, promises = self._outlook
        if promises:
            ALLOWANCE.promise(seconds - LATENCY)
        is_allowed = wins or not ALLOWANCE.delay_of_capture(self.probe.price, promises)
        return is_allowed and DOOR.is_worth(seconds, wins, promises)

    def _expects(self) -> float:
        """How many seconds a plan is expected to cost; 0.0 where an earlier process has found that it pays."""
        if self._pays is None:
            self._pays = self.controller.warm_up.has_won(self.probe)
        return 0.0 if self._pays else self.controller.warm_up.cost(self.probe)

    def is_at_work(self) -> bool:
        """Whether there is a plan, or will be."""
        return self._state in ("compiling", "ready")

    def call(self) -> None:
        """There is something to do at the next iteration, where a body may have nothing to ask itself."""
        self.due = True
        if self.body is not None:
            self.body.busy = True

    def begin(self, iterator: Any) -> int | None:
        """Where the iterations that begin now should stop; `None` if NumPy goes on."""
        error, self._error = self._error, None
        if error is not None:
            self.controller.trouble.of_compiling(error)
        is_ours = type(iterator) is _RANGE_ITERATOR and self.controller.enabled and get_ident() not in MAKING
        if not is_ours or self._state in ("compiling", "off") or not self.controller.may_answer():
            self.due = False
            return None
        if self._state == "new" and ALLOWANCE.is_limited and self._outlook is None:
            self.look()
            self.due = False
            return None
        ahead, stop = _ahead(iterator)
        if self._state == "new":
            count = whole(len(ahead))
            return ahead[count - 1] if count else stop
        now, course = perf_counter(), self._course
        if course is None or course.iterator is not iterator:
            course = self._course = Course(iterator, get_ident(), now)
        if course.times_numpy_first:
            if not course.time_numpy(now, len(ahead)):
                self.due = False
                return None
        if course.is_near(len(ahead)):
            self.due = False
            return None
        count = course.next_count(now, len(ahead))
        return ahead[count - 1] if count <= len(ahead) else stop

    def enter(self, *values: Any) -> tuple[Any, ...] | None:
        """The region's exit and results, or `None`: NumPy goes on. After results, `settle` or `advance` is called."""
        begin_run()
        try:
            result = self._answer(values)
        except BaseException:
            settle()
            raise
        if result is None:
            settle()
        return result

    def _answer(self, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        for plan in self.probe.plans:
            start = perf_counter()
            try:
                result = plan.call(*values)
            except Trapped:
                self.probe.traps += 1
                return self._trapped()
            except AutojitWarning:
                raise
            except Exception as error:
                if is_the_programs(error):
                    raise
                self._give_up()
                return self.controller.plan_failed(self.probe, plan, error)
            if result is NATIVE:
                return self._give_up()
            if result is not None:
                self.probe.hits += 1
                self._judge(perf_counter() - start, values)
                return result
        self.due = False
        course = self._course
        if self.probe.plans and course is not None and course.outlook < price_of(self.probe.price, 0):
            return None  # too little is left to pay for one more
        if len(self.probe.plans) >= MOST_PLANS:
            return None if any(map(plans.is_kept, self.probe.plans)) else self._give_up()
        try:
            self._make(values)
        except Exception as error:
            if is_the_programs(error):
                raise
            self._give_up()
            self.controller.trouble.of_compiling(error)
        return None

    def advance(self, iterator: Any, stop: int) -> None:
        """The iterations before `stop` have been run: let the loop go on there."""
        try:
            ahead, _ = _ahead(iterator)
            iterator.__setstate__((iterator.__reduce__()[2] or 0) + len(range(ahead.start, stop, ahead.step)))
        finally:
            settle()

    def _trapped(self) -> None:
        """NumPy takes the run: somewhere in it the loop is left, or raises. The runs before that are the plan's."""
        course = self._course
        if course is None or course.thread != get_ident() or not course.count:
            return self._give_up()
        if course.count > WHOLE[0]:
            course.end = course.tried
        elif self.probe.region.may_be_left:
            course.end = course.tried + course.count  # no runs any more
        else:
            return self._give_up()
        return None

    def _give_up(self) -> None:
        self.due, self._job = False, None
        self._state, self._course = "off", None

    def _judge(self, seconds: float, values: tuple[Any, ...]) -> None:
        """Compare what the plan needed with NumPy; it has been run, so nothing may go wrong here."""
        course = self._course
        if course is None or course.thread != get_ident() or not course.count:
            return  # another thread's loop
        ALLOWANCE.gain(course.owed)  # the last run may have ended before
        course.owed = 0.0
        is_faster = course.took(seconds, perf_counter() - course.start - seconds)
        if is_faster:
            self._remember(course, values, True)
        if is_faster is False and course.is_lost:
            self._remember(course, values, False)
            self._give_up()

    def _remember(self, course: Course, values: tuple[Any, ...], wins: bool) -> None:
        """Keep for later processes whether the plan is faster for such values."""
        try:
            heat = self.probe.heats.of(values)
            if heat.verdict is None or heat.verdict.wins is not wins:
                heat.verdict = Verdict(wins, course.pace, course.seconds, self.probe.price)
                self.controller.warm_up.remember(self.probe, heat.kind, heat.verdict)
        except Exception as error:
            if comes_from_outside(error):
                raise
            log.debug("what was found about a loop could not be kept", exc_info=error)

    def look(self) -> None:
        """See what there is to hope for: whether an earlier process has found such a loop to be faster compiled, and
        whether its text promises that. What lies before the loop may have taken all the time till now: then later.
        """
        wins = promises = False
        try:
            wins = self.controller.warm_up.has_won(self.probe)
            if not wins and self.body is not None and self.body.heats.hottest is None:
                return
            promises = self._promises()
        except Exception as error:
            if is_the_programs(error):
                raise
            log.debug("nobody knows what to expect of a loop", exc_info=error)
        self._outlook = wins, promises

    def _promises(self) -> bool:
        """As `Heat.promises` has it, for an iteration. A loop of small operations does, too: it gains most."""
        heat = None if self.body is None else self.body.heats.hottest
        warm_up = self.controller.warm_up
        return heat is not None and (warm_up.promises(self.body, heat) or warm_up.is_of_small(self.body, heat))

    def _lost_before(self, values: tuple[Any, ...]) -> bool:
        """Whether an earlier process has found that such a loop is slower compiled: then this one waits longer."""
        heat = self.probe.heats.of(values)
        if not heat.is_new:
            self._patience = 1.0
            return False
        heat.is_new = False
        heat.verdict = self.controller.warm_up.recall(self.probe, heat)
        if heat.verdict is None or heat.verdict.wins:
            return False
        self._patience = LOST
        return True

    def _make(self, values: tuple[Any, ...]) -> None:
        """Capture the rest of the loop for these values, and have it compiled."""
        with self.controller.capturing() as may_capture:
            if not may_capture or self._state == "compiling" or self._lost_before(values):
                return
            prepared = self.controller.maker.prepare_rest(self.probe, values)
            if prepared is None:
                self._give_up()
                return
            self._state, self._course = "compiling", None
            job = self._job = object()
            begin_waiting(job, prepared.capture.inlined)
            if not BACKGROUND.submit(lambda: self._compile(prepared, job)):
                end_waiting(job)
                self._give_up()

    def _compile(self, prepared: Prepared, job: object) -> None:
        try:
            with ALLOWANCE.spending(part_of_compiling()):
                plan, error = self.controller.maker.compile(prepared, self.probe), None
        except BaseException as raised:  # nobody else would tell it
            plan, error = None, raised
        end_waiting(job)
        with uncollected(), plans.CHANGES.lock:
            if self._job is not job:
                return  # forgotten meanwhile
            if plan is not None:
                plans.add(self.probe, plan)
                self._state = "ready"
            else:
                self._state, self._error = "off", error
                self.call()


def _ahead(iterator: Any) -> tuple[range, int]:
    """The numbers behind the current one, and a stop behind all of them."""
    _, (numbers,), taken = iterator.__reduce__()
    return numbers[taken or 0 :], numbers.stop
