"""Python's search for garbage, which has nothing to find where all that is made stays."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

#: More objects than are made meanwhile.
_NEVER = 10_000_000


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage while thousands of objects are made: that would take up to a third of the time.

    Whether the program collects garbage at all is left as it is.
    """
    before = gc.get_threshold()
    gc.set_threshold(_NEVER, *before[1:])
    ours = gc.get_threshold()
    try:
        yield
    finally:
        if gc.get_threshold() == ours:  # the program has not changed it meanwhile
            gc.set_threshold(*before)
