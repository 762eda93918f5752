"""Tracebacks of launched programs: without the frames that stand between the user's."""

from __future__ import annotations

import os
import types

from autojit.launch.arm import First
from autojit.launch.hook import Loader
from autojit.runtime.function import Controller
from autojit.runtime.plan import FILE

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep

#: Packages in which autojit waits and computes.
_WAITS_IN = frozenset(("contextlib", "jax", "jaxlib", "queue", "threading"))


def clean(error: BaseException) -> None:
    """Take the launcher's frames out of an exception's traceback, and of those that it names."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        BaseException.with_traceback(one, _users(one.__traceback__))  # the class may have its own way to set attributes
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions


def is_of_the_text(error: BaseException) -> bool:
    """Whether nothing of the program has run when an exception came, that `clean` has seen: its text is no program."""
    first = error.__traceback__
    return first is None or first.tb_frame.f_code.co_filename.startswith(_PACKAGE)


def _users(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The part that is the program's; all of it where nothing else is."""
    kept, of_importing, waiting, is_inside, is_calling = [], False, traceback, False, False
    while waiting is not None:
        code = waiting.tb_frame.f_code
        package = str(waiting.tb_frame.f_globals.get("__name__")).partition(".")[0]
        # Plans, and what autojit itself waits in, when an exception comes from outside.
        is_ours = code.co_filename.startswith((_PACKAGE, FILE))
        is_inside = is_ours or is_calling or (is_inside and package in _WAITS_IN)
        is_calling = is_ours and code.co_name == "call_from"  # the next frame is in the user's name
        is_stub = any(isinstance(const, First) for const in code.co_consts)
        of_importing |= code is Loader.get_code.__code__
        if code is Controller.start_again.__code__ and kept:
            kept.pop()  # the call that was given up for another one of the same function
        if not is_stub and not is_inside:
            kept.append(waiting)
        waiting = waiting.tb_next
    if of_importing:  # Python leaves them out where only its own loaders are among them
        kept = [one for one in kept if not one.tb_frame.f_code.co_filename.startswith("<frozen importlib")]
    made = None
    for one in reversed(kept):
        made = types.TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return made or (traceback if not kept else None)
