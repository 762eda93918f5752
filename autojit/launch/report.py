"""The report of a program as text: a top level that fits one screen, and each function below."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autojit.explain.text import WIDTH, columns, to_text, wrapped
from autojit.launch.findings import Finding, Findings, Spot
from autojit.launch.samples import EVERY

#: The lines of a screen, how many places to change it tells, and how many lines that wait for one.
_LINES, SPOTS, _OTHERS = 40, 5, 5
#: The columns of the table of functions.
COLUMNS = ("own time", "share", "in plans", "state", "speed", "spots", "function")
#: What they mean, and what is measured.
NOTE = (
    f"own time: seen running at {1 / EVERY:.0f} looks a second, the program's functions that it calls not counted; "
    "in plans: compiled; speed: against NumPy, of one region, where both were timed; spots: native places"
)
#: What is said of a function of which nothing was captured.
UNSEEN = "nothing of it was captured: its calls have not taken long enough to pay for that"


def _folder() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it is gone
        return Path()


#: Where the command was given: the program may go elsewhere.
_FOLDER = _folder()


def to_screen(findings: Findings) -> str:
    """The top level: at most 40 lines of at most 100 columns."""
    head = [*wrapped(totals(findings), "", "  "), ""]
    tail = [*elsewhere(findings), *wrapped(NOTE, "", "  ")]
    if spots := findings.spots:
        tail += ["", "what to change first"]
        for spot in spots[:SPOTS]:
            tail += _spot(spot)
        tail += _more(len(spots) - SPOTS)
    room = _LINES - len(head) - len(tail) - 2  # for the names of the columns and what is left out
    table = [*_table(findings, room), *_more(len(findings.functions) - room)]
    return "\n".join(line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..." for line in [*head, *table, *tail])


def to_report(findings: Findings) -> str:
    """The whole report: the top level, then each function."""
    parts = [to_screen(findings)]
    for each in findings.functions:
        title = f"{each.function.name} ({place(each.function.file, each.function.line)}): {each.state}"
        parts += ["", "=" * WIDTH, title, "", *(map(to_text, each.explanations) if each.explanations else [UNSEEN])]
    return "\n".join(parts)


def totals(findings: Findings) -> str:
    """The whole program in a sentence or two."""
    states = [each.state for each in findings.functions]
    known = ("compiled", "partly", "native", "not judged yet")
    counts = ", ".join(f"{states.count(state)} {state}" for state in known if state in states)
    loads = f", {findings.loads} from the disk cache" if findings.loads else ""
    return (
        f"autojit: {findings.program} ran {seconds(findings.total)}; functions looked into: {len(states)}"
        f"{f' ({counts})' if counts else ''}; captures: {findings.captures} ({seconds(findings.capture_seconds)}); "
        f"compiles: {findings.compiles} ({seconds(findings.compile_seconds)}){loads}; the program waited "
        f"{seconds(findings.own)} for autojit"
    )


def cells(finding: Finding, findings: Findings) -> tuple[str, ...]:
    """The row of a function; see `COLUMNS`."""
    speed, function = finding.speed, finding.function
    return (
        seconds(finding.seconds),
        f"{finding.seconds / findings.total:.0%}" if findings.total else "",
        f"{finding.planned / finding.seconds:.0%}" if finding.planned else "",
        finding.state,
        f"{speed.numpy_seconds / speed.seconds:.3g}x" if speed is not None else "",
        str(len(finding.spots) or ""),
        f"{function.name} ({place(function.file, function.line)})",
    )


def elsewhere(findings: Findings) -> Iterator[str]:
    """What the program's own code took that was not looked into: the statements of modules, functions without loops."""
    if findings.place is not None:
        where = f"{findings.place.function}, {place(findings.place.file, findings.place.line)}"
        yield f"{seconds(findings.elsewhere)} in code that was not looked into, most of it in {where}"


def place(file: str, line: int) -> str:
    """A line for people: its file as seen from where the command was given, or else its name and its folder's."""
    path = Path(file)
    return f"{path.relative_to(_FOLDER) if path.is_relative_to(_FOLDER) else Path(*path.parts[-2:])}:{line}"


def seconds(duration: float) -> str:
    """A duration of a program's parts for people."""
    return f"{duration:.2f} s"


def _table(findings: Findings, room: int) -> Iterator[str]:
    rows = [COLUMNS, *(cells(each, findings) for each in findings.functions[:room])]
    return columns(rows, left={COLUMNS.index("state"), COLUMNS.index("function")})


def _more(count: int) -> list[str]:
    return [f"... and {count} more"] if count > 0 else []


def _spot(spot: Spot) -> Iterator[str]:
    yield f"  {seconds(spot.seconds)}  {spot.function}, {place(spot.file, spot.line)}: {spot.text}"
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
