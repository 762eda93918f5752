"""What runs have captured of a region: needed where native lines, which `explain` never runs, make a live-in."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, replace
from typing import Any

from autojit.capture.capture import Capture, Cut
from autojit.capture.explore import agree
from autojit.capture.names import TEMPORARY
from autojit.capture.regions import Region, native_statements, region_key
from autojit.runtime.function import Controller
from autojit.runtime.history import differences, guards_of

#: How conditions go on that ask for no value.
_KINDS = ("of type ", "an array ", "the same ", "a certain ")


@dataclass(frozen=True, slots=True)
class Recalled:
    """A region that is explained as a run has captured it.

    Attributes:
        lines: Its first and last line.
        names: What native lines make of which only the run has told what it is.
    """

    lines: tuple[int, int]
    names: tuple[str, ...]

    @classmethod
    def of(cls, capture: Capture) -> Recalled:
        """What a capture has from a run."""
        return cls(capture.region.lines, tuple(name for name in capture.recalled if not name.startswith(TEMPORARY)))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"lines": list(self.lines), "names": list(self.names)}

    def __str__(self) -> str:
        made = ", ".join(f"`{name}`" for name in self.names) or "what an earlier line makes"
        return f"as the latest run captured it, taking {made} to be of the same kind again"


class Recall:
    """Finds the latest capture of a region in a run whose conditions a call may meet.

    The trees of an explanation and of what runs have regions of their own, which have the statements in common.

    Args:
        controller: The function's.
    """

    def __init__(self, controller: Controller) -> None:
        self._file = controller.history.file
        self._seen = controller.options.seen
        self._captures: dict[Any, list[Capture]] = {}
        for probe in list(controller.probes.values()):
            found = [plan.capture for plan in probe.plans if plan.capture.graph is not None]
            self._captures.setdefault(region_key(probe.region), []).extend(found)
        natives = native_statements(controller.tree.root) if controller.tree is not None else ()
        self._native = {_id(part.statement) for part in natives}
        self._met: set[int] = set()

    def find(self, region: Region, met: Capture, values: dict[str, Any]) -> Capture | None:
        """The capture of a region, given what was captured of it now and the live-ins; or `None`."""
        now, key = guards_of(met.prologue, self._file), region_key(region)
        known = self._captures.get(key, ())
        for capture in known:
            before = guards_of(capture.prologue, self._file)
            if differences(before, now) or any(_refuses(guard.text, values) for guard in before):
                continue
            # Numbers are those of the explanation's tree: they name its clusters.
            found = copy.copy(capture.region)
            found.number = region.number
            return replace(capture, region=found)
        if not known and key in self._seen and agree(values, self._seen[key]):
            self._met.update(map(_id, region.statements))
        return None

    def stays(self, cut: Cut) -> bool:
        """Whether a statement that needs what a native line makes is Python's, though a run has shown what that is."""
        return _id(cut.statement) in self._met & self._native


def _id(statement: ast.stmt) -> int:
    """The same for a statement and for what a tree of regions has made of it."""
    return id(getattr(statement, "autojit_origin", statement))


def _refuses(condition: str, values: dict[str, Any]) -> bool:
    """Whether a condition asks a live-in for another number or text than it is."""
    subject, _, wanted = condition.partition(" is ")
    value = values.get(subject.strip("`"))
    if type(value) not in (bool, int, float, complex, str, bytes):
        return False
    if wanted.startswith(_KINDS) or wanted.endswith("..."):  # what is long is cut
        return False
    return wanted not in (repr(value), str(bool(value)))  # of a number in a test it is asked whether it is zero
