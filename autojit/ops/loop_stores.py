"""Which stores of a loop's body XLA makes in place, though they write a large part of a carried array.

A store into most of an array is lowered as a select of the new and the old elements, one fusion that reads and writes
the whole array (`writing.py`). XLA has no vector instructions for it where the first and the last element of a row are
left out, but divides it among cores. For arrays of one axis an update in place is up to three times as fast, where XLA
needs no copy for it: where what is stored is not computed from other elements of the array, which would be fused with
the update, and where all that reads the array's old elements has run by then. For two axes and two cores it takes 1.3
times as long (`jacobi_2d`, `fdtd_2d`), for three 0.9 times (`heat_3d`).
"""

from __future__ import annotations

from math import prod

from autojit.ir.graph import Graph, Node, Operand, Value, Write, values_of
from autojit.ir.index import Slice
from autojit.ops.indexing import GETITEM

#: The largest such arrays, in bytes: others are worth dividing among cores.
_LARGEST = 1 << 20


def made_in_place(body: Graph) -> dict[str, Node | None]:
    """The names of the arrays that such stores make, where they write more than half of them.

    Each with the node that reads what was stored in it, where that is an array which others use, too: they are to read
    it there, or XLA would compute it in the middle of what is stored next.
    """
    makers = {value.name: node for node in body.nodes for value in node.outputs}
    users: dict[str, list[Node]] = {}
    for node in body.nodes:
        for value in values_of(node.inputs):
            users.setdefault(value.name, []).append(node)
    found: dict[str, Node | None] = {}
    stored: set[str] = set()
    for node in body.nodes:
        if node.op.name != "setitem" or len(node.inputs) != 2:
            continue
        base, item = node.inputs
        is_small = base.spec.ndim == 1 and base.spec.nbytes <= _LARGEST
        if not isinstance(base, Value) or base in body.outputs or not is_small or not _is_large_part(node):
            continue
        same = {id(user) for user in users[base.name] if _is_same_place(user, node)}
        before = {id(maker) for maker in _makers(item, makers, None)}
        others = [user for user in users[base.name] if user is not node and id(user) not in same]
        reads = any(base in values_of(maker.inputs) for maker in _makers(item, makers, stored) if id(maker) not in same)
        if reads or not all(id(user) in before for user in others):
            continue
        reader = _reader(node)
        found[node.outputs[0].name] = reader
        if reader is not None:
            stored.add(reader.outputs[0].name)
    return found


def _reader(store: Node) -> Node | None:
    """The node that reads what a store has stored, if that is the same array as its item."""
    item, made = store.inputs[1], store.outputs[0]
    if not isinstance(item, Value) or (item.spec.dtype, item.spec.shape) != (made.spec.dtype, _part(store)):
        return None
    return Node(GETITEM, store.outputs, (("index", store.keywords["index"]),), (item,))


def _part(store: Node) -> tuple[int, ...]:
    """The shape of what a store writes."""
    return Write(store.outputs[0], store.inputs[1], store.keywords["index"]).shape


def _is_large_part(store: Node) -> bool:
    """Whether a store writes more than half of the elements, side by side; for others there is `loop_order.py`."""
    is_dense = all(isinstance(one, Slice) and one.step in (None, 1) for one in store.keywords["index"].entries)
    return is_dense and 2 * prod(_part(store)) > store.outputs[0].spec.size


def _is_same_place(user: Node, store: Node) -> bool:
    """Whether a node reads what a store overwrites, element by element."""
    if user.op.name != "getitem" or len(user.inputs) != 1:
        return False
    return user.keywords["index"] == store.keywords["index"]


def _makers(operand: Operand, makers: dict[str, Node], stored: set[str] | None) -> list[Node]:
    """The nodes that an operand is computed by.

    Args:
        operand: It.
        makers: By the name of a value, the node that makes it.
        stored: Where only those are wanted that XLA may fuse: the values that are read from arrays in memory.
    """
    found: dict[int, Node] = {}
    waiting = [operand] if isinstance(operand, Value) else []
    while waiting:
        name = waiting.pop().name
        node = makers.get(name)
        if node is None or id(node) in found:
            continue
        if stored is not None and (node.op.name in ("setitem", "loop") or name in stored):
            continue
        found[id(node)] = node
        waiting += values_of(node.inputs)
    return list(found.values())
