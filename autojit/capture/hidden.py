"""`Hidden`: what a function has for autojit's use, and nobody else's."""

from __future__ import annotations

from typing import Any


class Hidden:
    """A value that pickles and deep copies come without.

    `functools.update_wrapper` copies a function's attributes into objects that the program may copy or pickle: these
    would have to take the function with them, its code, or locks.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def __reduce__(self) -> tuple[type[Hidden], tuple[()]]:
        return Hidden, ()


def nothing() -> None:
    """What a controller is in a copy."""
