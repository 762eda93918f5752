"""An explanation as text of at most 100 columns, but for places and source lines that are longer."""

from __future__ import annotations

import textwrap
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from autojit.errors import Reason
from autojit.explain.caches import cache_sizes
from autojit.explain.origin import base, own_line
from autojit.explain.state import PlanInfo, left_of
from autojit.runtime.history import Event, Guard, milliseconds, span

if TYPE_CHECKING:  # for annotations alone: an explanation prints itself with this
    from autojit.explain.losses import Loss
    from autojit.explain.parts import ClusterInfo
    from autojit.explain.report import Explanation

WIDTH = 100
#: What is said where calls have left no plan.
WAITS = "nothing is compiled so far: with `policy='measured'` NumPy runs until compiling is known to pay"
#: What is said of a function that nothing decorates.
UNDECORATED = "not decorated, so that NumPy runs: this is what `@autojit.autocluster` would make of it"
#: So many events are shown.
EVENTS = 12
#: Conditions that hold in nearly all programs for ever are left out, and types beside values.
_TRIVIAL = (" is the same object", " is the same function", " is the same method", " is the builtin")
_STAYS, _OF_TYPE, _NAMELESS = "a scalar stays ", " is of type ", "a scalar "
#: The marks of loops that are no part of a program, where their line has no reason of its own.
_LOOPS = {"python": "loop in Python", "unknown": "later: unknown-value"}
#: Stands for a space in a file's name, where no line is broken.
_GAP = "\0"


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
    own = explanation.source[0] if explanation.source is not None else ""
    for cluster in explanation.clusters:
        yield from wrapped(f"{cluster.name}: {cluster.operations} operations{_where(cluster, own)}", "  ", "    ")
        if cluster.options:
            yield from wrapped(f"chosen by measurement: {cluster.options}", "    ", "      ")
    for recalled in explanation.recalled:
        yield from wrapped(f"{span(recalled.lines)}: {recalled}", "  ", "    ")
    for loop in explanation.loops:
        yield from wrapped(str(loop), "  ", "    ")
    if not explanation.is_decorated:
        yield f"  {UNDECORATED}"
    elif explanation.waits:
        yield f"  {WAITS}"


def _where(cluster: ClusterInfo, own: str) -> str:
    """The lines of a cluster, and what it has of other functions; those in the function's own file without the file."""
    lines = f", {in_words(cluster.lines)}" if cluster.lines else ""
    helpers = [
        f"`{helper.function}` ({in_words(helper.lines)}{'' if helper.file == own else f' of {base(helper.file)}'})"
        for helper in cluster.helpers
    ]
    return lines + (f", with {', '.join(helpers)}" if helpers else "")


def _reasons(explanation: Explanation) -> Iterator[str]:
    for reason in explanation.standing:
        yield from _reason("left to NumPy", reason)
    losses = {loss.reason: loss for loss in explanation.losses}
    for title, reasons in (("host node", explanation.host_nodes), ("native", explanation.native_statements)):
        for reason in reasons:
            yield from _reason(title, reason, loss=losses.get(reason))
    if lines := unmeasured(explanation):
        takes = "takes" if len(lines) == 1 else "take"
        yield from wrapped(
            f"not measured: how long {in_words(lines)} {takes} in Python; a profile of some calls tells", "  ", "    "
        )
    for reason in explanation.left:
        yield from _reason("native where reached", reason, hint=False)
    for reason in explanation.changes:
        yield from _reason("from call to call", reason)
    for left in explanation.unused:
        yield from _reason(f"not used, {span(left.lines)}", left.reason)
    if explanation.unknown:
        lines = sorted({reason.source.line for reason in explanation.unknown if reason.source})
        yield from wrapped(f"known after a first run: {in_words(lines)}", "  ", "    ")


def unmeasured(explanation: Explanation) -> list[int]:
    """The lines of native statements of which nobody knows how long they take."""
    natives = {loss.reason for loss in explanation.losses if loss.seconds is None} & {*explanation.native_statements}
    lines = {own_line(reason.source, explanation.source) for reason in natives}
    return sorted(line for line in lines if line is not None)


def _reason(title: str, reason: Reason, hint: bool = True, loss: Loss | None = None) -> Iterator[str]:
    place = f"{reason.source}: ".replace(" ", _GAP, str(reason.source).count(" ")) if reason.source is not None else ""
    first = wrapped(f"{title}: {place}[{reason.id}] {reason.detail}", "  ", "    ")
    yield from (line.replace(_GAP, " ") for line in first)
    if reason.source is not None and reason.source.text:
        yield f"      {reason.source.text}"
    if loss is not None and str(loss):
        yield from wrapped(str(loss), "      ", "        ")
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
            line = own_line(reason.source, explanation.source)
            mark = f"{title}: {reason.id}"
            if line is not None and mark not in marks.setdefault(line, []):
                marks[line].append(mark)
    for loop in explanation.loops:
        line = own_line(loop.source, explanation.source)
        mark = _LOOPS.get(loop.rung)
        if line is not None and mark is not None and not any(":" in known for known in marks.get(line, [])):
            marks.setdefault(line, []).append(mark)
    compiled = {line for cluster in explanation.clusters for line in cluster.lines}
    for left in explanation.unused:
        first, last = left.lines
        for line in compiled & {*range(first, last + 1)}:
            marks[line].append(f"not used: {left.reason.id}")
    return marks


