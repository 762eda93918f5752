"""The report of a program as a page: what to change first, a table of its functions, and the explanation of each,
folded, below. It loads nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TypeVar

from autojit.explain.html import row, to_parts
from autojit.explain.style import fragment, page
from autojit.launch.findings import Finding, Findings
from autojit.launch.places import place
from autojit.launch.report import (
    COLUMNS,
    FUNCTIONS,
    NO_SPOTS,
    NOTE,
    SPOTS,
    UNSEEN,
    cells,
    name_of,
    seconds,
    shares,
    state_of,
    totals,
    waiting,
)
from autojit.launch.spots import Spot

_T = TypeVar("_T")


def to_page(findings: Findings) -> str:
    """The whole report."""
    spots, functions = findings.spots, list(enumerate(findings.functions))
    parts = [*map(_line, [totals(findings), *shares(findings)]), "<h4>What to change first</h4>"]
    parts += _table(spots[:SPOTS]) if spots else [_line(NO_SPOTS)]
    parts += _folded(_table, spots[SPOTS:])
    parts += ["<h4>Functions</h4>", *_functions(functions[:FUNCTIONS], findings)]
    parts += [*_folded(lambda more: _functions(more, findings), functions[FUNCTIONS:]), _line(NOTE)]
    return page(findings.program, fragment(*parts, "<h4>Function by function</h4>", *_details(findings)))


def _line(text: str) -> str:
    return f"<div>{escape(text)}</div>"


def _folded(make: Callable[[list[_T]], list[str]], more: list[_T]) -> list[str]:
    """What does not belong to the first screen."""
    return [f"<details><summary>{len(more)} more</summary>", *make(more), "</details>"] if more else []


def _functions(numbered: list[tuple[int, Finding]], findings: Findings) -> list[str]:
    rows = [row(*(f"<b>{escape(column)}</b>" for column in COLUMNS))]
    for number, each in numbered:
        *times, name, state = map(escape, cells(each, findings))
        rows.append(row(*times, f'<a href="#function-{number}"><code>{name}</code></a>', state))
    return ['<table class="list">', *rows, "</table>"]


def _table(spots: list[Spot]) -> list[str]:
    return ['<table class="list">', *map(_spot, spots), "</table>"]


def _spot(spot: Spot) -> str:
    where = f"<code>{escape(spot.function)}</code> {escape(place(spot.file, spot.line, spot.last))}"
    more = f"<br>{escape(waiting(spot))}" if spot.others else ""
    why = (
        f"<b>{escape(spot.reason.id)}</b> {escape(spot.reason.detail)}{more}<br><i>{escape(spot.reason.kind.hint)}</i>"
    )
    return row(seconds(spot.seconds), where, f"<code>{escape(spot.text)}</code>", why)


def _details(findings: Findings) -> Iterator[str]:
    """Each function. A link leads into what is folded, which opens it."""
    for number, each in enumerate(findings.functions):
        yield f"<details><summary><code>{escape(name_of(each))}</code>: {escape(state_of(each))}</summary>"
        yield f'<div class="inside" id="function-{number}">'
        for explanation in each.explanations:
            yield from to_parts(explanation)
        if not each.explanations:
            yield _line(UNSEEN)
        yield "</div></details>"
