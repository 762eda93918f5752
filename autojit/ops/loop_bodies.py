"""Tidy the body of a loop before it is lowered: reads and writes of one array that follow each other.

XLA updates the array that a loop carries in place only if nothing reads an older version afterwards; else it copies the
whole array in every iteration. So a read of what was just written takes the written value, a read of another place
goes past the write, and a write that the next one covers is dropped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from autojit.ir.build import exact_key
from autojit.ir.graph import Const, Graph, Node, Operand, Value, values_of
from autojit.ir.index import Place, Slice, Window, ends_of
from autojit.ops.branching import AS_SCALAR
from autojit.ops.index_plan import Axis, Plan, plan_index

#: The rows for sums and differences of Python ints.
_SUMS = frozenset({"py_add", "py_subtract", "py_int_add", "py_int_subtract"})

#: A sum of named values with whole coefficients, and a constant.
Terms = tuple[tuple[tuple[str, int], ...], int]


def tidy(body: Graph) -> Graph:
    """The same body with fewer writes, and reads before writes where that is possible."""
    if not any(node.op.name == "setitem" for node in body.nodes):
        return body
    affine: dict[str, Terms] = {}
    found: dict[str, Operand] = {}
    stores: dict[str, _Access] = {}

    def current(operand: Operand) -> Operand:
        return operand if isinstance(operand, Const) else found.get(operand.name, operand)

    nodes: list[Node] = []
    after: dict[str, frozenset[str]] = {}
    for node in body.nodes:
        node = replace(node, inputs=tuple(map(current, node.inputs)))
        _note(node, affine)
        access = _access(node, affine) if node.op.name in ("getitem", "setitem") else None
        if access is not None and node.op.name == "getitem":
            result = _read(node, access, stores, after)
            if not isinstance(result, Node):
                found[node.outputs[0].name] = result
                continue
            node = result
        writes = frozenset().union(*(after.get(value.name, frozenset()) for value in values_of(node.inputs)))
        if access is not None and node.op.name == "setitem":
            stores[node.outputs[0].name] = access
            writes |= {node.outputs[0].name}
        after.update((value.name, writes) for value in node.outputs)
        nodes.append(node)
    outputs = tuple(current(operand) for operand in body.outputs)
    nodes = _reads_first(_without_covered(nodes, outputs, stores), after)
    return replace(body, nodes=tuple(nodes), outputs=outputs)


def _without_covered(old: list[Node], outputs: tuple[Operand, ...], stores: dict[str, _Access]) -> list[Node]:
    """The nodes without writes that only the next write to the same place uses."""
    users = Counter(value.name for node in old for value in values_of(node.inputs))
    users.update(value.name for value in values_of(outputs))
    nodes: dict[str, Node] = {}
    for node in old:
        name = node.outputs[0].name
        base = node.inputs[0].name if name in stores and isinstance(node.inputs[0], Value) else ""
        if base in stores and users[base] == 1 and stores[base].key == stores[name].key and _is_plain(nodes[base]):
            before = nodes.pop(base)
            node = replace(node, inputs=(before.inputs[0], *node.inputs[1:]))
        nodes[name] = node
    return list(nodes.values())


def _reads_first(nodes: list[Node], after: dict[str, frozenset[str]]) -> list[Node]:
    """The nodes in an order in which each write comes after the reads of what it overwrites.

    `after` tells the writes that each value depends on.
    """
    makers = {value.name: node for node in nodes for value in node.outputs}
    readers: dict[str, list[Node]] = {}
    for node in nodes:
        if node.op.name == "getitem" and isinstance(node.inputs[0], Value):
            readers.setdefault(node.inputs[0].name, []).append(node)
    done: dict[str, Node] = {}
    begun: set[str] = set()
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting[-1]
        name = node.outputs[0].name
        needed = [makers[value.name] for value in values_of(node.inputs) if value.name in makers]
        if node.op.name == "setitem" and isinstance(node.inputs[0], Value):
            old = readers.get(node.inputs[0].name, ())
            # Two writes to one version may each wait for a read that depends on the other.
            free = [reader for reader in old if reader.outputs[0].name not in begun]
            needed += [reader for reader in free if name not in after[reader.outputs[0].name]]
        missing = [] if name in done else [other for other in needed if other.outputs[0].name not in done]
        begun.add(name)
        if missing:
            waiting += missing
        else:
            done.setdefault(name, waiting.pop())
    return list(done.values())


@dataclass(frozen=True, slots=True)
class _Access:
    """A read or write of a box: equal keys mean the same box of the same shape."""

    node: Node
    plan: Plan
    operands: tuple[Operand, ...]
    key: Any
    spans: tuple[_Span | None, ...]


@dataclass(frozen=True, slots=True)
class _Span:
    """The stretch of an axis from `low` to `high`, both moved by `terms`.

    `wraps`: the place of one element that may be counted from the end.
    """

    terms: tuple[tuple[str, int], ...]
    low: int
    high: int
    wraps: bool = False


def _access(node: Node, affine: dict[str, Terms]) -> _Access | None:
    """What a node reads or writes, if that is a box."""
    operands = node.inputs[1 if node.op.name == "getitem" else 2 :]
    index = node.keywords["index"]
    places = [entry for entry in index.entries if isinstance(entry, Place)]
    if any(operands[e.operand].spec.shape or operands[e.operand].spec.dtype.kind not in "iu" for e in places):
        return None
    plan = plan_index(index, node.inputs[0].spec, tuple(operand.spec for operand in operands))
    key = exact_key(index), tuple(_name(operand) for operand in operands)
    return _Access(node, plan, operands, key, tuple(_span(axis, operands, affine) for axis in plan.axes))


def _name(operand: Operand) -> Any:
    return operand.name if isinstance(operand, Value) else exact_key(operand.value)


def _span(axis: Axis, operands: tuple[Operand, ...], affine: dict[str, Terms]) -> _Span | None:
    entry = axis.entry
    if isinstance(entry, Slice):
        indices = range(*slice(entry.start, entry.stop, entry.step).indices(axis.length))
        return _Span((), *ends_of(indices)) if indices else None
    if isinstance(entry, int):
        return _Span((), entry % axis.length, entry % axis.length)
    terms, constant = _terms(operands[entry.operand], affine)
    if isinstance(entry, Window):
        reach = (axis.count - 1) * axis.step
        return _Span(terms, constant + min(0, reach), constant + max(0, reach))
    return _Span(terms, constant, constant, not entry.proven)


def _apart(one: _Access, other: _Access) -> bool:
    """Whether two boxes of one array have no element in common, whatever the run-time operands are."""
    for axis, a, b in zip(one.plan.axes, one.spans, other.spans, strict=True):
        if a is None or b is None:
            return True
        if a.terms != b.terms:
            continue
        if a.wraps or b.wraps:
            # Counted from the end or not, the places differ by this.
            if axis.length and a.low == a.high and b.low == b.high and (a.low - b.low) % axis.length:
                return True
        elif a.high < b.low or b.high < a.low:
            return True
    return False


def _read(node: Node, access: _Access, stores: dict[str, _Access], after: dict[str, frozenset[str]]) -> Node | Operand:
    """The value that was written where `node` reads, or the node, reading the oldest version that will do."""
    base = node.inputs[0]
    needed = frozenset().union(*(after.get(value.name, frozenset()) for value in values_of(access.operands)))
    while isinstance(base, Value) and base.name in stores:
        store = stores[base.name]
        if store.key == access.key:
            stored, wanted = store.node.inputs[1], node.outputs[0].spec
            if stored.spec.shape == wanted.shape and stored.spec.dtype == wanted.dtype:
                if stored.spec.weak == wanted.weak:
                    return stored
                # Read back from an array, a Python number no longer adapts to its partner's dtype.
                return replace(node, op=AS_SCALAR, inputs=(stored,), params=())
        if base.name in needed or not _apart(store, access):
            break
        base = store.node.inputs[0]
    return replace(node, inputs=(base, *node.inputs[1:]))


def _is_plain(store: Node) -> bool:
    """Whether an assignment can only fail by its index."""
    return store.inputs[1].spec.dtype == store.inputs[0].spec.dtype


def _terms(operand: Operand, affine: dict[str, Terms]) -> Terms:
    if isinstance(operand, Const):
        return (), int(operand.value)
    return affine.get(operand.name, (((operand.name, 1),), 0))


def _note(node: Node, affine: dict[str, Terms]) -> None:
    """Remember the form of a sum or difference of Python ints."""
    if node.op.name not in _SUMS:
        return
    if any(operand.spec.kind != "python" or operand.spec.dtype.kind != "i" for operand in node.inputs):
        return
    sign = 1 if node.op.name.endswith("add") else -1
    (left, low), (right, high) = (_terms(operand, affine) for operand in node.inputs)
    terms = dict(left)
    for name, count in right:
        terms[name] = terms.get(name, 0) + sign * count
    affine[node.outputs[0].name] = tuple(sorted((n, c) for n, c in terms.items() if c)), low + sign * high
