"""A gate before a region's plans, for calls of lengths that none of them takes.

Such a call fails in the guard of each plan, and is then asked about: 10 us and more, where many are short and few are
answered. A nap would keep those few from their plans, too.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from autojit.runtime import plans
from autojit.runtime.plan import NATIVE, Plan
from autojit.runtime.watch import WATCH

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.capture.capture import Capture

#: For so many seconds it is closed, at least and at most.
_CLOSED = 0.05, 1.0


class Gate:
    """Stands before a probe's first plan, and leaves calls of other lengths to NumPy until it opens.

    Args:
        probe: The probe; it has plans.
        place: Which of the live-ins is an array whose length decides.
        ranges: For each plan, for more than how many elements of the first axis it is, and for at most how many.

    Attributes:
        wakes: When it opens.
    """

    def __init__(self, probe: Any, place: int, ranges: tuple[tuple[int, int], ...]) -> None:
        self.probe, self.place, self.ranges = probe, place, ranges
        self.wakes = 0.0
        self._is_closed = False
        self._plan = probe.plans[0]
        self._call = self._plan.call
        self._enter = self.enter

    def close_for(self, seconds: float) -> None:
        """Close it, if somebody sees to it that it opens again."""
        self.wakes = perf_counter() + seconds
        self._is_closed, self.probe.gate = True, self
        self.probe.asks_until = inf  # calls that are NumPy's do not show that all are
        self._plan.call = self._enter
        if not WATCH.rouses(self):
            self.rouse()

    def enter(self, *values: Any) -> Any:
        """As the plan's call."""
        if self._is_closed:
            value = values[self.place]
            if type(value) is np.ndarray and value.ndim:
                count = len(value)
                for least, most in self.ranges:
                    if least < count <= most:
                        break
                else:
                    return NATIVE
        return self._call(*values)

    def rouse(self) -> None:
        """Open it."""
        self._is_closed = False
        if self._plan.call is self._enter:  # others may have put something before it
            self._plan.call = self._call
        if self.probe.gate is self:  # it is not where the plans were cleared meanwhile
            self.probe.gate_opens()


def closes(probe: Any) -> bool:
    """Close a gate before the plans of a probe, if asking about other calls costs more than they may."""
    asked = [plan for plan in probe.plans if not plans.is_numpys(plan)]  # those that are tried, too
    if not asked or probe.gate is not None or not probe.heats.is_due():
        return False
    found = _ranges(probe.region.live_in, asked)
    if found is None:
        return False
    seconds = probe.heats.nap(*_CLOSED, are_all=False)
    if seconds:
        Gate(probe, *found).close_for(seconds)
    return seconds > 0


def _ranges(names: tuple[str, ...], asked: list[Plan]) -> tuple[int, tuple[tuple[int, int], ...]] | None:
    """A live-in that is an array for all of these plans, and the lengths that each takes."""
    for place, name in enumerate(names):
        found = [_range(f"L_{name}", plan.capture) for plan in asked]
        known = [one for one in found if one is not None]
        if known and len(known) == len(found):
            return place, tuple(known)
    return None


def _range(text: str, captured: Capture) -> tuple[int, int] | None:
    """The lengths of a live-in, written so in the prologue, that a capture is for; `None` if it is no array of its."""
    path = next((line.name for line in captured.prologue.lines if line.text == text), None)
    if captured.rows is not None and path in captured.rows.names:
        return captured.rows.least, captured.rows.most
    if captured.graph is None or path not in captured.input_names:
        return None
    spec = captured.graph.inputs[captured.input_names.index(path)].spec
    return (spec.shape[0] - 1, spec.shape[0]) if spec.kind == "array" and spec.shape else None
