"""`Mode`: a way of lowering that holds while something is lowered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Mode:
    """A way of lowering: `with mode():` sets it for what is lowered inside, in this thread.

    Args:
        name: Its name.
    """

    def __init__(self, name: str) -> None:
        self._is_set = ContextVar(name, default=False)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        token = self._is_set.set(True)
        try:
            yield
        finally:
            self._is_set.reset(token)

    def is_set(self) -> bool:
        """Whether it holds here."""
        return self._is_set.get()
