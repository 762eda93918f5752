"""The cache of executables, in memory."""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from autojit.compile.disk import DiskCache
from autojit.compile.executable import Executable
from autojit.compile.garbage import uncollected
from autojit.compile.heap import trim
from autojit.compile.key import Key, cluster_key
from autojit.ir.graph import Graph

#: How many executables are kept. One takes some 0.4 MB.
MAX_ENTRIES = 512
#: The bound on the size of their machine code.
MAX_BYTES = 256 * 1024 * 1024
#: When so many have been dropped, the holes that they leave in memory are given back.
DROPPED = 64
#: Who waits for another thread's compilation for so many seconds makes one of his own: a finalizer that runs there may
#: wait for what he holds.
_LONGEST = 60.0


@dataclass(slots=True)
class CacheInfo:
    """Counters of a cache since it was made or cleared.

    Attributes:
        hits: Requests answered without compiling.
        misses: Requests that had to compile or load, or to wait for the first compilation of their key.
        compiles: Finished compilations.
        compile_seconds: The time they took in all.
        loads: Programs taken from the disk cache.
        evictions: Executables dropped because the cache was full.
        entries: Executables in the cache now.
        nbytes: The size of the compiled programs, as far as XLA tells it.
    """

    hits: int = 0
    misses: int = 0
    compiles: int = 0
    compile_seconds: float = 0.0
    loads: int = 0
    evictions: int = 0
    entries: int = 0
    nbytes: int = 0


class _Pending:
    """A compilation in progress, for other threads to wait on."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.executable: Executable | None = None


class ExecutableCache:
    """Executables by the key of their cluster: least recently used out first, each key compiled once.

    Args:
        max_entries: The bound on the number of executables.
        max_bytes: The bound on the size of the compiled programs; `None` for no bound.
    """

    def __init__(self, max_entries: int = MAX_ENTRIES, max_bytes: int | None = MAX_BYTES) -> None:
        self.max_entries = max_entries
        self.max_bytes = max_bytes
        self._entries: OrderedDict[Key, Executable] = OrderedDict()
        self._pending: dict[Key, _Pending] = {}
        self._info = CacheInfo()
        self._dropped = 0
        # A signal handler or finalizer may make a request in the middle of another one of the same thread.
        self._lock = threading.RLock()
        self._busy: set[int] = set()

    def get_or_compile(self, graph: Graph) -> Executable:
        """The executable of a cluster, compiled at the first request."""
        return self.request(graph)[0]

    def is_at_hand(self, graph: Graph, disk: DiskCache | None = None, choice: str = "") -> bool:
        """Whether a request would not compile."""
        key = cluster_key(graph, choice)
        return key in self._entries or (disk is not None and key.is_portable and disk.has(key.digest))

    def request(self, graph: Graph, disk: DiskCache | None = None, choice: str = "") -> tuple[Executable, bool]:
        """The executable of a cluster, compiled with a choice of options, and whether this request made it.

        What is not in memory is loaded from `disk`, else compiled and stored there.

        A failed compilation is not remembered: its exception goes to the thread that compiled, and threads that
        waited for it compile for themselves. So does a request inside of another one of the same thread: what it
        would wait for may be its own.
        """
        key, thread = cluster_key(graph, choice), threading.get_ident()
        make = functools.partial(_make, graph, key, disk, choice)
        if thread in self._busy:
            return self._request(key, make, may_wait=False)
        self._busy.add(thread)
        try:
            return self._request(key, make, may_wait=True)
        finally:
            self._busy.discard(thread)

    def _request(self, key: Key, make: Callable[[], Executable], may_wait: bool) -> tuple[Executable, bool]:
        while True:
            with uncollected(), self._lock:
                if (executable := self._entries.get(key)) is not None:
                    if key in self._entries:
                        self._entries.move_to_end(key)
                    self._info.hits += 1
                    return executable, False
                pending = self._pending.get(key)
                if pending is None or not may_wait:
                    mine = _Pending()
                    self._pending.setdefault(key, mine)
                    self._info.misses += 1
                    break
            if not pending.done.wait(_LONGEST):
                may_wait = False
                continue
            if pending.executable is not None:
                with uncollected(), self._lock:
                    self._info.hits += 1
                return pending.executable, False
        try:
            executable = make()
            nbytes = executable.nbytes  # takes its time: not under the lock
            mine.executable = executable
        finally:
            with uncollected(), self._lock:
                if self._pending.get(key) is mine:
                    del self._pending[key]
                if mine.executable is not None:
                    self._insert(key, mine.executable, nbytes)
            mine.done.set()
        if self._dropped >= DROPPED:
            self._dropped = 0
            trim()
        return executable, True

    def _insert(self, key: Key, executable: Executable, nbytes: int) -> None:
        info = self._info
        if executable.is_loaded:
            info.loads += 1
        else:
            info.compiles += 1
            info.compile_seconds += executable.compile_seconds
        replaced = self._entries.pop(key, None)
        self._entries[key] = executable
        info.nbytes += nbytes - (replaced.nbytes if replaced is not None else 0)
        while len(self._entries) > 1 and self._is_over_budget():
            _, dropped = self._entries.popitem(last=False)
            info.nbytes -= dropped.nbytes
            info.evictions += 1
            self._dropped += 1

    def _is_over_budget(self) -> bool:
        too_large = self.max_bytes is not None and self._info.nbytes > self.max_bytes
        return too_large or len(self._entries) > self.max_entries

    def info(self) -> CacheInfo:
        """A copy of the counters."""
        with uncollected(), self._lock:
            return replace(self._info, entries=len(self._entries))

    def clear(self) -> None:
        """Drop all executables and set the counters to zero. Executables in use stay valid."""
        with uncollected(), self._lock:
            self._entries.clear()
            self._info = CacheInfo()


def _make(graph: Graph, key: Key, disk: DiskCache | None, choice: str) -> Executable:
    """Load an executable, or compile and store it."""
    if disk is None or not key.is_portable:
        return Executable(graph, choice=choice, is_portable=key.is_portable)
    return disk.obtain(key.digest, lambda stored: Executable(graph, stored, choice, is_portable=True))


#: The cache of the process.
CACHE = ExecutableCache()
