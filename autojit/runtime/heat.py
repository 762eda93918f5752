"""How long NumPy takes for a region, by kind of call: whether compiling pays, and what a plan must beat."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Any

import numpy as np

#: Seconds that NumPy must have spent on calls of one kind before they are worth a compilation.
PAYS_AFTER = 0.25
#: How many kinds of calls are told apart; those not seen for the longest time are forgotten.
MOST = 64
#: How many of the last runs are remembered.
_LAST = 8
#: Calls on which NumPy spends fewer seconds cannot gain: entering a plan takes some 10 us.
TINY = 15e-6
#: That many calls show that they are tiny.
SEEN = 64


class Heat:
    """What is known of one kind of call.

    Attributes:
        kind: Dtype and shape of each array among the live-ins, the type of each other one.
        calls: How many have run in NumPy.
        seconds: The time they took in all.
        last: The times of the last ones.
        is_busy: Whether a plan is being made for them.
        failures: How often that went wrong.
        is_new: Whether nobody has asked yet what earlier processes have measured.
    """

    __slots__ = ("calls", "failures", "is_busy", "is_new", "kind", "last", "seconds")

    def __init__(self, kind: tuple[Any, ...] = ()) -> None:
        self.kind = kind
        self.is_new = True
        self.calls = 0
        self.seconds = 0.0
        self.last: deque[float] = deque(maxlen=_LAST)
        self.is_busy = False
        self.failures = 0

    def add(self, seconds: float) -> None:
        """Note a run in NumPy."""
        self.calls += 1
        self.seconds += seconds
        self.last.append(seconds)

    def cool(self) -> None:
        """A plan was made. Calls of this kind that it does not take begin to count again."""
        self.calls, self.seconds, self.is_busy = 0, 0.0, False

    @property
    def best(self) -> float:
        """The shortest of the last runs; 0.0 if there was none."""
        return min(self.last, default=0.0)

    def pays(self, dropped: int = 0) -> bool:
        """Whether NumPy has taken as long as a compilation would; twice as long for each plan that was `dropped`."""
        return self.seconds >= PAYS_AFTER * (1 << min(dropped, 30))

    def is_tiny(self) -> bool:
        """Whether no plan could be faster."""
        return self.calls >= SEEN and self.seconds < TINY * self.calls


class HeatMap:
    """The kinds of calls of one region."""

    __slots__ = ("_kinds",)

    def __init__(self) -> None:
        self._kinds: OrderedDict[tuple[Any, ...], Heat] = OrderedDict()

    def of(self, values: Sequence[Any]) -> Heat:
        """The heat of calls like this one."""
        key = tuple([(v.dtype, v.shape) if type(v) is np.ndarray else type(v) for v in values])
        heat = self._kinds.get(key)
        if heat is None:
            heat = self._kinds[key] = Heat(key)
            if len(self._kinds) > MOST:
                self._kinds.popitem(last=False)
        return heat

    def differences(self, names: Sequence[str]) -> str:
        """In which arguments the calls differ, in words: "; `x` was float64[3], float64[4] ..."."""
        text = ""
        for position, name in enumerate(names):
            kinds = dict.fromkeys(_describe(key[position]) for key in list(self._kinds))
            if len(kinds) > 1:
                text += f"; `{name}` was {', '.join(list(kinds)[:_SHOWN])}{' ...' if len(kinds) > _SHOWN else ''}"
        return text

    def clear(self) -> None:
        """Forget everything."""
        self._kinds.clear()


#: So many kinds of one argument are shown.
_SHOWN = 4


def _describe(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else f"{kind[0]}{list(kind[1])}"
