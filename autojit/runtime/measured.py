"""The `measured` policy: a region stays in NumPy until compiling it pays, and goes back when it does not."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from autojit.errors import Reason
from autojit.ir.evaluate import evaluate
from autojit.runtime.arguments import arguments_of
from autojit.runtime.compiler import Prepared, other_rung, prepare
from autojit.runtime.plan import NATIVE, Plan, native_plan

#: NumPy time that must have been spent in a region before it is worth a compilation.
PAYS_AFTER = 0.05
#: A plan is kept when it needs at most this fraction of NumPy's time.
KEEP_BELOW = 0.95
#: NumPy is timed again where that takes less seconds.
SHORT = 0.02
#: How many runs of a plan are timed; the first ones touch new memory.
TIMED_RUNS = 4


class Trial:
    """Measures a captured region against NumPy and decides.

    It takes part as a plan whose calls stay native while it waits. NumPy's time is that of the captured graph run in
    NumPy on the call's own arguments, which changes nothing.
    """

    def __init__(self, prepared: Prepared, controller: Any, probe: Any) -> None:
        self.prepared = prepared
        self.controller = controller
        self.probe = probe
        self.guard = native_plan(prepared.capture, None)
        self.arguments = arguments_of(prepared.capture, self.guard)
        self.numpy_seconds = 0.0
        self.calls = 0
        self.times: list[float] = []
        self.compiled: Plan | None = None
        self.slower: list[float] = []
        self.plan = Plan(self.enter, self.guard.source, prepared.capture, reason=self)

    def enter(self, *values: Any) -> Any:
        """One call: native until compiling pays, then timed runs of the compiled plan."""
        if self.compiled is None:
            if self.guard.call(*values) is None:
                return None
            self.calls += 1
            if self.calls == 2 or (self.calls & (self.calls - 1)) == 0:
                self._time_numpy(values)
            if self.numpy_seconds * self.calls < PAYS_AFTER or self.calls < 2:
                return NATIVE
            self.compiled = self.controller.compile(self.prepared, self.probe)
        if self.numpy_seconds < SHORT:  # side by side, or the machine's load decides
            self._time_numpy(values)
        start = time.perf_counter()
        result = self.compiled.call(*values)
        seconds = time.perf_counter() - start
        if result is not None and result is not NATIVE:
            self.times.append(seconds)
            if len(self.times) >= TIMED_RUNS:
                self._decide()
        return result

    def _time_numpy(self, values: tuple[Any, ...]) -> None:
        start = time.perf_counter()
        arguments = self.arguments(*values)
        if arguments is None:
            return
        drawing = time.perf_counter() - start if self.prepared.capture.draws else 0.0
        for _ in range(2):
            start = time.perf_counter()
            try:
                with np.errstate(all="ignore"):
                    evaluate(self.prepared.graph, arguments)
            except Exception:  # NumPy will raise it again at the user's line
                return
            seconds = time.perf_counter() - start + drawing
            self.numpy_seconds = min(self.numpy_seconds or seconds, seconds)
            if seconds > SHORT:
                return

    def _decide(self) -> None:
        """Keep a plan that is faster than NumPy; else try the other rung for its loops, once; else go back to NumPy."""
        assert self.compiled is not None
        best = min(self.times)
        region = self.probe.region
        if best <= KEEP_BELOW * self.numpy_seconds:
            self.controller.replace(self.probe, self.plan, self.compiled)
            return
        passes = None if self.slower else other_rung(self.prepared)
        self.slower.append(best)
        if passes is not None:
            self.prepared = prepare(self.prepared.capture, self.controller.config, passes=passes)
            self.controller.rungs[region.number] = passes
            self.compiled, self.times = self.controller.compile(self.prepared, self.probe), []
            return
        self.controller.rungs.pop(region.number, None)
        detail = f"{min(self.slower) * 1e3:.3g} ms compiled, {self.numpy_seconds * 1e3:.3g} ms in NumPy"
        line = self.controller.tree.source.line(region.statements[0])
        native = native_plan(self.prepared.capture, Reason("slower", detail, line))
        self.controller.replace(self.probe, self.plan, native)
