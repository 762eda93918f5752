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

    def __reduce__(self) -> Reduced:
        return NOTHING


#: What `__reduce__` returns.
Reduced = tuple[Any, ...]
#: ... of what is `None` in a copy. Another process that reads it needs nothing of autojit's, which would import jax.
NOTHING: Reduced = (type(None), ())
