"""The modules that compile, which a program may take out of `sys.modules` again: a test puts back an earlier state."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType

_kept: dict[str, ModuleType] = {}


def keep(names: Iterable[str]) -> None:
    """Remember modules that are there now."""
    _kept.update((name, sys.modules[name]) for name in names)


def put_back() -> None:
    """Have them found again, those that are missing: imported a second time, their classes would be others."""
    for name, module in list(_kept.items()):
        sys.modules.setdefault(name, module)
