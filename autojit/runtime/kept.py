"""`Kept`: what a probe has of its function's. The function's controller keeps it, and the probe has a weak reference.

Probes are constants of the function's code, and CPython's collector does not look into code: what they held themselves
would never be freed, as soon as it leads back to the function.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autojit.runtime.heat import HeatMap
from autojit.runtime.plan import Plan


class _Nothing:
    """What a function that is no more has, makes and says: nothing, however far one asks."""

    __slots__ = ()

    def __call__(self, *_: Any) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return self

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __enter__(self) -> bool:
        return False

    def __exit__(self, *_: object) -> None:
        return None


class _Gone:
    """What stands for the controller of a function that is no more. Copies of its code may still run, in NumPy."""

    enabled = False
    warm_up = None

    def __getattr__(self, name: str) -> Any:
        return NOTHING

    def capturing(self) -> Any:
        """Nobody may capture."""
        return NOTHING


NOTHING, GONE = _Nothing(), _Gone()


class Kept:
    """The attributes of a probe that may lead to its function, as `Probe` has them."""

    __slots__ = ("__weakref__", "around", "crowd", "gate", "heats", "looks", "made_for", "owner", "plans", "takeovers")

    def __init__(self, owner: Any = GONE) -> None:
        self.owner = owner
        self.plans: tuple[Plan, ...] = ()
        self.takeovers: tuple[Any, ...] = ()
        self.heats = HeatMap()
        self.crowd: Any = NOTHING
        self.around: Any = None
        self.gate: Any = None
        self.looks: Any = NOTHING
        #: The thread and call that has just been given a plan, and the plan.
        self.made_for: tuple[int, tuple[Any, ...], Plan] | None = None


class OfKept:
    """An attribute of probes that their `Kept` has. When that is gone, it is as of a new one, and cannot be set."""

    def __set_name__(self, kind: type, name: str) -> None:
        self._name = name

    def __get__(self, probe: Any, kind: type) -> Any:
        return self if probe is None else getattr(probe.kept() or Kept(), self._name)

    def __set__(self, probe: Any, value: Any) -> None:
        if (kept := probe.kept()) is not None:
            setattr(kept, self._name, value)
