"""What can be reached from abstract values: what containers contain, and what functions, methods and iterators hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autojit.capture.statements import Statements
from autojit.capture.values import (
    Arr,
    Closure,
    Flat,
    Frame,
    Items,
    Masked,
    Method,
    Ragged,
    Rows,
    Storage,
    Stream,
    Vectorize,
)

#: What the values of each type hold; of functions and calls also the frames whose names they see.
_PARTS: dict[type, Callable[[Any], Iterable[Any]]] = {
    Items: lambda container: container.values,
    Rows: lambda rows: (rows.array, rows.length),
    Ragged: lambda selected: (selected.full,),
    Masked: lambda selected: (selected.full,),
    Flat: lambda flat: (flat.array,),
    Stream: lambda stream: stream.holds,
    Method: lambda method: (method.owner,),
    Vectorize: lambda function: (function.pyfunc, function.otypes),
    Closure: lambda function: (*function.defaults.values(), function.frame),
    Frame: lambda frame: (*frame.env.values(), frame.caller, frame.parent),
}


def reach(values: Iterable[Any]) -> Iterator[Any]:
    """Values, and what they hold, each as often as something holds it; what one of them holds comes once."""
    seen: set[int] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        yield value
        parts = _PARTS.get(type(value))
        if parts is not None and id(value) not in seen:
            seen.add(id(value))
            waiting += parts(value)


def storages_in(values: Iterable[Any]) -> Iterator[Storage]:
    """The storage of each array among values and in what they hold."""
    return (value.storage for value in reach(values) if isinstance(value, Arr))


class Reach(Statements):
    """Who holds a value, and what the program can still come to."""

    def assigned_values(self) -> list[Any]:
        """What assigned attributes mean; those that are names for now are among the names."""
        return [one.value for key, one in self.assigned.items() if key not in self.attribute_places]

    def meant(self) -> Iterator[Any]:
        """What names, items, functions and assigned attributes mean that the program can still read."""
        return reach([self.frame, *self.assigned_values()])

    def sees_streams(self) -> bool:
        """Whether the function may ask an iterator that was made before."""
        values = [*self.frame.env.values(), *self.assigned_values(), self.frame.parent]
        return any(isinstance(value, Stream) for value in reach(values))

    def holders(self) -> Iterator[Storage]:
        """The storage of each array that something means, be it a part of an expression that is not yet complete."""
        return storages_in([self.frame, *self.assigned_values(), *self.held])

    def names_seen(self, *others: Any) -> set[str]:
        """The present function's names that functions and generator expressions made in it can still ask for.

        Args:
            *others: Values besides those that are held somewhere.
        """
        values = reach([self.frame, *self.assigned_values(), *self.held, *others])
        functions = [value for value in values if isinstance(value, Closure) and value.sees(self.frame)]
        return set[str]().union(*(function.captured for function in functions))

    def references(self, storage: Storage) -> int:
        """How often a storage is meant."""
        return sum(each is storage for each in self.holders())

    def is_private(self, array: Arr) -> bool:
        """Whether contents can stand for the object: nobody else can see it."""
        return _is_own(array) and self.references(array.storage) <= 1

    def can_be_chosen(self, array: Arr) -> bool:
        """Whether a choice of contents can stand for a choice of objects, as long as neither of them is written.

        What is held for a moment does not count: writing asks again (`commit`).
        """
        named = storages_in([self.frame, *self.assigned_values()])
        return _is_own(array) and sum(each is array.storage for each in named) <= 1


def _is_own(array: Arr) -> bool:
    storage = array.storage
    return not (storage.path or storage.shared or array.steps or array.readonly)
