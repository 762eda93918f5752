"""`EAR`: through it a profile hears of captures, compilations and plans while it is taken."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol


class Listener(Protocol):
    """What a profile is told."""

    def span(self, kind: str, controller: Any, probe: Any) -> AbstractContextManager[Any]:
        """What is entered while a region is captured or compiled."""
        ...

    def made(self, controller: Any, probe: Any, plan: Any) -> None:
        """A plan was compiled."""
        ...


class Ear:
    """Asked where plans are made, never where they run.

    Attributes:
        listener: Who listens; `None` as long as nobody does.
    """

    listener: Listener | None = None

    def span(self, kind: str, controller: Any, probe: Any) -> AbstractContextManager[Any]:
        """What to enter while a region is captured or compiled."""
        listener = self.listener
        return nullcontext() if listener is None else listener.span(kind, controller, probe)

    def made(self, controller: Any, probe: Any, plan: Any) -> None:
        """Tell of a plan that was compiled."""
        if (listener := self.listener) is not None:
            listener.made(controller, probe, plan)


#: The ear of the process.
EAR = Ear()
