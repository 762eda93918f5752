"""`ALLOWANCE`: how much of a program's time making plans may take in all.

Whether a plan will be faster is known when it has been tried. A region's own price bounds what its captures take; but
regions stand inside each other, and all of them count the same seconds. So what is spent on all of them is bounded,
too, by how long the program has run, and by what plans have saved: closely in a program whose functions nobody has
decorated (`delay`), and by an eighth of the time where the user has (`lacks`).
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from time import perf_counter, process_time, thread_time
from typing import Any

from autojit.compile.persistent import processors
from autojit.compile.service import SERVICE
from autojit.runtime import heat

#: The processors that this process may use.
_PROCESSORS = processors()
#: This part of the seconds that the program has run may be spent ...
SHARE = 0.03
#: ... and this part of those that plans have saved ...
OF_SAVED = 0.5
#: ... and, where a plan promises to be faster, this part of the seconds that NumPy has taken for its calls: the program
#: will take as long again, as far as anybody knows, and the plan half of it ...
OF_PROMISED = 0.5
#: ... but no more seconds than these: promises are not always kept.
ADVANCE = 0.8
#: Seconds from a decision to compile until a plan is there: a loop that is taken over goes on meanwhile, and may end.
LATENCY = 1.0
#: What other threads do takes so much of the program's time, if nobody has measured it: they share the interpreter ...
BESIDE = min(0.25, 0.5 / _PROCESSORS)
#: ... and what other processes do: they share caches, memory and clock.
ELSEWHERE = 0.05 if _PROCESSORS > 1 and hasattr(os, "SCHED_IDLE") else 0.25
#: ... more on some: between a twentieth and a quarter was measured. Where a bound is promised, this is taken for it.
AT_WORST = max(0.2, ELSEWHERE)
#: What takes longer has waited for time that nobody else wants.
MOST_BESIDE = 1.0
#: Seconds that a capture takes, where none has been made, and that its compilation takes.
CAPTURE, COMPILATION = 0.03, 0.2


def part_of_compiling() -> float:
    """What part of a compilation in the background the program loses: more, where it uses all processors itself."""
    elsewhere = ELSEWHERE if ALLOWANCE.is_limited else AT_WORST
    return max(elsewhere if SERVICE.is_used else BESIDE, ALLOWANCE.crowding)


def lost(seconds: float, part: float) -> float:
    """What counts of so many seconds of which the program loses a part, or all."""
    return seconds if part == 1.0 else min(seconds, MOST_BESIDE) * part


class Allowance:
    """What is spent on plans, and what they have saved.

    Attributes:
        is_limited: Whether the limit is that of a program whose functions nobody has decorated.
        is_bounded: Whether, without that limit, what all plans cost is bounded.
        spent: The seconds that the program has waited for plans, with the part that counts of what was done beside.
        promised: The seconds that NumPy has taken for calls of one region whose plans promise to be faster; regions
            stand inside each other, so that those of several do not add up.
    """

    def __init__(self) -> None:
        self.is_limited, self.is_bounded = False, True
        self.spent = self.promised = 0.0
        self._begun, self._used = perf_counter(), process_time()
        self._gained = 0.0
        #: When the first decorated function was called, and what had been spent till then.
        self._first_call = self._before = 0.0
        #: The probes whose plans are kept, with the hits whose savings are counted and the seconds that a hit saves.
        self._kept: list[tuple[weakref.ref[Any], int, float]] = []
        # Others, such as a signal handler or a forked process, do not wait for who counts.
        self._counts = threading.Lock()

    def limit(self) -> None:
        """Let there be a limit from now on; all that the process has run till now counts."""
        self.is_limited = True

    def delay(self, seconds: float, promises: bool = False) -> float:
        """How long to wait until so many seconds more may be spent, if nothing else happens; 0.0 if they may be.

        Args:
            seconds: How long the program will wait.
            promises: Whether the plan promises to be faster.
        """
        if not self.is_limited:
            return 0.0
        passed = perf_counter() - self._begun
        advance = min(ADVANCE, OF_PROMISED * self.promised) if promises else 0.0
        lacking = self.spent + seconds - advance - OF_SAVED * self.saved
        return max(0.0, lacking / SHARE - passed)

    def delay_of_capture(self, seconds: float, promises: bool = False) -> float:
        """How long to wait until a region may be captured and compiled.

        Args:
            seconds: How long its last capture took; 0.0 if there was none.
            promises: Whether the plan promises to be faster.
        """
        return self.delay((seconds or CAPTURE) + COMPILATION * part_of_compiling(), promises)

    def lacks(self, seconds: float) -> float:
        """How long to wait until a plan may be made for a function that the user has decorated; 0.0 if it may be.

        The time since the first call must be `heat.WAITS` times as long as what all plans together cost, but for a part
        of what they have saved.

        Args:
            seconds: How many the program is expected to lose by the plan.
        """
        if not heat.WAITS or not self.is_bounded:
            return 0.0
        passed = perf_counter() - self._first_call
        return max(0.0, heat.WAITS * (self.spent - self._before + seconds - OF_SAVED * self.saved) - passed)

    def has_no(self, seconds: float) -> bool:
        """Whether so many seconds may not be spent now on a plan that is kept."""
        return bool(self.delay(seconds) if self.is_limited else self.lacks(seconds))

    def begin(self) -> None:
        """A call of a function is asked about, perhaps the first one."""
        if not self._first_call:
            self._first_call, self._before = perf_counter(), self.spent

    @property
    def crowding(self) -> float:
        """What part of the processors besides its first one the program keeps busy itself, by BLAS for one."""
        passed = perf_counter() - self._begun
        if _PROCESSORS == 1 or passed <= 0.0:
            return 0.0
        used = (process_time() - self._used) / passed
        return min(1.0, max(0.0, used - 1.0) / (_PROCESSORS - 1))

    @property
    def saved(self) -> float:
        """The seconds that plans have saved by now."""
        self._count()
        return self._gained

    def _count(self, more: tuple[Any, float] | None = None) -> None:
        """Count what was saved since somebody last did; `more` is a probe whose plan is kept, and what it saves."""
        if not self._counts.acquire(blocking=False):
            return
        try:
            self._kept = self._counted()
            if more is not None:
                probe, gain = more
                # Its hits may be those of any of its plans.
                gains = [known for reference, _, known in self._kept if reference() is probe]
                self._kept = [one for one in self._kept if one[0]() is not probe]
                self._kept.append((weakref.ref(probe), probe.hits, min([gain, *gains])))
        finally:
            self._counts.release()

    def _counted(self) -> list[tuple[weakref.ref[Any], int, float]]:
        kept: list[tuple[weakref.ref[Any], int, float]] = []
        for reference, before, gain in self._kept:
            probe = reference()
            if probe is not None:
                hits = probe.hits  # from 0 again, if the function was cleared
                self._gained += gain * max(0, hits - before)
                kept.append((reference, hits, gain))
        return kept

    def promise(self, seconds: float) -> None:
        """NumPy has taken so many seconds for calls of a region whose plan promises to be faster."""
        self.promised = max(self.promised, seconds)

    def spend(self, seconds: float, part: float = 1.0) -> None:
        """So many seconds were spent.

        Args:
            seconds: How many.
            part: The part of them that the program has lost, if it went on meanwhile.
        """
        self.spent += lost(seconds, part)

    @contextlib.contextmanager
    def spending(self, part: float = 1.0) -> Iterator[None]:
        """What is done meanwhile is spent; `part` as `spend` has it."""
        start = perf_counter()
        try:
            yield
        finally:
            self.spend(perf_counter() - start, part)

    @contextlib.contextmanager
    def sharing(self) -> Iterator[None]:
        """What this thread does meanwhile, in Python, keeps the program's threads from going on: that is spent.

        A program in short calls of NumPy's loses all of the time, since each call gives up the interpreter and waits
        for it again; one in long calls loses next to nothing.
        """
        start, own, all_threads = perf_counter(), thread_time(), process_time()
        try:
            yield
        finally:
            own = thread_time() - own
            others = process_time() - all_threads - own
            self.spend(max(0.0, min(own, perf_counter() - start - others)))

    def asked(self) -> None:
        """A call that no plan takes was asked about; under the closer limit naps alone bound what that takes."""
        if not self.is_limited:
            self.spent += heat.ASKING

    def gain(self, seconds: float) -> None:
        """A plan has saved so many seconds."""
        self._gained += seconds

    def keep(self, probe: Any, gain: float) -> None:
        """A plan of a region is kept, which saves so many seconds at each hit."""
        self._count((probe, gain))


#: That of the process.
ALLOWANCE = Allowance()
