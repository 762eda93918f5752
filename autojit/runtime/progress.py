"""Progress on a terminal, of what takes long while somebody waits for it."""

from __future__ import annotations

import contextlib
import shutil
import sys
import threading
from collections.abc import Iterator
from time import monotonic
from typing import Any

from autojit.threads import OwnThread, is_own

#: Nothing is shown of what takes fewer seconds; from then on it is told anew every so many.
AFTER, EVERY = 1.0, 0.5


@contextlib.contextmanager
def progress(what: str) -> Iterator[None]:
    """Show on stderr that something goes on and for how long, and take it away at the end.

    Nothing is shown where stderr is no terminal, and nothing of threads of autojit's own, for which nobody waits.

    Args:
        what: What goes on, in a few words.
    """
    if is_own() or not _is_terminal():
        yield
        return
    end = threading.Event()
    teller = OwnThread(_tell, "autojit-progress", what, end, sys.stderr)
    try:
        teller.start()
    except RuntimeError:  # there are no threads to be had, or no more: the process ends
        yield
        return
    try:
        yield
    finally:
        end.set()
        teller.join()


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _tell(what: str, end: threading.Event, stream: Any) -> None:
    begin = monotonic()
    if end.wait(AFTER):
        return
    with contextlib.suppress(OSError, ValueError):  # the terminal has gone
        most = shutil.get_terminal_size().columns - 1  # a line that is wrapped cannot be taken away
        text = ""
        while True:
            passed = f" ... {monotonic() - begin:.0f} s"
            text = f"autojit: {what}"[: max(0, most - len(passed))] + passed
            print(f"\r{text}", end="", file=stream, flush=True)
            if end.wait(EVERY):
                break
        print(f"\r{' ' * len(text)}\r", end="", file=stream, flush=True)
