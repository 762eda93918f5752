"""What each break costs: a statement that stays Python, a host node in the middle of compiled code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autojit.errors import Reason
from autojit.explain.changes import nodes_of
from autojit.explain.function_graph import Section
from autojit.explain.origin import Source
from autojit.ir.graph import Graph, Node, values_of
from autojit.partition.cost import BYTES_PER_SECOND, PLAN_SECONDS, entry_cost, estimate
from autojit.runtime.compiler import Prepared
from autojit.runtime.history import Profiled, milliseconds


@dataclass(frozen=True, slots=True)
class Loss:
    """What one break costs.

    Attributes:
        reason: Why it is there.
        seconds: What its line takes in a call of the function, as profiles of this process have measured it, or else
            the policy `measured`; `None` where neither has.
        break_seconds: What the break adds to that in a call, by estimate: another plan to enter, arrays to write and
            to read again; for a host node, NumPy's way instead of XLA's.
        is_repeated: Whether it stands in a loop that Python runs: then `break_seconds` is for one iteration.
        is_rest: Whether `seconds` is the time of a call less that of what is captured of it.
    """

    reason: Reason
    seconds: float | None
    break_seconds: float
    is_repeated: bool = False
    is_rest: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The loss as plain data."""
        place = self.reason.source
        return {
            "id": self.reason.id,
            "file": place.file if place else None,
            "line": place.line if place else None,
            "seconds": self.seconds,
            "break_seconds": self.break_seconds,
            "is_repeated": self.is_repeated,
        }

    def __str__(self) -> str:
        parts = []
        if self.seconds is not None:
            how = "measured: a call in NumPy, less what is captured" if self.is_rest else "measured"
            parts.append(f"takes {milliseconds(self.seconds)} a call ({how})")
        if self.break_seconds:
            once = "an iteration" if self.is_repeated else "a call"
            parts.append(f"the break costs about {milliseconds(self.break_seconds)} {once} (estimated)")
        return ", ".join(parts)


def losses_of(
    sections: Sequence[Section], known: Profiled | None, source: Source | None, rest: Mapping[Reason, float]
) -> list[Loss]:
    """What the breaks of a call cost, in program order; lines that wait for another one are left out.

    Args:
        sections: The captured regions and the native statements, in program order.
        known: What profiles have measured of the function's lines.
        source: The function's file, first line and lines.
        rest: What the policy `measured` has found that native statements take.
    """
    loops = _loops(source)
    found: dict[Reason, float] = {}
    for number, section in enumerate(sections):
        if isinstance(section, Reason):
            before, after = _regions(sections[:number]), _regions(sections[number + 1 :])
            found[section] = _break_seconds(before, after)
            continue
        for node in section.graph.nodes:
            if node.cluster is None:
                reason = host_reason(node)
                found[reason] = found.get(reason, 0.0) + _host_seconds(section.graph, node)
    losses = []
    for reason, seconds in found.items():
        profiled = _measured(reason, known)
        took = rest.get(reason) if profiled is None else profiled
        losses.append(Loss(reason, took, seconds, _is_in(reason, loops), profiled is None and took is not None))
    return [loss for loss in losses if str(loss) or loss.reason.id != "unknown-value"]


def _loops(source: Source | None) -> set[tuple[str, int]]:
    """The lines of the loops' bodies, with their file."""
    if source is None:
        return set()
    file, first, lines = source
    bodies = [node.body for node in nodes_of(lines) if isinstance(node, ast.For | ast.While)]
    spans = [range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1) for body in bodies]
    return {(file, first - 1 + line) for span in spans for line in span}


def _is_in(reason: Reason, loops: set[tuple[str, int]]) -> bool:
    return reason.source is not None and (reason.source.file, reason.source.line) in loops


def host_reason(node: Node) -> Reason:
    """Why a node is in no cluster."""
    id, detail, where = "host-op", f"`{node.op.name}` runs on the host", node.source
    if node.reason is not None:
        id, detail, where = node.reason.id, node.reason.detail, node.reason.source or node.source
    if where is not None and where.caller is not None:
        detail += f" (in `{where.function}`, called at line {where.outermost.line})"
    return Reason(id, detail, where)


def _host_seconds(graph: Graph, node: Node) -> float:
    """What it costs, by estimate, that a node of a partitioned graph is not in the clusters that it stands between."""
    made_by = {value.name: each for each in graph.nodes for value in each.outputs}
    made = {value.name for value in node.outputs}
    neighbours = [made_by[value.name] for value in values_of(node.inputs) if value.name in made_by]
    neighbours += [each for each in graph.nodes if any(value.name in made for value in values_of(each.inputs))]
    joined = {each.cluster for each in neighbours if each.cluster is not None}
    as_one = tuple(
        replace(each, cluster="joined", reason=None) if each is node or each.cluster in joined else each
        for each in graph.nodes
    )
    return max(0.0, estimate(graph).plan_seconds - estimate(replace(graph, nodes=as_one)).plan_seconds)


def _regions(sections: Sequence[Section]) -> Iterator[Prepared]:
    return (section for section in sections if isinstance(section, Prepared))


def _break_seconds(before: Iterator[Prepared], after: Iterator[Prepared]) -> float:
    """A plan more to enter, and what an earlier region has made handed over to the next one: written and read."""
    following = next(after, None)
    made = {name for prepared in before for name in prepared.capture.region.live_out}
    if following is None or not made:
        return 0.0
    capture, graph = following.capture, following.graph
    texts = {line.name: line.text.removeprefix("L_") for line in capture.prologue.lines}
    names = [texts.get(name, "") for name in capture.input_names]
    moved = sum(value.spec.nbytes for value, name in zip(graph.inputs, names, strict=True) if name in made)
    return PLAN_SECONDS + 2 * moved / BYTES_PER_SECOND + min(entry_cost(graph), moved / BYTES_PER_SECOND)


def _measured(reason: Reason, known: Profiled | None) -> float | None:
    source = reason.source
    if known is None or source is None or source.file != known.file or not known.calls:
        return None
    seconds = known.seconds.get(source.line)
    return None if seconds is None else seconds / known.calls
