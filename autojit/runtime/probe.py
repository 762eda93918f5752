"""`Probe`: what stands before a region and asks whether a plan can take it."""

from __future__ import annotations

import math
import sys
import weakref
from math import inf
from threading import get_ident
from time import perf_counter
from typing import Any, NamedTuple

from autojit.capture.cells import is_empty
from autojit.capture.regions import Region
from autojit.errors import AutojitWarning, Trapped, UncompilableError
from autojit.runtime.crowd import Crowd
from autojit.runtime.heat import SHARE, TINY, Heat
from autojit.runtime.interrupts import is_the_programs
from autojit.runtime.kept import Kept, OfKept
from autojit.runtime.plan import NATIVE, UNSET
from autojit.runtime.plans import is_numpys, is_to_come
from autojit.runtime.unasked import reduced
from autojit.runtime.watch import LEFT, WATCH

#: What stands for another plan: the call is to look for one again.
AGAIN = object()


class Restart(NamedTuple):
    """The answer to a call whose function was instrumented anew before anything ran: call it again."""

    values: dict[str, Any]


#: Calls of a probe in light sleep on which NumPy spends more seconds are slow.
_SLOW = 2 * TINY
#: It wakes when the slow ones have taken that many seconds in all: what disturbs a call now and then does not count.
_WAKES = 1e-3
#: Where calls that are no tiny ones have taken more seconds, such calls will come again.
_MIXED = 0.02
#: Seconds for which a probe is in deep sleep, at first and at most.
_NAPS = 1.0, 64.0
#: ... and in a nap, which a thread ends that looks every 50 ms.
_NAP = 0.05, 1.0
#: Seconds that a plan takes to say that a call is NumPy's.
_GUARDING = 5e-6
#: In a light sleep: no thread has that number, and calls are timed for nobody.
_NOBODY = 0, None

#: So many plans may refuse the call that they were made for: a global, say, may change meanwhile.
_REFUSALS = 3
#: A probe in a loop that has answered nothing so many times, one after the other, is asked no more.
IDLE = 64


