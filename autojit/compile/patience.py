"""Waiting for programs that may run for long: a `while` loop on array data need not end, and Ctrl-C must.

XLA runs a program in the thread that starts it, where Python handles no signals. So another thread starts it; the main
thread waits for a lock, which a signal interrupts. XLA cannot be stopped in the middle of a program.
"""

from __future__ import annotations

import atexit
import os
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from autojit.ir.graph import Const, Node

#: What programs that nobody waits for any more still use.
_ABANDONED: list[Any] = []


class _Worker:
    """A thread that runs one program after the other."""

    def __init__(self) -> None:
        self.work: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="autojit-long-programs", daemon=True).start()

    def _run(self) -> None:
        while True:
            launch, arguments, results, done = self.work.get()
            try:
                buffers = launch(arguments)
                for buffer in buffers:
                    buffer.block_until_ready()
                results.append(buffers)
            except BaseException as error:
                results.append(error)
            del launch, arguments
            done.release()


#: Loops of fewer iterations end soon.
_MANY = 1000

_unfinished: list[threading.Lock] = []
_idle: list[_Worker] = []
os.register_at_fork(after_in_child=_idle.clear)


def is_open(node: Node) -> bool:
    """Whether a node is, or has in it, a loop whose end the data decides, after many iterations perhaps."""
    if node.op.family != "loop":
        return False
    params = node.keywords
    stop = node.inputs[1]
    is_long = not isinstance(stop, Const) or abs(stop.value) >= _MANY
    return (bool(params.get("exits")) and is_long) or any(map(is_open, params["body"].nodes))


def patiently(launch: Callable[[Any], list[Any]], arguments: Sequence[Any]) -> list[Any]:
    """`launch(arguments)`, complete. In the main thread Ctrl-C raises here; the program goes on unobserved."""
    if threading.current_thread() is not threading.main_thread():
        return launch(arguments)
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    results: list[Any] = []
    done = threading.Lock()
    done.acquire()
    worker.work.put((launch, arguments, results, done))
    try:
        done.acquire()
    except BaseException:
        _unfinished.append(done)  # the worker is not used again
        raise
    _idle.append(worker)
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]


@atexit.register
def _finish() -> None:
    """Wait for abandoned programs: the process cannot end while one runs. A second Ctrl-C ends it at once."""
    try:
        for done in _unfinished:
            done.acquire()
    except KeyboardInterrupt:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)


def abandon(used: Any) -> None:
    """Keep what a program uses that nobody waits for any more."""
    _ABANDONED.append(used)
