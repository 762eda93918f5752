"""Going back: dry runs and branches interpret statements, then take back what they recorded or what they changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from autojit.capture.build import CaptureBuilder
from autojit.capture.observed import Layouts
from autojit.capture.reach import Reach
from autojit.capture.values import Items, Known, Storage, Stream, Sym
from autojit.errors import Reason
from autojit.ir.graph import Operand, Value


@dataclass(frozen=True, slots=True)
class Asked:
    """A time: how many streams there were, and how often streams had been asked for items."""

    streams: int
    times: int


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
    held: int
    asked: Asked
    layouts: dict[str, Layouts]


class Undo(Reach):
    """Saves and restores the state of a capture."""

    exits: list[Any]
    left: list[Reason]  # what is left to NumPy where the data leads there

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
            set(prologue._checked), prologue._next, dict(self._memo), dict(self.syms), dict(self.scalars),
            set(self._demanded), len(self.input_names), len(self.arrays), len(self.reads), len(self.range_bounds),
            self._extra_work, [(s, s.value, s.written) for s in self.arrays], self.evaluated,
            containers_of(self.meant()), dict(self.assigned), dict(self.owners_met),
            dict(self.attribute_places),
            [(one.frame.env, one.name, one.frame.env[one.name]) for one in self.attribute_places.values()],
            len(self.held), self.now(), dict(self.layouts),
        )  # fmt: skip

    def now(self) -> Asked:
        """The present time, for `asked_since`."""
        return Asked(self.streams_made, len(self.asked))

    def asked_since(self, then: Asked) -> list[Stream]:
        """The streams that there were at a time and that have been asked for items since."""
        return [stream for stream in self.asked[then.times :] if stream.number < then.streams]

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
        self._memo, self.syms, self.scalars = dict(state.memo), dict(state.syms), dict(state.scalars)
        self._demanded = set(state.demanded)
        del self.input_names[state.inputs :], self.arrays[state.arrays :], self.exits[state.exits :]
        del self.left[state.left :], self.draws[state.draws :], self.turns[state.turns :]
        del self.reads[state.reads :], self.range_bounds[state.range_bounds :]
        self._extra_work, self.evaluated = state.work, state.evaluated
        self.owners_met, self.layouts = dict(state.owners_met), dict(state.layouts)

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
            if is_changed([(container, items)]):
                _refill(container, items)
        for stream in self.asked_since(state.asked):
            stream.is_lost = True  # its items are gone
        del self.asked[state.asked.times :], self.held[state.held :]


def same_effects(before: list[Any], after: list[Any]) -> bool:
    """Whether nothing was done in between."""
    return len(before) == len(after) and all(one is other for one, other in zip(before, after, strict=True))


def _refill(container: Items, items: Any) -> None:
    """Give a container what it had; an iterator that is under way goes on with it, as Python's does."""
    found: Any = container.items
    found.clear()
    if isinstance(found, dict):
        found.update(items)
    else:
        found += items


def containers_of(values: Iterable[Any]) -> list[tuple[Items, Any]]:
    """The containers among values, each once, with copies of what is in them."""
    found = {id(value): value for value in values if isinstance(value, Items)}
    return [(container, container.items.copy()) for container in found.values()]


def is_changed(containers: list[tuple[Items, Any]]) -> bool:
    """Whether a container has other items than it had."""
    return any(
        len(container.items) != len(items)
        or (isinstance(items, dict) and list(container.items) != list(items))
        or any(
            one is not other for one, other in zip(container.values, Items(container.kind, items).values, strict=True)
        )
        for container, items in containers
    )