def is_own(reason: Reason, explanation: Explanation) -> bool:
    """Whether a reason is shown at a line of the function's own source."""
    return own_line(reason.source, explanation.source) is not None


def _plans(plans: list[PlanInfo]) -> Iterator[str]:
    """Each plan; those of one region together, and those that leave calls to NumPy for one reason."""
    for lines, group in groupby((plan for plan in plans if plan.reason is None), lambda plan: plan.lines):
        each = list(group)
        common = [guard for guard in _said(each[0].guards) if all(guard in plan.guards for plan in each[1:])]
        if len(each) > 1 and (condition := list(_guards(common))):
            yield f"  {span(lines)}: {len(each)} plans, all of them"
            yield from condition
        else:
            common = []
        for plan in each:
            yield from _plan(plan, [guard for guard in _said(plan.guards) if guard not in common])
    for left in left_of(plans):
        kinds = f" for {left.count} kinds of calls" if left.count > 1 else ""
        yield from wrapped(f"{span(left.lines)}: native{kinds}: [{left.reason.id}] {left.reason.detail}", "  ", "    ")
        if left.count == 1:
            yield from _guards(_said(left.guards))


def _plan(plan: PlanInfo, guards: Iterable[Guard]) -> Iterator[str]:
    speed = ""
    if plan.seconds and plan.numpy_seconds:
        times = f"{milliseconds(plan.seconds)} a call, {milliseconds(plan.numpy_seconds)} in NumPy"
        speed = f", {times}: {times_as_fast(plan.numpy_seconds / plan.seconds)} times as fast"
    traps = f", left {plan.traps} call(s) to NumPy for their data" if plan.traps else ""
    yield from wrapped(f"{span(plan.lines)}: {plan.state}{speed}{traps}", "  ", "    ")
    if slows := pace(plan):
        yield from wrapped(slows, "    ", "      ")
    yield from _guards(guards)


def pace(plan: PlanInfo) -> str:
    """Why an element may cost more than in smaller arrays; "" where the L2 cache holds all, or none is known."""
    near, largest = cache_sizes()
    if not near or plan.nbytes <= near:
        return ""
    moved = f"a call reads and writes {megabytes(plan.nbytes)}"
    holds = f"the L2 cache ({megabytes(near)}) does not hold"
    if plan.nbytes > largest:
        holds = f"no cache holds (at most {megabytes(largest)})"
    return f"{moved}, which {holds}: an element may take longer than in smaller arrays"


def _said(guards: Iterable[Guard]) -> list[Guard]:
    """The conditions that tell something."""
    guards = [guard for guard in guards if not guard.text.endswith(_TRIVIAL) and not guard.text.startswith(_STAYS)]
    valued = {guard.text.partition(" is ")[0] for guard in guards if _OF_TYPE not in guard.text}
    return [guard for guard in guards if _OF_TYPE not in guard.text or guard.text.partition(" is ")[0] not in valued]


def _guards(guards: Iterable[Guard]) -> Iterator[str]:
    texts = [str(guard) for guard in guards]
    said = [text for text in texts if not text.startswith(_NAMELESS)]
    if len(said) < len(texts):
        said.append(f"{len(texts) - len(said)} condition(s) on scalars without a name")
    if said:
        yield from wrapped(f"if {', '.join(said)}", "    ", "      ")


def _events(events: list[Event]) -> Iterator[str]:
    first, left_out, last = shown(events)
    for event in first:
        yield from wrapped(str(event), "  ", "    ")
    if left_out:
        yield f"  ... {left_out} more"
    for event in last:
        yield from wrapped(str(event), "  ", "    ")


def shown(events: list[Event]) -> tuple[list[Event], int, list[Event]]:
    """The first events, which name the native lines, how many are left out, and the latest."""
    if len(events) <= EVENTS:
        return events, 0, []
    first = EVENTS // 4
    return events[:first], len(events) - EVENTS, events[first - EVENTS :]


def times_as_fast(ratio: float) -> str:
    """A ratio of times for people."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def wrapped(text: str, first: str, rest: str) -> list[str]:
    """Lines of at most `WIDTH` columns; `first` stands before the first one, `rest` before the others."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def megabytes(nbytes: int) -> str:
    """A size for people."""
    return f"{nbytes / 1e6:.1f} MB" if nbytes >= 1e5 else f"{nbytes / 1e3:.0f} kB"


def in_words(lines: Sequence[int]) -> str:
    """Line numbers with what they are: "line 5", "lines 5, 7-9"."""
    return f"{'line' if len(lines) == 1 else 'lines'} {ranges(lines)}"


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
