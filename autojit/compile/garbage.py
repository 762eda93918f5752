"""Python's search for garbage, which has nothing to find where all that is made stays."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterator

#: More objects than are made meanwhile, and no number that a program would choose.
_NEVER = 10_000_019
#: One for each that is inside: the last one out puts back what the program has set.
_held: list[None] = []
_programs = gc.get_threshold()


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage while thousands of objects are made: that would take up to a third of the time. Nor while a
    lock is held for a moment: a finalizer may wait for a thread that waits for the lock.

    Whether the program collects garbage at all is left as it is.
    """
    global _programs
    try:
        _held.append(None)
        found = gc.get_threshold()
        if found[0] != _NEVER:  # nobody else is inside, or the program has set another one meanwhile
            _programs = found
        gc.set_threshold(_NEVER, *_programs[1:])
        yield
    finally:
        if _held:  # not in a process that was forked meanwhile
            _held.pop()
        if not _held:
            _put_back()


def _put_back() -> None:
    if gc.get_threshold()[0] == _NEVER:
        gc.set_threshold(*_programs)


def _begin_again() -> None:
    """In a process that was forked, perhaps by another thread: nobody else does."""
    _held.clear()
    _put_back()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
