"""Which array a name means after some turns of a loop that hands arrays from name to name.

The contents of a carried name are handed on by value. Which object it means matters where the program can see it: an
array of the caller's, or one that has a second name. Such names are called kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from autojit.capture.values import Arr, Storage

#: More iterations than any loop has.
FOREVER = 1 << 62


@dataclass(slots=True)
class Trades:
    """Where the arrays of the names at the head of an iteration go.

    Attributes:
        heads: For each carried name the storage that it means at the head of an iteration.
        given: For each carried name that ends an iteration with such a storage: the name whose storage it was.
        sources: The same, with all names that it may have been where the data decides.
        kept: The carried names that begin with an array that must not be mistaken for a copy.
    """

    heads: dict[str, Storage]
    given: dict[str, str]
    sources: dict[str, tuple[str, ...]]
    kept: frozenset[str]

    @classmethod
    def of(cls, heads: Mapping[str, Arr], env: Mapping[str, Any], kept: Iterable[str]) -> Trades:
        """The trades of an iteration after which another one follows, where the names mean what `env` says."""
        trades = cls({name: head.storage for name, head in heads.items()}, {}, {}, frozenset(kept))
        for name in heads:
            value = env.get(name)
            if isinstance(value, Arr) and value.kind == "array" and not value.steps:
                trades.sources[name] = trades._names(value.storage)
                if any(value.storage is storage for storage in trades.heads.values()):
                    trades.given[name] = trades.sources[name][0]
        return trades

    def _names(self, storage: Storage) -> tuple[str, ...]:
        """The names that mean a storage at the head of an iteration, or that may, as the data decides."""
        exact = tuple(name for name, head in self.heads.items() if head is storage)
        if exact or not storage.origins:
            return exact
        return tuple(name for name, head in self.heads.items() if head.may_be(storage))

    def beginnings(self, storage: Storage) -> set[str]:
        """The names of which the first arrays may come to what means a storage at the head of an iteration."""
        found: set[str] = set()
        names = set(self._names(storage))
        while names:
            found |= names
            names = {source for name in names for source in self.sources.get(name, ())} - found
        return found

    def turns_kept(self, storage: Storage) -> int:
        """How many iterations it takes at most until what means this storage at their end is an array of the loop's.

        0 if it is one from the first iteration on; `FOREVER` for arrays that go round in a circle.
        """
        names = set(self._names(storage))
        most, count = 0, len(self.heads)
        for turn in range(1, 2 * count + 1):
            if not self.kept.isdisjoint(names):
                most = turn
            names = {source for name in names for source in self.sources.get(name, ())}
        return FOREVER if most > count else most

    @property
    def is_permutation(self) -> bool:
        """Whether each array that goes to another name leaves room for one that comes."""
        return set(self.given) == set(self.given.values())

    @property
    def moves_kept(self) -> bool:
        """Whether a name that begins with a kept array ends with the array of a carried name."""
        return any(name in self.given for name in self.kept)
