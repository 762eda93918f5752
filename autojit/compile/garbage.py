"""Python's search for garbage, which has nothing to find where all that is made stays."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterator
from typing import Any

#: More objects than are made meanwhile.
_NEVER = 10_000_000
#: What the program has set, once for each that is inside: the last one out puts it back.
_held: list[tuple[int, int, int]] = []
_last = gc.get_threshold()


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage while thousands of objects are made: that would take up to a third of the time.

    Whether the program collects garbage at all is left as it is.
    """
    global _last
    before = gc.get_threshold()
    if before[0] == _NEVER:  # another thread is inside, or just leaves
        before = _last
    _last = before
    _held.append(before)
    gc.set_threshold(_NEVER, *before[1:])
    ours = gc.get_threshold()
    try:
        yield
    finally:
        if before in _held:  # not in a process that was forked meanwhile
            _held.remove(before)
        if not _held and gc.get_threshold() == ours:  # the program has not changed it meanwhile
            gc.set_threshold(*before)


@contextlib.contextmanager
def holding(lock: Any) -> Iterator[None]:
    """Hold a lock for a moment in which no finalizer runs here: it may wait for a thread that waits for the lock."""
    with uncollected(), lock:
        yield


def _put_back() -> None:
    """In a process that was forked, perhaps by another thread: nobody else does."""
    if _held:
        gc.set_threshold(*_held[0])
        _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_put_back)
