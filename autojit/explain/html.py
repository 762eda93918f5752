"""An explanation as HTML: the source with its clusters in colour, reasons at their lines. It loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from autojit.errors import Reason
from autojit.explain.origin import own_line
from autojit.explain.state import left_of
from autojit.explain.style import fragment, hues_of, page
from autojit.explain.text import UNDECORATED, WAITS, in_words, is_own, kept, marks_of, pace, shown, unmeasured
from autojit.runtime.history import milliseconds, span

if TYPE_CHECKING:  # for annotations alone: an explanation shows itself with this
    from autojit.explain.losses import Loss
    from autojit.explain.report import Explanation
    from autojit.explain.state import Left, PlanInfo
    from autojit.runtime.history import Event, Guard


def to_html(explanation: Explanation) -> str:
    """The report as a fragment that any page can hold."""
    return fragment(*to_parts(explanation))


def to_parts(explanation: Explanation) -> list[str]:
    """What stands in the fragment."""
    parts, losses = [*_summary(explanation)], {loss.reason: loss for loss in explanation.losses}
    if explanation.source is not None:
        parts += ['<table class="source">', *_source(explanation, losses), "</table>"]
    if elsewhere := [reason for reason in explanation.reasons if not is_own(reason, explanation)]:
        rows = (_why(reason, losses.get(reason)) for reason in elsewhere)
        parts += ["<h4>Elsewhere</h4>", '<table class="source">', *rows, "</table>"]
    if explanation.loops:
        parts += ["<h4>Loops</h4>", *(f"<div>{escape(str(loop))}</div>" for loop in explanation.loops)]
    if explanation.plans:
        used = (_plan(plan) for plan in explanation.plans if plan.reason is None)
        parts += ["<h4>Plans</h4>", '<table class="list">', *used, *map(_left, left_of(explanation.plans)), "</table>"]
    if explanation.history:
        first, left_out, last = shown(explanation.history)
        between = [row(f"... {left_out} more", "", "", "")] if left_out else []
        rows = (*map(_event, first), *between, *map(_event, last))
        parts += ["<h4>History</h4>", '<table class="list">', *rows, "</table>"]
    parts += [f"<div>{escape(line)}</div>" for line in kept(explanation)]
    if explanation.sections:
        parts += ["<details><summary>Graph</summary>", *explanation.graph.parts(), "</details>"]
    return parts


def to_page(explanation: Explanation) -> str:
    """The report as a page of its own."""
    return page(explanation.name, to_html(explanation))


def _summary(explanation: Explanation) -> Iterator[str]:
    if not explanation.is_explored:
        yield f"<div><b><code>{escape(explanation.name)}</code></b>: what calls have left</div>"
        return
    counts = (
        f"{len(explanation.clusters)} cluster(s), {len(explanation.host_nodes)} host node(s), "
        f"{len(explanation.native_statements)} native statement(s)"
    )
    whole = "one program" if explanation.is_whole and len(explanation.clusters) == 1 else counts
    yield f"<div><b><code>{escape(explanation.name)}</code></b>: {whole}</div>"
    if not explanation.is_decorated:
        yield f"<div>{escape(UNDECORATED)}</div>"
    elif explanation.waits:
        yield f"<div>{escape(WAITS)}</div>"
    if lines := unmeasured(explanation):
        yield f"<div>not measured, and told by a profile: how long Python takes for {in_words(lines)}</div>"
    for recalled in explanation.recalled:
        yield f"<div>{escape(f'{span(recalled.lines)}: {recalled}')}</div>"
    if explanation.unknown:
        lines = sorted({reason.source.line for reason in explanation.unknown if reason.source})
        yield f"<div>known after a first run: {in_words(lines)}</div>"


def _source(explanation: Explanation, losses: dict[Reason, Loss]) -> Iterator[str]:
    assert explanation.source is not None
    _file, first, text = explanation.source
    marks = marks_of(explanation)
    hues = hues_of(cluster.name for cluster in explanation.clusters)
    texts = {cluster.name: cluster.text for cluster in explanation.clusters}
    reasons: dict[int, list[Reason]] = {}
    for reason in explanation.reasons:
        place = own_line(reason.source, explanation.source)
        if place is not None:
            reasons.setdefault(place, []).append(reason)
    for number, line in enumerate(text, first):
        names = marks.get(number, [])
        cluster = next((name for name in names if name in hues), "")
        if number in reasons:
            kind = ' class="out"'
        elif cluster:
            kind = f' class="cluster" style="--hue: {hues[cluster]}" title="{escape(texts[cluster])}"'
        else:
            kind = ""
        cells = f'<td class="mark">{escape(", ".join(names))}</td><td class="number">{number}</td>'
        yield f"<tr{kind}>{cells}<td>{escape(line.rstrip())}</td></tr>"
        yield from (_why(reason, losses.get(reason)) for reason in reasons.get(number, []))


def _why(reason: Reason, loss: Loss | None) -> str:
    costs = f"<b>{escape(str(loss))}</b><br>" if loss is not None and str(loss) else ""
    id = f'<b title="{escape(reason.kind.page)}">{escape(reason.id)}</b>'
    why, hint = (reason.kind.why, reason.kind.hint) if reason.cause is None else (f"as line {reason.cause.line}", "")
    place = escape(str(reason.source or ""))
    where = f"<code>{place}</code>: " if reason.source is not None and reason.source.caller is not None else ""
    text = f"{where}{id} {escape(reason.detail)}<br>{costs}{escape(why)}<br>"
    return f'<tr class="why" title="{place}"><td></td><td></td><td>{text}<i>{escape(hint)}</i></td></tr>'


def _event(event: Event) -> str:
    return row(escape(event.what), escape(span(event.lines)), milliseconds(event.seconds), escape(event.detail))


def _plan(plan: PlanInfo) -> str:
    speed = ""
    if plan.seconds and plan.numpy_seconds:
        speed = f"{milliseconds(plan.seconds)}, NumPy {milliseconds(plan.numpy_seconds)}"
    if slows := pace(plan):
        speed += f"{'<br>' if speed else ''}{escape(slows)}"
    return row(span(plan.lines), plan.state, speed, _guards(plan.guards))


def _left(left: Left) -> str:
    kinds = f", {left.count} kinds of calls" if left.count > 1 else ""
    why = escape(f"{left.reason.id}: {left.reason.detail}")
    return row(span(left.lines), f"native{kinds}", why, "" if kinds else _guards(left.guards))


def _guards(guards: Iterable[Guard]) -> str:
    return f"<details><summary>if</summary>{'<br>'.join(escape(str(guard)) for guard in guards)}</details>"


def row(*cells: str) -> str:
    """A row of a table."""
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
