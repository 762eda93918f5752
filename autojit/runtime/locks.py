"""Locks for which nobody waits."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def if_free(lock: threading.RLock) -> Iterator[bool]:  # type: ignore[valid-type] -- a function in Python 3.11
    """Whether a lock was free; it is held meanwhile.

    Who decides something creates objects, so that the garbage collector may run a finalizer of the program's, which
    waits for a lock that the thread has which would wait here.
    """
    is_free = lock.acquire(blocking=False)
    try:
        yield is_free
    finally:
        if is_free:
            lock.release()
