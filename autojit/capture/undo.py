"""Going back: dry runs and branches interpret statements, then take back what they recorded or what they changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autojit.capture.build import CaptureBuilder
from autojit.capture.statements import Statements
from autojit.capture.values import Items, Storage, Sym
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


class Undo(Statements):
    """Saves and restores the state of a capture."""

    exits: list[Any]
    left: list[Reason]  # what is left to NumPy where the data leads there

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
            containers_of(self.frame.env),
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

    def restore_values(self, state: State) -> None:
        """Give names, storages and containers what they had."""
        while len(self.journal) > state.journal:
            storage, value = self.journal.pop()
            storage.value = value
        for storage, value, written in state.storages:
            storage.value, storage.written = value, written
        self.frame.env.clear()
        self.frame.env.update(state.env)
        for container, items in state.containers:
            container.items = items.copy()


def containers_of(env: dict[str, Any]) -> list[tuple[Items, Any]]:
    """The containers that local names are bound to, with copies of what is in them."""
    found: dict[int, tuple[Items, Any]] = {}
    waiting = list(env.values())
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
