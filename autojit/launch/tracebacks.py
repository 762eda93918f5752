"""Tracebacks of launched programs: without the frames that stand between the user's."""

from __future__ import annotations

import types
from pathlib import Path

from autojit.launch.arm import First

_HERE = str(Path(__file__).resolve().parent)


def clean(error: BaseException) -> None:
    """Take the launcher's frames out of an exception's traceback, and of those that it names."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _users(one.__traceback__)
        waiting += [one.__cause__, one.__context__]
        waiting += getattr(one, "exceptions", ())


def _users(traceback: types.TracebackType | None) -> types.TracebackType | None:
    kept = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        is_stub = any(isinstance(const, First) for const in code.co_consts)
        if not is_stub and not code.co_filename.startswith(_HERE):
            kept.append(traceback)
        traceback = traceback.tb_next
    made = None
    for one in reversed(kept):
        made = types.TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return made
