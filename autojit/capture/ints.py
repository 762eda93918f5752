"""How large the Python ints may be for which a float64 stands: beyond 2**53 floats have not all of them."""

from __future__ import annotations

import math
from typing import Any

from autojit.capture.values import Arr, Known, LoopInt, Sym, plain

#: Those that loops carry may be so large, if they are no larger at first.
_CARRIED = 2.0**31


def greatest_int(number: Any) -> float:
    """How large a number is at most where Python sees an int, or may see one; -1 where it sees none."""
    if isinstance(number, Arr) and number.kind != "python":
        return -1 if number.python is None else number.ints
    if isinstance(number, Known):
        return abs(number.value) if isinstance(number.value, int) else -1
    if isinstance(number, Sym):
        return math.inf if isinstance(number.value, int) else -1
    if isinstance(number, LoopInt) and number.low is not None and number.high is not None:
        return max(abs(number.low), abs(number.high))
    return -1 if isinstance(number, Arr) and number.dtype.kind == "f" else math.inf


def carried_ints(initial: Any) -> float:
    """`Arr.ints` at the head of an iteration, of what a loop begins with a number that may be Python's."""
    return max(greatest_int(initial), _CARRIED)


def carried_on(end: Any, head: Arr) -> Any:
    """What an iteration gives the next one: where that may be a larger Python int it is made sure of."""
    return plain(end) if greatest_int(end) <= head.ints else end
