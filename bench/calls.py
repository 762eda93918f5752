"""What a warm call of two small arrays costs beyond the compiled call, and what it costs to stay in NumPy."""

from __future__ import annotations

import argparse
import statistics
import timeit
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import autojit as aj
from autojit.config import set_flags
from bench.machine import describe, sentence

#: Calls between two looks at the clock.
_CALLS = 2000


def program(x, y):
    """Three operations."""
    return x * x * 3 + y


def medians(functions: dict[str, Callable[[], Any]], repeat: int) -> dict[str, float]:
    """Microseconds of one call, medians of blocks of calls that take turns."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        timeit.timeit(function, number=_CALLS)
    for _ in range(repeat):
        for name, function in functions.items():
            times[name].append(timeit.timeit(function, number=_CALLS) / _CALLS * 1e6)
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.calls", description=__doc__)
    parser.add_argument("--size", type=int, default=10, help="elements of each array")
    parser.add_argument("--repeat", type=int, default=15)
    options = parser.parse_args()
    set_flags(disk_cache=False)
    x, y = np.random.default_rng(0).standard_normal((2, options.size)).copy()
    compiled = aj.autocluster(program, policy="eager")
    measured, native = aj.autocluster(program), aj.autocluster(program, policy="native")
    with jax.enable_x64(True):
        ported = jax.jit(program)
        own_x, own_y = jax.numpy.asarray(x), jax.numpy.asarray(y)
        bare = ported.lower(own_x, own_y).compile()
        found = medians(
            {
                "NumPy": lambda: program(x, y),
                "`native`": lambda: native(x, y),
                "`measured`, which stays in NumPy": lambda: measured(x, y),
                "autojit, compiled": lambda: compiled(x, y),
                "`jax.jit`, jax arrays in and out": lambda: ported(own_x, own_y),
                "`jax.jit`, NumPy arrays in and out": lambda: np.asarray(ported(x, y)),
                "`jax.stages.Compiled`, jax arrays in and out": lambda: bare(own_x, own_y),
            },
            options.repeat,
        )
    print(sentence(describe()), "", f"`x * x * 3 + y`, {options.size} float64 each", sep="\n")
    print("", "| | us |", "| --- | --- |", *(f"| {name} | {us:.2f} |" for name, us in found.items()), sep="\n")
    over = found["autojit, compiled"] - found["`jax.jit`, jax arrays in and out"]
    stay = found["`measured`, which stays in NumPy"] - found["NumPy"]
    print("", f"over the compiled call: {over:.2f} us; to stay in NumPy: {stay:.2f} us", sep="\n")


if __name__ == "__main__":
    main()
