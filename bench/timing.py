"""Timing that survives a machine whose speed drifts: competitors take turns, and medians are compared."""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

#: Makes the arguments of one call; its time is not counted.
MakeArguments = Callable[[], tuple[Any, ...]]


#: So many times as many rounds are made where medians are near.
LONGER = 4


def once(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, float]:
    """The result of one call, and its seconds."""
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start


def take_turns(
    functions: Mapping[str, Callable[..., Any]],
    make: MakeArguments,
    *,
    repeat: int,
    budget: float = 30.0,
    block: float = 0.0,
    near: float = 0.0,
) -> dict[str, list[float]]:
    """Seconds of the calls of each function, in turns, each call with fresh arguments.

    The order changes from round to round: who comes after whom decides what the caches hold.

    Args:
        functions: What to time, already warm.
        make: Called before each call, outside the clock.
        repeat: The number of rounds.
        budget: Seconds after which no round starts, once there are three.
        block: For how many seconds each function is called in each round, once at least. After a product of
            matrices OpenBLAS's threads spin for some 60 ms, and slow down whatever comes next.
        near: Where medians lie within this fraction of each other, whichever is the smaller one, there are `LONGER`
            times as many rounds and seconds: which is faster takes longer to see.
    """
    times: dict[str, list[float]] = {name: [] for name in functions}
    order, shuffle = list(functions), random.Random(0).shuffle
    begin, done, longer = time.perf_counter(), 0, 1
    while True:
        if done == longer * repeat or (done >= 3 and time.perf_counter() > begin + longer * budget):
            if longer == LONGER or not _are_near(times.values(), near):
                break
            longer = LONGER
        shuffle(order)
        for name in order:
            until = time.perf_counter() + block
            while True:
                result, seconds = once(functions[name], make())
                times[name].append(seconds)
                # Freed here, not inside the next function's clock.
                del result
                if time.perf_counter() >= until:
                    break
        done += 1
    return times


def _are_near(times: Iterable[list[float]], near: float) -> bool:
    """Whether all medians lie within this fraction of the smallest."""
    medians = [statistics.median(seconds) for seconds in times]
    return max(medians) <= (1 + near) * min(medians) and near > 0


def median_ms(seconds: Iterable[float]) -> float:
    """The median, in milliseconds."""
    return 1e3 * statistics.median(seconds)


def geometric_mean(ratios: Iterable[float]) -> float:
    """The geometric mean; 1.0 of nothing."""
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logs) / len(logs)) if logs else 1.0
