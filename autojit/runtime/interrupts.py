"""Exceptions from outside, such as a timeout's of a signal handler: they are the program's, wherever they arrive."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from autojit.compile.outside import comes_from_outside
from autojit.errors import frames_of
from autojit.handlers import handler_of, numbers, set_handler
from autojit.runtime.forks import in_child
from autojit.threads import is_main

#: In the names of a plan: the number of the first line that changes an array of the caller's, and the text from there.
COMMITS, COMMITTING = "autojit commits", "autojit's text of that"  # no names that a module might have


def is_the_programs(error: Exception) -> bool:
    """Whether an exception that a plan has raised must reach the program, instead of the statements being run.

    Either something outside has raised it; or the plan has begun to write, and what it did must not be done twice.
    """
    return comes_from_outside(error) or _has_committed(error)


def _has_committed(error: BaseException) -> bool:
    return any(line >= frame.f_globals.get(COMMITS, sys.maxsize) for frame, line in frames_of(error))


#: What the runs of loops hold back that the main thread has taken over, and whose loops have not moved on yet.
_runs: list[contextlib.ExitStack] = []
#: What waits now: for each `deferred` that is open its thread, the handlers, and what stands in their place.
_open: list[tuple[int, dict[int, Any], Any]] = []


def begin_run() -> None:
    """A run of a loop begins whose arrays, names and place `settle` finds as of one time."""
    if is_main():  # handlers run there
        _runs.append(contextlib.ExitStack())


def hold_back() -> None:
    """The run writes: handlers of signals wait for `settle`."""
    if _runs and is_main():
        _runs[-1].enter_context(deferred())


def settle() -> None:
    """The run has not been, or the loop is where its arrays are: call the handlers that wait."""
    if _runs and is_main():
        _runs.pop().close()


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Handlers of signals run at the end: an import that is broken off may leave the locks of modules behind."""
    if not is_main():
        yield  # handlers run in the main thread
        return
    before: dict[int, Any] = {}
    came: dict[int, None] = {}

    def note(number: int, _frame: Any) -> None:
        came[number] = None

    with contextlib.ExitStack() as stack:  # each is done, also where an earlier one raises
        try:
            _open.append((threading.get_ident(), before, note))
            for number in numbers():
                handler = handler_of(number)
                if callable(handler):
                    before[number] = handler
                    with contextlib.suppress(ValueError, OSError):  # not every signal and interpreter can
                        set_handler(number, note)
            yield
        finally:
            _open[:] = [one for one in _open if one[2] is not note]
            for number, handler in before.items():
                stack.callback(_run, came, number, handler)
            for number, handler in before.items():
                stack.callback(_restore, number, note, handler)


def _restore(number: int, note: Any, handler: Any) -> None:
    if handler_of(number) is note:  # the program has not changed it meanwhile
        set_handler(number, handler)


def _run(came: dict[int, None], number: int, handler: Any) -> None:
    # Called, not raised again: what waits for the signal at a file descriptor has been told already.
    if number in came:
        handler(number, sys._getframe())


@in_child
def _begin_again() -> None:
    """In a process that another thread than the main one has forked: who has deferred something is not there."""
    if any(thread != threading.get_ident() for thread, _, _ in _open):
        for _, before, note in reversed(_open):
            for number, handler in before.items():
                _restore(number, note, handler)
        _open.clear()
        _runs.clear()
