"""What runs of many thousand programs do without; it decides nothing about their results."""

from __future__ import annotations

import gc

from autojit.compile.xla import Program


def be_lean() -> None:
    """Collect garbage seldom, and do not learn the size of each compiled program, which takes serializing it.

    A run of the matrix takes an eighth less.
    """
    gc.set_threshold(100_000, 50, 100)
    Program.nbytes = 0  # type: ignore[assignment] -- the budget of the cache: these runs clear it themselves
