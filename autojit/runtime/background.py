"""One thread that compiles while the program goes on in NumPy."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from autojit.compile.service import SERVICE
from autojit.logs import log
from autojit.runtime.forks import cuts_off_if
from autojit.threads import OwnThread, forget

#: Python's switch interval while a job runs, in seconds.
_SWITCHES = 1e-4
#: What it was and what it is, while a job runs.
_changed: list[tuple[float, float]] = []

#: The threads that are making a plan, of any function: what a finalizer or signal handler calls there is NumPy's.
MAKING: set[int] = set()


@contextlib.contextmanager
def making() -> Iterator[None]:
    """This thread makes a plan."""
    me = threading.get_ident()
    is_inner = me in MAKING
    MAKING.add(me)
    try:
        yield
    finally:
        if not is_inner:
            MAKING.discard(me)  # another thread may get the number


@contextlib.contextmanager
def switching_often() -> Iterator[None]:
    """Have Python's threads take turns more often.

    A thread that reads a file or calls XLA gives up the interpreter, and a loop in Python gives it back only after the
    switch interval. At 5 ms, the default, a compilation beside such a loop took many times as long as alone.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(_SWITCHES, before))
    ours = sys.getswitchinterval()
    _changed.append((before, ours))
    try:
        yield
    finally:
        _switch_as_before()


def _switch_as_before() -> None:
    while _changed:
        before, ours = _changed.pop()
        if sys.getswitchinterval() == ours:  # the program has not changed it meanwhile
            sys.setswitchinterval(before)


class Background:
    """Runs jobs one after the other. The thread starts with the first job.

    A process waits for the job that runs when it ends, since XLA cannot be stopped; the jobs behind it are dropped.
    """

    def __init__(self) -> None:
        self._was_at_work = False
        self._begin()

    def reset(self) -> None:
        """Begin again in a forked process, which does not have the thread."""
        self._was_at_work = self._pending > 0 or bool(MAKING - {threading.get_ident(), self._own})
        MAKING.clear()
        _switch_as_before()
        self._begin()

    def _begin(self) -> None:
        self._pending = self._own = 0
        self._jobs: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._thread: OwnThread | None = None
        self._is_closed = False
        # Reentrant: a signal handler may submit a job while the same thread does.
        self._lock = threading.RLock()

    def submit(self, job: Callable[[], Any]) -> bool:
        """Run `job` when its turn comes; it must handle its own errors. False when the process ends."""
        with self._lock:
            if self._is_closed:
                return False
            if self._thread is None or not self._thread.is_alive():
                left = self._jobs.qsize()  # by a thread that was killed
                self._thread = OwnThread(self._run, "autojit-compiler")
                self._pending = left
                try:
                    self._thread.start()
                except RuntimeError:  # no more threads
                    self._thread = None
                    return False
            self._jobs.put(job)
            self._pending += 1
            return True

    def wait(self) -> None:
        """Wait until all jobs submitted so far are done. Not to be called by a job."""
        done = threading.Event()
        if self._thread is not None and self.submit(done.set):
            thread = self._thread
            while thread.is_alive() and not done.wait(0.1):
                pass

    def is_here(self) -> bool:
        """Whether the caller is a job."""
        return threading.get_ident() == self._own

    def is_busy(self) -> bool:
        """Whether there are jobs that are not done."""
        return self._pending > 0 and self._thread is not None and self._thread.is_alive()

    def was_at_work(self) -> bool:
        """Whether the parent of this process was making plans, and may have held locks."""
        return self._was_at_work or self._pending > 0

    def close(self) -> None:
        """Take no more jobs, and wait for the one that runs: XLA aborts a process whose interpreter is gone."""
        with self._lock:
            self._is_closed, thread = True, self._thread
        if thread is not None and thread.ident != threading.get_ident():
            self._jobs.put(None)  # it may wait for a job
            thread.join()

    def _run(self) -> None:
        self._own = SERVICE.patient = threading.get_ident()
        with making():
            self._work()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None and not self._is_closed:
            try:
                with switching_often():
                    job()
            except BaseException:  # the thread goes on
                log.debug("a background job failed", exc_info=True)
            del job  # and what it holds
            forget()
            with self._lock:
                self._pending -= 1


#: The thread of the process.
BACKGROUND = Background()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BACKGROUND.reset)
cuts_off_if(BACKGROUND.was_at_work)
