"""Where the compiler process begins: a file that is run by its path, since importing the package is work already.

Threads of a matrix product wait for each other, so that one which shares its processor delays all. A program that soon
ends is not to be delayed by an import or a compilation: at leisure they take only the time that nobody else wants.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import importlib.util
import os
import select
import signal
import sys
import threading
from typing import Any

#: What a program does not wait for takes a quarter of a processor that it shares.
_NICE = 5


def import_own_package() -> None:
    """Import the package that this file is part of, whatever else of that name stands where modules are found.

    A checkout may be run on a machine where another version is installed.
    """
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    place = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("autojit", place, submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None  # it is a file of Python's
    sys.modules["autojit"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def end_with(socket: int) -> None:
    """Have the system end this process when the other end of a socket is closed.

    What takes only the time that nobody else wants would not notice for minutes on a machine that is busy, and with it
    all threads that wait for the interpreter. A machine that runs many short programs would fill with such processes.
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)  # which ends it; the program may have ignored it
    signal.pthread_sigmask(signal.SIG_SETMASK, [])  # the thread that has started it takes none
    fcntl.fcntl(socket, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(socket, fcntl.F_SETFL, fcntl.fcntl(socket, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([socket], [], [], 0)[0]:  # it was closed before
        os._exit(0)


def main(now: str, later: str, end: str, leisurely: str, *paths: str) -> None:
    """Answer until the other process ends.

    Args:
        now: The number of a connected socket, for questions on whose answers the program waits.
        later: The same for others.
        end: The same, over which nothing is said.
        leisurely: "1" if the import, and what is asked for later, need never come to an end where others want all
            processors.
        paths: Where modules are found.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(int(end))
    sys.path[:] = paths
    found: list[Any] = []

    def start() -> None:
        if leisurely == "1":
            be_idle()
        import_own_package()
        found.append(importlib.import_module("autojit.compile.serve").serve)

    def be_idle() -> None:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # of this thread alone

    def serve_later() -> None:
        if leisurely == "1":
            be_idle()
        else:
            os.nice(_NICE)  # as above
        found[0](int(later), says_ready=True)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    if found:
        threading.Thread(target=serve_later, daemon=True).start()
        found[0](int(now))


if __name__ == "__main__":
    main(*sys.argv[1:])
