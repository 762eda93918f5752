"""One thread that looks after calls which take long: nothing in a loop has to look at a clock."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

#: How often it looks, in seconds.
EVERY = 0.05
#: After so many looks at nothing it waits until something runs.
_IDLE = 20


class Watch:
    """Looks after the calls that run now. Its thread starts with the first one."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin again, as in a forked process, which does not have the thread."""
        self._running: dict[Any, tuple[Any, float]] = {}
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()

    def add(self, key: Any, probe: Any, start: float) -> None:
        """A call of a region has begun; `key` is the call's own."""
        self._running[key] = probe, start
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, args=(self._wake,), name="autojit-watch", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # no more threads: nobody looks
                self._thread = None
        elif not self._wake.is_set():
            self._wake.set()

    def remove(self, key: Any) -> None:
        """It has ended."""
        self._running.pop(key, None)

    def _run(self, wake: threading.Event) -> None:
        idle = 0
        while wake is self._wake:
            time.sleep(EVERY)
            now = time.perf_counter()
            running = list(self._running.values())
            for probe, start in running:
                probe.looked_after(now - start)
            idle = 0 if running else idle + 1
            if idle > _IDLE:
                wake.clear()
                if not self._running:
                    wake.wait()
                idle = 0


#: The one of the process.
WATCH = Watch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCH.reset)
