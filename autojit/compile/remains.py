"""Memory of objects that are gone, kept for others. No code of Python's runs when one goes.

Such code, a `__del__` or a callback, may run in the middle of any statement of the program's; what the handler of a
signal raises there is printed, and lost.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any, Generic, TypeVar

T = TypeVar("T")

#: The memory that is kept is counted in units of so many bytes.
UNIT = 512 << 10
#: So many of the last ones are looked at before all are known by their sizes.
_LAST = 4
#: After so many changes, or units that were taken from the middle, what is not needed any more is removed.
_CHANGES = 256


def _units(nbytes: int) -> int:
    return -(-nbytes // UNIT)


class _Memory(list[T]):
    """A buffer, until somebody takes it, which one of several threads can.

    Attributes:
        nbytes: Its size.
        is_found: Set where it stands among those of its size.
    """

    __slots__ = ("__weakref__", "is_found", "nbytes")
    nbytes: int
    is_found: bool

    def __call__(self) -> _Memory[T]:
        """As a weak reference to it is called."""
        return self

    def units(self) -> tuple[Any, ...]:
        """What stands for it among what has gone: only the unit that is dropped first keeps it."""
        return self, *(weakref.ref(self),) * (_units(self.nbytes) - 1)


class _Watch(weakref.ref[Any]):
    """Has the memory of an object kept when that is gone: iterating over it gives the memory, once for each unit."""

    __slots__ = ("__iter__",)


class Remains(Generic[T]):
    """The memory of objects that are gone, as far as the last ones of them fill a bound.

    All steps are single calls of C's, and need no lock: where other code comes in between, a buffer is freed too early,
    or not found, and none is taken twice.

    Args:
        limit: The bound on the bytes that are kept.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        # Each stands there as many times as it has units, so that the deque itself drops what went first.
        self._gone: deque[Any] = deque(maxlen=limit // UNIT)
        self._keep = self._gone.extend
        self._found: dict[int, list[weakref.ref[_Memory[T]]]] = {}
        self._changes = 0

    def watch(self, owner: object, nbytes: int, buffer: T) -> object:
        """What an object must hold for its buffer to be kept when it is gone, and nobody else may."""
        memory = _Memory((buffer,))
        memory.nbytes = nbytes
        watch: Any = _Watch(owner, self._keep)
        watch.__iter__ = (memory.units() if nbytes <= self.limit else ()).__iter__
        return watch

    def take(self, nbytes: int) -> T | None:
        """A buffer of exactly `nbytes` bytes, which now belongs to the caller, or `None`."""
        gone, place = self._gone, 1
        if not gone:
            return None
        try:
            for _ in range(_LAST):
                memory = gone[-place]()
                if memory is None:  # half of it has been dropped, and what went before
                    break
                if memory.nbytes == nbytes and memory:
                    buffer = memory.pop()
                    gone.rotate(place - 1)
                    while gone and gone[-1]() is memory:
                        gone.pop()
                    gone.rotate(1 - place)
                    return buffer
                place += _units(memory.nbytes)
        except IndexError:  # that was the first one, or another thread was quicker
            pass
        return self._search(nbytes)

    @property
    def nbytes(self) -> int:
        """The bytes that are kept now."""
        return sum(memory.nbytes for memory in self._all().values())

    def clear(self) -> None:
        """Free everything."""
        self._gone.clear()
        self._found = {}

    def _all(self) -> dict[int, _Memory[T]]:
        """What is kept, by its identity, in the order in which it would be dropped."""
        return {id(memory): memory for memory in list(self._gone) if type(memory) is _Memory and memory}

    def _search(self, nbytes: int) -> T | None:
        """As `take`, where the last ones have other sizes."""
        self._find()
        found = self._found.get(nbytes)
        while found:
            try:
                memory = found.pop()()
                buffer = memory.pop() if memory is not None else None
            except IndexError:
                continue
            if buffer is not None:
                self._changes += _units(nbytes)  # which stand there for nothing
                return buffer
        return None

    def _find(self) -> None:
        """Note the size of what has gone since this was last asked."""
        if self._changes >= _CHANGES:
            self._tidy()
        gone, place = self._gone, 1
        try:
            while (memory := gone[-place]()) is not None and not getattr(memory, "is_found", False):
                memory.is_found = True
                self._found.setdefault(memory.nbytes, []).append(weakref.ref(memory))
                self._changes += 1
                place += _units(memory.nbytes)
        except IndexError:  # all of them
            pass

    def _tidy(self) -> None:
        """Remove what has been taken or dropped."""
        kept = self._all().values()
        self._changes = 0
        self._gone.clear()
        self._found = {}
        for memory in kept:
            self._gone.extend(memory.units())
            memory.is_found = True
            self._found.setdefault(memory.nbytes, []).append(weakref.ref(memory))
