"""`Plan`: a region ready to run, as one Python function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.capture.capture import Capture
    from autojit.compile.executable import Executable
    from autojit.ir.graph import Graph
    from autojit.partition.steps import Step


class _Sentinel:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


#: A plan's answer "this call is NumPy's", and the value of a live-out name that stays as it is.
NATIVE = _Sentinel("NATIVE")
UNSET = _Sentinel("UNSET")

#: How the names of the files begin in which plans seem to stand.
FILE = "<autojit plan "


class Plan:
    """A captured region, ready to run.

    Attributes:
        call: The generated function: the live-ins in; `None` (the guard failed), `NATIVE`, or a tuple of the
            exit code and the returned value or the live-outs.
        source: Its text.
        capture: What it was made from.
        graph: The partitioned graph.
        steps: The clusters and host nodes in the order in which they run.
        executables: The compiled clusters by name.
        reason: Why the calls are NumPy's, where they are.
        traps: How many calls met data that is NumPy's ...
        in_a_row: ... since the last one that did not, ...
        hits: ... and how many the region's plans had answered by then ...
        answered: ... and how many when the traps were looked at last.
        looks: How often it was found to be faster than NumPy since it was kept, ...
        strikes: ... and slower since then.
        is_used: Whether a call has been answered since the region had as many plans as it may have.
        seconds: What a call takes, where that was measured.
        numpy_seconds: What it takes in NumPy.
        calls: The steps by the names under which the generated function finds what runs them.
        names: What it finds by name: the constants of its text.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        source: str,
        capture: Capture,
        graph: Graph | None = None,
        steps: tuple[Step, ...] = (),
        executables: dict[str, Executable] | None = None,
        reason: Any = None,
        calls: dict[str, Step] | None = None,
        names: dict[str, Any] | None = None,
    ) -> None:
        self.call = call
        self.source = source
        self.capture = capture
        self.graph = graph
        self.steps = steps
        self.executables = executables
        self.reason = reason
        self.traps = self.in_a_row = self.hits = self.answered = self.looks = self.strikes = 0
        self.is_used = True
        self.seconds = self.numpy_seconds = 0.0
        self.calls = calls or {}
        self.names = names or {}

    @property
    def is_native(self) -> bool:
        """Whether the plan only says that these calls are NumPy's."""
        return self.graph is None
