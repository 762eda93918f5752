"""The warnings of what NumPy is asked during capture, kept from the user."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.RLock()


def _begin() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)  # the thread that held it is not in the child


@contextmanager
def recorded() -> Iterator[list[warnings.WarningMessage]]:
    """Collect the warnings of a few calls, instead of showing them.

    Filters are the process's, so that another thread may warn meanwhile: its warning is in the list, too, and must do
    no harm there; it must not become an error in that thread. Two threads that change the filters in turns would leave
    them changed for good, so that one waits for the other.
    """
    with _lock, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield seen
