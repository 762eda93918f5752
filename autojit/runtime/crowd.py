"""`Crowd`: a region that is called with more combinations of shapes and constants than it may have plans."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Any

import numpy as np

#: Under `eager` a combination for which there is no room gets a plan when it has come so often; each plan that had to
#: make room doubles that.
OFTEN = 16
#: So many calls of a loop's body without an answer, one after the other, and it is asked no more.
STORM = 64
#: How many combinations are told apart; those not seen for the longest time are forgotten.
_MOST = 64
#: So many different values of one argument are shown.
_SHOWN = 4
#: The types of constants; a plan takes any float, and of other objects only the type is told.
_CONSTANTS = (int, bool, str, type(None))
_LONG = 20

#: Dtype and shape of each array, the value of each constant, the type of each other argument.
Combination = tuple[Any, ...]


class Crowd:
    """What is known of the calls for which plans were made, and of those for which there is no room.

    Args:
        most: How many plans there may be.

    Attributes:
        dropped: How many plans had to make room for others.
        refused: How many calls found no room.
    """

    __slots__ = ("_counts", "_hits", "_planned", "_unanswered", "dropped", "refused")

    def __init__(self, most: int) -> None:
        self.dropped = self.refused = 0
        self._hits = self._unanswered = 0
        self._counts: OrderedDict[Combination, int] = OrderedDict()
        self._planned: deque[Combination] = deque(maxlen=most + 1)

    def note(self, values: Sequence[Any]) -> None:
        """A plan is made for such a call."""
        self._planned.append(_combination(values))

    def comes_often(self, values: Sequence[Any]) -> bool:
        """Whether such a call should get a plan in another's place; there is one more of them."""
        key = _combination(values)
        count = self._counts.pop(key, 0) + 1
        if count >= OFTEN << min(self.dropped, 30):
            return True
        self._counts[key] = count
        self.refused += 1
        if len(self._counts) > _MOST:
            self._counts.popitem(last=False)
        return False

    def is_storm(self, hits: int) -> bool:
        """Whether nothing was answered for a long time; one more call was not, and `hits` were so far."""
        if hits != self._hits:
            self._hits, self._unanswered = hits, 0
        self._unanswered += 1
        return self._unanswered >= STORM

    def history(self, names: Sequence[str], values: Sequence[Any]) -> str:
        """In which arguments the planned calls and this one differ, in words: "; `x` was int8[3], int8[4] ..."."""
        text, seen_all = "", [*self._planned, _combination(values)]
        for position, name in enumerate(names):
            seen = list(dict.fromkeys(_described(planned[position]) for planned in seen_all))
            if len(seen) > 1:
                text += f"; `{name}` was {', '.join(seen[:_SHOWN])}{' ...' if len(seen) > _SHOWN else ''}"
        return text


def _combination(values: Sequence[Any]) -> Combination:
    # Types by identity and constants with their types: the hash of a class may be the user's code, and 1 == True.
    return tuple(
        [
            (value.dtype, value.shape)
            if type(value) is np.ndarray
            else (type(value).__name__, value)
            if type(value) in _CONSTANTS
            else (type(value).__name__, id(type(value)))
            for value in values
        ]
    )


def _described(part: tuple[Any, Any]) -> str:
    first, second = part
    if isinstance(first, np.dtype):
        return f"{first}{list(second)}"
    if first not in _NAMES or (type(second) is int and abs(second) >= 10**_LONG):  # Python may refuse to print it
        return first
    return repr(second) if len(repr(second)) <= _LONG else first


_NAMES = frozenset(kind.__name__ for kind in _CONSTANTS)
