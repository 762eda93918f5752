"""The report of a program as text: a top level that fits one screen, and each function below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autojit.explain.text import WIDTH, columns, to_text, wrapped
from autojit.launch.facts import STATES
from autojit.launch.findings import Finding, Findings
from autojit.launch.places import place
from autojit.launch.samples import EVERY
from autojit.launch.spots import SETTLED, VISIBLE, Spot

#: The lines of a screen, how many places to change and how many functions it tells, and how many lines that wait for
#: a place.
_LINES, SPOTS, FUNCTIONS, _OTHERS = 40, 5, 10, 5
#: So many functions are told at least, with fewer places to change if need be.
_ROWS = 8
#: Columns that a function's name takes at most.
_NAME = 40
#: The columns of the table of functions.
COLUMNS = ("own time", "share", "in plans", "function", "state")
#: What they mean, and what is measured.
NOTE = (
    f"own time: seen running at {1 / EVERY:.0f} looks a second, the functions of this table that it calls not counted; "
    "in plans: compiled; behind a state: the speed of one region against NumPy, where both were timed, and what keeps "
    "most of the rest in NumPy"
)
#: What is said where no place is found.
NO_SPOTS = "no place was found that stays in NumPy and could be changed"
#: What part of the program's time is much.
_MUCH = 0.3
#: What is said where most of the time is that of functions that are not judged yet.
EARLIER = (
    "compiling is tried where NumPy has taken 0.25 s for calls of a kind: a longer run judges more functions, and "
    "`--policy=eager` looks into all at their first calls"
)
#: What is said of a function of which nothing was captured.
UNSEEN = "nothing of it was captured: its calls have not taken long enough to pay for that"


def to_screen(findings: Findings) -> str:
    """The top level: at most 40 lines of at most 100 columns."""
    return "\n".join(_screen(findings)[0])


def _screen(findings: Findings) -> tuple[list[str], bool]:
    """The lines of the top level, and whether all functions stand there."""
    functions, spots, told = findings.functions, findings.spots, SPOTS
    head = [line for part in [totals(findings), *shares(findings)] for line in wrapped(part, "", "  ")]
    tail = wrapped(NOTE, "", "  ")
    while True:
        places = ["", "what to change first", *([] if spots else [f"  {NO_SPOTS}"])]
        for spot in spots[:told]:
            places += _spot(spot)
        places += [*_more(len(spots) - told), ""]
        room = _LINES - len(head) - len(places) - len(tail) - 1  # for the names of the columns
        if room >= min(len(functions), _ROWS) or told == 1:
            break
        told -= 1
    is_all = room >= len(functions)
    shown = functions if is_all else functions[: max(0, room - 1)]
    table = [*_table(shown, findings), *_more(len(functions) - len(shown))]
    return list(map(_cut, [*head, *places, *table, *tail])), is_all


def to_report(findings: Findings) -> str:
    """The whole report: the top level, then each function."""
    lines, is_all = _screen(findings)
    parts = ["\n".join(lines)]
    if not is_all:
        parts += ["", "=" * WIDTH, *map(_cut, _table(findings.functions, findings))]
    for each in findings.functions:
        parts += [
            "",
            "=" * WIDTH,
            f"{name_of(each)}: {state_of(each)}",
            "",
            *(map(to_text, each.explanations) if each.explanations else [UNSEEN]),
        ]
    return "\n".join(parts)


def totals(findings: Findings) -> str:
    """The whole program in a sentence or two."""
    states = [each.state for each in findings.functions]
    counts = ", ".join(f"{states.count(state)} {state}" for state in STATES if state in states)
    loads = f", {findings.loads} from the disk cache" if findings.loads else ""
    return (
        f"autojit: {findings.program} ran {seconds(findings.total)}; functions looked into: {len(states)}"
        f"{f' ({counts})' if counts else ''}; captures: {findings.captures} ({seconds(findings.capture_seconds)}); "
        f"compiles: {findings.compiles} ({seconds(findings.compile_seconds)}){loads}; the program waited "
        f"{seconds(findings.own)} for autojit"
    )


def shares(findings: Findings) -> Iterator[str]:
    """Where the program's own time went, and what follows from it."""
    functions = findings.functions
    planned, settled = sum(each.planned for each in functions), sum(each.settled for each in functions)
    waiting = sum(each.waiting for each in functions)
    open = sum(spot.seconds for each in functions for spot in each.spots if spot.reason.id not in SETTLED)
    parts = {
        "in compiled plans": planned,
        "in places that stay in NumPy": open,
        "where NumPy was found to be as fast": settled,
        "in functions that are not judged yet": waiting,
        "in other lines or before there were plans": sum(each.seconds for each in functions)
        - (planned + open + settled + waiting),
    }
    least = findings.total * VISIBLE
    told = [f"{seconds(spent)} {name}" for name, spent in parts.items() if spent > least]
    if told:
        yield f"its functions: {', '.join(told)}"
    if findings.place is not None and findings.elsewhere > least:
        where = f"{findings.place.function}, {place(findings.place.file, findings.place.line)}"
        yield f"{seconds(findings.elsewhere)} in code that was not looked into, most of it in {where}"
    if waiting > open and waiting > findings.total * _MUCH:
        yield EARLIER


def name_of(finding: Finding) -> str:
    """A function and its place."""
    return f"{finding.function.name} ({place(finding.function.file, finding.function.line)})"


def state_of(finding: Finding) -> str:
    """A function's state, and why."""
    return f"{finding.state}: {finding.why}" if finding.why else finding.state


def cells(finding: Finding, findings: Findings) -> tuple[str, ...]:
    """The row of a function; see `COLUMNS`."""
    return (
        seconds(finding.seconds),
        f"{finding.seconds / findings.total:.0%}" if findings.total else "",
        f"{finding.planned / finding.seconds:.0%}" if finding.planned else "",
        name_of(finding),
        state_of(finding),
    )


def seconds(duration: float) -> str:
    """A duration of a program's parts for people."""
    return f"{duration:.2f} s"


def _table(functions: Sequence[Finding], findings: Findings) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [COLUMNS]
    for each in functions:
        *times, name, state = cells(each, findings)
        rows.append((*times, _cut(name, _NAME), state))
    return columns(rows, left={COLUMNS.index("state"), COLUMNS.index("function")})


def _cut(text: str, width: int = WIDTH) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _more(count: int) -> list[str]:
    return [f"... and {count} more"] if count > 0 else []


def _spot(spot: Spot) -> Iterator[str]:
    yield f"  {seconds(spot.seconds)}  {spot.function}, {place(spot.file, spot.line, spot.last)}: {spot.text}"
    yield f"      [{spot.reason.id}] {spot.reason.detail}"
    if spot.others:
        yield f"      {waiting(spot)}"
    yield f"      hint: {spot.reason.kind.hint}"


def waiting(spot: Spot) -> str:
    """The lines whose time is counted with a place's own."""
    shown = ", ".join(map(str, spot.others[:_OTHERS]))
    more = f" and {len(spot.others) - _OTHERS} more" if len(spot.others) > _OTHERS else ""
    if len(spot.others) == 1:
        return f"counted with line {shown}, which waits for its result"
    return f"counted with lines {shown}{more}, which wait for its result"
