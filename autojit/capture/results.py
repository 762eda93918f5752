"""Recipes: how a plan builds the objects that a region leaves behind, from results and from the caller's objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autojit.capture.plain import is_fixed
from autojit.capture.recorder import Recorder
from autojit.capture.values import (
    Arr,
    Closure,
    Items,
    Known,
    LoopInt,
    Masked,
    Method,
    Opaque,
    Partial,
    Rows,
    Storage,
    Sym,
    ViewStep,
)
from autojit.capture.words import describe
from autojit.errors import CannotCapture
from autojit.ir.graph import Operand
from autojit.ir.spec import Spec


@dataclass(frozen=True, slots=True, eq=False)
class FromPrologue:
    """An object that the prologue has: the caller's own, or a scalar."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """An object known at capture, which cannot be told from the one that a run would make."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The graph's output number `number`, as an object of its own. `strides` when they are not C order."""

    number: int
    spec: Spec
    strides: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ViewOf:
    """A view of another recipe's array, made by NumPy."""

    base: FromPrologue | Result
    steps: tuple[ViewStep, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """A tuple, list, dict or record of other recipes."""

    kind: type
    keys: tuple[Any, ...] | None
    parts: tuple[Recipe, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ListOf:
    """A list of the first `count` rows of a result, or of all of them.

    `kind` says what they are: numbers of Python's or of NumPy's, or arrays.
    """

    rows: Result
    kind: str
    count: Result | None


@dataclass(frozen=True, slots=True, eq=False)
class Unset:
    """A name that this way through the region does not bind."""


Recipe = FromPrologue | Constant | Result | ViewOf | Container | ListOf | Unset


class RecipeMaker:
    """Turns abstract values into recipes and collects the graph's outputs.

    The same abstract object gives the same recipe object, so that the plan makes one Python object of it.
    """

    def __init__(self, recorder: Recorder, roots: list[Any]) -> None:
        self.recorder = recorder
        self.outputs: list[Operand] = []
        self._made: dict[int, Recipe] = {}
        self._bases: dict[int, Result] = {}
        self._views: dict[int, set[int]] = {}  # id(storage) -> ids of the live arrays on it
        self._keep: list[Any] = []
        self._around: list[Any] = []  # the lists and dicts that are being made
        for root in roots:
            self._count(root, set())

    def _count(self, value: Any, seen: set[int]) -> None:
        if id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, Arr):
            self._views.setdefault(id(value.storage), set()).add(id(value))
        elif isinstance(value, Items):
            for item in value.values:
                self._count(item, seen)

    def make(self, value: Any) -> Recipe:
        """The recipe for an abstract value.

        Raises:
            CannotCapture: The object cannot be made by a plan.
        """
        recipe = self._made.get(id(value))
        if recipe is None:
            if any(value is one for one in self._around):
                raise CannotCapture("statement", f"{describe(value)} made here holds itself")
            self._around.append(value)
            recipe = self._make(value)
            self._around.pop()
            self._made[id(value)] = recipe
            self._keep.append(value)
        return recipe

    def _make(self, value: Any) -> Recipe:
        if isinstance(value, Known):
            if value.path is not None:
                return FromPrologue(value.path)
            if not is_fixed(value.value):
                raise CannotCapture("statement", f"{describe(value)} made here is used later")
            return Constant(value.value)
        if isinstance(value, Sym):
            return FromPrologue(value.name)
        if isinstance(value, Arr):
            return self._array(value)
        if isinstance(value, LoopInt):
            return self._result(value.value, value.value.spec, None)
        if isinstance(value, Rows):
            parts = [value.array, *([] if value.length is None else [value.length])]
            rows, *count = (self._result(self.recorder.read(part), part.spec, None) for part in parts)
            return ListOf(rows, value.spec.kind, count[0] if count else None)
        if isinstance(value, Items):
            if value.path is not None:
                return FromPrologue(value.path)
            if isinstance(value.items, dict):
                return Container(value.kind, tuple(value.items), tuple(self.make(v) for v in value.items.values()))
            return Container(value.kind, None, tuple(self.make(v) for v in value.items))
        if isinstance(value, Opaque):
            raise value.error()
        if isinstance(value, Masked):
            raise CannotCapture("data-shape", "a boolean array selects a number of elements that the data decides")
        assert isinstance(value, Closure | Method | Partial) or value is not None
        raise CannotCapture("statement", f"{describe(value)} made here is used later")

    def _array(self, array: Arr) -> Recipe:
        storage = array.storage
        if storage.path is not None and array.kind == "array":
            base = FromPrologue(storage.path)
            return self._view(base, array)
        flags = array.dummy.flags
        # A view that lies in memory otherwise than a new array would is made as NumPy makes it.
        is_view = (
            len(self._views.get(id(storage), ())) > 1 or (array.steps and not flags.c_contiguous) or array.readonly
        )
        if array.kind == "array" and is_view:
            return self._view(self._base(storage), array)
        return self._result(self.recorder.read(array), array.spec, None if array.steps else storage.strides)

    def _view(self, base: FromPrologue | Result, array: Arr) -> Recipe:
        if any(step.operands and not all(step.names) for step in array.steps):
            raise CannotCapture("data-value", "a view at a position that depends on array data is used later")
        return ViewOf(base, array.steps) if array.steps else base

    def _base(self, storage: Storage) -> Result:
        base = self._bases.get(id(storage))
        if base is None:
            base = self._bases[id(storage)] = self._result(storage.value, storage.spec, storage.strides)
        return base

    def _result(self, value: Operand, spec: Spec, strides: tuple[int, ...] | None) -> Result:
        self.outputs.append(value)
        return Result(len(self.outputs) - 1, spec, strides)


def contains(recipe: Recipe, kind: type) -> bool:
    """Whether a recipe is made of a certain kind of recipe anywhere."""
    if isinstance(recipe, kind):
        return True
    return isinstance(recipe, Container) and any(contains(part, kind) for part in recipe.parts)


def is_plain(value: Any) -> bool:
    """Whether an object is an array or scalar of its own."""
    return isinstance(value, np.ndarray | np.generic | int | float | complex)
