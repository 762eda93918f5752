"""`Probe`: what stands before a region and asks whether a plan can take it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from threading import get_ident
from time import perf_counter
from typing import Any

from autojit.capture.regions import Region, is_empty
from autojit.errors import AutojitWarning, Trapped, UncompilableError
from autojit.runtime.heat import TINY, Heat, HeatMap
from autojit.runtime.plan import NATIVE, UNSET, Plan
from autojit.runtime.watch import WATCH


@dataclass(frozen=True, slots=True)
class Restart:
    """The answer to a call whose function was instrumented anew before anything ran: call it again."""

    values: dict[str, Any]


#: Calls of a sleeping probe on which NumPy spends more seconds are slow.
_SLOW = 2 * TINY
#: It wakes when the slow ones have taken that many seconds in all: what disturbs a call now and then does not count.
_WAKES = 1e-3

#: A probe in a loop that has answered nothing this many times is asked no more.
IDLE = 64


class Probe:
    """The run-time side of a region. `enter` is the warm path.

    Attributes:
        on: Whether to ask at all.
        unset: The value of a live-out name that stays as it is.
        plans: The plans, most recently made first.
        region: The statements.
        heats: How long NumPy takes, by kind of call; for the policy `measured`.
        timed: The thread whose call goes on in NumPy now, and where its time is noted; `None` if nobody wants it.
        price: How many seconds the last capture took.
        dropped: How many plans had to make room for others.
        takeovers: The loops in the region that can be taken over while they run.
        around: The same for the loop whose body the region is; or `None`.
        sleeps: Whether the probe is off until calls take long.
        slow: How many seconds such calls have taken since it fell asleep.
    """

    __slots__ = (
        "__weakref__",
        "around",
        "dropped",
        "heats",
        "hits",
        "made_for",
        "native",
        "on",
        "owner",
        "plans",
        "price",
        "region",
        "sleeps",
        "slow",
        "state",
        "takeovers",
        "timed",
        "traps",
    )
    unset = UNSET

    def __init__(self, region: Region, owner: Any, on: bool) -> None:
        self.region = region
        self.owner = owner
        self.on = on
        self.plans: tuple[Plan, ...] = ()
        self.hits = 0
        self.native = 0
        self.traps = 0
        self.made_for: tuple[int, tuple[Any, ...]] | None = None  # the thread and call that has just been given a plan
        self.state: Any = None
        self.heats = HeatMap()
        self.dropped = 0
        self.timed: tuple[int, Heat] | None = None
        self.price = 0.0
        self.sleeps = False
        self.slow = 0.0
        self.takeovers: tuple[Any, ...] = ()
        self.around: Any = None

    def filled(self) -> bool:
        """Whether the free variables that had no value at first have one now."""
        function = self.owner.original
        cells = zip(function.__code__.co_freevars, function.__closure__, strict=True)
        return not any(is_empty(cell) for name, cell in cells if name in self.region.late)

    def is_made_for(self, thread: int, values: tuple[Any, ...]) -> bool:
        """Whether a plan has just been made for this very call."""
        if self.made_for is None or self.made_for[0] != thread:
            return False
        return all(one is other for one, other in zip(self.made_for[1], values, strict=True))

    def enter(self, *values: Any) -> tuple[Any, ...] | None:
        """The region's exit and results, or `None`: run the statements."""
        plans = self.plans
        for plan in plans:
            try:
                result = plan.call(*values)
            except Trapped:
                return self.owner.trapped(self, plan)
            except AutojitWarning:
                raise
            except Exception as error:
                return self.owner.plan_failed(self, plan, error)
            if result is None:
                continue
            if result is NATIVE:
                self.native += 1
                if self.native >= IDLE and not self.hits and plan.is_native:
                    self.owner.idle(self)
                return None
            self.hits += 1
            return result
        try:
            result = self.owner.miss(self, values, plans)
        except (UncompilableError, AutojitWarning):
            raise
        except Exception as error:
            return self.owner.miss_failed(self, error)
        if type(result) is Restart:
            return self.owner.start_again(result.values)
        return result

    def time(self, heat: Heat) -> None:
        """Note how long the statements take, which this thread runs next."""
        self.timed = get_ident(), heat

    def begin(self) -> tuple[Heat | None, int, float] | None:
        """The region's statements begin to run, right after `enter`."""
        timed = self.timed
        if timed is None and not self.sleeps:
            return None
        self.timed = None
        heat = timed[1] if timed is not None and timed[0] == get_ident() else None
        # The exception itself would keep its frames alive.
        begun = heat, id(sys.exc_info()[1]), perf_counter()
        if self.takeovers and heat is not None:
            WATCH.add((get_ident(), begun[2]), self.takeovers, begun[2])
        return begun

    def end(self, begun: tuple[Heat | None, int, float] | None) -> None:
        """They have run. The times of those that raised do not count."""
        if begun is not None:
            heat, handled, start = begun
            seconds = perf_counter() - start
            if self.takeovers and heat is not None:
                WATCH.remove((get_ident(), start))
            if id(sys.exc_info()[1]) != handled:
                return
            if heat is not None:
                self.heats.note(heat, seconds)
            elif seconds > _SLOW and self.sleeps:
                self.slow += seconds
                if self.slow > _WAKES:
                    self.sleeps = False
                    self.heats.clear()
                    self.on = self.owner.enabled

    def sleep(self) -> None:
        """Stay off until calls take long."""
        self.on = False
        self.sleeps = True
        self.slow = 0.0

    def __reduce__(self) -> Any:
        raise TypeError("a function compiled by autojit is pickled by name, not by value")
