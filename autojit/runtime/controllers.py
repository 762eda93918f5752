"""All controllers, so that autojit can be switched off and on, and ended, as a whole."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable
from typing import Any

from autojit.compile.service import SERVICE
from autojit.runtime.background import BACKGROUND
from autojit.runtime.forks import when_cut_off

#: Each is a `Controller`.
CONTROLLERS: weakref.WeakSet[Any] = weakref.WeakSet()
_looks: list[Callable[[], None]] = []


def _cut_off() -> None:
    for controller in list(CONTROLLERS):
        controller.cut_off()


def is_alone() -> bool:
    """Whether no other thread of the program runs, which may be inside of decorated functions."""
    me = threading.current_thread()
    return all(thread is me or thread.name.startswith("autojit-") for thread in threading.enumerate())


def before_the_end(look: Callable[[], None]) -> None:
    """Call a function when the process ends: the program's threads have ended, and all that is known is there yet.

    The last one that is given is called first.
    """
    _looks.append(look)


def end() -> None:
    """Make no more plans: the process ends."""
    while _looks:
        _looks.pop()()
    for controller in list(CONTROLLERS):
        controller.switch(False)
    SERVICE.close()
    BACKGROUND.close()
    if is_alone():
        for controller in list(CONTROLLERS):
            controller.let_go()


atexit.register(end)
when_cut_off(_cut_off)
