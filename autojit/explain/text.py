"""An explanation as text of at most 100 columns, but for places, details and source lines that are longer."""

from __future__ import annotations

import textwrap
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from autojit.errors import Reason
from autojit.explain.state import PlanInfo, left_of
from autojit.runtime.history import Event, Guard, milliseconds, span

if TYPE_CHECKING:  # for annotations alone: an explanation prints itself with this
    from autojit.explain.losses import Loss
    from autojit.explain.report import Explanation

WIDTH = 100
#: What is said where calls have left no plan.
WAITS = "nothing is compiled so far: with `policy='measured'` NumPy runs until compiling is known to pay"
#: So many of the latest events are shown.
EVENTS = 12
#: Conditions that hold in nearly all programs for ever are left out, and types beside values.
_TRIVIAL = (" is the same object", " is the same function", " is the same method", " is the builtin")
_STAYS, _OF_TYPE = "a scalar stays ", " is of type "


def to_text(explanation: Explanation) -> str:
    """The whole report."""
    lines = [*_summary(explanation), *_reasons(explanation)]
    if explanation.source is not None:
        lines += ["", *annotated(explanation)]
    if explanation.plans:
        lines += ["", "plans", *_plans(explanation.plans)]
    if explanation.history:
        lines += ["", "history", *_events(explanation.history)]
    if resources := list(kept(explanation)):
        lines += ["", *resources]
    if explanation.reasons:
        lines += ["", "[an id in brackets] is explained under reference/reasons/#id of the documentation"]
    return "\n".join(lines)


def kept(explanation: Explanation) -> Iterator[str]:
    """What is kept for later calls."""
    if explanation.resources is not None and (explanation.plans or explanation.history):
        found = explanation.resources
        sizes = f"{megabytes(found.result_bytes)} for results, {megabytes(found.staging_bytes)} for inputs"
        yield f"memory of the process: {sizes}"
        used = f", {found.loads} program(s) of this function loaded, {found.compiles} compiled"
        yield f"disk cache: {found.disk_cache + used if found.disk_cache else 'off'}"


def _summary(explanation: Explanation) -> Iterator[str]:
    if not explanation.is_explored:
        yield f"{explanation.name}: what calls have left"
        return
    count = len(explanation.clusters)
    whole = "one program" if explanation.is_whole and count == 1 else f"{count} cluster(s)"
    yield (
        f"{explanation.name}: {whole}, {len(explanation.host_nodes)} host node(s), "
        f"{len(explanation.native_statements)} native statement(s)"
    )
    for cluster in explanation.clusters:
        yield f"  {cluster.name}: {cluster.operations} operations, lines {ranges(cluster.lines)}"
        if cluster.options:
            yield f"    chosen by measurement: {cluster.options}"
    for loop in explanation.loops:
        yield from wrapped(str(loop), "  ", "    ")
    if explanation.waits:
        yield f"  {WAITS}"


def _reasons(explanation: Explanation) -> Iterator[str]:
    losses = {loss.reason: loss for loss in explanation.losses}
    for title, reasons in (("host node", explanation.host_nodes), ("native", explanation.native_statements)):
        for reason in reasons:
            yield from _reason(title, reason, loss=losses.get(reason))
    for reason in explanation.left:
        yield from _reason("native where reached", reason, hint=False)
    for reason in explanation.changes:
        yield from _reason("from call to call", reason)
    for left in explanation.unused:
        yield from _reason(f"not used, {span(left.lines)}", left.reason)
    if explanation.unknown:
        lines = tuple(sorted({reason.source.line for reason in explanation.unknown if reason.source}))
        yield f"  known after a first run: lines {ranges(lines)}"


def _reason(title: str, reason: Reason, hint: bool = True, loss: Loss | None = None) -> Iterator[str]:
    where = f"{reason.source}: " if reason.source is not None else ""
    yield f"  {title}: {where}[{reason.id}] {reason.detail}"
    if reason.source is not None and reason.source.text:
        yield f"      {reason.source.text}"
    if loss is not None:
        yield f"      {loss}"
    if reason.cause is not None:
        yield f"      as line {reason.cause.line}"
    elif hint:
        yield from wrapped(f"why: {reason.kind.why}", "      ", "        ")
        yield from wrapped(f"hint: {reason.kind.hint}", "      ", "        ")


