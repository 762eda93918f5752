"""Extents: which part of an array is written, where integers of the call say so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """`offset + sum of factor * value`, with values that are Python ints among a graph's inputs."""

    offset: int
    symbols: tuple[tuple[str, int], ...] = ()

    def text(self, name: Callable[[str], str]) -> str:
        """The bound as Python source; `name` tells what a value is called there."""
        terms = [name(symbol) if factor == 1 else f"{factor} * {name(symbol)}" for symbol, factor in self.symbols]
        return " + ".join([*terms, *([str(self.offset)] if self.offset or not terms else [])])


@dataclass(frozen=True, slots=True)
class Extent:
    """The places of one axis from `low` to before `high` in steps of `step`; negative ones count from the end."""

    low: Bound
    high: Bound
    step: int = 1

    def text(self, name: Callable[[str], str]) -> str:
        """The slice as Python source, where `span` is known."""
        low, high = self.low.text(name), self.high.text(name)
        if self.low.symbols or self.high.symbols or not 0 <= self.low.offset <= self.high.offset:
            return f"span({low}, {high}, {self.step})"
        return f"{low}:{high}" + (f":{self.step}" if self.step > 1 else "")


#: One extent for each axis of an array; `None` for a whole axis.
Part = tuple[Extent | None, ...]


def index_of(part: Part, name: Callable[[str], str]) -> str:
    """The index of a part as Python source, without the brackets."""
    last = max(number for number, extent in enumerate(part) if extent is not None)
    return ", ".join(":" if extent is None else extent.text(name) for extent in part[: last + 1])


def symbols_of(parts: Iterable[Part]) -> set[str]:
    """The names of the values on which parts depend."""
    extents = [extent for part in parts for extent in part if extent is not None]
    return {symbol for extent in extents for bound in (extent.low, extent.high) for symbol, _ in bound.symbols}


def span(low: int, high: int, step: int = 1) -> slice:
    """The slice from `low` to before `high`, or more: the whole axis where places count from either end."""
    if low >= 0:
        return slice(low, max(low, high), step)
    # No steps: they would be counted from 0 where `low` lies before the first place, which a condition may allow.
    return slice(low, high or None) if high <= 0 else slice(None)
