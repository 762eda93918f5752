"""How long NumPy takes for a region, by kind of call: whether compiling pays, and what a plan must beat."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from autojit.capture.buckets import FEWEST, bucket

#: Seconds that NumPy must have spent on calls of one kind before they are worth a compilation.
PAYS_AFTER = 0.25
#: ... or this part of it where a region that was split has taken so long before ...
OF_A_PART = 0.2
#: ... and as many times as long as the capture took, for which the program waited. All plans together may cost an
#: eighth of the time: no sequence of calls takes more than 1 + 1/7 times as long as in NumPy.
WAITS = 8.0
#: How many times as long NumPy must have taken where an earlier process has found that the plan was slower.
LOST = 8.0
#: A region promises to be faster compiled that holds so many operations on arrays, and nothing that takes longer ...
MANY = 6
#: ... if NumPy spends more seconds on each, less is spent on what comes before the arrays, and calls are not `SHORT`.
EACH = 5e-6
#: A loop promises it, too, whose iterations hold so many operations, on each of which NumPy spends fewer seconds: that
#: is what it takes to begin one.
FEW, BEGIN = 3, 2e-6
#: Types of values that hold no arrays, or seldom.
_WITHOUT_ARRAYS = (int, float, complex, bool, str, bytes, list, tuple, dict, set, range, type(None), types.FunctionType)
#: How many attributes of an object are looked at, and at how many objects inside each other.
_MOST_ATTRIBUTES, _DEEPEST = 64, 2
#: How many kinds of calls are told apart. Those on which NumPy has spent least are forgotten, sooner or later all that
#: do not come again: each one forgotten raises what new time counts from.
MOST = 64
#: A plan is kept when it needs at most this fraction of NumPy's time.
KEEP_BELOW = 0.95
#: A plan is given up after two runs that took more than this many times as long as NumPy ...
HOPELESS = 2.0
#: ... or one that took this many times as long.
VERY_HOPELESS = 8.0
#: How many of the last runs are remembered.
LAST = 8
#: Calls on which NumPy spends fewer seconds cannot gain: entering a plan takes some 10 us.
TINY = 15e-6
#: ... and those on which it spends more may.
LONG = 2 * TINY
#: That many calls show that they are tiny.
SEEN = 32
#: Calls that take fewer seconds in NumPy are short.
SHORT = 2e-4
#: Calls that take more seconds are always asked about if a loop in them may be taken over.
ASKED = 1e-3
#: Seconds that it takes to ask about a call and to time it in NumPy ...
ASKING = 2e-5
#: ... which may be this fraction of NumPy's time ...
SHARE = 1 / 64
#: ... and is looked at after so many calls.
BURST = 16
#: Naps are at most so many times as long where asking about all regions takes more than `SHARE` in all ...
MOST_TIMES = 4.0
#: ... of about so many seconds.
_LOOKS_BACK = 10.0


class Asking:
    """What asking about the calls of all regions takes.

    Regions stand inside each other, and each counts as its own what NumPy takes in those inside: all of them together
    would take the fraction that each of them may several times.
    """

    def __init__(self) -> None:
        self._since = self._seconds = 0.0

    def more(self, seconds: float, passed: float) -> float:
        """It has taken so many seconds more; how many times as long as all of it may take, between 1 and `MOST_TIMES`.

        Args:
            seconds: How many.
            passed: In how many seconds of the program.
        """
        now = perf_counter()
        self._since = self._since or now - passed
        self._seconds += seconds
        passed = max(now - self._since, 1e-9)
        if passed > _LOOKS_BACK:  # what was long ago says nothing of now
            self._seconds, self._since = self._seconds * _LOOKS_BACK / passed, now - _LOOKS_BACK
            passed = _LOOKS_BACK
        return min(MOST_TIMES, max(1.0, self._seconds / (SHARE * passed)))


#: That of the process.
ASKING_OF_ALL = Asking()


class Heat:
    """What is known of one kind of call.

    Attributes:
        kind: Dtype and shape of each array among the live-ins, the type of each other one.
        held: The kinds of the dtypes of arrays that other live-ins had as attributes at the region's first call.
        calls: How many have run in NumPy.
        seconds: The time they took in all, with those that nobody has asked about.
        timed: The time of those that were timed.
        seen: What `seconds` was when the last nap began.
        last: The times of the last ones.
        is_new: Whether nobody has asked yet what earlier processes have measured.
        verdict: What they have.
        promises: Whether the region's text promises that a plan will be faster; `None` if nobody has read it.
        base: What `rank` counts from.
        rows: How many rows the arrays of the last call had that was asked about.
        has_lengths: Whether others had another number of rows.
    """

    __slots__ = (
        "base", "calls", "has_lengths", "held", "is_new", "kind", "last", "promises", "rows", "seconds", "seen",
        "timed", "verdict",
    )  # fmt: skip

    def __init__(self, kind: tuple[Any, ...] = (), held: frozenset[str] = frozenset()) -> None:
        self.kind = kind
        self.held = held
        self.is_new = True
        self.verdict: Any = None
        self.promises: bool | None = None
        self.calls = self.rows = 0
        self.has_lengths = False
        self.seconds = self.seen = self.timed = self.base = 0.0
        self.last: deque[float] = deque(maxlen=LAST)

    def add(self, seconds: float) -> None:
        """Note a run in NumPy."""
        self.calls += 1
        self.seconds += seconds
        self.timed += seconds
        self.last.append(seconds)

    def cool(self) -> None:
        """A region is captured. Calls of this kind that the plan does not take begin to count again."""
        self.calls, self.seconds, self.seen, self.timed = 0, 0.0, 0.0, 0.0

    @property
    def is_of_floats(self) -> bool:
        """Whether there are floats among the arrays, or without arrays something that may hold some.

        Of integers and bools NumPy's loops take so many at once that a fused loop saves little.
        """
        found = {part[0].kind for part in self.kind if isinstance(part, tuple)} | self.held
        others = [part for part in self.kind if not isinstance(part, tuple)]
        if found:
            return bool(found & {"f", "c"})
        return any(kind not in _WITHOUT_ARRAYS and not issubclass(kind, np.generic) for kind in others)

    @property
    def rank(self) -> float:
        """The higher, the longer it is remembered."""
        return self.base + self.seconds

    @property
    def best(self) -> float:
        """The shortest of the last runs; 0.0 if there was none."""
        return min(self.last, default=0.0)

    @property
    def mean(self) -> float:
        """How long a run takes on average: some may return at once, and the others take all of the time."""
        return self.timed / max(1, self.calls)


def price_of(capture_seconds: float, dropped: int, is_part: bool = False) -> float:
    """The time that NumPy must have taken for calls of a kind before one of them is captured.

    Args:
        capture_seconds: How long capturing took the last time: the program waits for it.
        dropped: How many plans had to make room for others: each doubles the price.
        is_part: Whether the region around has taken so long already.
    """
    return max(PAYS_AFTER * (OF_A_PART if is_part else 1), WAITS * capture_seconds) * (1 << min(dropped, 30))


def _held(values: Iterable[Any], deepest: int = _DEEPEST) -> frozenset[str]:
    """The kinds of the dtypes of arrays that objects have as attributes, or objects that these have."""
    found: set[str] = set()
    for value in values:
        attributes = _attributes(value)
        found |= {np.ndarray.dtype.__get__(one).kind for one in attributes if issubclass(type(one), np.ndarray)}
        if deepest > 1:
            found |= _held(attributes, deepest - 1)
    return frozenset(found)


def _attributes(value: Any) -> list[Any]:
    """The values of an object's attributes, of which no code of the user's is asked."""
    kind = type(value)
    if issubclass(kind, (*_WITHOUT_ARRAYS, type, types.ModuleType, np.ndarray)):
        return []
    own = next((vars(each)["__dict__"] for each in kind.__mro__ if "__dict__" in vars(each)), None)
    if not isinstance(
        own, types.GetSetDescriptorType | types.MemberDescriptorType
    ):  # none, or something of the class's
        return []
    try:
        return list(own.__get__(value).values())[:_MOST_ATTRIBUTES]
    except RuntimeError:  # another thread adds one
        return []


def rows_of(values: Iterable[Any]) -> int:
    """How many rows the first array has that has more than a few; 0 if there is none."""
    return next((v.shape[0] for v in values if type(v) is np.ndarray and v.shape and v.shape[0] > FEWEST), 0)


def _rough_shape(array: np.ndarray) -> tuple[int, ...]:
    """An array's shape, with the number of rows of the plan for about as many."""
    shape = array.shape
    return (bucket(shape[0])[1], *shape[1:]) if shape and shape[0] > FEWEST else shape


