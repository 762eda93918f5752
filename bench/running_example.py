"""The running example, `np.mean(x**2 * 3 + y)`: NumPy, autojit and `jax.jit` take turns on the same NumPy arrays."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import jax
import numpy as np

import autojit as aj
from autojit.runtime.agree import compare
from bench.machine import describe, sentence
from bench.programs import PROGRAMS
from bench.saving import RESULTS, save
from bench.timing import median_ms, once, take_turns

NAMES = {
    "numpy": "NumPy",
    "autojit": "autojit, NumPy arrays in and out",
    "jax": "`jax.jit`, NumPy arrays in and out",
    "jax_arrays": "`jax.jit`, jax arrays in",
}


def measure(size: int, repeat: int, policy: str) -> dict[str, Any]:
    """Medians in milliseconds, seconds of the first call, and how far autojit's answer is from NumPy's."""
    program = PROGRAMS["running_example"]
    arguments = program.make(size)
    compiled = aj.autocluster(policy=policy)(program.run)
    with jax.enable_x64(True):
        ported = jax.jit(lambda x, y: jax.numpy.mean(x**2 * 3 + y))
        placed = jax.block_until_ready([jax.numpy.asarray(x) for x in arguments])

        def jax_arrays(*_: Any) -> np.ndarray:
            return np.asarray(ported(*placed))

        functions = {
            "numpy": program.run,
            "autojit": compiled,
            "jax": lambda x, y: np.asarray(ported(x, y)),
            "jax_arrays": jax_arrays,
        }
        first = {name: once(function, arguments) for name, function in functions.items()}
        for function in functions.values():
            function(*arguments)
        times = take_turns(functions, lambda: arguments, repeat=repeat, budget=120)
    agreement = compare(first["numpy"][0], first["autojit"][0])
    medians = {name: median_ms(seconds) for name, seconds in times.items()}
    return {
        "size": size,
        "policy": policy,
        "repeat": len(times["numpy"]),
        "ms": medians,
        "first_s": {name: seconds for name, (_, seconds) in first.items()},
        "over_numpy": medians["numpy"] / medians["autojit"],
        "over_jax": medians["jax"] / medians["autojit"],
        "agree": bool(agreement),
        "error": agreement.error,
        "problem": agreement.problem,
    }


def text(found: dict[str, Any], machine: dict[str, object]) -> str:
    """The result as Markdown."""
    rows = [f"| {title} | {found['ms'][name]:.2f} | {found['first_s'][name]:.2f} |" for name, title in NAMES.items()]
    return "\n".join(
        [
            "# The running example",
            "",
            f"`np.mean(x**2 * 3 + y)`, {found['size']} x {found['size']} float64, policy {found['policy']}; medians of "
            f"{found['repeat']} calls that take turns. {sentence(machine)}",
            "",
            "| | ms | first call s |",
            "| --- | --- | --- |",
            *rows,
            "",
            f"autojit is {found['over_numpy']:.2f} times as fast as NumPy and {found['over_jax']:.2f} times as fast as "
            f"`jax.jit` on NumPy arrays. Relative difference from NumPy's answer: {found['error']:.1e}.",
            "",
        ]
    )


def main() -> None:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(prog="python -m bench.running_example", description=__doc__)
    parser.add_argument("--size", type=int, default=PROGRAMS["running_example"].size)
    parser.add_argument("--repeat", type=int, default=21)
    parser.add_argument("--policy", default="eager")
    parser.add_argument("--out", type=Path, default=None, help="where to save, without the ending")
    options = parser.parse_args()
    machine, found = describe(), measure(options.size, options.repeat, options.policy)
    base = options.out or RESULTS / f"running_example-{options.size}"
    written = text(found, machine)
    save(base, {"machine": machine, **found}, written)
    print(written)


if __name__ == "__main__":
    main()
