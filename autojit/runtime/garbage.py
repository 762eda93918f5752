"""Python's search for garbage, which has nothing to find where all that is made stays."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterator

#: More objects than are made meanwhile.
_NEVER = 10_000_000
#: What the program has set, by whom that is put back at the end.
_held: list[tuple[int, int, int]] = []


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage while thousands of objects are made: that would take up to a third of the time.

    Whether the program collects garbage at all is left as it is.
    """
    before = gc.get_threshold()
    _held.append(before)
    gc.set_threshold(_NEVER, *before[1:])
    ours = gc.get_threshold()
    try:
        yield
    finally:
        if gc.get_threshold() == ours:  # the program has not changed it meanwhile
            gc.set_threshold(*before)
        if before in _held:  # not in a process that was forked meanwhile
            _held.remove(before)


def _put_back() -> None:
    """In a process that was forked, perhaps by another thread: nobody else does."""
    if _held:
        gc.set_threshold(*_held[0])
        _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_put_back)
