"""Hoisting: what a loop computes anew in every iteration, always the same, is computed once before it."""

from __future__ import annotations

from dataclasses import replace

from autojit.ir.graph import Const, Graph, Node, Operand, Value, values_of
from autojit.passes.dce import may_raise
from autojit.passes.lanes import Emitter
from autojit.passes.substitute import with_body

#: Values of more bytes than this are not kept beside a loop.
LARGEST = 4 << 20
#: Families whose results are worth keeping. Views, creations and indices cost nothing where they are used.
_WORTH = frozenset(["elementwise", "reduction", "contraction", "linalg"])


def hoist(graph: Graph) -> Graph:
    """Move operations that neither the index nor what is carried reaches out of loops, inner loops first.

    An operation that may raise moves only if the loop certainly runs.
    """
    if not any(node.op.name == "loop" for node in graph.nodes):
        return graph
    taken = {value.name for value in graph.inputs} | {v.name for node in graph.nodes for v in node.outputs}
    nodes: list[Node] = []
    changed = False
    for node in graph.nodes:
        if node.op.name != "loop":
            nodes.append(node)
            continue
        made, loop = _hoisted(node, taken)
        changed = changed or loop is not node
        taken.update(value.name for one in made for value in one.outputs)
        nodes += [*made, loop]
    return replace(graph, nodes=tuple(nodes)) if changed else graph


def _hoisted(node: Node, taken: set[str]) -> tuple[list[Node], Node]:
    """The operations that move in front of a loop, and the loop without them."""
    before: Graph = node.keywords["body"]
    carried = node.keywords["carried"]
    body = hoist(before)
    known: dict[str, Operand] = {
        value.name: operand
        for value, operand in zip(body.inputs[1 + carried :], node.inputs[2 + carried :], strict=True)
    }
    moving = _moving(body, set(known), _runs(node))
    if not moving:
        return [], node if body is before else _with(node, body, node.inputs)
    emitter = Emitter(taken)
    for one in body.nodes:
        if one.outputs[0].name in moving:
            inputs = [known[x.name] if isinstance(x, Value) else x for x in one.inputs]
            outputs = emitter.add(one.op, inputs, one.keywords, one.source, [value.spec for value in one.outputs])
            known |= {value.name: made for value, made in zip(one.outputs, outputs, strict=True)}
    kept = tuple(one for one in body.nodes if one.outputs[0].name not in moving)
    used = {value.name for one in kept for value in values_of(one.inputs)} | {v.name for v in values_of(body.outputs)}
    given = [
        value for one in body.nodes if one.outputs[0].name in moving for value in one.outputs if value.name in used
    ]
    inner = replace(body, inputs=(*body.inputs, *given), nodes=kept)
    return list(emitter.nodes), _with(node, inner, (*node.inputs, *(known[value.name] for value in given)))


def _with(node: Node, body: Graph, inputs: tuple[Operand, ...]) -> Node:
    return replace(with_body(node, body), inputs=inputs)


def _runs(node: Node) -> bool:
    """Whether a loop has at least one iteration in any case."""
    start, stop = node.inputs[:2]
    if not isinstance(start, Const) or not isinstance(stop, Const) or node.keywords.get("exits"):
        return False
    return len(range(int(start.value), int(stop.value), node.keywords["step"])) > 0


def _moving(body: Graph, constants: set[str], runs: bool) -> set[str]:
    """The nodes to move, by the name of their first output: those that are worth it, and what they need."""
    fixed = set(constants)
    candidates: dict[str, Node] = {}
    makers: dict[str, Node] = {}
    for node in body.nodes:
        if node.is_host or node.op.family == "loop" or not all(v.name in fixed for v in values_of(node.inputs)):
            continue
        if node.op.name == "np.empty" or (may_raise(node) and not runs):
            continue
        fixed.update(value.name for value in node.outputs)
        candidates[node.outputs[0].name] = node
        makers |= {value.name: node for value in node.outputs}
    worth = [
        node
        for node in candidates.values()
        if node.op.family in _WORTH
        and node.outputs[0].spec.kind != "python"
        and sum(value.spec.nbytes for value in node.outputs) <= LARGEST
    ]
    moving: set[str] = set()
    waiting = worth
    while waiting:
        node = waiting.pop()
        name = node.outputs[0].name
        if name in moving:
            continue
        moving.add(name)
        waiting += [makers[value.name] for value in values_of(node.inputs) if value.name in makers]
    return moving
