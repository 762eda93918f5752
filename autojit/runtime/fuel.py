"""Fuel: under `--clustering_fuel` so many clusters are made and no more, so that halving finds the one to blame.

A deterministic program that compiles in the foreground (`--policy=eager`) makes the same clusters in the same order
each time, and with a smaller limit the first ones of them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from autojit.config import Config
from autojit.errors import Reason
from autojit.runtime.forks import when_cut_off


class Fuel:
    """Counts the clusters that are made under a limit; those made without one do not count.

    Attributes:
        spent: How many there were.
    """

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin to count anew."""
        self.spent = 0
        self._lock = threading.RLock()

    @contextlib.contextmanager
    def partitioning(self, config: Config) -> Iterator[Config]:
        """The flags for one graph: its limit is what is left. Under a limit threads take turns."""
        if config.clustering_fuel < 0:
            yield config
            return
        with self._lock:
            yield config._replace(clustering_fuel=max(0, config.clustering_fuel - self.spent))

    def spend(self, config: Config, count: int) -> range:
        """Count the clusters of a graph, inside of `partitioning`; gives their numbers, the first of all is 1."""
        if config.clustering_fuel < 0:
            return range(0)
        first = self.spent + 1
        self.spent += count
        return range(first, first + count)


def out_of_fuel(config: Config) -> Reason | None:
    """Why no cluster may be made with these flags; `None` if one may."""
    if config.clustering_fuel:
        return None
    return Reason("excluded", "out of fuel: `--clustering_fuel` allows no more clusters")


def same_fuel(config: Config, count: int) -> Config:
    """The flags under which a graph that was given `count` clusters is partitioned once more."""
    return config if config.clustering_fuel < 0 else config._replace(clustering_fuel=count)


#: That of the process; a function whose decorator sets a limit has its own.
FUEL = Fuel()
when_cut_off(FUEL.renew)
