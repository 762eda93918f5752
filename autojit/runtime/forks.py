"""Forked processes: a child has none of the threads of XLA that its parent has started."""

from __future__ import annotations

import os
from collections.abc import Callable

_cut_off = False
#: When a fork leaves a child without what it needs.
_conditions: list[Callable[[], bool]] = []


def is_cut_off() -> bool:
    """Whether this process was forked from one in which XLA was running, so that compiled code would never end."""
    return _cut_off


def in_child(then: Callable[[], None]) -> Callable[[], None]:
    """Call a function in every child process: a lock may be held by a thread that is not there."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=then)
    return then


def when_cut_off(then: Callable[[], None]) -> None:
    """Call a function in every child process in which compiled code cannot run."""

    def look() -> None:
        global _cut_off
        if _cut_off or any(condition() for condition in _conditions):
            _cut_off = True
            then()

    in_child(look)


def cuts_off_if(condition: Callable[[], bool]) -> None:
    """Add something that a child is asked to know whether compiled code cannot run in it."""
    _conditions.append(condition)
