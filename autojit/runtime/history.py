"""What has happened to a function: captures with what differed from those before, compilations, decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from time import time as wall_time
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from autojit.errors import SourceLine
from autojit.logs import log

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.capture.prologue import Prologue

#: So many events are kept, the latest.
_MOST = 200
#: Conditions with longer values are cut.
_LONG = 200
_WORDS = {"kept": "kept compiled", "left": "left to NumPy", "loaded": "loaded from disk"}
_SUBJECT = re.compile(r"`[^`]*`")


class Guard(NamedTuple):
    """A condition under which a plan applies.

    Attributes:
        text: The condition in words.
        source: The user's line that asked for it; `None` for the kinds of the arguments.
        file: The file of the function, whose lines are named without it.
    """

    text: str
    source: SourceLine | None = None
    file: str = ""

    @property
    def line(self) -> int | None:
        """The number of the line that asked for it."""
        return self.source.line if self.source is not None else None

    @property
    def subject(self) -> str:
        """What the condition is about: "`n`"; "" where it does not say."""
        found = _SUBJECT.match(self.text)
        return found[0] if found else ""

    def __str__(self) -> str:
        if self.source is None:
            return self.text
        is_own = self.source.file == self.file
        return f"{self.text} ({f'line {self.line}' if is_own else self.source})"


class Change(NamedTuple):
    """A condition that differs from that of the capture before.

    Attributes:
        guard: The condition.
        before: What it was, in words.
    """

    guard: Guard
    before: str

    def __str__(self) -> str:
        was = self.before.replace(self.guard.subject, "it", 1).replace("it is", "it was", 1)
        return f"{self.guard}, where {was}"

    def to_dict(self) -> dict[str, Any]:
        """The change as plain data."""
        guard = self.guard
        return {"subject": guard.subject.strip("`"), "before": self.before, "now": guard.text, "line": guard.line}


class Event(NamedTuple):
    """Something that happened to a region.

    Attributes:
        what: "captured"; "compiled" or "loaded" (from the disk cache); "kept" (a plan was measured and is faster),
            "left" (to NumPy) or "dropped" (for another plan).
        lines: The region's first and last line.
        seconds: How long it took, or, of what is kept, what a call takes.
        detail: What differed, or why.
        when: `time.time()` of it.
        changes: How the guard of a capture differs from that of the region's capture before.
    """

    what: Literal["captured", "compiled", "loaded", "kept", "left", "dropped"]
    lines: tuple[int, int]
    seconds: float
    detail: str
    when: float
    changes: tuple[Change, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The event as plain data."""
        return {
            "what": self.what, "lines": list(self.lines), "seconds": self.seconds, "detail": self.detail,
            "when": self.when, "changes": [change.to_dict() for change in self.changes],
        }  # fmt: skip

    def __str__(self) -> str:
        took = f" ({milliseconds(self.seconds)})" if self.seconds else ""
        detail = f": {self.detail}" if self.detail else ""
        return f"{span(self.lines)} {_WORDS.get(self.what, self.what)}{took}{detail}"


class Profiled:
    """What profiles have measured of a function's lines.

    Attributes:
        file: The one that the lines stand in.
        calls: How many calls were followed.
        seconds: By line, what Python and NumPy have taken there in all, calls of other functions included.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.calls = 0
        self.seconds: dict[int, float] = {}

    def add(self, line: int, seconds: float) -> None:
        """Add a time. Two threads at once may lose one."""
        self.seconds[line] = self.seconds.get(line, 0.0) + seconds


class History:
    """The latest events of one function.

    Args:
        name: The function's, as the user knows it.
        file: The one that it stands in.
        kinds: What is logged: "captures", "compiles", "guards", "clusters".

    Attributes:
        events: They are replaced as a whole, so that a thread may read them while another one adds to them.
        profiled: What profiles have measured.
    """

    def __init__(self, name: str, file: str, kinds: Iterable[str] = ()) -> None:
        self.name = name
        self.file = file
        self.kinds = frozenset(kinds)
        if self.kinds:
            log.show()
        self.events: tuple[Event, ...] = ()
        self.profiled = Profiled(file)
        self._guards: dict[int, tuple[Guard, ...]] = {}  # those of the last capture, by region

    def note(
        self, what: Any, region: Any, seconds: float = 0.0, detail: str = "", changes: tuple[Change, ...] = ()
    ) -> None:
        """Note an event of a region."""
        event = Event(what, region.lines, seconds, detail, wall_time(), changes)
        self.events = (*self.events[1 - _MOST :], event)
        self.log("captures" if what == "captured" else "compiles", event)

    def log(self, kind: str, text: object) -> None:
        """Log something, if the flags ask for this kind."""
        if kind in self.kinds:
            log.info("%s: %s", self.name, text)

    def captured(self, region: Any, prologue: Prologue, seconds: float, detail: str = "") -> None:
        """Note a capture, with what its guard says differently from the one before."""
        guards = guards_of(prologue, self.file)
        changes = differences(self._guards.get(region.number, ()), guards)
        self._guards[region.number] = guards
        self.note("captured", region, seconds, "; ".join(filter(None, [detail, *map(str, changes)])), changes)
        first, last = region.lines
        asker = f"{span(region.lines)} {'ask' if last > first else 'asks'}"
        self.log("guards", f"{asker} that {', '.join(map(str, guards))}")


def guards_of(prologue: Prologue, file: str) -> tuple[Guard, ...]:
    """The conditions of a plan of a function in `file`, each once, in the order in which they were met."""
    found: dict[str, Guard] = {}
    for line in prologue.lines:
        if line.why:
            text = line.why if len(line.why) <= _LONG else f"{line.why[:_LONG]}..."
            found.setdefault(text, Guard(text, line.source, file))
    return tuple(found.values())


def differences(before: tuple[Guard, ...], now: tuple[Guard, ...]) -> tuple[Change, ...]:
    """What one guard says of the same things differently from another."""
    known, new = {guard.text for guard in before}, {guard.text for guard in now}
    gone: dict[str, str] = {}
    for guard in before:
        if guard.text not in new and guard.subject:
            gone.setdefault(guard.subject, guard.text)
    return tuple(
        Change(guard, gone.pop(guard.subject)) for guard in now if guard.text not in known and guard.subject in gone
    )


def span(lines: tuple[int, int]) -> str:
    """The lines of a region: "lines 6-7"."""
    first, last = lines
    return f"lines {first}-{last}" if last > first else f"line {first}"


def milliseconds(seconds: float) -> str:
    """A duration for people."""
    if seconds < 1e-5:
        return f"{seconds * 1e6:.3g} us"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds * 1e3:.0f} ms"