class Probe:
    """The run-time side of a region. `enter` is the warm path.

    Attributes:
        kept: The reference to what may lead back to the function.
        on: Whether to ask at all.
        busy: Whether a loop that has the region for its body has anything to ask in an iteration: it is set after what
            makes it so, and no more before what ends it, so that no question is lost between two threads.
        unset: The value of a live-out name that stays as it is.
        unbound: What Python raises where a live-in has no value.
        gettrace: Whether somebody else follows the lines of this thread, without a frame of ours.
        left: Takes what `begin` has returned where somebody does, and `end` is not called.
        plans: The plans, most recently made first.
        region: The statements.
        heats: How long NumPy takes, by kind of call; for the policy `measured`.
        timed: The thread whose call goes on in NumPy now, and where its time is noted if it is; `None` if nobody wants
            to know when the statements begin and end.
        price: How many seconds the last capture took.
        expected: How many seconds the program is expected to lose by a plan, by the region's text; `None` if nobody has
            read it.
        is_part: Whether its region is a part of one that was hot, and was split.
        cuts: The statements at which the last captures have ended, and how many were cut there.
        crowd: What is known of the combinations of shapes and constants.
        takeovers: The loops in the region that can be taken over while they run.
        around: The same for the loop whose body the region is; or `None`.
        watched: Whether somebody looks after a call that takes long.
        sleeps: Whether the probe is off until calls take long (a light sleep), or until it is woken (a deep one).
        is_deep: Whether its sleep is a deep one: of all but the regions of a call of what the user has decorated.
        forgets: Whether it forgets in its sleep how long NumPy takes; in a nap it does not.
        is_quiet: Whether the region around it is compiled or tried, and it is not to be asked.
        slow: How many seconds such calls have taken since it fell asleep.
        answered: How many calls plans had taken when somebody last looked whether all are NumPy's ...
        asks_until: ... which is looked at again when so many have been ...
        looked: ... and when it was.
        gate: What stands before the plans for calls of lengths that none of them takes, if anything does.
        refusals: How many plans have refused the calls that they were made for.
        nap: How many seconds the next deep sleep takes.
        wakes: When this one ends.
    """

    __slots__ = (
        "__weakref__",
        "answered",
        "asks_until",
        "busy",
        "cuts",
        "doubts_at",
        "expected",
        "forgets",
        "hits",
        "is_deep",
        "is_part",
        "is_quiet",
        "kept",
        "looked",
        "nap",
        "native",
        "on",
        "price",
        "refusals",
        "region",
        "sleeps",
        "slow",
        "state",
        "timed",
        "traps",
        "wakes",
        "watched",
    )
    unset = UNSET
    unbound = NameError
    gettrace = staticmethod(sys.gettrace)
    left = LEFT.append

    owner = OfKept()
    plans = OfKept()
    heats = OfKept()
    crowd = OfKept()
    takeovers = OfKept()
    around = OfKept()
    gate = OfKept()
    looks = OfKept()
    made_for = OfKept()

    def __init__(self, region: Region, owner: Any, on: bool) -> None:
        mine = Kept(owner)
        owner.kept.append(mine)
        self.kept = weakref.ref(mine)
        self.region = region
        self.on, self.busy = on, True
        self.hits = self.native = self.refusals = 0
        self.answered, self.asks_until, self.looked = 0, IDLE, 0.0
        self.traps = 0
        self.state: Any = None
        self.crowd = Crowd(owner.config.max_plans)
        self.timed: tuple[int, Heat | None] | None = None
        self.price = 0.0
        self.expected: float | None = None
        self.is_part = False
        self.cuts: tuple[tuple[int, ...], int] = (), 0
        self.sleeps = False
        self.watched = False
        self.is_deep = region.depth > 0 or owner.is_callee
        self.forgets = True
        self.is_quiet = False
        self.slow = self.wakes = 0.0
        self.nap = _NAPS[0]
        #: After so many hits it is looked whether the plan is still faster than NumPy.
        self.doubts_at = math.inf
        #: Whether Python looks up the function behind the region without running code, for its `looks_at`.
        self.looks = None if region.looks_at is None else owner.looks(region)

    def filled(self) -> bool:
        """Whether the free variables that had no value at first have one now."""
        function = self.owner.original
        cells = zip(function.__code__.co_freevars, function.__closure__, strict=True)
        return not any(is_empty(cell) for name, cell in cells if name in self.region.late)

    def is_made_for(self, thread: int, values: tuple[Any, ...]) -> bool:
        """Whether a plan has just been made for this very call, and no other thread has had it forgotten meanwhile."""
        made_for = self.made_for  # once: other threads set it, too
        if made_for is None or made_for[0] != thread:
            return False
        _, arguments, made = made_for
        is_this = all(one is other for one, other in zip(arguments, values, strict=True))
        return is_this and any(plan is made for plan in self.plans)

    def refuses(self) -> bool:
        """Note that a plan has refused the call that it was made for; whether that was once too often."""
        self.refusals += 1
        return self.refusals >= _REFUSALS

    def enter(self, *values: Any) -> tuple[Any, ...] | None:
        """The region's exit and results, or `None`: run the statements."""
        kept = self.kept()
        if kept is None:  # a copy of the function's code outlives it
            self.on = False
            return None
        plans = kept.plans
        for plan in plans:
            try:
                result = plan.call(*values)
            except Trapped as error:
                return self.owner.trapped(self, plan, error)
            except AutojitWarning:
                raise
            except Exception as error:
                if is_the_programs(error):
                    raise
                return self.owner.plan_failed(self, plan, error)
            if result is None:
                continue
            if result is NATIVE:
                self.native += 1
                if self.watched and not self.is_deep and self.timed is None:
                    self.timed = get_ident(), None
                if self.native >= self.asks_until and plan.is_native:
                    self._rest()
                return None
            hits = self.hits = self.hits + 1
            if hits >= self.doubts_at:
                self.owner.maker.look_again(self, plan)
            return result
        try:
            result = self.owner.miss(self, values, plans)
        except (UncompilableError, AutojitWarning):
            raise
        except Exception as error:
            if is_the_programs(error):
                raise
            return self.owner.miss_failed(self, error)
        if result is AGAIN:  # out here: what the program raises meanwhile is its own
            try:
                return self.enter(*values)
            finally:
                made_for = self.made_for
                if made_for is not None and made_for[0] == get_ident():
                    self.made_for = None
        if type(result) is Restart:
            return self.owner.start_again(result.values)
        return result

    def _rest(self) -> None:
        """Many calls are NumPy's: be asked no more if all of them were since somebody last looked."""
        before, self.looked = self.looked, perf_counter()
        if self.hits == self.answered:
            self.owner.idle(self)
            # Others may come that gain: of what a user has decorated one is asked about soon.
            is_often = self.looked - before < IDLE * _GUARDING / SHARE
            is_numpys_alone = all(map(is_numpys, self.plans))  # no plan is kept from its calls
            is_asked = self.on or self.timed is _NOBODY  # a light sleep would end with a long call, NumPy's like these
            if is_asked and self.owner.warm_up is not None and is_often and is_numpys_alone and self.nap_for(_NAP[1]):
                self.heats.wait(_NAP[1])
        self.answered, self.asks_until = self.hits, self.native + IDLE

    def time(self, heat: Heat) -> None:
        """Note how long the statements take, which this thread runs next."""
        if not self.sleeps:  # another thread has just sent it to sleep
            self.timed = get_ident(), heat
            self.busy = True

    def begin(self) -> Any:
        """The region's statements begin to run, right after `enter`; what it returns is for `end`."""
        me, timed = get_ident(), self.timed
        if timed is None or (timed[0] != me and not self.sleeps):
            return None
        heat = None
        if timed[0] == me:
            # Another thread may have sent it to sleep since this one was asked.
            heat, self.timed = timed[1], _NOBODY if self.sleeps and self.wakes == inf else None
        start = perf_counter()
        is_watched = self.watched and (timed[0] == me or self.sleeps)
        if is_watched:
            WATCH.add((me, start), self, start)
        # The exception itself would keep its frames alive.
        return heat, id(sys.exc_info()[1]), start, me if is_watched else None

    def end(self, begun: tuple[Heat | None, int, float, int | None]) -> None:
        """They have run. The times of those that raised do not count."""
        heat, handled, start, thread = begun
        seconds = perf_counter() - start
        if thread is not None:
            WATCH.remove((thread, start))
            for takeover in self.takeovers:
                takeover.due = False
        if id(sys.exc_info()[1]) != handled:
            return
        if heat is not None:
            self.heats.note(heat, seconds)
        elif seconds > _SLOW and self.sleeps:
            self.slow += seconds
            if self.slow > _WAKES:
                self._wake()

    def looked_after(self, seconds: float) -> None:
        """A call has been running for that long; another thread says so."""
        for takeover in self.takeovers:
            if takeover.is_due_after(seconds):
                takeover.call()
        self.owner.wake()

    def sleep(self) -> None:
        """Stay off: what a user has decorated, and what has taken long before, until calls take long; else for a while.

        In a light sleep calls are timed, which takes half a microsecond; a deep one costs some 50 ns.
        """
        is_mixed = self.heats.long > _MIXED
        is_light = is_mixed or not self.is_deep
        self.busy = is_light
        self.on = False
        self.sleeps = True
        self.slow = 0.0
        if not is_light:
            self.timed = None
            self.wakes = perf_counter() + self.nap
            self.nap = min(2 * self.nap, _NAPS[1])
            WATCH.rouses(self)  # nobody around may ever be asked again; without a thread for it, those around wake it
        else:
            self.timed, self.wakes, self.forgets = _NOBODY, inf, not is_mixed

    def naps(self, *others: Heat) -> bool:
        """Take a nap if calls are so short that asking about each one counts; `others` as `HeatMap.nap` has it."""
        if not self.heats.is_due() or not all(map(is_to_come, self.plans)):
            return False
        if self.takeovers and self.heats.are_long():  # the next one may be taken over
            return False
        # Nor does it sleep long: one that is may come in between.
        seconds = self.heats.nap(_NAP[0], _NAP[0] if self.takeovers else _NAP[1], others)
        return seconds > 0 and self.nap_for(seconds)

    def wait_for(self, seconds: float) -> None:
        """Take a nap, for at most a second, because nothing can come of asking before; plans are asked all the same.

        Some calls are timed between two naps: what NumPy takes for all of them decides how long there is to wait.
        """
        if not self.heats.is_due() or self.takeovers:  # a call may come whose loop can be taken over
            return
        seconds = min(seconds, _NAP[1])
        if all(map(is_to_come, self.plans)) and self.nap_for(seconds):
            self.heats.wait(seconds)

    def nap_for(self, seconds: float) -> bool:
        """Ask about no call for some seconds, which must end: `False` if nobody can see to that."""
        self.wakes, self.slow = perf_counter() + seconds, 0.0
        self.busy = False
        self.on, self.sleeps, self.forgets, self.timed = False, True, False, None
        if WATCH.rouses(self):
            return True
        self._wake()
        return False

    def gate_opens(self) -> None:
        """Calls of all lengths are asked about again."""
        self.gate = None
        self.answered, self.asks_until = self.hits, self.native + IDLE
        self.heats.go_on()

    def rouse(self) -> None:
        """End a nap, or a deep sleep that has been long enough."""
        if self.sleeps and (not self.forgets or perf_counter() >= self.wakes):
            self._wake()

    def wake(self, now: float) -> None:
        """End a deep sleep that has been long enough."""
        if self.sleeps and (self.is_deep or not self.forgets) and now >= self.wakes:
            self._wake()

    def _wake(self) -> None:
        self.sleeps, self.timed = False, None
        if self.forgets:
            self.heats.clear()
        else:
            self.heats.go_on()
        self.forgets = True
        self.ask()

    def be_quiet(self, is_quiet: bool) -> None:
        """Be asked no more, or again: the region around it is compiled or tried, or no more."""
        self.is_quiet = is_quiet
        if not self.sleeps:
            self.ask()

    def forget(self) -> None:
        """Forget all plans and all that was learned about the region."""
        self.plans, self.state = (), None
        self.heats.clear()
        self.timed, self.sleeps, self.is_quiet, self.price = None, False, False, 0.0
        self.cuts = (), 0
        self.crowd = Crowd(self.owner.config.max_plans)
        self.hits = self.native = self.traps = self.answered = 0
        self.asks_until, self.gate, self.doubts_at = IDLE, None, math.inf
        for takeover in self.takeovers:
            takeover.reset()
        self.ask()

    def ask(self) -> None:
        """Be asked, unless something speaks against it."""
        self.on = self.owner.enabled and self.state != "off" and not self.is_quiet
        self.busy = True

    __reduce__ = reduced
