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
        heads: The carried names by the id of the storage that each means at the head of an iteration.
        given: For each carried name that ends an iteration with such a storage: the name whose storage it was.
        kept: The carried names that begin with an array that must not be mistaken for a copy.
    """

    heads: dict[int, str]
    given: dict[str, str]
    kept: frozenset[str]

    @classmethod
    def of(cls, heads: Mapping[str, Arr], env: Mapping[str, Any], kept: Iterable[str]) -> Trades:
        by_storage = {id(head.storage): name for name, head in heads.items()}
        given = {}
        for name in heads:
            value = env.get(name)
            if isinstance(value, Arr) and value.kind == "array" and not value.steps and id(value.storage) in by_storage:
                given[name] = by_storage[id(value.storage)]
        return cls(by_storage, given, frozenset(kept))

    def turns_kept(self, storage: Storage) -> int:
        """How many iterations it takes at most until what means this storage at their end is an array of the loop's.

        0 if it is one from the first iteration on; `FOREVER` for arrays that go round in a circle.
        """
        name = self.heads.get(id(storage))
        most, seen = 0, list[str]()
        while name is not None and name not in seen:
            seen.append(name)
            if name in self.kept:
                most = len(seen)
            name = self.given.get(name)
        is_circle = name is not None and not self.kept.isdisjoint(seen[seen.index(name) :])
        return FOREVER if is_circle else most

    @property
    def is_permutation(self) -> bool:
        """Whether each array that goes to another name leaves room for one that comes."""
        return set(self.given) == set(self.given.values())

    @property
    def moves_kept(self) -> bool:
        """Whether a name that begins with a kept array ends with the array of a carried name."""
        return any(name in self.given for name in self.kept)
