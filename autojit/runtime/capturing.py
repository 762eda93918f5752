"""`Capturing`: one thread captures a function's regions at a time, and others wait with a bound."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

from autojit.capture.observing import OBSERVING

#: Who waits for a capture looks so often what that waits for, and waits for so many seconds at most: a finalizer that
#: runs in the thread that captures may want a lock that the waiting one holds.
_LOOKS, _LONGEST = 0.05, 60.0


class Capturing:
    """Who captures now, and whether what is captured has been forgotten before it is there."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Wait for nobody: in a forked process who captures is not there."""
        self._lock = threading.RLock()
        self._thread = 0  # the one that has last begun
        self._depth = 0  # a finalizer may forget all in the middle
        self._forgotten = self._before = 0

    def begin(self, waits: bool = True) -> bool:
        """Whether this thread is the only one that captures from now on; nobody waits for one that waits for the
        user's code itself.
        """
        me, end = threading.get_ident(), monotonic() + _LONGEST
        while not (self._lock.acquire(timeout=_LOOKS) if waits else self._lock.acquire(blocking=False)):
            if not waits or self._thread in OBSERVING or monotonic() > end:
                return False
        self._thread = me
        if not self._depth:
            self._before = self._forgotten
        self._depth += 1
        return True

    def end(self, forget: Callable[[bool], None]) -> None:
        """It has captured. If that comes too late, it is forgotten, too."""
        try:
            if self._depth == 1 and self._before != self._forgotten:
                forget(True)
        finally:
            self._depth -= 1
            self._lock.release()

    def clear(self, forget: Callable[[bool], None]) -> None:
        """Forget all, as soon as nobody captures; who takes too long has captured for nothing.

        Args:
            forget: Is told whether nobody captures.
        """
        is_free = self.begin()
        try:
            is_alone = is_free and self._depth == 1
            self._forgotten += 1
            if is_alone:
                self._before = self._forgotten
            forget(is_alone)
        finally:
            if is_free:
                self.end(forget)
