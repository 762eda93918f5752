"""`Counters`: what a decorated function has done, apart from its probes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counters:
    """What one function has done so far.

    Attributes:
        hits: Calls of a region that a plan answered.
        misses: Calls of a region for which no plan was there yet.
        native: Calls that a plan left to NumPy.
        captures: Times a region was interpreted.
        compiles: Programs compiled for this function.
        compile_seconds: The time that took.
        loads: Programs of earlier processes loaded for this function.
        traps: Calls repeated in NumPy because of their data.
    """

    hits: int = 0
    misses: int = 0
    native: int = 0
    captures: int = 0
    compiles: int = 0
    compile_seconds: float = 0.0
    loads: int = 0
    traps: int = 0
