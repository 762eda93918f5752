"""`Alive`: a weak set that one thread may look through while others add to it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TypeVar

T = TypeVar("T")


class Alive(weakref.WeakSet[T]):
    """What is alive of what was added. To go through it is to go through those that there are when that begins."""

    def __iter__(self) -> Iterator[T]:
        while True:
            try:
                return iter(list(super().__iter__()))
            except RuntimeError:  # another thread has added one meanwhile
                pass
