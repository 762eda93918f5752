"""`NativeLines`: spans for the lines of decorated functions that Python runs."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

from jax.profiler import TraceAnnotation

from autojit.profiling.spans import Place
from autojit.runtime.controllers import CONTROLLERS
from autojit.runtime.environment import set_own_tracer
from autojit.runtime.history import Profiled
from autojit.runtime.kept import GONE
from autojit.runtime.plans import is_numpys
from autojit.runtime.probe import Probe
from autojit.threads import is_own

#: Why a policy leaves to NumPy what could be compiled.
_NO_FASTER = frozenset(["slower", "too-small", "products"])
#: The trace function of one frame.
_Local = Callable[[types.FrameType, str, Any], Any]


class _Lines:
    """What stands on the lines of one code object.

    Attributes:
        begin: The probes of the regions that begin on a line.
    """

    def __init__(self, probes: Iterable[Probe]) -> None:
        self.begin: dict[int, list[Probe]] = {}
        self._probes = sorted(probes, key=_length)
        self._around: dict[int, tuple[Probe, ...]] = {}
        for probe in self._probes:
            self.begin.setdefault(probe.region.lines[0], []).append(probe)

    def kind(self, line: int) -> str:
        """What it is that Python runs a line."""
        around = self._around.get(line)
        if around is None:
            found = [probe for probe in self._probes if probe.region.lines[0] <= line <= probe.region.lines[1]]
            # The smallest region decides. One that was split knows which of its statements stay Python.
            around = self._around[line] = tuple(probe for probe in found if _length(probe) == _length(found[0]))
        return "numpy" if any(map(_is_numpys_turn, around)) else "native"


def _length(probe: Probe) -> int:
    first, last = probe.region.lines
    return last - first


def _is_numpys_turn(probe: Probe) -> bool:
    """Whether a region is left to NumPy by the policy: nothing is known of it yet, it is timed, or it was no faster."""
    if probe.owner.warm_up is None or probe.region.parts or probe.state == "off":
        return False
    return all(not is_numpys(plan) or plan.reason is None or plan.reason.id in _NO_FASTER for plan in probe.plans)


class _Frame:
    """The line that one frame is in.

    Attributes:
        outer: The frame of a decorated function that it was called from, in this thread.
    """

    def __init__(self, code: types.CodeType, outer: _Frame | None, lines: _Lines, profiled: Profiled) -> None:
        self.code = code
        self.outer = outer
        self.line = code.co_firstlineno
        self._lines = lines
        self._profiled = profiled
        self._entered = perf_counter()
        self._open: TraceAnnotation | None = None
        self._begun = 0.0
        self._inside = 0.0  # seconds that calls of the same function have taken since

    def begin(self) -> None:
        """Python runs this line."""
        if self._open is not None:
            return
        line, self._inside = self.line, 0.0
        self._open = Place(self._lines.kind(line), self.code.co_qualname, self.code.co_filename, (line, line)).span()
        self._open.__enter__()
        self._begun = perf_counter()

    def end(self) -> None:
        """It has run, if Python did."""
        if self._open is not None:
            self._profiled.add(self.line, perf_counter() - self._begun - self._inside)
            self._open.__exit__(None, None, None)
            self._open = None

    def leave(self) -> None:
        """The frame ends."""
        self.end()
        around = self.outer
        while around is not None and around._profiled is not self._profiled:
            around = around.outer
        if around is not None:
            around._inside += perf_counter() - self._entered


class NativeLines:
    """Follows decorated functions line by line, in this thread and in those that it starts.

    A line on which a probe asks for a plan is told by the probe: `asked` and `refused` say when, and that Python runs
    it after all. What else stands on such a line is not told.

    Attributes:
        is_on: Whether it follows; not where a debugger or a measurement of coverage does.
    """

    def __init__(self) -> None:
        self.is_on = sys.gettrace() is None and threading.gettrace() is None
        self._known: dict[int, tuple[types.CodeType, Profiled | None]] = {}
        self._lines: dict[int, _Lines] = {}
        self._top = threading.local()

    def start(self) -> None:
        """Follow from now on. Calls that have begun are not followed."""
        if self.is_on:
            set_own_tracer(self._call)
            Probe.gettrace = staticmethod(type(None))  # calls are timed all the same
            threading.settrace(self._call)
            self._follow()

    def stop(self) -> None:
        """Follow no more."""
        if self.is_on:
            self.is_on = False
            if threading.gettrace() == self._call:
                threading.settrace(None)  # type: ignore[arg-type] -- Python takes it
            self._leave_alone()
            set_own_tracer(None)
            Probe.gettrace = staticmethod(sys.gettrace)

    def _follow(self) -> None:
        self._top.is_followed = True
        sys.settrace(self._call)

    def asked(self) -> None:
        """A probe on the line where this thread is asks for a plan."""
        if not getattr(self._top, "is_followed", False) or not self.is_on:
            return
        if sys.gettrace() is None:  # an exception in it, such as Ctrl-C, has taken it away
            self._follow()
        top: _Frame | None = getattr(self._top, "frame", None)
        if top is not None:
            top.end()

    def refused(self) -> None:
        """There is none."""
        top: _Frame | None = getattr(self._top, "frame", None)
        if top is not None and self.is_on:
            top.begin()

    def _leave_alone(self) -> None:
        """Follow this thread no more."""
        if sys.gettrace() == self._call:
            sys.settrace(None)

    def _profiled(self, code: types.CodeType) -> Profiled | None:
        """What is known of the lines of a decorated function, if this is its code, as it was or with probes."""
        known = self._known.get(id(code))
        if known is None:
            probes = [const for const in code.co_consts if isinstance(const, Probe)]
            owners = [probe.owner for probe in probes if probe.owner is not GONE]
            owners += [each for each in list(CONTROLLERS) if each.original.__code__ is code]
            known = self._known[id(code)] = code, owners[0].history.profiled if owners else None
            self._lines[id(code)] = _Lines(probes)
        return known[1]

    def _call(self, frame: types.FrameType, _event: str, _arg: Any) -> _Local | None:
        code = frame.f_code
        if not self.is_on or is_own():
            self._leave_alone()
            return None
        profiled = self._profiled(code)
        if profiled is None:
            return None
        self._top.is_followed = True
        if frame.f_trace is None:  # or it is a generator that goes on
            profiled.calls += 1
        lines = self._lines[id(code)]
        place = _Frame(code, getattr(self._top, "frame", None), lines, profiled)
        self._top.frame = place

        def local(frame: types.FrameType, event: str, _arg: Any) -> _Local | None:
            if event == "line":
                place.end()
                if not self.is_on:
                    self._leave_alone()
                    return None
                self._top.frame = place
                place.line = frame.f_lineno
                if not any(probe.on for probe in lines.begin.get(place.line, ())):
                    place.begin()
            elif event == "return":
                place.leave()
                self._top.frame = place.outer
            return local

        return local
