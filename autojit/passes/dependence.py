"""Dependence: what a loop's body hands from one trip to the next, and whether the trips can run side by side.

Nothing here recognizes programs: each carried value is classified by who reads and writes it, and by the index
expressions of the reads and writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from autojit.ir.graph import Graph, Node, Operand, Value, values_of
from autojit.passes.access import Access, Refused, access_of, axes_of, can_narrow, meeting, narrowed, told, whole_of
from autojit.passes.affine import Affine, Trips
from autojit.passes.ragged import Masks, Span, needs

#: The operations that may be regrouped, and what reduces a batch by them.
_SUMS = frozenset(["np.add", "np.subtract", "py_add", "py_subtract"])
_COMBINING = {
    "np.maximum": "np.max",
    "np.minimum": "np.min",
    "np.multiply": "np.prod",
    "np.logical_or": "np.logical_or.reduce",
    "np.logical_and": "np.logical_and.reduce",
    "np.bitwise_or": "np.logical_or.reduce",
    "np.bitwise_and": "np.logical_and.reduce",
}


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A carried value that no trip changes."""


@dataclass(frozen=True, slots=True)
class Last:
    """A carried value that no trip reads: the last one stays."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A carried value that each trip combines with something new.

    Attributes:
        reduce: The name of the reduction: "np.sum", "np.max", ...
        links: The combining nodes, in their order.
        terms: The other operand of each.
        mask: Where the elements of an array take part; everywhere when `None`.
        select: The node that selects by the mask.
    """

    reduce: str
    links: tuple[Node, ...]
    terms: tuple[Operand, ...]
    mask: Operand | None = None
    select: Node | None = None


@dataclass(frozen=True, slots=True)
class Stores:
    """An array of which each trip writes a part.

    Attributes:
        writes: The writing nodes, in their order.
        last: For each, whether all trips write the same elements, so that the last one stays.
        element: A reduction that goes on in the same elements of the array: read, combine, write.
    """

    writes: tuple[Node, ...]
    last: tuple[bool, ...]
    element: Reduction | None = None


Slot = Unchanged | Last | Reduction | Stores


@dataclass(slots=True, eq=False)
class _Write:
    """One write to a carried array.

    Attributes:
        node: The node.
        access: The elements that the index names.
        real: Those that may change: a selection may write others back as they were.
        select: The node that selects them.
        is_exact: Whether `real` are just those that are selected; else they are among these.
        moves: Whether others may be selected in each trip.
    """

    node: Node
    access: Access
    real: Access
    select: Node | None = None
    is_exact: bool = True
    moves: bool = False


@dataclass(slots=True, eq=False)
class _Storage:
    """The versions of one carried array in the body.

    Attributes:
        number: Its place among what is carried.
        writes: The writes to it.
        reads: The reads by index: node, access, and how many writes came before.
        whole: The elements that are needed where the array before all writes is used as a whole.
        later: The number of uses of the whole array after a write.
    """

    number: int
    writes: list[_Write] = field(default_factory=list)
    reads: list[tuple[Node, Access, int]] = field(default_factory=list)
    whole: Access | None = None
    later: int = 0


@dataclass(slots=True)
class Dependence:
    """The verdict for a loop whose trips can run side by side.

    Attributes:
        slots: What becomes of each carried value.
        initial: Reads that see what the array held before the loop, by the name of their result.
        stored: Reads that see what a write of the same trip stored, by name: the number of the write.
        kept: Selections that a write puts into an array, by name: the number of the array. Where their mask is false
            they put back what is there.
        unread: Reads that are used for nothing else, by name: the number of the array.
    """

    slots: tuple[Slot, ...]
    initial: dict[str, int] = field(default_factory=dict)
    stored: dict[str, tuple[int, int]] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    unread: dict[str, int] = field(default_factory=dict)


