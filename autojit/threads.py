"""Threads of autojit's own: they take no signals of the program's, are in no list, and start as Python starts them."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from _thread import allocate_lock, get_ident, start_new_thread
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType
from typing import Any

from autojit.handlers import numbers, set_mask

_BLOCK, _SET = getattr(signal, "SIG_BLOCK", None), getattr(signal, "SIG_SETMASK", None)
#: What a thread itself raises by a fault, which ends the process at once where it is blocked.
_FAULTS = {getattr(signal, name, None) for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")}
#: What starts threads in Python's own module; each version has one or both.
_STARTERS = ("_start_joinable_thread", "_start_new_thread")

_RUNNING: dict[int, OwnThread] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_RUNNING.clear)


@contextlib.contextmanager
def without_signals() -> Iterator[None]:
    """Threads that are started meanwhile, here or by what is called, take no signals of the program's.

    Where the other threads block one, as in a section that must not be left, the system gives it to any that does not.
    """
    if set_mask is None:
        yield
        return
    before = set_mask(_BLOCK, ())  # or what a handler raises after the next line would leave all blocked
    try:
        set_mask(_BLOCK, set(numbers()) - _FAULTS)
        yield
    finally:
        set_mask(_SET, before)


class OwnThread:
    """A thread for which nobody waits: a program may wait for all that `threading` knows, and does not know this one.

    It takes no signals, and nothing that follows the program's threads follows it.

    Args:
        target: What it runs.
        name: What it is for.
        args: Of the target.
    """

    def __init__(self, target: Callable[..., Any], name: str, *args: Any) -> None:
        self.name = name
        self._target, self._args = target, args
        self._process = os.getpid()
        self._idents: list[int] = []
        self._is_over = False
        self._lives = allocate_lock()  # until it has ended
        self._lives.acquire()

    @property
    def ident(self) -> int:
        """Its number; 0 before it is started."""
        return self._idents[0] if self._idents else 0

    def start(self) -> None:
        """Start it.

        Raises:
            RuntimeError: There are no more threads, or others than the system's: gevent has them take turns, and one
                that waits would stop the program. Or it was started before.
        """
        if any(not isinstance(vars(threading).get(name, len), BuiltinFunctionType) for name in _STARTERS):
            raise RuntimeError("threads have been replaced")
        if self._idents:
            raise RuntimeError("a thread is started once")
        with without_signals():
            # One call, in which nothing that comes from outside is raised: it is known whether there is a thread.
            self._idents.extend(map(start_new_thread, (self._run,), ((),)))

    def is_alive(self) -> bool:
        """Whether it runs; not in a forked process, which does not have it."""
        return bool(self._idents) and not self._is_over and self._process == os.getpid()

    def join(self, timeout: float = -1) -> None:
        """Wait until it ends, or so many seconds."""
        if self.is_alive() and self._lives.acquire(timeout=timeout):
            self._lives.release()

    def _run(self) -> None:
        try:
            try:
                _RUNNING[get_ident()] = self
                self._target(*self._args)
            finally:
                forget()
                _RUNNING.pop(get_ident(), None)
                del self._target, self._args
        finally:
            self._is_over = True
            self._lives.release()


def own() -> dict[int, OwnThread]:
    """The threads of autojit's own that run, by their numbers."""
    return dict(_RUNNING)


def is_own() -> bool:
    """Whether the caller is one of them."""
    return get_ident() in _RUNNING


def is_main() -> bool:
    """Whether the caller is the main thread; `threading.current_thread` would note one of ours for ever."""
    return get_ident() == threading.main_thread().ident


def forget() -> None:
    """A finalizer of the program's, which may run in any thread, may have asked `threading` which one this is."""
    known: Any = getattr(threading, "_active", None)
    if is_own() and known is not None:
        known.pop(get_ident(), None)
