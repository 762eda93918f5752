"""All controllers, so that autojit can be switched off and on, and ended, as a whole."""

from __future__ import annotations

import atexit
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from autojit.compile.service import SERVICE
from autojit.runtime.alive import Alive
from autojit.runtime.background import BACKGROUND
from autojit.runtime.forks import when_cut_off

#: Each is a `Controller`.
CONTROLLERS: Alive[Any] = Alive()
_OURS = "autojit."
_looks: list[Callable[[], None]] = []


def _cut_off() -> None:
    for controller in list(CONTROLLERS):
        controller.cut_off()


def is_alone() -> bool:
    """Whether no other thread is inside of a function that has something of autojit's among its constants."""
    me = threading.get_ident()
    return not any(_is_inside(frame) for thread, frame in sys._current_frames().items() if thread != me)


def _is_inside(frame: types.FrameType | None) -> bool:
    while frame is not None:
        if any(type(const).__module__.startswith(_OURS) for const in frame.f_code.co_consts):
            return True
        frame = frame.f_back
    return False


def before_the_end(look: Callable[[], None]) -> None:
    """Call a function when the process ends: the program's threads have ended, and all that is known is there yet.

    The last one that is given is called first.
    """
    _looks.append(look)


def stop() -> None:
    """Make no more plans: the process ends."""
    while _looks:
        _looks.pop()()
    for controller in list(CONTROLLERS):
        controller.switch(False)
    SERVICE.close()
    BACKGROUND.close()


def end() -> None:
    """Hold nothing of the program's any more, which asks no function about what it has done."""
    stop()
    if is_alone():
        for controller in list(CONTROLLERS):
            controller.let_go()


atexit.register(end)
when_cut_off(_cut_off)
