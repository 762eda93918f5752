"""One thread that looks after calls which take long: nothing in a loop has to look at a clock."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from math import inf
from time import perf_counter, sleep
from typing import Any

from autojit.logs import log
from autojit.threads import OwnThread, forget

#: How often it looks, in seconds.
EVERY = 0.05
#: After so many looks at nothing it waits until something runs.
_IDLE = 20
#: ... or until somebody wakes who sleeps for more seconds than these.
_SOON = 1.0
#: What `Probe.begin` has returned for calls whose end nobody has told.
LEFT: deque[tuple[Any, int, float, int | None]] = deque(maxlen=1024)


class Watch:
    """Looks after the calls that run now. Its thread starts with the first one."""

    def __init__(self) -> None:
        self.reset()

    def begin_again(self) -> None:
        """Where the thread is gone: in a forked process, which does not have it, or where something has ended it."""
        napping = self._napping
        self.reset()
        for probe in list(napping):
            probe.wakes = 0.0
            _without_end(probe.rouse)
        if self._napping or self._running:  # who came in between has found the old thread
            self._looks()

    def reset(self) -> None:
        """Look after nothing."""
        self._running: dict[Any, tuple[Any, float]] = {}
        self._napping: dict[Any, None] = {}
        self._wake = threading.Event()
        self._thread: OwnThread | None = None  # last: another thread that finds none starts one with the new event

    def add(self, key: Any, probe: Any, start: float) -> None:
        """A call of a region has begun; `key` is the call's own."""
        if LEFT:
            self._leave()
        self._running[key] = probe, start
        self._looks()

    def rouses(self, probe: Any) -> bool:
        """End a probe's nap when it `wakes`, or within `EVERY` seconds after; `False` if nobody can."""
        self._napping[probe] = None
        if self._looks():
            return True
        self._napping.pop(probe, None)
        return False

    def _looks(self) -> bool:
        """Whether the thread looks: it is started, or woken."""
        if self._thread is None:
            thread = self._thread = OwnThread(self._run, "autojit-watch", self._wake)
            try:
                thread.start()
            except BaseException as error:
                if not thread.ident:
                    self._thread = None
                if not isinstance(error, RuntimeError):  # no more threads
                    raise
        elif not self._wake.is_set():
            self._wake.set()
        return self._thread is not None

    def remove(self, key: Any) -> None:
        """It has ended."""
        self._running.pop(key, None)

    def _leave(self) -> None:
        with contextlib.suppress(IndexError):  # another thread was faster
            while LEFT:
                *_, start, thread = LEFT.popleft()
                self.remove((thread, start))

    def _run(self, wake: threading.Event) -> None:
        try:
            self._look_on(wake)
        finally:
            if wake is self._wake:  # an exception that was raised here from outside, for one
                self.begin_again()

    def _look_on(self, wake: threading.Event) -> None:
        idle = 0
        while wake is self._wake:
            sleep(EVERY)
            now = perf_counter()
            self._leave()
            running = list(self._running.values())
            for probe, start in running:
                _without_end(probe.looked_after, now - start)
            napping = list(self._napping)
            for probe in napping:
                if now >= probe.wakes:
                    self._napping.pop(probe, None)
                    _without_end(probe.rouse)
            forget()
            idle = 0 if running or self._next < now + _SOON else idle + 1
            if idle > _IDLE:
                wake.clear()
                wakes = self._next  # who comes from here on sets the event
                if not self._running and wakes >= now + _SOON:
                    wake.wait(None if wakes == inf else wakes - now)
                idle = 0

    @property
    def _next(self) -> float:
        """When the first nap ends."""
        return min((probe.wakes for probe in list(self._napping)), default=inf)


def _without_end(look: Callable[..., None], *args: Any) -> None:
    """Go on whatever happens: without this thread nobody would be roused."""
    try:
        look(*args)
    except Exception as error:
        log.debug("a call could not be looked after", exc_info=error)


#: The one of the process.
WATCH = Watch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCH.begin_again)
