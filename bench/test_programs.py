"""Our programs under pytest-benchmark: `python -m pytest bench -n 0`. Ratios to NumPy are in `extra_info`."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import autojit as aj
from autojit.runtime.agree import compare
from bench.programs import PROGRAMS
from bench.timing import median_ms, take_turns


def copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Fresh arrays, for programs that change theirs."""
    return tuple(x.copy() if isinstance(x, np.ndarray) else x for x in arguments)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, benchmark):
    """autojit's answer and mutations are NumPy's; its time is the benchmark, NumPy's is beside it."""
    program = PROGRAMS[name]
    arguments = program.make(program.size)
    compiled = aj.autocluster(policy="eager")(program.run)
    for _ in range(2):
        expected, actual = copies(arguments), copies(arguments)
        agreement = compare(program.run(*expected), compiled(*actual)) | compare(expected, actual, "arguments")
        assert agreement, agreement.problem
    functions = {"numpy": program.run, "autojit": compiled}
    times = take_turns(functions, lambda: copies(arguments), repeat=9, budget=10)
    record(benchmark, times)
    benchmark.pedantic(compiled, setup=lambda: (copies(arguments), {}), rounds=5)


def test_running_example_against_jax(benchmark):
    """The running example against `jax.jit` on the same NumPy arrays."""
    program = PROGRAMS["running_example"]
    arguments = program.make(program.size)
    compiled = aj.autocluster(policy="eager")(program.run)
    with jax.enable_x64(True):
        ported = jax.jit(lambda x, y: jax.numpy.mean(x**2 * 3 + y))
        functions = {"numpy": program.run, "autojit": compiled, "jax": lambda x, y: np.asarray(ported(x, y))}
        for function in functions.values():
            function(*arguments)
        record(benchmark, take_turns(functions, lambda: arguments, repeat=9, budget=20))
    benchmark.pedantic(compiled, args=arguments, rounds=5)


def record(benchmark: Any, times: dict[str, list[float]]) -> None:
    """Medians and ratios into the benchmark's extra information."""
    medians = {name: median_ms(seconds) for name, seconds in times.items()}
    for name, median in medians.items():
        benchmark.extra_info[f"{name}_ms"] = round(median, 4)
        benchmark.extra_info[f"{name}_over_autojit"] = round(median / medians["autojit"], 3)
