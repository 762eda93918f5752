"""Exceptions from outside, such as a timeout's of a signal handler: they are the program's, wherever they arrive."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

from autojit.compile.outside import comes_from_outside
from autojit.errors import frames_of

#: In the names of a plan: the number of the first line that changes an array of the caller's, and the text from there.
COMMITS, COMMITTING = "autojit commits", "autojit's text of that"  # no names that a module might have


def is_the_programs(error: Exception) -> bool:
    """Whether an exception that a plan has raised must reach the program, instead of the statements being run.

    Either something outside has raised it; or the plan has begun to write, and what it did must not be done twice.
    """
    return comes_from_outside(error) or _has_committed(error)


def _has_committed(error: BaseException) -> bool:
    return any(line >= frame.f_globals.get(COMMITS, sys.maxsize) for frame, line in frames_of(error))


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Handlers of signals run at the end: an import that is broken off may leave the locks of modules behind."""
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread
        return
    before: dict[int, Any] = {}
    came: dict[int, None] = {}

    def note(number: int, _frame: Any) -> None:
        came[number] = None

    with contextlib.ExitStack() as stack:  # each is done, also where an earlier one raises
        try:
            for number in signal.valid_signals():
                handler = signal.getsignal(number)
                if callable(handler):
                    before[number] = handler
                    with contextlib.suppress(ValueError, OSError):  # not every signal and interpreter can
                        signal.signal(number, note)
            yield
        finally:
            for number, handler in before.items():
                stack.callback(_run, came, number, handler)
            for number, handler in before.items():
                stack.callback(_restore, number, note, handler)


def _restore(number: int, note: Any, handler: Any) -> None:
    if signal.getsignal(number) is note:  # the program has not changed it meanwhile
        signal.signal(number, handler)


def _run(came: dict[int, None], number: int, handler: Any) -> None:
    # Called, not raised again: what waits for the signal at a file descriptor has been told already.
    if number in came:
        handler(number, sys._getframe())
