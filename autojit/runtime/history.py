"""What has happened to a function: captures with what differed from those before, compilations, decisions."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.capture.prologue import Prologue

#: So many events are kept, the latest.
_MOST = 200
_SUBJECT = re.compile(r"`[^`]*`")


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition under which a plan applies.

    Attributes:
        text: The condition in words.
        line: The user's line that asked for it; `None` for the kinds of the arguments.
    """

    text: str
    line: int | None = None

    def __str__(self) -> str:
        return self.text if self.line is None else f"{self.text} (line {self.line})"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a region.

    Attributes:
        what: "captured"; "compiled" or "loaded" (from the disk cache); "kept" (a plan was measured and is faster),
            "left" (to NumPy) or "dropped" (for another plan).
        lines: The region's first and last line.
        seconds: How long it took, or, of what is kept, what a call takes.
        detail: What differed, or why.
        when: `time.time()` of it.
    """

    what: Literal["captured", "compiled", "loaded", "kept", "left", "dropped"]
    lines: tuple[int, int]
    seconds: float
    detail: str
    when: float

    def to_dict(self) -> dict[str, Any]:
        """The event as plain data."""
        return {
            "what": self.what, "lines": list(self.lines), "seconds": self.seconds, "detail": self.detail,
            "when": self.when,
        }  # fmt: skip


class History:
    """The latest events of one function.

    Attributes:
        events: They are replaced as a whole, so that a thread may read them while another one adds to them.
    """

    def __init__(self) -> None:
        self.events: tuple[Event, ...] = ()
        self._guards: dict[int, tuple[Guard, ...]] = {}  # those of the last capture, by region

    def note(self, what: Any, region: Any, seconds: float = 0.0, detail: str = "") -> None:
        """Note an event of a region."""
        event = Event(what, region.lines, seconds, detail, time.time())
        self.events = (*self.events[1 - _MOST :], event)

    def captured(self, region: Any, prologue: Prologue, seconds: float, detail: str = "") -> None:
        """Note a capture, with what its guard says differently from the one before."""
        guards = guards_of(prologue)
        before = self._guards.get(region.number)
        self._guards[region.number] = guards
        changes = [detail] if detail else []
        if before is not None:
            changes += differences(before, guards)
        self.note("captured", region, seconds, "; ".join(changes))


def guards_of(prologue: Prologue) -> tuple[Guard, ...]:
    """The conditions of a plan, each once, in the order in which they were met."""
    found = {
        line.why: Guard(line.why, line.source and line.source.line) for line in reversed(prologue.lines) if line.why
    }
    return tuple(reversed(found.values()))


def differences(before: tuple[Guard, ...], now: tuple[Guard, ...]) -> list[str]:
    """In words, what one guard says of the same things differently from another."""
    known = {guard.text for guard in before}
    new = {guard.text for guard in now}
    gone: dict[str, str] = {}
    for guard in before:
        if guard.text not in new and (subject := _subject(guard)):
            gone.setdefault(subject, guard.text)
    found = []
    for guard in now:
        subject = _subject(guard)
        if guard.text not in known and subject in gone:
            found.append(f"{guard}, where {gone.pop(subject).replace(subject, 'it', 1).replace('it is', 'it was', 1)}")
    return found


def _subject(guard: Guard) -> str:
    found = _SUBJECT.match(guard.text)
    return found[0] if found else ""