def annotated(explanation: Explanation) -> list[str]:
    """The user's source, and beside each line what becomes of it."""
    assert explanation.source is not None
    _file, first, text = explanation.source
    marks = marks_of(explanation)
    width = max((len(", ".join(names)) for names in marks.values()), default=0)
    return [
        f"{', '.join(marks.get(number, [])):<{width}} | {number:4} {line.rstrip()}"
        for number, line in enumerate(text, first)
    ]


def marks_of(explanation: Explanation) -> dict[int, list[str]]:
    """By line, its clusters, or why it is in none."""
    marks: dict[int, list[str]] = {}
    for cluster in explanation.clusters:
        for line in cluster.lines:
            marks.setdefault(line, []).append(cluster.name)
    for title, reasons in (
        ("host", explanation.host_nodes), ("native", explanation.native_statements), ("later", explanation.unknown),
        ("native", explanation.left), ("calls", explanation.changes),
    ):  # fmt: skip
        for reason in reasons:
            if reason.source is not None and is_own(reason, explanation):
                mark = f"{title}: {reason.id}"
                if mark not in marks.setdefault(reason.source.line, []):
                    marks[reason.source.line].append(mark)
    compiled = {line for cluster in explanation.clusters for line in cluster.lines}
    for left in explanation.unused:
        first, last = left.lines
        for line in compiled & {*range(first, last + 1)}:
            marks[line].append(f"not used: {left.reason.id}")
    return marks


def is_own(reason: Reason, explanation: Explanation) -> bool:
    """Whether a reason stands at a line of the function's own source."""
    return explanation.source is not None and reason.source is not None and reason.source.file == explanation.source[0]


def _plans(plans: list[PlanInfo]) -> Iterator[str]:
    """Each plan; those that leave calls to NumPy for one reason together."""
    for plan in plans:
        if plan.reason is None:
            yield from _plan(plan)
    for left in left_of(plans):
        kinds = f" for {left.count} kinds of calls" if left.count > 1 else ""
        yield from wrapped(f"{span(left.lines)}: native{kinds}: [{left.reason.id}] {left.reason.detail}", "  ", "    ")
        if left.count == 1:
            yield from _guards(left.guards)


def _plan(plan: PlanInfo) -> Iterator[str]:
    speed = ""
    if plan.seconds and plan.numpy_seconds:
        times = f"{milliseconds(plan.seconds)} a call, {milliseconds(plan.numpy_seconds)} in NumPy"
        speed = f", {times}: {plan.numpy_seconds / plan.seconds:.3g} times as fast"
    traps = f", left {plan.traps} call(s) to NumPy for their data" if plan.traps else ""
    yield from wrapped(f"{span(plan.lines)}: {plan.state}{speed}{traps}", "  ", "    ")
    yield from _guards(plan.guards)


def _guards(guards: Iterable[Guard]) -> Iterator[str]:
    guards = [guard for guard in guards if not guard.text.endswith(_TRIVIAL) and not guard.text.startswith(_STAYS)]
    valued = {guard.text.partition(" is ")[0] for guard in guards if _OF_TYPE not in guard.text}
    texts = [
        str(guard) for guard in guards if _OF_TYPE not in guard.text or guard.text.partition(" is ")[0] not in valued
    ]
    if texts:
        yield from wrapped(f"if {', '.join(texts)}", "    ", "      ")


def _events(events: list[Event]) -> Iterator[str]:
    if len(events) > EVENTS:
        yield f"  ... {len(events) - EVENTS} earlier"
    for event in events[-EVENTS:]:
        yield from wrapped(str(event), "  ", "    ")


def wrapped(text: str, first: str, rest: str) -> list[str]:
    """Lines of at most `WIDTH` columns; `first` stands before the first one, `rest` before the others."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def megabytes(nbytes: int) -> str:
    """A size for people."""
    return f"{nbytes / 1e6:.1f} MB"


def ranges(lines: Iterable[int]) -> str:
    """Line numbers, those in a row as a range: "5, 7-9"."""
    parts: list[str] = []
    for line in lines:
        if parts and line == int(parts[-1].split("-")[-1]) + 1:
            parts[-1] = f"{parts[-1].split('-')[0]}-{line}"
        else:
            parts.append(str(line))
    return ", ".join(parts)


def columns(rows: Sequence[Sequence[str]], left: Container[int]) -> Iterator[str]:
    """The rows of a table with the cells of each column below each other; those in `left` begin at the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (
            cell.ljust(width) if number in left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(padded).rstrip()
