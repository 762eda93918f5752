"""Waiting for programs that may run for long: a loop need not end soon, or at all, and Ctrl-C must interrupt it.

XLA runs a program in the thread that starts it, where Python handles no signals. So another thread starts it; the main
thread waits for a lock, which a signal interrupts. XLA cannot be stopped in the middle of a program.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autojit.ir.graph import Const, Graph, Node
from autojit.passes.loop_cost import cost
from autojit.threads import OwnThread, forget, is_main


class _Job:
    """One run of a program.

    Attributes:
        launch: Starts it.
        arguments: Its arguments.
        results: Its buffers, or the error it ended with; empty while it runs.
        done: Held until it has ended.
        used: What it needs until then, if nobody waits for it any more.
    """

    __slots__ = ("arguments", "done", "launch", "results", "used")

    def __init__(self, launch: Callable[[Any], list[Any]], arguments: Sequence[Any]) -> None:
        self.launch, self.arguments = launch, arguments
        self.results: list[Any] = []
        self.used: list[Any] = []
        self.done = threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        try:
            buffers = self.launch(self.arguments)
            for buffer in buffers:
                buffer.block_until_ready()
            self.results.append(buffers)
        except BaseException as error:
            self.results.append(error)
        self.arguments = ()
        self.done.release()


class _Worker:
    """A thread that runs one program after the other."""

    def __init__(self) -> None:
        self.work: queue.SimpleQueue[Any] = queue.SimpleQueue()
        OwnThread(self._run, "autojit-long-programs").start()

    def _run(self) -> None:
        while (job := self.work.get()) is not None:
            job.run()
            if job in _unfinished:  # nobody waits for it
                _unfinished.remove(job)
            del job  # and what it used
            forget()


#: Loops whose end the data decides, and that take fewer iterations at most, end soon ...
_MANY = 1000
#: Operations on two numbers whose result is not much larger than these.
_KEEP_SMALL = frozenset(
    "py_int_add py_int_subtract py_floor_divide py_modulo py_right_shift py_negative np.minimum np.maximum".split()
)
#: ... and of the others those that take fewer.
VERY_MANY = 100_000
#: ... and of loops inside each other, together.
VERY_MANY_INNER = 100 * VERY_MANY
#: ... or all together fewer nanoseconds, as far as that is known.
LONG = 2e8

#: The runs that nobody waits for any more.
_unfinished: list[_Job] = []
_idle: list[_Worker] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)
    os.register_at_fork(after_in_child=_unfinished.clear)


def is_open(graph: Graph) -> bool:
    """Whether a graph may take very long, as far as can be seen before it runs."""
    if cost(graph, unknown=1) >= LONG:
        return True
    told = {value.name for value in graph.inputs if value.spec.kind != "array" and value.spec.dtype.kind in "iu"}
    return _has_open(graph, told)


def _has_open(graph: Graph, told: set[str]) -> bool:
    """The same, where it is seen how large some numbers of the graph are."""
    told = set(told)
    for node in graph.nodes:
        are_told = all(isinstance(operand, Const) or operand.name in told for operand in node.inputs[:2])
        if node.op.family != "loop":
            if are_told and node.op.name in _KEEP_SMALL:
                told.update(value.name for value in node.outputs)
            continue
        stop, body = node.inputs[1], node.keywords["body"]
        if node.keywords.get("exits") and (not isinstance(stop, Const) or abs(stop.value) >= _MANY):
            return True
        if not are_told or _iterations(node) >= VERY_MANY:
            return True
        index, *others = body.inputs
        same = zip(others, node.inputs[2:], strict=True)
        constant = list(same)[node.keywords["carried"] :]
        inner = {value.name for value, given in constant if isinstance(given, Const) or given.name in told}
        if _has_open(body, {index.name, *inner}):
            return True
    return False


def _count(node: Node) -> int | None:
    """How often a loop runs at most, if its bounds are constants."""
    first, stop = node.inputs[:2]
    if not isinstance(first, Const) or not isinstance(stop, Const):
        return None
    return len(range(int(first.value), int(stop.value), node.keywords["step"]))


def _iterations(node: Node) -> int:
    """How many iterations a loop has, those of the loops in it counted; bounds that are not constants count as one."""
    inner = [_iterations(other) for other in node.keywords["body"].nodes if other.op.family == "loop"]
    return (_count(node) or 1) * max([1, *inner])


def bounds_of(graph: Graph) -> tuple[int, ...]:
    """The places of a graph's integers among its inputs, if they may say how often a `for` loop runs; else none."""
    if not any(map(_is_counted, graph.nodes)):
        return ()
    specs = [value.spec for value in graph.inputs]
    return tuple(place for place, spec in enumerate(specs) if spec.kind != "array" and spec.dtype.kind in "iu")


def _is_counted(node: Node) -> bool:
    """Whether a node is, or has in it, a loop whose bounds are not constants."""
    if node.op.family != "loop":
        return False
    return _count(node) is None or any(map(_is_counted, node.keywords["body"].nodes))


def many(graph: Graph) -> tuple[float, float]:
    """From which number on, given as a bound, a graph may take very long, and from which product of all of them on."""
    most = LONG / max(1.0, cost(graph, unknown=1))
    are_nested = any(any(map(_is_counted, node.keywords["body"].nodes)) for node in graph.nodes if _is_counted(node))
    return min(VERY_MANY, most), min(VERY_MANY_INNER, most) if are_nested else math.inf


def patiently(launch: Callable[[Any], list[Any]], arguments: Sequence[Any]) -> list[Any]:
    """`launch(arguments)`, complete. In the main thread Ctrl-C raises here; the program goes on unobserved."""
    if not is_main():
        return launch(arguments)
    try:
        worker = _idle.pop()
    except IndexError:
        try:
            worker = _Worker()
        except RuntimeError:  # no more threads, or none of the system's
            return launch(arguments)
    job = _Job(launch, arguments)
    try:
        worker.work.put(job)
        job.done.acquire()
    except BaseException:  # a signal handler's
        _unfinished.append(job)
        worker.work.put(None)  # the worker is not used again
        if job.results:  # it has just ended
            with contextlib.suppress(ValueError):  # the worker was faster
                _unfinished.remove(job)
        raise
    _idle.append(worker)
    (result,) = job.results
    if isinstance(result, BaseException):
        raise result
    return result


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """Wait at the end of the process, which cannot end while an abandoned program runs. Ctrl-C ends it at once."""
    try:
        yield
    except KeyboardInterrupt:
        if not _unfinished:  # what the program does at its end is still to come
            raise
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)


@atexit.register
def _finish() -> None:
    """Wait for abandoned programs. The first Ctrl-C has interrupted the program, this would be the second one."""
    with ending():
        for job in list(_unfinished):
            job.done.acquire()


def abandon(launch: Callable[[Any], list[Any]], used: Any) -> None:
    """Keep what a program uses that nobody waits for any more, until it ends.

    One that no worker runs has ended: its launch returns when it has, and no signal handler runs before that.
    """
    for job in reversed(_unfinished):
        if job.launch == launch:
            job.used.append(used)
            return
