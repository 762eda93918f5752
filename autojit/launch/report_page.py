"""The report of a program as a page: a table of its functions, and each one's explanation, folded, below. It loads
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from autojit.explain.html import row, to_parts
from autojit.explain.style import fragment, page
from autojit.launch.findings import Findings, Spot
from autojit.launch.report import COLUMNS, NOTE, SPOTS, UNSEEN, cells, elsewhere, place, seconds, totals, waiting


def to_page(findings: Findings) -> str:
    """The whole report."""
    parts = [_line(totals(findings)), "<h4>Functions</h4>", '<table class="list">', *_functions(findings), "</table>"]
    parts += [*map(_line, elsewhere(findings)), _line(NOTE)]
    if spots := findings.spots:
        parts += ["<h4>What to change first</h4>", *_table(spots[:SPOTS])]
        if more := spots[SPOTS:]:
            parts += [f"<details><summary>{len(more)} more</summary>", *_table(more), "</details>"]
    return page(findings.program, fragment(*parts, "<h4>Function by function</h4>", *_details(findings)))


def _line(text: str) -> str:
    return f"<div>{escape(text)}</div>"


def _functions(findings: Findings) -> Iterator[str]:
    yield row(*(f"<b>{escape(column)}</b>" for column in COLUMNS))
    for number, each in enumerate(findings.functions):
        *told, name = map(escape, cells(each, findings))
        yield row(*told, f'<a href="#function-{number}"><code>{name}</code></a>')


def _table(spots: list[Spot]) -> list[str]:
    return ['<table class="list">', *map(_spot, spots), "</table>"]


def _spot(spot: Spot) -> str:
    where = f"<code>{escape(spot.function)}</code> {escape(place(spot.file, spot.line))}"
    more = f"<br>{escape(waiting(spot))}" if spot.others else ""
    why = (
        f"<b>{escape(spot.reason.id)}</b> {escape(spot.reason.detail)}{more}<br><i>{escape(spot.reason.kind.hint)}</i>"
    )
    return row(seconds(spot.seconds), where, f"<code>{escape(spot.text)}</code>", why)


def _details(findings: Findings) -> Iterator[str]:
    """Each function. A link leads into what is folded, which opens it."""
    for number, each in enumerate(findings.functions):
        name = f"{each.function.name} ({place(each.function.file, each.function.line)})"
        yield f"<details><summary><code>{escape(name)}</code>: {each.state}</summary>"
        yield f'<div class="inside" id="function-{number}">'
        for explanation in each.explanations:
            yield from to_parts(explanation)
        if not each.explanations:
            yield _line(UNSEEN)
        yield "</div></details>"
