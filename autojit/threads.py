"""Threads of autojit's own: they take no signals of the program's, and start as Python itself starts them."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from threading import Thread
from types import BuiltinFunctionType
from typing import Any

from autojit.handlers import numbers, set_mask

_BLOCK, _SET = getattr(signal, "SIG_BLOCK", None), getattr(signal, "SIG_SETMASK", None)
#: What a thread itself raises by a fault, which ends the process at once where it is blocked.
_FAULTS = {getattr(signal, name, None) for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")}
#: What starts threads in Python's own module; each version has one or both.
_STARTERS = ("_start_joinable_thread", "_start_new_thread")


def own_thread(target: Callable[..., Any], name: str, *args: Any) -> Thread:
    """A thread to be started, for which the process does not wait; `threading.Thread` may be a test's by now."""
    return Thread(target=target, args=args, name=name, daemon=True)


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


def start_own(made: Thread) -> None:
    """Start a thread that takes no signals.

    Raises:
        RuntimeError: There are no more threads, or others than the system's: gevent has them take turns, and one that
            waits would stop the program.
    """
    if any(not isinstance(vars(threading).get(name, len), BuiltinFunctionType) for name in _STARTERS):
        raise RuntimeError("threads have been replaced")
    with without_signals():
        made.start()
