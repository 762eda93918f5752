"""One thread that captures and compiles while the program goes on in NumPy."""

from __future__ import annotations

import atexit
import logging
import os
import queue
import threading
from collections.abc import Callable
from typing import Any

from autojit.runtime.forks import cuts_off_if

log = logging.getLogger("autojit")


class Background:
    """Runs jobs one after the other. The thread starts with the first job.

    A process waits for the job that runs when it ends, since XLA cannot be stopped; the jobs behind it are dropped.
    """

    def __init__(self) -> None:
        self._is_running = self._was_running = False
        self.reset()

    def reset(self) -> None:
        """Begin again in a forked process, which does not have the thread."""
        self._was_running = self._is_running
        self._is_running = False
        self._jobs: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        # Reentrant: a signal handler may submit a job while the same thread does.
        self._lock = threading.RLock()

    def submit(self, job: Callable[[], Any]) -> bool:
        """Run `job` when its turn comes; it must handle its own errors. False when the process ends."""
        with self._lock:
            if self._is_closed:
                return False
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="autojit-compiler", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # no more threads
                    return False
                self._thread = thread
            self._jobs.put(job)
            return True

    def wait(self) -> None:
        """Wait until all jobs submitted so far are done. Not to be called by a job."""
        done = threading.Event()
        if self._thread is not None and self.submit(done.set):
            done.wait()

    def is_own_thread(self) -> bool:
        """Whether a job of this thread is asking."""
        return threading.current_thread() is self._thread

    def was_at_work(self) -> bool:
        """Whether the parent of this process was in the middle of a job, which may have held locks."""
        return self._was_running or self._is_running

    def close(self) -> None:
        """Take no more jobs, and wait for the one that runs."""
        with self._lock:
            self._is_closed, thread = True, self._thread
        if thread is not None and thread is not threading.current_thread():
            self._jobs.put(None)  # it may wait for a job
            thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None and not self._is_closed:
            self._is_running = True
            try:
                job()
            except Exception:
                log.debug("a background job failed", exc_info=True)
            self._is_running = False
            del job  # and what it holds


#: The thread of the process.
BACKGROUND = Background()
# XLA ends the process if it comes back to an interpreter that is gone.
atexit.register(BACKGROUND.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BACKGROUND.reset)
cuts_off_if(BACKGROUND.was_at_work)