class HeatMap:
    """The kinds of calls of one region.

    Attributes:
        by_rows: Whether calls are of one kind where arrays have about as many rows: one plan may take all of them.
        long: How many seconds long calls have taken in all.
    """

    __slots__ = (
        "_asked",
        "_held",
        "_kinds",
        "_last",
        "_long",
        "_rank",
        "_seconds",
        "_since",
        "_spent",
        "by_rows",
        "long",
    )

    def __init__(self) -> None:
        self._kinds: dict[tuple[Any, ...], Heat] = {}
        self.by_rows, self.long = True, 0.0
        self._rank = 0.0  # of the last one that was forgotten
        self._held: frozenset[str] | None = None  # looked at once: shapes may change at each call
        self._last = self._spent = self._long = 0.0  # of any kind: the last calls, their time, that of the long ones
        self.go_on()

    def of(self, values: Sequence[Any]) -> Heat:
        """The heat of calls like this one."""
        # By identity: the hash of a class may be the user's code.
        shape_of = _rough_shape if self.by_rows else np.shape
        key = tuple([(v.dtype, shape_of(v)) if type(v) is np.ndarray else id(type(v)) for v in values])
        heat = self._kinds.get(key)
        if heat is None:
            kind = tuple([(v.dtype, shape_of(v)) if type(v) is np.ndarray else type(v) for v in values])
            if self._held is None:
                self._held = _held(values)
            if len(self._kinds) >= MOST:
                self._forget_one()
            heat = self._kinds[key] = Heat(kind, self._held)
        heat.base = self._rank
        if self.by_rows and not heat.has_lengths:
            rows = rows_of(values)
            heat.has_lengths = heat.rows not in (0, rows)
            heat.rows = rows
        return heat

    def _forget_one(self) -> None:
        kinds = list(self._kinds.items())
        if kinds:  # another thread may have forgotten all
            key, heat = min(kinds, key=lambda item: item[1].rank)
            self._kinds.pop(key, None)
            self._rank = heat.rank

    @property
    def best(self) -> float:
        """The shortest of the last calls where all were of one kind; else 0.0."""
        kinds = list(self._kinds.values())
        return kinds[0].best if len(kinds) == 1 else 0.0

    def note(self, heat: Heat, seconds: float) -> None:
        """Note a run in NumPy."""
        heat.add(seconds)
        self._asked += 1
        self._seconds += seconds
        self._last += 1
        self._spent += seconds
        if seconds >= LONG:
            self._long += seconds
            self.long += seconds

    @property
    def hottest(self) -> Heat | None:
        """The kind of calls that have taken most time, if any has."""
        found = max(list(self._kinds.values()), key=lambda heat: heat.seconds, default=None)
        return found if found is not None and found.seconds else None

    @property
    def promised(self) -> float:
        """The seconds of the calls for which the region promises to be faster compiled."""
        return sum(heat.seconds for heat in list(self._kinds.values()) if heat.promises)

    def are_tiny(self) -> bool:
        """Whether no plan could be faster, whatever the kind of call: they are, and not a few that take most time."""
        if self._last < SEEN:
            return False
        tiny = self._spent < TINY * self._last and 2 * self._long < self._spent
        self._last = self._spent = self._long = 0.0
        return tiny

    def is_due(self) -> bool:
        """Whether so many calls were timed that `nap` can tell."""
        return self._asked >= BURST

    def nap(self, least: float, most: float, others: Sequence[Heat] = (), are_all: bool = True) -> float:
        """For how many seconds nobody needs to ask about the calls to come; 0.0 where asking costs next to nothing.

        They are taken for such as the last ones, and their time is added to that of their kinds. It is longer where
        asking about all regions takes too much.

        Args:
            least: The shortest nap, in seconds.
            most: The longest one.
            others: Kinds that the map does not have.
            are_all: Whether no calls but those that were asked about are the region's.
        """
        now = perf_counter()
        passed = max(now - self._since, 1e-9)
        asking = ASKING * self._asked
        seconds = passed * ASKING_OF_ALL.more(asking, passed) * asking / (SHARE * max(self._seconds, 1e-9))
        is_tiny = self._seconds < TINY * self._asked and 2 * self._long <= self._spent  # `are_tiny` will tell
        self.go_on()
        if seconds <= passed or (is_tiny and are_all):
            return 0.0
        seconds = min(max(seconds, least), most)
        self._pass_over(seconds / passed, others)
        return seconds

    def wait(self, seconds: float) -> None:
        """Nobody asks about the calls of the seconds to come: they are taken for such as the last ones."""
        passed = max(perf_counter() - self._since, 1e-9)
        self.go_on()
        self._pass_over(seconds / passed)

    def _pass_over(self, times: float, others: Sequence[Heat] = ()) -> None:
        """Add so many times as much as was timed since this was done before."""
        for heat in (*list(self._kinds.values()), *others):
            heat.seconds += (heat.seconds - heat.seen) * times
            heat.seen = heat.seconds

    def are_long(self) -> bool:
        """Whether the last calls were, so that asking about them costs little."""
        return self._seconds > ASKED * self._asked

    def go_on(self) -> None:
        """Look again after `BURST` calls more."""
        self._asked, self._seconds, self._since = 0, 0.0, perf_counter()

    def clear(self) -> None:
        """Forget everything."""
        self._kinds.clear()
        self._last = self._spent = self._long = 0.0
        self.go_on()
