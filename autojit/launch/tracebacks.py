"""Tracebacks of launched programs: without the frames that stand between the user's."""

from __future__ import annotations

import os
import types

from autojit.launch.arm import First
from autojit.launch.hook import Loader
from autojit.runtime.function import Controller

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep


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


def _users(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The part that is the program's; all of it where nothing else is."""
    kept, of_importing, waiting = [], False, traceback
    while waiting is not None:
        code = waiting.tb_frame.f_code
        is_stub = any(isinstance(const, First) for const in code.co_consts)
        of_importing |= code is Loader.get_code.__code__
        if code is Controller.start_again.__code__ and kept:
            kept.pop()  # the call that was given up for another one of the same function
        if not is_stub and not code.co_filename.startswith(_PACKAGE):
            kept.append(waiting)
        waiting = waiting.tb_next
    if of_importing:  # Python leaves them out where only its own loaders are among them
        kept = [one for one in kept if not one.tb_frame.f_code.co_filename.startswith("<frozen importlib")]
    made = None
    for one in reversed(kept):
        made = types.TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return made or (traceback if not kept else None)
