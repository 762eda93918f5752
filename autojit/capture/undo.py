"""Going back: dry runs and branches interpret statements, then take back what they recorded or what they changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from autojit.capture.build import CaptureBuilder
from autojit.capture.statements import Statements
from autojit.capture.values import Closure, Items, Known, Storage, Sym
from autojit.errors import Reason
from autojit.ir.graph import Operand, Value


@dataclass(frozen=True, slots=True)
class State:
    """What a capture can go back to."""

    builder: CaptureBuilder
    mark: Any
    root_mark: Any
    predicate: Operand | None
    journal: int
    exits: int
    left: int
    draws: int
    turns: int
    env: dict[str, Any]
    lines: int
    bound: dict[str, str]
    checked: set[str]
    next: int
    memo: dict[str, Any]
    syms: dict[str, Sym]
    scalars: dict[str, Value]
    demanded: set[str]
    inputs: int
    arrays: int
    reads: int
    range_bounds: int
    work: int
    storages: list[tuple[Storage, Operand, bool]]
    evaluated: int
    containers: list[tuple[Items, Any]]
    assigned: dict[tuple[int, str], Any]
    owners_met: dict[tuple[str, str], Known]
    places: dict[tuple[int, str], Any]
    named: list[tuple[dict[str, Any], str, Any]]


class Undo(Statements):
    """Saves and restores the state of a capture."""

    exits: list[Any]
    left: list[Reason]  # what is left to NumPy where the data leads there

    def meant(self) -> list[Any]:
        """What the names of all functions mean that can still be read, and the attributes that were assigned."""
        found, waiting, seen = self.assigned_values(), [self.frame], set[int]()
        while waiting:
            frame = waiting.pop()
            if frame is None or id(frame) in seen:
                continue
            seen.add(id(frame))
            found += frame.env.values()
            waiting += [frame.caller, frame.parent]
            waiting += [value.frame for value in frame.env.values() if isinstance(value, Closure)]
        return found

    def assigned_values(self) -> list[Any]:
        """What assigned attributes mean; those that are names for now are among the names."""
        return [one.value for key, one in self.assigned.items() if key not in self.attribute_places]

    def effects(self) -> list[Any]:
        """What has been done so far to arrays, containers and attributes; for `same_effects`."""
        named = [one.frame.env.get(one.name) for one in self.attribute_places.values()]
        scouted = [one.value for scout in self.scouts for one in scout.assigned.values()]
        held = [part for container, _ in containers_of(self.meant()) for part in (container, *container.values)]
        return [*self.journal, *(one.value for one in self.assigned.values()), *named, *scouted, *held]

    def save(self) -> State:
        """The present state."""
        prologue = self.prologue
        return State(
            self.builder, self.builder.mark(), self.root.mark(), self.builder.predicate, len(self.journal),
            len(self.exits), len(self.left), len(self.draws), len(self.turns), dict(self.frame.env),
            len(prologue.lines), dict(prologue._bound),
            set(prologue._checked), prologue._next, dict(self._memo), dict(self.syms), dict(self._scalars),
            set(self._demanded), len(self.input_names), len(self.arrays), len(self.reads), len(self.range_bounds),
            self._extra_work, [(s, s.value, s.written) for s in self.arrays], self._evaluated,
            containers_of(self.meant()), dict(self.assigned), dict(self.owners_met),
            dict(self.attribute_places),
            [(one.frame.env, one.name, one.frame.env[one.name]) for one in self.attribute_places.values()],
        )  # fmt: skip

    def restore(self, state: State) -> None:
        """Undo everything since `save`."""
        self.restore_values(state)
        self.builder = state.builder
        self.builder.rollback(state.mark)
        self.builder.predicate = state.predicate
        if self.builder is not self.root:
            self.root.rollback(state.root_mark)
        prologue = self.prologue
        del prologue.lines[state.lines :]
        prologue._bound, prologue._checked, prologue._next = dict(state.bound), set(state.checked), state.next
        self._memo, self.syms, self._scalars = dict(state.memo), dict(state.syms), dict(state.scalars)
        self._demanded = set(state.demanded)
        del self.input_names[state.inputs :], self.arrays[state.arrays :], self.exits[state.exits :]
        del self.left[state.left :], self.draws[state.draws :], self.turns[state.turns :]
        del self.reads[state.reads :], self.range_bounds[state.range_bounds :]
        self._extra_work, self._evaluated = state.work, state.evaluated
        self.owners_met = dict(state.owners_met)

    def restore_values(self, state: State) -> None:
        """Give names, storages and containers what they had."""
        while len(self.journal) > state.journal:
            storage, value = self.journal.pop()
            storage.value = value
        for storage, value, written in state.storages:
            storage.value, storage.written = value, written
        self.frame.env.clear()
        self.frame.env.update(state.env)
        self.assigned, self.attribute_places = dict(state.assigned), dict(state.places)
        for env, name, value in state.named:
            env[name] = value
        for container, items in state.containers:
            container.items = items.copy()


def same_effects(before: list[Any], after: list[Any]) -> bool:
    """Whether nothing was done in between."""
    return len(before) == len(after) and all(one is other for one, other in zip(before, after, strict=True))


def containers_of(values: Iterable[Any]) -> list[tuple[Items, Any]]:
    """The containers among values and in each other, with copies of what is in them."""
    found: dict[int, tuple[Items, Any]] = {}
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Items) and id(value) not in found:
            found[id(value)] = (value, value.items.copy())
            waiting += value.values
    return list(found.values())


def is_changed(containers: list[tuple[Items, Any]]) -> bool:
    """Whether a container has other items than it had."""
    return any(
        len(container.items) != len(items)
        or any(
            one is not other for one, other in zip(container.values, Items(container.kind, items).values, strict=True)
        )
        for container, items in containers
    )
