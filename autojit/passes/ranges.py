"""Ranges: indices that no data can bring out of bounds are marked, and nothing is checked where they are used.

A check reads its index array once more, and computes again what that is made of: in a loop over elements it costs as
much as the access itself.

The graph must be that of one program: the intervals rely on the traps of its operations, and where one is met, none of
the program's results is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autojit.ir.graph import Const, Graph, Node, Operand
from autojit.ir.index import Index, Place
from autojit.ir.places import has_open_places, is_open
from autojit.ops.index_plan import plan_index
from autojit.passes.intervals import Interval, of_constant, of_node, whole
from autojit.passes.substitute import with_body

#: The operations with an `Index`, and where its operands begin among theirs.
_FIRST = {"getitem": 1, "setitem": 2}


def ranges(graph: Graph) -> Graph:
    """Mark the indices of which it is certain that they lie on their axis, counted from the front."""
    return _marked(graph, {})[0] if has_open_places(graph) else graph


def _marked(graph: Graph, known: Mapping[str, Interval]) -> tuple[Graph, list[Interval]]:
    """The graph with marked indices, and the intervals of its outputs.

    Args:
        graph: The graph.
        known: The intervals of inputs.
    """
    found = dict(known)

    def of(operand: Operand) -> Interval:
        if isinstance(operand, Const):
            return of_constant(operand)
        return found[operand.name] if operand.name in found else whole(operand.spec.dtype)

    nodes: list[Node] = []
    for old in graph.nodes:
        node, given = old, [of(operand) for operand in old.inputs]
        if node.op.name == "loop":
            node, intervals = _in_loop(node, given)
        else:
            node = _checked(node, given) if node.op.name in _FIRST else node
            intervals = of_node(node, given)
        found |= {value.name: interval for value, interval in zip(node.outputs, intervals, strict=True)}
        nodes.append(node)
    same = all(new is old for new, old in zip(nodes, graph.nodes, strict=True))
    return graph if same else replace(graph, nodes=tuple(nodes)), [of(operand) for operand in graph.outputs]


def _checked(node: Node, given: Sequence[Interval]) -> Node:
    """A node with an index, whose places are marked that are certain to lie on their axes."""
    first, index = _FIRST[node.op.name], node.keywords["index"]
    if not any(map(is_open, index.entries)):
        return node
    lengths: dict[int, int] = {}
    for axis in plan_index(index, node.specs[0], node.specs[first:]).axes:
        if isinstance(axis.entry, Place):
            number = axis.entry.operand
            lengths[number] = min(axis.length, lengths.get(number, axis.length))

    def marked(entry: Any) -> Any:
        if not is_open(entry) or entry.operand not in lengths:  # a mask has no length
            return entry
        inside = Interval(0, lengths[entry.operand] - 1)
        return replace(entry, proven=True) if given[first + entry.operand].within(inside) else entry

    entries = tuple(map(marked, index.entries))
    if entries == index.entries:
        return node
    params = tuple((name, Index(entries) if name == "index" else value) for name, value in node.params)
    return replace(node, params=params)


def _in_loop(node: Node, given: Sequence[Interval]) -> tuple[Node, list[Interval]]:
    """A loop with its body marked, and the intervals of what it carries.

    What a body makes of carried values that lie in some intervals must lie there again. These are tried: those in which
    the values begin; those with what a first iteration makes of them; then, for values that leave theirs, and at last
    for all, intervals in which everything lies.
    """
    body: Graph = node.keywords["body"]
    step, count = node.keywords["step"], node.keywords["carried"]
    start, stop = given[:2]
    index = Interval(start.low, max(stop.high - 1, start.low)) if step > 0 else _down(start, stop)
    everything = [whole(value.spec.dtype) for value in body.inputs[1 : 1 + count]]
    names = [value.name for value in body.inputs]
    tried = list(given[2 : 2 + count])
    for attempt in range(4):
        made, results = _marked(body, dict(zip(names, [index, *tried, *given[2 + count :]], strict=True)))
        stays = [one.within(other) for one, other in zip(results, tried, strict=True)]
        if all(stays):
            return (node if made is body else with_body(node, made)), tried
        if attempt == 0:
            tried = [one.union(other) for one, other in zip(tried, results, strict=True)]
        else:
            pairs = zip(tried, stays, everything, strict=True)
            tried = [one if stay and attempt == 1 else all_of_it for one, stay, all_of_it in pairs]
    raise AssertionError("what lies anywhere has left its interval")


def _down(start: Interval, stop: Interval) -> Interval:
    return Interval(min(stop.low + 1, start.high), start.high)
