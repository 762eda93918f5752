"""Iteration: loops, comprehensions and Python's iterators see their items one after the other, as Python makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autojit.capture.masked import MaskedArrays
from autojit.capture.protocols import is_plain
from autojit.capture.put_functions import flat_items
from autojit.capture.values import Arr, Flat, Items, Known, Opaque, Rows, Stream
from autojit.capture.words import describe
from autojit.errors import CannotCapture

#: Iterating over more items than this is a long loop.
MAX_TRIPS = 128


class Iteration(MaskedArrays):
    """What can be iterated over, and the builtins that make iterators."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.held: list[Any] = []  # what loops go over, and parts of expressions that are not yet complete
        self.streams_made = 0
        self.asked: list[Stream] = []  # each time a stream is asked for an item

    def stream(self, kind: type, items: Iterator[Any], length: int | None, *holds: Any) -> Stream:
        """A new iterator over what is made of other values."""
        self.streams_made += 1
        return Stream(kind, items, length, holds=holds, number=self.streams_made - 1, level=self.builder.predicate)

    def _left(self, stream: Stream) -> Iterator[Any]:
        """The items that a stream has left."""
        while True:
            if stream.is_lost:
                raise CannotCapture("effect", "an iterator whose items were asked for by what was interpreted twice")
            if not self.builder.implies(self.builder.predicate, stream.level):
                raise CannotCapture("data-branch", "the data decides which items an iterator has left")
            stream.level = self.builder.predicate
            self.asked.append(stream)
            try:
                item = next(stream.items)
            except StopIteration:
                return
            yield item

    def each(self, value: Any) -> Iterator[Any]:
        """The items that a loop over `value` sees. Each is made when it is asked for: the loop may change what is left.

        Raises:
            CannotCapture: It cannot be iterated over, or there are too many items.
        """
        if isinstance(value, Opaque):
            raise value.error()
        if isinstance(value, Stream):
            return value.again() if value.again is not None else self._left(value)
        if isinstance(value, Arr):
            if value.dummy.ndim == 0:
                raise CannotCapture("raises", "TypeError: iteration over a 0-d array")
            self._check_trips(value.shape[0])
            return (self.getitem(value, Known(position)) for position in range(value.shape[0]))
        if isinstance(value, Flat):
            if value.is_used or value.builder is not self.builder:
                raise CannotCapture("unsupported-syntax", "`.flat`, an iterator, that was asked for items before")
            value.is_used = True
            array = value.array
            if array.kind != "array" or array.dummy.flags.c_contiguous:
                return self.each(flat_items(self, array))
            self.layout_matters(array)
            self._check_trips(array.spec.size)
            return (self.getitem(array, _at(array, position)) for position in range(array.spec.size))
        if isinstance(value, Items) and is_plain(value.kind):
            self._check_trips(len(value.items))
            return self._keys(value.items) if isinstance(value.items, dict) else iter(value.items)
        if isinstance(value, Known):
            inner = value.value
            if isinstance(inner, range | str):
                self._check_trips(len(inner))
                return (Known(item) for item in inner)
            if isinstance(inner, list | tuple | dict):
                return self.each(self.open(value))
        raise CannotCapture("unsupported-syntax", f"a loop over {describe(value)}")

    def iterate(self, value: Any) -> list[Any]:
        """All items at once."""
        return list(self.each(value))

    def count(self, value: Any) -> int | None:
        """How many items a loop over `value` will see, as far as that is known."""
        if isinstance(value, Stream):
            return value.length
        if isinstance(value, Arr):
            return value.shape[0] if value.dummy.ndim else None
        if isinstance(value, Rows):
            return value.count
        if isinstance(value, Items):
            return len(value.items)
        inner = getattr(value, "value", None)
        return len(inner) if isinstance(inner, range | str | list | tuple | dict) else None

    def _keys(self, items: dict[Any, Any]) -> Iterator[Any]:
        keys = iter(items)  # it knows from here on how many there are

        def each() -> Iterator[Any]:
            try:
                for key in keys:
                    yield Known(key)
            except RuntimeError as error:
                raise CannotCapture("raises", f"RuntimeError: {error}") from None

        return each()

    def _check_trips(self, count: int) -> None:
        if count > MAX_TRIPS:
            raise CannotCapture("long-loop", f"a loop of {count} iterations")

    # ---- builtins

    def _builtin_zip(self, *sequences: Any, strict: Any = Known(False)) -> Any:
        counts = [count for count in map(self.count, sequences) if count is not None]
        rows = zip(*map(self.each, sequences), strict=bool(self.static(strict)))

        def items() -> Iterator[Any]:
            try:
                for row in rows:
                    yield Items(tuple, list(row))
            except ValueError as error:
                raise CannotCapture("raises", f"ValueError: {error}") from None

        return self.stream(zip, items(), min(counts, default=None), *sequences)

    def _builtin_enumerate(self, iterable: Any, start: Any = Known(0)) -> Any:
        numbered = enumerate(self.each(iterable), self.static(start))
        pairs = (Items(tuple, [Known(number), item]) for number, item in numbered)
        return self.stream(enumerate, pairs, self.count(iterable), iterable)

    def _builtin_reversed(self, sequence: Any, /) -> Any:
        length = self.count(sequence)
        if isinstance(sequence, Items) and isinstance(sequence.items, list):
            kind = type(reversed([])) if sequence.kind is list else reversed
            return self.stream(kind, reversed(sequence.items), length, sequence)
        is_dict = isinstance(getattr(sequence, "value", getattr(sequence, "items", None)), dict)
        if isinstance(sequence, Stream) or length is None or is_dict:
            raise CannotCapture("unsupported-syntax", f"`reversed` of {describe(sequence)}")
        if isinstance(sequence, Arr):
            self._check_trips(length)
            items = (self.getitem(sequence, Known(n)) for n in reversed(range(length)))
            return self.stream(reversed, items, length, sequence)
        kind = type(reversed(getattr(sequence, "value", ())))
        return self.stream(kind, reversed(self.iterate(sequence)), length, sequence)

    def _builtin_map(self, function: Any, first: Any, /, *more: Any) -> Any:
        sequences = first, *more
        counts = [count for count in map(self.count, sequences) if count is not None]
        rows = zip(*map(self.each, sequences), strict=False)
        results = (self.call(function, list(row), {}) for row in rows)
        return self.stream(map, results, min(counts, default=None), function, *sequences)

    def _builtin_iter(self, sequence: Any, /) -> Any:
        is_iterator = isinstance(sequence, Stream) and sequence.again is None
        if is_iterator:
            return sequence
        return self.stream(_iterator_type(sequence), self.each(sequence), self.count(sequence), sequence)

    def _builtin_next(self, stream: Any, /, *default: Any) -> Any:
        if not isinstance(stream, Stream) or stream.again is not None:
            raise CannotCapture("unsupported-syntax", f"`next` of {describe(stream)}")
        item = next(self._left(stream), *default or (None,))
        if item is None:
            raise CannotCapture("raises", "StopIteration")
        return item

    def dict_view(self, kind: Callable[..., Any], owner: Items) -> Stream:
        """`owner.items()` and the like, as a view: it sees later changes."""
        items: dict[Any, Any] = owner.items  # type: ignore[assignment] -- a dict, by its kind
        make: dict[str, Callable[[Any], Any]] = {
            "items": lambda key: Items(tuple, [Known(key.value), items[key.value]]),
            "values": lambda key: items[key.value],
            "keys": lambda key: key,
        }
        name = kind.__name__
        view = self.stream(type(kind({})), iter(()), len(items), owner)
        view.again = lambda: (make[name](key) for key in self._keys(items))
        return view

    # ---- what other rooms of the interpreter provide

    def call(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError


def _at(array: Arr, position: int) -> Items:
    """The index of an element that is found by its number in C order."""
    return Items(tuple, [Known(int(place)) for place in np.unravel_index(position, array.shape)])


def _iterator_type(sequence: Any) -> type:
    """What `iter` makes of a sequence."""
    if isinstance(sequence, Items) and is_plain(sequence.kind):
        return type(iter(sequence.kind()))
    if isinstance(sequence, Known) and isinstance(sequence.value, range | str | list | tuple | dict):
        return type(iter(sequence.value))
    if isinstance(sequence, Arr):
        return type(iter(np.zeros(1)))
    if isinstance(sequence, Stream):
        views = {type(view): type(iter(view)) for view in ({}.items(), {}.keys(), {}.values())}
        return views.get(sequence.kind, sequence.kind)
    return type(iter(()))


__all__ = ["MAX_TRIPS", "Iteration"]