def dependence(body: Graph, carried: int, trips: Trips, forms: Mapping[str, Affine], exact: bool = False) -> Dependence:
    """How the trips of a loop depend on each other.

    Args:
        body: The body: inputs are the index, the carried values and the loop's constants; outputs the carried values.
        carried: The number of carried values.
        trips: The range of the index; at least one trip.
        forms: The affine forms of the body's integers.
        exact: Whether floating point sums keep their order.

    Raises:
        Refused: One trip needs what another computes; the text says what.
    """
    return _Analysis(body, carried, trips, forms, exact).run()


class _Analysis:
    def __init__(self, body: Graph, carried: int, trips: Trips, forms: Mapping[str, Affine], exact: bool) -> None:
        self.body, self.trips, self.forms, self.exact = body, trips, forms, exact
        self.heads = body.inputs[1 : 1 + carried]
        self.users = body.users()
        self.outputs: dict[str, int] = {}
        for value in values_of(body.outputs):
            self.outputs[value.name] = self.outputs.get(value.name, 0) + 1
        self.storages = [_Storage(number) for number in range(carried)]
        #: Value name -> its storage and the number of writes that made it.
        self.versions = {head.name: (storage, 0) for head, storage in zip(self.heads, self.storages, strict=True)}
        self.result = Dependence(())
        self.makers = {value.name: node for node in body.nodes for value in node.outputs}
        self.masks = Masks(body, forms)
        #: Selections that are written: name -> what they put back.
        self.kept: dict[str, str] = {}

    def run(self) -> Dependence:
        self._follow()
        self._narrow()
        slots = tuple(self._slot(number) for number in range(len(self.heads)))
        self.result.slots = slots
        return self.result

    def _follow(self) -> None:
        """Find the reads and writes of the carried arrays."""
        for node in self.body.nodes:
            for place, operand in enumerate(node.inputs):
                if not isinstance(operand, Value) or operand.name not in self.versions:
                    continue
                storage, version = self.versions[operand.name]
                if place == 0 and node.op.name == "setitem" and version == len(storage.writes):
                    access = self._access(operand, node, node.inputs[2:])
                    storage.writes.append(self._write(node, storage, access))
                    self.versions[node.outputs[0].name] = storage, version + 1
                elif place == 0 and node.op.name == "getitem":
                    storage.reads.append((node, self._access(operand, node, node.inputs[1:]), version))
                elif version:
                    storage.later += 1
                else:
                    storage.whole = whole_of(operand.spec)

    def _access(self, operand: Value, node: Node, operands: tuple[Operand, ...]) -> Access:
        return access_of(operand, node.keywords["index"], operands, self.forms, self.trips)

    def _write(self, node: Node, storage: _Storage, access: Access) -> _Write:
        """A write; `x[k] = np.where(mask, new, x[k])` changes only what the mask selects."""
        write = _Write(node, access, access)
        select = self._maker(node.inputs[1])
        if select is None or select.op.name != "np.where" or select.outputs[0].name in self.outputs:
            return write
        span, old = self.masks.of(select.inputs[0]), self._maker(select.inputs[2])
        if span is None or old is None or self.users[select.outputs[0].name] != [node]:
            return write
        if select.outputs[0].spec != old.outputs[0].spec:
            return write
        for read, seen, version in storage.reads:
            if read is old and version == len(storage.writes) and seen.equals(access):
                found = self._on_axes(node, access, select.outputs[0].spec.ndim, {span[0]: span[1]})
                write.real, write.moves = narrowed(access, found, self.trips), span[1].moves
                write.is_exact = bool(found) and all(can_narrow(access.reaches[at], one) for at, one in found.items())
                write.select = select
                self.kept[select.outputs[0].name] = old.outputs[0].name
                self.result.kept[select.outputs[0].name] = storage.number
        return write

    def _maker(self, operand: Operand) -> Node | None:
        return self.makers.get(operand.name) if isinstance(operand, Value) else None

    def _part(self, node: Node, access: Access, ndim: int, spans: Mapping[int, Span]) -> Access:
        """The part of an access that spans of some axes of the value (of `ndim` axes) leave, or more."""
        return narrowed(access, self._on_axes(node, access, ndim, spans), self.trips)

    def _on_axes(self, node: Node, access: Access, ndim: int, spans: Mapping[int, Span]) -> dict[int, Span]:
        """Spans by the array's axes, as far as these are known."""
        axes = axes_of(node.keywords["index"], len(access.reaches))
        if axes is None or any(reach.varies for reach in access.reaches):
            return {}
        found = {}
        for place, span in spans.items():
            place += len(axes) - ndim if place >= 0 else len(axes)
            axis = axes[place] if 0 <= place < len(axes) else None
            if axis is not None:
                found[axis] = span
        return found

    def _narrow(self) -> None:
        """Leave out what is read for nothing: elements that only a mask that is false there lets through."""
        if not self.kept and not self.masks.spans:
            return
        needed = needs(self.body, self.masks, self.kept.items(), self.versions)
        for storage in self.storages:
            reads, storage.reads = storage.reads, []
            for node, access, version in reads:
                wanted = needed.get(node.outputs[0].name, {})
                if wanted is None:
                    self.result.unread[node.outputs[0].name] = storage.number
                    continue
                if wanted:
                    access = self._part(node, access, node.outputs[0].spec.ndim, wanted)
                storage.reads.append((node, access, version))
            if storage.whole is not None:
                storage.whole = narrowed(storage.whole, needed.get(self.heads[storage.number].name) or {}, self.trips)

    def _slot(self, number: int) -> Slot:
        head, output, storage = self.heads[number], self.body.outputs[number], self.storages[number]
        if isinstance(output, Value) and output.name == head.name:
            return Unchanged()
        if isinstance(output, Value) and output.name in self.versions:
            owner, version = self.versions[output.name]
            if owner is not storage:
                raise Refused("carried values change places")
            if version != len(storage.writes) or self.outputs[output.name] > 1:
                raise Refused(f"an earlier state of the array {told(head)} is kept")
            return self._stores(storage)
        if head.name not in self.users and head.name not in self.outputs:
            return Last()
        if storage.writes:
            raise Refused(f"{told(head)} is written and bound anew")
        return self._reduction(head, output)

    # ---- arrays that are written in parts

    def _stores(self, storage: _Storage) -> Stores:
        trips, head = self.trips, self.heads[storage.number]
        writes = storage.writes
        if storage.later:
            raise Refused(f"all of the array {told(head)} is used, of which other iterations write parts")
        if storage.whole is not None:
            for write in writes:
                if meeting(storage.whole, write.real, trips).earlier:
                    raise Refused(f"all of the array {told(head)} is used, of which other iterations write parts")
        element = self._element(storage)
        if element is not None:
            return Stores((writes[0].node,), (True,), element)
        for node, access, version in storage.reads:
            self._classify(storage, node, access, version)
        last = tuple(write.access.fixed for write in writes)
        for i, one in enumerate(writes):
            if last[i] and one.moves:
                raise Refused(f"parts of {told(head)} that move are written through a mask")
            own = meeting(one.access, one.access, trips)
            if not last[i] and (own.earlier or own.later):
                raise Refused(f"several iterations may write the same element of {told(head)}")
            for k, other in enumerate(writes[i + 1 :], i + 1):
                if not (last[i] and last[k]) and meeting(other.real, one.real, trips).later:
                    raise Refused(f"an element of {told(head)} is written by two statements of different iterations")
        return Stores(tuple(write.node for write in writes), last)

    def _classify(self, storage: _Storage, node: Node, access: Access, version: int) -> None:
        """Find what a read sees: the array before the loop, or what its own trip has stored."""
        head, name = self.heads[storage.number], node.outputs[0].name
        meetings = [meeting(access, write.real, self.trips) for write in storage.writes]
        for number in reversed(range(version)):
            write = storage.writes[number]
            is_whole = write.select is None or (write.is_exact and access.reaches == write.real.reaches)
            if is_whole and access.equals(write.access):
                self.result.stored[name] = storage.number, number
                return
            if meetings[number].same:
                raise Refused(f"a part of what was written to {told(head)} in the same iteration is read")
        if any(met.earlier for met in meetings):
            raise Refused(f"an iteration reads from {told(head)} what an earlier one wrote")
        self.result.initial[name] = storage.number

    def _element(self, storage: _Storage) -> Reduction | None:
        """A reduction in place: `x[k] = x[k] + term`, with the same `k` in all trips."""
        if len(storage.writes) != 1 or storage.whole is not None or self.trips.count < 2:
            return None
        write, select = storage.writes[0], storage.writes[0].select
        if not write.access.fixed:
            return None
        reads = [node for node in self.body.nodes if self._reads(node, storage, write.access)]
        if len(reads) != 1:
            return None
        (read,) = reads
        stored = write.node.inputs[1] if select is None else select.inputs[1]
        if not isinstance(stored, Value) or stored.spec != read.outputs[0].spec:
            return None
        try:
            chain = self._chain(read.outputs[0], stored, [write.node if select is None else select], select)
        except Refused:
            return None
        others = [one for one in storage.reads if one[0] is not read]
        if any(version and access.equals(write.access) for _, access, version in others):
            return None  # what has been added up so far is used in each iteration
        for node, access, version in others:
            self._classify(storage, node, access, version)
        return chain if select is None else replace(chain, mask=select.inputs[0], select=select)

    def _reads(self, node: Node, storage: _Storage, access: Access) -> bool:
        """Whether a node reads these elements of the array before all writes."""
        base = node.inputs[0] if node.op.name == "getitem" else None
        if not isinstance(base, Value) or self.versions.get(base.name) != (storage, 0):
            return False
        return self._access(base, node, node.inputs[1:]).equals(access)

    # ---- values that accumulate

    def _reduction(self, head: Value, output: Operand) -> Reduction:
        if not isinstance(output, Value) or self.outputs[output.name] > 1 or head.name in self.outputs:
            raise Refused(f"each iteration needs {told(head)} of the one before")
        return self._chain(head, output, [])

    def _chain(self, head: Value, output: Value, ends: list[Node], select: Node | None = None) -> Reduction:
        """The combining operations from `head` to `output`, each used by the next alone, the last by `ends`.

        `select` may use the head, too.
        """
        refused = Refused(f"each iteration needs {told(head)} of the one before")
        links: list[Node] = []
        terms: list[Operand] = []
        value = head
        while value.name != output.name:
            users = [node for node in self.users.get(value.name, []) if node is not select]
            if len(users) != 1 or value.name in self.outputs or len(links) > 64:
                raise refused
            (node,) = users
            places = [i for i, x in enumerate(node.inputs) if isinstance(x, Value) and x.name == value.name]
            if len(node.inputs) != 2 or len(places) != 1 or len(node.outputs) != 1 or node.params:
                raise refused
            if places[0] == 1 and node.op.name in ("np.subtract", "py_subtract"):
                raise refused
            if node.outputs[0].spec != head.spec:
                raise refused
            links.append(node)
            terms.append(node.inputs[1 - places[0]])
            value = node.outputs[0]
        if not links or self.users.get(output.name, []) != ends or (ends and output.name in self.outputs):
            raise refused
        return Reduction(self._reduce(links, head), tuple(links), tuple(terms))

    def _reduce(self, links: list[Node], head: Value) -> str:
        names = {node.op.name for node in links}
        kind = head.spec.dtype.kind
        if names <= _SUMS and kind in "iufc":
            if kind in "fc" and self.exact:
                raise Refused("a sum of floating point numbers keeps its order")
            if kind in "iu" and head.spec.kind == "python":
                raise Refused("a sum of Python integers may grow without bound")
            return "np.sum"
        reductions = {_COMBINING.get(name) for name in names}
        if len(reductions) != 1 or None in reductions:
            raise Refused(f"each iteration needs {told(head)} of the one before")
        (found,) = reductions
        assert found is not None
        if found.startswith("np.logical") and head.spec.dtype != np.bool_:
            raise Refused(f"each iteration needs {told(head)} of the one before")
        if found == "np.prod" and kind not in "iu":
            raise Refused("a product in another order may overflow")
        if found in ("np.max", "np.min") and kind == "c":
            raise Refused("the largest complex number is not compiled")
        return found
