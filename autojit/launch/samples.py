"""Where a launched program spends its time: its threads are looked at from time to time.

Regions are timed until they are judged, and those that stay native are asked no more: what they take later, nobody has
measured but this.
"""

from __future__ import annotations

import os
import sys
import threading
import types
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from autojit.launch.scope import Scope
from autojit.lowering.source import call_from
from autojit.runtime.plan import FILE
from autojit.threads import OwnThread, own

#: Seconds between two looks; each takes some 20 us.
EVERY = 0.01
_PACKAGE = f"{Path(__file__).resolve().parents[1]}{os.sep}"


@dataclass(frozen=True, slots=True)
class Place:
    """A line that was found running.

    Attributes:
        file: The function's file.
        function: Its qualified name.
        line: The line itself.
        is_exact: Whether it is the one that ran, and not a part of a loop in which a probe came next.
        kind: What ran: "plan", "autojit" (which looks, captures or measures), or "python", NumPy included.
    """

    file: str
    function: str
    line: int
    is_exact: bool
    kind: str


class Samples:
    """Looks at the threads of the program: the time between two looks is that of the user's innermost line.

    Python lets another thread look only where it calls or repeats: of lines that take microseconds, one that follows
    may be found in the place of the one that ran.

    Args:
        scope: The modules that are the user's own.

    Attributes:
        seconds: By place. Threads are added up.
        total: How long the program has run, in seconds.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.seconds: dict[Place, float] = defaultdict(float)
        self.total = 0.0
        self._own: dict[str, bool] = {}
        self._end = threading.Event()
        self._thread = OwnThread(self._run, "autojit-report")

    def start(self) -> None:
        """Begin to look."""
        self._start = perf_counter()
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self.total = perf_counter() - self._start
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        before = perf_counter()
        while not self._end.wait(EVERY):
            now = perf_counter()
            ours = own()
            for thread, frame in sys._current_frames().items():
                place = self._place(frame) if thread not in ours else None
                if place is not None:
                    self.seconds[place] += now - before
                del frame  # it would keep alive what the program holds
            before = now

    def _place(self, frame: types.FrameType | None) -> Place | None:
        kind = "python"
        while frame is not None:
            code = frame.f_code
            file = code.co_filename
            if file.startswith(FILE):
                kind = "plan"
            elif file.startswith(_PACKAGE) or _is_borrowed(frame):
                kind = kind if kind == "plan" else "autojit"
            elif self._is_own(file, frame):
                return Place(file, code.co_qualname, _line(frame), frame.f_lineno is not None, kind)
            frame = frame.f_back
        return None

    def _is_own(self, file: str, frame: types.FrameType) -> bool:
        known = self._own.get(file)
        if known is None:
            name = frame.f_globals.get("__name__")
            known = self._own[file] = self.scope.has(name if isinstance(name, str) else "", file)
        return known


def _is_borrowed(frame: types.FrameType) -> bool:
    """Whether autojit calls jax from here, in the user's name."""
    return frame.f_back is not None and frame.f_back.f_code is call_from.__code__


def _line(frame: types.FrameType) -> int:
    """The line that runs. What probes have added has none: it is counted to what stands before."""
    if frame.f_lineno is not None:
        return frame.f_lineno
    found = frame.f_code.co_firstlineno
    for start, _, line in frame.f_code.co_lines():
        if start > frame.f_lasti:
            break
        found = line or found
    return found
