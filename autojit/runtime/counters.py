"""`Counters`: what a decorated function has done, apart from its probes."""

from __future__ import annotations


class Counters:
    """What one function has done so far.

    Attributes:
        misses: Calls of a region for which no plan was there yet.
        captures: Times a region was interpreted.
        compiles: Programs compiled for this function.
        compile_seconds: The time that took.
        loads: Programs of earlier processes loaded for this function.
        environments: Calls of a region that found NumPy's error state or the warning filters other than the default.
        followed: Calls of a region whose lines a debugger, a coverage tool or the like followed.
    """

    def __init__(self) -> None:
        self.misses = self.captures = self.compiles = self.loads = 0
        self.compile_seconds = 0.0
        self.environments = self.followed = 0
