"""`Course`: one loop on its way, in which NumPy and a plan take turns."""

from __future__ import annotations

from typing import Any

from autojit.runtime.heat import KEEP_BELOW, VERY_HOPELESS

#: The first run has so many iterations as NumPy makes in that many seconds, and one at least.
FIRST = 1e-3
#: A run of iterations is given to the plan for which it should need that part of the time that the loop has taken ...
SHARE = 0.1
#: ... and that many times as many iterations as the run before had: nobody knows what the next ones cost ...
GROWS = 8
#: ... and at least so many times as many while nobody knows what entering the plan takes.
GROWS_AT_LEAST = 2
#: A run that took fewer seconds says nothing: entering a plan takes some, too.
JUDGED = 0.005
#: What a run of more iterations takes longer than one of fewer must be this part of it: less may be chance.
CHANCE = 0.2
#: A plan that is slower in so many runs in a row is given up.
STRIKES = 3
#: Runs have a multiple of one of these numbers of iterations, the first that is possible: plans of loops that trade
#: arrays, as `u, v = v, u`, are made for remainders.
WHOLE = (12, 6, 2, 1)


class Course:
    """One loop on its way.

    Entering a plan may take longer than many iterations, where large arrays must be copied for it. Two runs of
    different lengths tell the one from the other.

    Attributes:
        iterator: The loop's.
        thread: The one that runs it.
        start: When it was met.
        sample: When NumPy's iterations began to be timed, and how many were left then; `None` when they are not.
        pace: NumPy's seconds for an iteration.
        count: How many iterations the plan has been given.
        last: How many it has taken in its last run, and the seconds of that; `None` before the first one.
        is_known: Whether runs of different lengths have told what entering takes.
        fixed: How many seconds that is, then.
        seconds: How long the plan takes for an iteration.
        strikes: How many runs in a row were too slow.
        owed: Seconds that the last run has saved, if it took all the iterations that it was given.
        end: Of how many iterations before the iterator's last one the loop is left, as far as a run that was left to
            NumPy has told; `None` before.
        tried: How many iterations are left behind the run that the plan is given.
    """

    def __init__(self, iterator: Any, thread: int, start: float) -> None:
        self.iterator, self.thread, self.start = iterator, thread, start
        self.sample: tuple[float, int] | None = None
        self.pace = self.fixed = self.seconds = self.owed = 0.0
        self.count = self.strikes = self.tried = 0
        self.last: tuple[int, float] | None = None
        self.is_known = False
        self.end: int | None = None

    @property
    def times_numpy_first(self) -> bool:
        """Whether NumPy's iterations are timed before the next run: there was none, or one that says something."""
        return not self.count or (self.last is not None and self.last[1] >= JUDGED)

    def time_numpy(self, now: float, left: int) -> bool:
        """Whether NumPy's iterations have been timed; else begin with it."""
        if self.sample is None:
            self.sample = now, left
            return False
        start, before = self.sample
        self.sample = None
        self.pace = (now - start) / max(1, before - left)
        return True

    def next_count(self, now: float, left: int) -> int:
        """How many iterations the plan should take, of so many at most."""
        self.count = self.count * GROWS if self.count else max(1, int(FIRST / max(self.pace, 1e-9)))
        if self.last is not None:
            self.count = max(1, min(self.count, self._affordable(now - self.start, *self.last)))
        if self.end is not None:
            self.count = max(1, min(self.count, (left - self.end) // 2))
        if left > WHOLE[0]:
            self.count = min(self.count, left)
        self.count = whole(self.count)
        self.tried = left - self.count
        return self.count

    def _affordable(self, elapsed: float, count: int, seconds: float) -> int:
        """How many iterations a run may have for the time that the loop has taken.

        Args:
            elapsed: That time, in seconds.
            count: How many the last run had.
            seconds: How long it took.
        """
        if not self.is_known:  # all of it may be the iterations'
            times = SHARE * elapsed / max(seconds, 1e-9)
            return int(count * (max(GROWS_AT_LEAST, times) if times >= 1.0 else times))
        spare = max(SHARE * elapsed - self.fixed, self.fixed)  # a run should be worth its entry
        return int(spare / self.seconds) if self.seconds else GROWS * count

    def took(self, seconds: float, elapsed: float) -> bool | None:
        """A run has taken so long: whether it was faster than NumPy; `None` if it does not tell.

        Args:
            seconds: How long.
            elapsed: The seconds that the loop had taken before.
        """
        last, self.last = self.last, (self.count, seconds)
        tells = seconds >= JUDGED
        if last is not None and self.count >= GROWS_AT_LEAST * last[0]:
            more = max(0.0, seconds - last[1])
            self.seconds = more / (self.count - last[0])
            self.fixed, self.is_known = max(0.0, seconds - self.seconds * self.count), True
            tells = tells and (more > CHANCE * seconds or seconds <= KEEP_BELOW * self.pace * self.count)
        else:
            self.seconds = max(0.0, seconds - self.fixed) / self.count
            tells = tells and (self.is_known or seconds > SHARE * elapsed)
        if not tells:
            return None
        self.owed = self.pace * self.count - seconds
        is_slow = max(seconds / self.count, self.seconds) > KEEP_BELOW * self.pace
        self.strikes = self.strikes + 1 if is_slow else 0
        return not is_slow

    @property
    def is_lost(self) -> bool:
        """Whether the plan is given up. One run may have been slow for other reasons, its first one above all."""
        return self.strikes >= (2 if self.seconds > VERY_HOPELESS * self.pace else STRIKES)

    def is_near(self, left: int) -> bool:
        """Whether so few iterations are left, as far as anybody knows, that they are not worth a run."""
        gain = self.pace - self.seconds  # where there is none, further runs tell whether the plan is given up
        if self.is_known and gain > 0.0 and (left - (self.end or 0)) * gain < self.fixed:
            return True
        return self.end is not None and (left <= self.end or (left - self.end) * self.pace < JUDGED)

    @property
    def outlook(self) -> float:
        """NumPy's seconds for the iterations that are left, as far as anybody knows."""
        return (self.tried + self.count - (self.end or 0)) * self.pace


def whole(count: int) -> int:
    """The largest length of a run that is no longer than this."""
    return next((count - count % unit for unit in WHOLE if count >= unit), 0)
