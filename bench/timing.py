"""Timing that survives a machine whose speed drifts: competitors take turns, and medians are compared.

Where the speed changes by half within seconds, the medians of whole runs fall on one side or the other by chance. So
what is close is compared round by round.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

#: Makes the arguments of one call; its time is not counted.
MakeArguments = Callable[[], tuple[Any, ...]]


#: The seconds of the calls of each function in one round.
Round = dict[str, list[float]]

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
    **options: float,
) -> dict[str, list[float]]:
    """Seconds of the calls of each function in all rounds; arguments as `rounds_of` has them."""
    return joined(rounds_of(functions, make, repeat=repeat, **options))


def rounds_of(
    functions: Mapping[str, Callable[..., Any]],
    make: MakeArguments,
    *,
    repeat: int,
    budget: float = 30.0,
    block: float = 0.0,
    near: float = 0.0,
) -> list[Round]:
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
    rounds: list[Round] = []
    order, shuffle = list(functions), random.Random(0).shuffle
    begin, longer = time.perf_counter(), 1
    while True:
        done = len(rounds)
        if done == longer * repeat or (done >= 3 and time.perf_counter() > begin + longer * budget):
            if longer == LONGER or not _are_near(joined(rounds).values(), near):
                break
            longer = LONGER
        shuffle(order)
        times: Round = {name: [] for name in functions}
        for name in order:
            until = time.perf_counter() + block
            while True:
                result, seconds = once(functions[name], make())
                times[name].append(seconds)
                # Freed here, not inside the next function's clock.
                del result
                if time.perf_counter() >= until:
                    break
        rounds.append(times)
    return rounds


def joined(rounds: Iterable[Round]) -> dict[str, list[float]]:
    """The seconds of each function in all rounds."""
    times: dict[str, list[float]] = {}
    for one in rounds:
        for name, seconds in one.items():
            times.setdefault(name, []).extend(seconds)
    return times


def speed_up(rounds: Iterable[Round], slow: str, fast: str) -> float:
    """How many times as long one function takes as another: the median of what each round says."""
    return statistics.median(statistics.median(one[slow]) / statistics.median(one[fast]) for one in rounds)


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
