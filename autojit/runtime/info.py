"""The counters that `cache_info()` shows, and the memory that is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from autojit.compile.heap import trim
from autojit.compile.pool import RESULTS, STAGING
from autojit.runtime.door import DOOR
from autojit.runtime.function import Controller


class CacheInfo(NamedTuple):
    """What a decorated function has done since it was made or cleared.

    Attributes:
        hits: Calls of a region answered by a plan.
        misses: Calls of a region for which no plan was there.
        native: Calls of a region that a plan left to NumPy, or the warnings in force.
        captures: Times a region was interpreted.
        compiles: Programs compiled.
        compile_seconds: Seconds spent on that.
        loads: Programs taken from the disk cache instead.
        traps: Calls repeated in NumPy because of their data.
        plans: Plans in memory.
        nbytes: Bytes of machine code in the process-wide cache of programs.
    """

    hits: int = 0
    misses: int = 0
    native: int = 0
    captures: int = 0
    compiles: int = 0
    compile_seconds: float = 0.0
    loads: int = 0
    traps: int = 0
    plans: int = 0
    nbytes: int = 0


class MemoryInfo(NamedTuple):
    """Memory that autojit keeps for later calls, beside the compiled programs.

    Attributes:
        results: Bytes that are free to be written by results; they were those of results that nobody uses any more.
        results_limit: The bound on them.
        staging: Bytes into which inputs are copied that XLA cannot read where they are.
        staging_limit: The bound on them.
    """

    results: int
    results_limit: int
    staging: int
    staging_limit: int


def memory_info() -> MemoryInfo:
    """The memory that autojit keeps now. Arrays that the program still uses are not counted."""
    return MemoryInfo(RESULTS.nbytes, RESULTS.limit, STAGING.nbytes, STAGING.limit)


def trim_memory() -> int:
    """Free the memory that autojit keeps for later calls; gives the number of bytes.

    Compiled programs stay. The next calls that need memory take it from the system again, which is slower. Holes in the
    C library's heap, which are not in the number, go back to the system, too.
    """
    freed = RESULTS.nbytes + STAGING.nbytes
    RESULTS.clear()
    STAGING.clear()
    trim()
    return freed


def cache_info(controller: Controller) -> CacheInfo:
    """The counters of a decorated function and of the functions that its native statements call."""
    everyone = list(with_callees(controller, set()))
    probes = [probe for each in everyone for probe in list(each.probes.values())]
    counters = [each.counters for each in everyone]
    return CacheInfo(
        hits=sum(probe.hits for probe in probes),
        misses=sum(each.misses for each in counters),
        native=sum(probe.native for probe in probes),
        captures=sum(each.captures for each in counters),
        compiles=sum(each.compiles for each in counters),
        compile_seconds=sum(each.compile_seconds for each in counters),
        loads=sum(each.loads for each in counters),
        traps=sum(probe.traps for probe in probes),
        plans=sum(not plan.is_native for probe in probes for plan in probe.plans),
        nbytes=DOOR.open().CACHE.info().nbytes if DOOR.is_open else 0,
    )


def with_callees(controller: Controller, seen: set[int]) -> Iterator[Controller]:
    """A function's controller and those of the functions that its native statements call, each once for `seen`."""
    if id(controller) not in seen:
        seen.add(id(controller))
        yield controller
        for callee in controller.callees:
            yield from with_callees(callee, seen)
