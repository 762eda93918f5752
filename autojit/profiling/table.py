"""`profile_table`: where the time of a profile went, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jax.profiler import ProfileData

from autojit.errors import AutojitError
from autojit.explain import html
from autojit.explain.style import fragment
from autojit.explain.text import columns, megabytes
from autojit.ir.warned import unheard
from autojit.profiling.spans import KINDS, PREFIX, Place
from autojit.runtime.history import milliseconds

#: How many rows are shown; all of them are in `rows`.
_SHOWN = 30
_HEADER = ("", "function", "place", "calls", "time", "share", "a call", "bytes", "bandwidth")


@dataclass(slots=True)
class ProfileRow:
    """All spans of one place.

    Attributes:
        place: What took the time, and where.
        calls: How often.
        seconds: How long in all, without what lies inside and has rows of its own.
        whole_seconds: How long with it.
    """

    place: Place
    calls: int = 0
    seconds: float = 0.0
    whole_seconds: float = 0.0

    @property
    def bandwidth(self) -> float:
        """Bytes per second that were read and written at least; 0 where that is not known."""
        return self.place.nbytes * self.calls / self.seconds if self.seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        place = self.place
        return {
            "kind": place.kind, "function": place.function, "file": place.file, "lines": list(place.lines),
            "name": place.name, "calls": self.calls, "seconds": self.seconds, "whole_seconds": self.whole_seconds,
            "bytes": place.nbytes * self.calls, "bandwidth": self.bandwidth,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProfileTable:
    """Where the time of a profile went.

    Attributes:
        rows: The places, the costliest first.
        seconds: How long the profile was taken.
        folder: The run that it was read from.
    """

    rows: tuple[ProfileRow, ...]
    seconds: float
    folder: Path

    @property
    def shares(self) -> dict[str, float]:
        """By kind, the part of the time. Of more than one thread they may add up to more than 1."""
        found = dict.fromkeys(KINDS, 0.0)
        for row in self.rows:
            found[row.place.kind] += row.seconds / self.seconds
        return found

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data. Times are in seconds, bandwidths in bytes per second."""
        return {"seconds": self.seconds, "shares": self.shares, "rows": [row.to_dict() for row in self.rows]}

    def __str__(self) -> str:
        table = columns([_HEADER, *self._cells()], left=range(3))
        return "\n".join([*self._summary(), "", *table, *self._rest()])

    def _repr_html_(self) -> str:
        rows = [html.row(*map(escape, cells)) for cells in (_HEADER, *self._cells())]
        told = [f"<div>{escape(line)}</div>" for line in (*self._summary(), *self._rest())]
        return fragment(*told, '<table class="list">', *rows, "</table>")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython shows where it has no HTML."""
        printer.text(str(self))

    def _summary(self) -> Iterator[str]:
        yield f"profile of {self.seconds:.3g} s"
        for kind, share in self.shares.items():
            if share:
                yield f"  {share:6.1%} {kind}: {KINDS[kind]}"
        if sum(self.shares.values()) > 1:
            yield "  (threads are added up)"

    def _cells(self) -> Iterator[tuple[str, ...]]:
        for row in self.rows[:_SHOWN]:
            place = row.place
            moved = megabytes(place.nbytes), f"{row.bandwidth / 1e9:.3g} GB/s"
            yield (
                f"{place.kind} {place.name}".rstrip(), place.function, place.where, str(row.calls),
                milliseconds(row.seconds), f"{row.seconds / self.seconds:.1%}", milliseconds(row.seconds / row.calls),
                *(moved if place.nbytes else ("", "")),
            )  # fmt: skip

    def _rest(self) -> Iterator[str]:
        if len(self.rows) > _SHOWN:
            rest = sum(row.seconds for row in self.rows[_SHOWN:])
            yield f"... and {len(self.rows) - _SHOWN} more, {milliseconds(rest)} in all"


def profile_table(logdir: str | Path) -> ProfileTable:
    """Where the time of the latest profile in a folder went.

    Args:
        logdir: The folder that `profile` was given.

    Returns:
        A table with a row for each cluster, host node, native statement, capture and compilation: calls, time, share
        of the profile, bytes and bandwidth. It prints as text and shows as HTML in notebooks.

    Raises:
        AutojitError: There is no profile in the folder.
    """
    runs = sorted(Path(logdir).glob("plugins/profile/*/*.xplane.pb"), key=lambda file: file.stat().st_mtime_ns)
    if not runs:
        raise AutojitError(f"there is no profile in `{logdir}`: `with autojit.profile(...)` takes one")
    folder = runs[-1].parent
    # jaxlib makes the types of what is read here when they are needed, with a warning of Python's from 3.12 on. Where
    # warnings are errors that would end the process.
    rows, seconds = unheard(lambda: _read([file for file in runs if file.parent == folder]))
    ordered = sorted(rows.values(), key=lambda row: -row.seconds)
    return ProfileTable(tuple(ordered), seconds or sum(row.seconds for row in ordered) or 1e-9, folder)


def _read(files: Iterable[Path]) -> tuple[dict[Place, ProfileRow], float]:
    rows: dict[Place, ProfileRow] = {}
    seconds = 0.0
    for file in files:
        data = ProfileData.from_file(str(file))
        seconds = max(seconds, _seconds(data))
        for plane in data.planes:
            for line in plane.lines:
                _add(rows, sorted(_spans(line.events), key=lambda span: (span.start, -span.end)))
    return rows, seconds


@dataclass(slots=True)
class _Span:
    """One span, in nanoseconds.

    Attributes:
        inside: How long what lies inside takes.
    """

    place: Place
    start: float
    end: float
    inside: float = 0.0


def _spans(events: Iterable[Any]) -> Iterator[_Span]:
    for event in events:
        if event.name.startswith(PREFIX):
            told = {key: unquote(str(value)) for key, value in event.stats}
            lines = int(told["first"]), int(told["last"])
            place = Place(
                told["kind"], told["function"], told["file"], lines, told.get("name", ""), int(told["nbytes"])
            )
            yield _Span(place, event.start_ns, event.start_ns + event.duration_ns)


def _add(rows: dict[Place, ProfileRow], spans: Iterable[_Span]) -> None:
    """Add the spans of one thread, by their beginnings."""
    around: list[_Span] = []

    def close(span: _Span) -> None:
        row = rows.setdefault(span.place, ProfileRow(span.place))
        took = span.end - span.start
        row.calls += 1
        row.whole_seconds += took * 1e-9
        row.seconds += max(0.0, took - span.inside) * 1e-9

    for span in spans:
        while around and around[-1].end <= span.start:
            close(around.pop())
        if around:
            around[-1].inside += span.end - span.start
        around.append(span)
    while around:
        close(around.pop())


def _seconds(data: Any) -> float:
    """How long the profile was taken; 0 if it does not say."""
    for plane in data.planes:
        told = dict(plane.stats)
        if "profile_start_time" in told and "profile_stop_time" in told:
            return (int(told["profile_stop_time"]) - int(told["profile_start_time"])) * 1e-9
    return 0.0
