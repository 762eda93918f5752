"""A bounded pool of memory that is kept for the next call."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Any, Generic, TypeVar

from autojit.compile.remains import Remains

T = TypeVar("T")

#: The bounds on the memory that is kept for later calls, each in bytes.
STAGING_BYTES = 512 << 20
RESULT_BYTES = 512 << 20


class Pool(Generic[T]):
    """Free buffers by size. When there are too many bytes, sizes that were not asked for recently are freed first.

    Args:
        limit: The bound on the bytes that are kept.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.begin_again()

    def begin_again(self) -> None:
        """Keep nothing; in a forked process the thread that has the lock may not be there."""
        self.nbytes = 0
        self._free: OrderedDict[int, list[T]] = OrderedDict()
        # Reentrant: finalizers and handlers of signals may call compiled programs, and so `take` and `give`, inside.
        self._lock = threading.RLock()
        #: Whether the thread that has the lock is inside: a call in the middle of that one finds and leaves nothing.
        self._is_busy = False

    def take(self, nbytes: int) -> T | None:
        """A buffer of exactly `nbytes` bytes, which now belongs to the caller, or `None`."""
        with self._lock:
            if self._is_busy:
                return None
            self._is_busy = True
            try:
                free = self._free.get(nbytes)
                if not free:
                    return None
                buffer = free.pop()
                self.nbytes -= nbytes
                self._free.move_to_end(nbytes)
                return buffer
            finally:
                self._is_busy = False

    def give(self, nbytes: int, buffer: T) -> None:
        """Hand over a buffer that nothing can reach any more."""
        with self._lock:
            if self._is_busy:
                return
            self._is_busy = True
            try:
                self._free.setdefault(nbytes, []).append(buffer)
                self.nbytes += nbytes
                self._free.move_to_end(nbytes)
                if self.nbytes > self.limit:
                    self._trim(self.limit)
            finally:
                self._is_busy = False

    def clear(self) -> None:
        """Free everything."""
        with self._lock:
            if not self._is_busy:
                self._is_busy = True
                try:
                    self._trim(0)
                finally:
                    self._is_busy = False

    def _trim(self, limit: int) -> None:
        while self.nbytes > limit and self._free:
            nbytes, free = next(iter(self._free.items()))
            if free:
                free.pop()
                self.nbytes -= nbytes
            if not free:
                self._free.pop(nbytes, None)


#: Aligned byte buffers that unaligned arrays are copied into. One is lent to one execution at a time.
STAGING: Pool[Any] = Pool(STAGING_BYTES)
#: jax arrays whose memory was allocated by XLA and is free to be written again.
RESULTS: Remains[Any] = Remains(RESULT_BYTES)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=STAGING.begin_again)
    os.register_at_fork(after_in_child=RESULTS.clear)
