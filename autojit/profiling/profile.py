"""`profile`: a profile of what happens in decorated functions, for TensorBoard and for `profile_table`."""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jax import profiler

from autojit.errors import AutojitError
from autojit.explain.parts import places
from autojit.ir.graph import Operand, Value
from autojit.partition.steps import ClusterStep, Step
from autojit.profiling.native import NativeLines
from autojit.profiling.spans import Place, within
from autojit.runtime.controllers import CONTROLLERS
from autojit.runtime.function import Controller
from autojit.runtime.listening import EAR
from autojit.runtime.plan import Plan
from autojit.runtime.probe import Probe

_LOCK = threading.Lock()
#: The one that is taken now.
_taken: list[_Profile] = []
_enter = Probe.enter


class _Profile:
    """What listens while a profile is taken."""

    def __init__(self, native: bool) -> None:
        self._lines = NativeLines() if native else None
        #: What the plans had under the names under which they find spans now.
        self._replaced: list[tuple[Plan, dict[str, Any]]] = []
        self.renew()

    def renew(self) -> None:
        """Have a lock that nobody holds: in a forked process the thread that held it is not there."""
        self._lock = threading.Lock()

    # ---- a listener

    @contextmanager
    def span(self, kind: str, controller: Controller, probe: Probe) -> Iterator[None]:
        """A capture or a compilation. What is traced for a profile would slow it."""
        tracer = sys.gettrace()
        sys.settrace(None)
        try:
            with _place(kind, controller, probe).span():
                yield
        finally:
            sys.settrace(tracer)

    def made(self, controller: Controller, probe: Probe, plan: Plan) -> None:
        """Have the steps of a plan told."""
        with self._lock:
            if not plan.calls or EAR.listener is not self:
                return
            before = {name: plan.names[name] for name in plan.calls}
            self._replaced.append((plan, before))
            for name, step in plan.calls.items():
                place, note = _place_of(step, controller, probe), None
                if self._lines is not None and place.kind == "host":
                    note = functools.partial(controller.history.profiled.add, place.lines[0])
                plan.names[name] = within(place, before[name], note)

    # ---- its life

    def start(self) -> None:
        """Listen, and have the plans told that there are."""
        EAR.listener = self
        for controller in list(CONTROLLERS):
            for probe in list(controller.probes.values()):
                for plan in probe.plans:
                    self.made(controller, probe, plan)
        Probe.enter = self._entered()  # type: ignore[method-assign] -- the warm path is not to ask
        if self._lines is not None:
            self._lines.start()

    def stop(self) -> None:
        """Leave everything as it was."""
        if self._lines is not None:
            self._lines.stop()
        Probe.enter = _enter  # type: ignore[method-assign] -- as it was
        with self._lock:
            EAR.listener = None
            for plan, before in self._replaced:
                plan.names.update(before)
            self._replaced.clear()

    def _entered(self) -> Any:
        lines = self._lines

        def enter(probe: Probe, *values: Any) -> tuple[Any, ...] | None:
            owner = probe.owner
            if lines is not None:
                lines.asked()
            if all(plan.is_native for plan in probe.plans):
                result = _enter(probe, *values)
            else:
                with _place("enter", owner, probe).span():
                    result = _enter(probe, *values)
            if result is None and lines is not None:
                lines.refused()
            return result

        return enter


@contextmanager
def profile(logdir: str | Path, *, native: bool = True) -> Iterator[None]:
    """Take a profile of the block, which TensorBoard shows and `profile_table` sums up.

    Clusters, host nodes, statements that stay Python, captures and compilations carry their function and their lines.

    Args:
        logdir: The folder that TensorBoard is given. Each profile is a run of its own in it.
        native: Whether to follow the statements that stay Python, line by line, in this thread and in those that it
            starts. Each such line takes some microseconds more. Left out where a debugger or a measurement of coverage
            follows the program already.

    Raises:
        AutojitError: A profile is being taken already.
        OSError: The folder cannot be written.
    """
    Path(logdir).mkdir(parents=True, exist_ok=True)
    if not _LOCK.acquire(blocking=False):
        raise AutojitError("a profile is being taken already: profiles cannot stand inside of each other")
    try:
        options = profiler.ProfileOptions()
        options.session_id = f"{time.strftime('%Y_%m_%d_%H_%M_%S')}_{time.time_ns() % 10**9:09}_{os.getpid()}"
        options.python_tracer_level = 0  # all of the program's and of jax's functions would bury what is told here
        try:
            profiler.start_trace(str(logdir), profiler_options=options)
        except RuntimeError as error:
            raise AutojitError(f"jax's profiler cannot be started: {error}") from error
        taken = _Profile(native)
        _taken.append(taken)
        try:
            taken.start()
            yield
        finally:
            taken.stop()
            if taken in _taken:  # else this is a forked process, which takes none
                _taken.remove(taken)
                profiler.stop_trace()
    finally:
        _LOCK.release()


def _forget() -> None:
    """A forked process goes on as without a profile: what is taken is the parent's."""
    for taken in _taken:
        taken.renew()
        taken.stop()
    _taken.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _place(kind: str, controller: Controller, probe: Probe) -> Place:
    original = controller.original
    return Place(kind, original.__qualname__, original.__code__.co_filename, probe.region.lines)


def _place_of(step: Step, controller: Controller, probe: Probe) -> Place:
    """Where a step stands. What it reads and writes is what goes into it and comes out of it."""
    if isinstance(step, ClusterStep):
        kind, nodes, name = "cluster", step.graph.nodes, step.name
        operands = (*step.graph.inputs, *step.graph.results)
    else:
        kind, nodes, name = "host", (step.node,), step.node.op.name
        operands = (*step.node.inputs, *step.node.outputs)
    original = controller.original
    file = original.__code__.co_filename
    calls = [source.outermost for source in places(nodes)]
    lines = [source.line for source in calls if source.file == file]
    place = (min(lines), max(lines)) if lines else probe.region.lines
    return Place(kind, original.__qualname__, file, place, name, _nbytes(operands))


def _nbytes(operands: tuple[Operand, ...]) -> int:
    """The bytes of different arrays."""
    arrays: Mapping[str, Value] = {operand.name: operand for operand in operands if isinstance(operand, Value)}
    return sum(value.spec.nbytes for value in arrays.values())
