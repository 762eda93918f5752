"""`measured` without waiting, for random programs: every region is tried, every loop taken over at random places."""

from __future__ import annotations

import random
from typing import Any

from autojit.runtime import heat, takeover
from autojit.runtime.background import Background
from autojit.runtime.maker import Maker
from autojit.runtime.takeover import Takeover

_random = random.Random(0)
_OFTEN = 0.4


def at_once() -> None:
    """Compile in the call that asks for it, and let plans win; for the rest of this process."""
    heat.PAYS_AFTER, heat.WAITS = 1e-9, 0.0
    heat.Heat.best = 1.0  # type: ignore[assignment, misc] -- what NumPy takes
    Background.submit = lambda self, job: job() or True  # type: ignore[method-assign] -- no thread
    Maker.too_small = lambda self, prepared, heat=None: False  # type: ignore[method-assign] -- all are
    Takeover.due = property(lambda self: _random.random() < _OFTEN, lambda self, due: None)  # type: ignore[assignment] -- a slot
    Takeover._judge = lambda *given: None  # type: ignore[method-assign] -- nothing is slow
    begin = Takeover.begin

    def somewhere(self: Takeover, iterator: Any) -> int | None:
        stop = begin(self, iterator)
        if self._state == "ready" and type(iterator) is takeover._RANGE_ITERATOR:
            ahead, stop = takeover._ahead(iterator)
            if len(ahead) > 1 << 40:  # a `while` loop counts without end
                ahead = ahead[:8]
            if ahead and _random.random() < 0.8:
                stop = _random.choice(ahead)
        return stop

    Takeover.begin = somewhere  # type: ignore[method-assign] -- where runs of iterations stop


def begin_program(source: str) -> None:
    """Make the same random choices for a program each time."""
    _random.seed(source)
