"""The parts of a loop being interpreted: what it runs over, its names, how it may be left, what a dry run found."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autojit.capture.streams import Event
from autojit.capture.values import Arr, Items, Known, LoopInt, Opaque, Storage, Sym
from autojit.errors import CannotCapture
from autojit.ir.graph import Const, Graph, Operand


@dataclass(slots=True)
class Course:
    """What a loop runs over.

    Attributes:
        start: The first index, an abstract int.
        stop: Where the indices end.
        step: From one index to the next.
        bind: Binds the targets to what an index stands for.
        test: The condition of a `while`.
        is_last: Whether `bind` with the last index tells what the targets mean after the loop.
    """

    start: Any
    stop: Any
    step: int
    bind: Callable[[Any], None] | None = None
    test: ast.expr | None = None
    is_last: bool = False

    @property
    def static(self) -> range | None:
        if self.test is None and isinstance(self.start, Known) and isinstance(self.stop, Known):
            return range(self.start.value, self.stop.value, self.step)
        return None


@dataclass(slots=True)
class Names:
    """The names of a loop's body by what becomes of them.

    Attributes:
        bound: Those that an iteration may bind.
        exposed: Those that an iteration reads before it binds them.
        live: Those that may be read after the loop.
        carried: Those that are handed from one iteration to the next.
        dropped: Those that have no known value after the loop.
        either: NumPy scalars that are Python numbers at first: their dtypes. Whether they still are is carried too.
        unstable: Python numbers that an iteration makes NumPy scalars of these dtypes.
        is_pruned: Whether `prune` has dropped what need not be carried.
    """

    bound: list[str]
    exposed: frozenset[str]
    live: frozenset[str]
    carried: list[str] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    either: dict[str, np.dtype] = field(default_factory=dict)
    unstable: dict[str, np.dtype] = field(default_factory=dict)
    is_pruned: bool = False

    @property
    def dead(self) -> list[str]:
        """The names that nobody reads after the loop."""
        return [name for name in self.bound if name not in self.live]

    def prune(
        self, storages: list[Storage], heads: Mapping[str, Any], written: Container[int], env: Mapping[str, Any]
    ) -> bool:
        """Carry no more what an iteration leaves as it is; whether there was some.

        The loop has been met before, with other values or on a way that was taken back. What is carried is written: it
        may be read-only, or another thread's.

        Args:
            storages: Those that are carried.
            heads: What the carried names mean at the head of an iteration.
            written: The `id`s of the storages that it writes.
            env: What the names mean at its end.
        """
        if self.is_pruned:
            return False  # it might be found again, and so on
        idle = [name for name, head in heads.items() if env.get(name) is head]
        spared = [storage for storage in storages if id(storage) not in written]
        self.carried[:] = [name for name in self.carried if name not in idle]
        storages[:] = [storage for storage in storages if storage not in spared]
        self.is_pruned = bool(idle or spared)
        return self.is_pruned


@dataclass(slots=True)
class Leaving:
    """How an iteration may leave the loop: conditions as bools of the body, `None` for never.

    Attributes:
        stop: That it does.
        broke: That it breaks; asked for where there is an `else`.
        returned: That it returns.
        value: What it returns.
        env: What the names mean where it does not.
    """

    stop: Operand | None = None
    broke: Operand | None = None
    returned: Operand | None = None
    value: Any = None
    env: dict[str, Any] | None = None


@dataclass(slots=True)
class Body:
    """The result of a dry run: the body's graph and what it leaves behind.

    Attributes:
        graph: Inputs: the index, the carried values, the captured ones. Outputs: the carried values.
        captured: The values of the graph around it that the body reads.
        names: The carried names.
        either: Those of them for which is carried whether they are Python numbers.
        storages: The written storages.
        last: Names that are bound in each iteration before they are read.
        ends: What the carried and last names mean at the end of an iteration.
        after: What other names mean after the loop.
        opaque: Names that are carried, or not, and that nobody may use after the loop.
        leaving: How it may be left.
        leaves: By identity, the parts of a returned value that the loop computes: some of `ends`, or of `behind`.
        behind: Those that no name means at the end of an iteration.
        moved: For names that trade their arrays: each name to the name whose array it gets.
        kept: Names that mean an array of the program's that must not be mistaken for a copy.
        draws: The random numbers that its iterations draw.
    """

    graph: Graph
    captured: list[Operand]
    names: list[str]
    either: dict[str, np.dtype]
    storages: list[Storage]
    last: list[str]
    ends: dict[str, Any]
    after: dict[str, Any]
    opaque: dict[str, Opaque]
    leaving: Leaving
    leaves: dict[int, Arr]
    behind: list[Arr]
    moved: dict[str, str]
    kept: list[str]
    draws: tuple[Event, ...] = ()


def is_unsure(value: Any) -> bool:
    """Whether a NumPy scalar may be a Python number."""
    return isinstance(value, Arr) and value.python is not None


def parts_of(value: Any) -> list[Any]:
    """The parts of a returned value, tuples taken apart."""
    if isinstance(value, Items) and value.kind is tuple:
        return [part for item in value.values for part in parts_of(item)]
    return [value]


def is_made_inside(part: Any, initial: dict[str, Any]) -> bool:
    """Whether a returned part is made by the iteration that returns it."""
    return part is not None and not isinstance(part, Known) and not any(part is value for value in initial.values())


def mentions(value: Any, storages: set[int]) -> bool:
    """Whether a returned value has one of these storages (by id) in it."""
    return any(isinstance(part, Arr) and id(part.storage) in storages for part in parts_of(value))


def can_be_head(value: Any, end: Any) -> bool:
    """Whether a name that means `value` before a loop and `end` after an iteration can be carried."""
    if isinstance(value, Arr) and isinstance(end, Arr):
        return value.spec == end.spec
    return isinstance(value, Known | Sym | LoopInt | Arr) and not (
        isinstance(value, Known) and not isinstance(value.value, bool | int | float | complex | np.generic)
    )


def seconds_of(body: Graph) -> float:
    """A rough guess of the time that one iteration takes: memory at some GB/s, products at some GFLOP/s."""
    seconds = 100e-9
    for node in body.nodes:
        if node.op.family == "loop":
            first, last = node.inputs[:2]
            trips = 1
            if isinstance(first, Const) and isinstance(last, Const):
                trips = len(range(first.value, last.value, node.keywords["step"]))
            seconds += trips * seconds_of(node.keywords["body"])
            continue
        seconds += sum(value.spec.nbytes for value in node.outputs) / 4e9
        if node.op.family == "contraction":
            seconds += sum(operand.spec.nbytes for operand in node.inputs) / 4e9
    return seconds


def check_compiles(body: Graph) -> None:
    """Refuse what runs on the host: NumPy would run the whole loop then, operation by operation, each on new arrays.

    Raises:
        CannotCapture: An operation has no lowering.
    """
    for node in body.nodes:
        if node.is_host:
            raise CannotCapture("long-loop", f"`{node.op.name}` has no lowering")


def refuse_unclear(
    heads: Mapping[str, Arr], ends: Mapping[str, Any], written: Container[int], holders: Iterable[Storage]
) -> None:
    """What an iteration writes may not be what another name means then or in the next one, as the data decides.

    Args:
        heads: What the carried names mean at the head of an iteration.
        ends: What they mean at its end.
        written: The `id`s of the storages that it writes.
        holders: The storages that something means at its end.

    Raises:
        CannotCapture: It may be.
    """
    # What else is bound at the end of an iteration is bound anew in the next one.
    own = {id(value.storage) for value in (*ends.values(), *heads.values()) if isinstance(value, Arr)}
    others = [storage for storage in holders if id(storage) not in own]
    carries = any(id(head.storage) in written for head in heads.values())
    for name, head in heads.items():
        end = ends[name].storage
        is_named = id(head.storage) in written and any(n != name and ends[n].storage.may_be(end) for n in heads)
        if is_named or any((carries or id(other) in written) and other.may_be(end) for other in others):
            raise CannotCapture("long-loop", f"the data decides whether another name means the array of `{name}`")
