"""Dependence: what a loop's body hands from one trip to the next, and whether the trips can run side by side.

Nothing here recognizes programs: each carried value is classified by who reads and writes it, and by the index
expressions of the reads and writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from autojit.ir.graph import Graph, Node, Operand, Value, values_of
from autojit.passes.access import Access, Refused, access_of, meeting
from autojit.passes.affine import Affine, Trips

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
    """

    reduce: str
    links: tuple[Node, ...]
    terms: tuple[Operand, ...]


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


@dataclass(slots=True)
class _Storage:
    """The versions of one carried array in the body."""

    number: int
    writes: list[tuple[Node, Access]] = field(default_factory=list)
    reads: list[tuple[Node, Access, int]] = field(default_factory=list)
    wholes: int = 0


@dataclass(slots=True)
class Dependence:
    """The verdict for a loop whose trips can run side by side.

    Attributes:
        slots: What becomes of each carried value.
        initial: Reads that see what the array held before the loop, by the name of their result.
        stored: Reads that see what a write of the same trip stored, by name: the number of the write.
    """

    slots: tuple[Slot, ...]
    initial: dict[str, int] = field(default_factory=dict)
    stored: dict[str, tuple[int, int]] = field(default_factory=dict)


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
    def __init__(
        self, body: Graph, carried: int, trips: Trips, forms: Mapping[str, Affine], exact: bool
    ) -> None:
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

    def run(self) -> Dependence:
        self._follow()
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
                    storage.writes.append((node, access))
                    self.versions[node.outputs[0].name] = storage, version + 1
                elif place == 0 and node.op.name == "getitem":
                    storage.reads.append((node, self._access(operand, node, node.inputs[1:]), version))
                else:
                    storage.wholes += 1

    def _access(self, operand: Value, node: Node, operands: tuple[Operand, ...]) -> Access:
        return access_of(operand, node.keywords["index"], operands, self.forms, self.trips)

    def _slot(self, number: int) -> Slot:
        head, output, storage = self.heads[number], self.body.outputs[number], self.storages[number]
        if isinstance(output, Value) and output.name == head.name:
            return Unchanged()
        known = self.versions.get(output.name) if isinstance(output, Value) else None
        if known is not None and known[0] is not storage:
            raise Refused("carried values change places")
        if known is not None:
            if known[1] != len(storage.writes) or self.outputs[head.name if known[1] == 0 else output.name] > 1:
                raise Refused(f"an earlier state of the array `{head.name}` is kept")
            return self._stores(storage)
        if head.name not in self.users and head.name not in self.outputs:
            return Last()
        if storage.writes:
            raise Refused(f"`{head.name}` is written and bound anew")
        return self._reduction(head, output)

    # ---- arrays that are written in parts

    def _stores(self, storage: _Storage) -> Stores:
        trips, head = self.trips, self.heads[storage.number]
        if storage.wholes:
            raise Refused(f"all of the array `{head.name}` is used, of which other iterations write parts")
        writes = storage.writes
        element = self._element(storage)
        if element is not None:
            return Stores((writes[0][0],), (True,), element)
        for node, access, version in storage.reads:
            self._classify(storage, node, access, version)
        last = tuple(access.fixed for _, access in writes)
        for i, (_, one) in enumerate(writes):
            for k, (_, other) in enumerate(writes[i:], i):
                met = meeting(other, one, trips)
                if i == k and not last[i] and (met.earlier or met.later):
                    raise Refused(f"several iterations may write the same element of `{head.name}`")
                if i != k and not (last[i] and last[k]) and met.later:
                    raise Refused(f"an element of `{head.name}` is written by two statements of different iterations")
        return Stores(tuple(node for node, _ in writes), last)

    def _classify(self, storage: _Storage, node: Node, access: Access, version: int) -> None:
        """Find what a read sees: the array before the loop, or what its own trip has stored."""
        head, name = self.heads[storage.number], node.outputs[0].name
        meetings = [meeting(access, write, self.trips) for _, write in storage.writes]
        for number in reversed(range(version)):
            if access.equals(storage.writes[number][1]):
                self.result.stored[name] = storage.number, number
                return
            if meetings[number].same:
                raise Refused(f"a part of what was written to `{head.name}` in the same iteration is read")
        if any(met.earlier for met in meetings):
            raise Refused(f"an iteration reads from `{head.name}` what an earlier one wrote")
        self.result.initial[name] = storage.number

    def _element(self, storage: _Storage) -> Reduction | None:
        """A reduction in place: `x[k] = x[k] + term`, with the same `k` in all trips."""
        if len(storage.writes) != 1 or len(storage.reads) != 1:
            return None
        (write, where), (read, seen, version) = storage.writes[0], storage.reads[0]
        if version or not where.fixed or not seen.equals(where) or self.trips.count < 2:
            return None
        stored = write.inputs[1]
        if not isinstance(stored, Value) or stored.spec != read.outputs[0].spec:
            return None
        try:
            return self._chain(read.outputs[0], stored, [write])
        except Refused:
            return None

    # ---- values that accumulate

    def _reduction(self, head: Value, output: Operand) -> Reduction:
        if not isinstance(output, Value) or self.outputs[output.name] > 1 or head.name in self.outputs:
            raise Refused(f"each iteration needs `{head.name}` of the one before")
        return self._chain(head, output, [])

    def _chain(self, head: Value, output: Value, ends: list[Node]) -> Reduction:
        """The combining operations from `head` to `output`, each used by the next alone, the last by `ends`."""
        refused = Refused(f"each iteration needs `{head.name}` of the one before")
        links: list[Node] = []
        terms: list[Operand] = []
        value = head
        while value.name != output.name:
            users = self.users.get(value.name, [])
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
            raise Refused(f"each iteration needs `{head.name}` of the one before")
        (found,) = reductions
        assert found is not None
        if found.startswith("np.logical") and head.spec.dtype != np.bool_:
            raise Refused(f"each iteration needs `{head.name}` of the one before")
        if found == "np.prod" and kind not in "iu":
            raise Refused("a product in another order may overflow")
        if found in ("np.max", "np.min") and kind == "c":
            raise Refused("the largest complex number is not compiled")
        return found

