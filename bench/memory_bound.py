"""Programs that move more than they compute: autojit beside NumPy, `jax.jit` and one fused pass of numba's."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

import autojit as aj
from autojit.runtime.agree import compare
from bench.machine import describe, sentence
from bench.saving import RESULTS, save
from bench.timing import median_ms, take_turns


def mean(x, y):
    """The running example."""
    return np.mean(x * x * 3 + y)


def elementwise(x, y):
    """A result as large as an argument."""
    return x * x * 3 + y


def stencil(x, y):
    """Five points, into an array of the caller's."""
    y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])


def copied(x):
    """An array that autojit has made."""
    return x + 0.0


PROGRAMS = {"mean of `x*x*3 + y`": mean, "`x*x*3 + y`": elementwise, "5-point stencil into an array": stencil}


def fused() -> dict[str, Callable[..., Any]]:
    """One parallel pass of numba's for each program; none without numba."""
    try:
        import numba  # type: ignore[import-not-found] -- an extra
    except ImportError:
        return {}
    compiled = numba.njit(parallel=True, fastmath={"reassoc"})

    @compiled
    def fused_mean(x, y):
        total = 0.0
        for i in numba.prange(x.shape[0]):
            row = 0.0
            for j in range(x.shape[1]):
                row += x[i, j] * x[i, j] * 3 + y[i, j]
            total += row
        return total / x.size

    @compiled
    def fused_elementwise(x, y):
        out = np.empty_like(x)
        for i in numba.prange(x.shape[0]):
            for j in range(x.shape[1]):
                out[i, j] = x[i, j] * x[i, j] * 3 + y[i, j]
        return out

    @compiled
    def fused_stencil(x, y):
        for i in numba.prange(1, x.shape[0] - 1):
            for j in range(1, x.shape[1] - 1):
                y[i, j] = 0.2 * (x[i, j] + x[i, j - 1] + x[i, j + 1] + x[i + 1, j] + x[i - 1, j])

    return dict(zip(PROGRAMS, (fused_mean, fused_elementwise, fused_stencil), strict=True))


def ported(program: Callable[..., Any]) -> Callable[..., Any]:
    """`jax.jit` on NumPy arrays; the stencil's result is copied into the caller's array."""
    if program is stencil:
        port = jax.jit(
            lambda x, y: y.at[1:-1, 1:-1].set(
                0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])
            )
        )

        def call(x: np.ndarray, y: np.ndarray) -> None:
            y[:] = port(x, y)

        return call
    port = jax.jit((lambda x, y: jax.numpy.mean(x * x * 3 + y)) if program is mean else lambda x, y: x * x * 3 + y)
    return lambda x, y: np.asarray(port(x, y))


def measure(size: int, repeat: int, policy: str) -> list[dict[str, Any]]:
    """A row per program: medians in milliseconds, and whether autojit agrees with NumPy."""
    x, y = np.random.default_rng(12).standard_normal((2, size, size)).copy()
    own = aj.autocluster(copied, policy="eager")
    own_x, own_y = own(x), own(y)
    passes = fused()
    rows = []
    with jax.enable_x64(True):
        for title, program in PROGRAMS.items():
            compiled = aj.autocluster(program, policy=policy)
            functions = {
                "numpy": program,
                "autojit": compiled,
                "own": lambda x, y, compiled=compiled: compiled(own_x, own_y),
                "jax": ported(program),
                **({"numba": passes[title]} if passes else {}),
            }
            first = {name: function(x, y.copy()) for name, function in functions.items()}
            for function in functions.values():
                function(x, y)
            target, expected = y.copy(), y.copy()
            agreement = compare((program(x, expected), expected), (compiled(x, target), target))
            agreement |= compare(first["numpy"], first["autojit"])
            del first
            for _ in range(30 if policy == "measured" else 0):
                compiled(x, y)
            times = take_turns(functions, lambda: (x, y), repeat=repeat, budget=120)
            medians = {name: median_ms(seconds) for name, seconds in times.items()}
            rows.append({"program": title, "ms": medians, "agree": bool(agreement), "problem": agreement.problem})
    return rows


def text(rows: list[dict[str, Any]], size: int, policy: str, machine: dict[str, object]) -> str:
    """The result as Markdown."""
    names = list(rows[0]["ms"])
    titles = {
        "numpy": "NumPy",
        "own": "autojit, its own arrays",
        "jax": "`jax.jit`, NumPy arrays",
        "numba": "numba, fused",
    }
    lines = [
        "# Memory-bound programs",
        "",
        f"{size} x {size} float64, policy {policy}; NumPy arrays in and out, medians of calls that take turns, in ms; "
        f"in brackets the speed-up over NumPy. {sentence(machine)}",
        "",
        "| program | " + " | ".join(titles.get(name, name) for name in names) + " | agrees |",
        "| --- |" + " --- |" * (len(names) + 1),
    ]
    for row in rows:
        numpy = row["ms"]["numpy"]
        cells = [f"{ms:.1f} ({numpy / ms:.2f})" for ms in row["ms"].values()]
        lines.append(f"| {row['program']} | {' | '.join(cells)} | {'yes' if row['agree'] else row['problem']} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory_bound", description=__doc__)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--repeat", type=int, default=21)
    parser.add_argument("--policy", default="eager")
    parser.add_argument("--out", type=Path, default=None, help="where to save, without the ending")
    options = parser.parse_args()
    machine, rows = describe(), measure(options.size, options.repeat, options.policy)
    base = options.out or RESULTS / f"memory_bound-{options.size}"
    written = text(rows, options.size, options.policy, machine)
    save(base, {"machine": machine, "rows": rows}, written)
    print(written)


if __name__ == "__main__":
    main()
