"""What `exact=True` costs: `python -m bench.exact` times a few programs in NumPy, compiled, and compiled exactly."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import autojit as aj
from bench.machine import describe, sentence


def chain(x, y):
    """Five operations."""
    return (x * y + 1.5) * x - y / 3.0


def longer_chain(x, y):
    """Ten operations and more."""
    a = x * y + 0.5
    b = a * a - x
    c = b / (a + 3.0)
    d = c * x + b
    return np.sqrt(d * d + 1.0) - c


def stencil(u, un, nt):
    """A heat equation in two dimensions."""
    for _ in range(nt):
        un[:] = u
        u[1:-1, 1:-1] = 0.25 * (un[1:-1, 2:] + un[1:-1, :-2] + un[2:, 1:-1] + un[:-2, 1:-1])
    return u


def running_example(x, y):
    """Elementwise work that is compiled, and a mean that is not exact."""
    return np.mean(x**2 * 3 + y)


def recurrence(x, n):
    """A loop over single numbers."""
    s = 0.0
    for i in range(n):
        s = s * 0.7 + x[i]
    return s


def programs() -> list[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Names, functions and arguments."""
    rng = np.random.default_rng(0)
    million = rng.standard_normal((2, 1000, 1000))
    return [
        ("chain of 5 operations, a million float64", chain, tuple(million)),
        ("chain of 5 operations, a million float32", chain, tuple(million.astype(np.float32))),
        ("chain of 10 operations, a million float64", longer_chain, tuple(million)),
        ("stencil, 512 x 512, 20 steps", stencil, (rng.random((512, 512)), np.empty((512, 512)), 20)),
        ("stencil, 128 x 128, 200 steps", stencil, (rng.random((128, 128)), np.empty((128, 128)), 200)),
        ("`np.mean(x**2 * 3 + y)`, 2048 x 2048", running_example, tuple(rng.standard_normal((2, 2048, 2048)))),
        ("recurrence of 100,000 numbers", recurrence, (rng.standard_normal(100_000), 100_000)),
    ]


def best(function: Callable[..., Any], arguments: tuple[Any, ...], times: int = 9) -> float:
    """The shortest of several runs, in milliseconds."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        function(*arguments)
        found.append(time.perf_counter() - start)
    return min(found) * 1e3


def main() -> None:
    """Print the table."""
    print(
        sentence(describe()), "", "| program | NumPy | compiled | `exact=True` |", "| --- | --- | --- | --- |", sep="\n"
    )
    for name, function, arguments in programs():
        decorated = [aj.autocluster(function, policy="eager", exact=exact) for exact in (False, True)]
        for made in decorated:
            made(*arguments)
        # One after the other in turns, so that all meet the same load.
        times = [[best(each, arguments, 3) for each in (function, *decorated)] for _ in range(4)]
        cells = [f"{min(column):.2g}" for column in zip(*times, strict=True)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # the examples overflow on purpose
    main()
