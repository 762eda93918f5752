"""Reductions of large arrays along every axis, with and without arithmetic in front: autojit beside NumPy.

A reduction that is slower than NumPy's is a cliff: `measured` leaves it to NumPy, and all that could be fused with it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import autojit as aj
from autojit.runtime.agree import compare
from bench.machine import describe, sentence
from bench.saving import RESULTS, save
from bench.timing import geometric_mean, median_ms, take_turns

SHAPES = ((100_000, 100), (100, 100_000), (3000, 3000), (300, 1000))


def count(x, axis):
    """Integers that are made on the way."""
    return (x > 0.5).sum(axis=axis)


def share(x, axis):
    """The same, divided."""
    return np.mean(x > 0.5, axis=axis)


def found(x, axis):
    """Bools."""
    return (x > 0.999).any(axis=axis)


def total(x, axis):
    """Nothing but a sum."""
    return x.sum(axis=axis)


def length(x, axis):
    """A sum of what is computed."""
    return np.sqrt((x * x).sum(axis=axis))


def deviation(x, axis):
    """Two passes."""
    return x.std(axis=axis)


def largest(x, axis):
    """An extreme."""
    return x.max(axis=axis)


def place(x, axis):
    """Where an extreme stands."""
    return x.argmax(axis=axis)


def known(x, axis):
    """A sum without NaN."""
    return np.nanmean(x, axis=axis)


def whole_numbers(x, axis):
    """A sum of integers."""
    return x.view(np.int64).sum(axis=axis)


PROGRAMS: dict[str, Callable[..., Any]] = {
    program.__name__: program
    for program in (count, share, found, total, length, deviation, largest, place, known, whole_numbers)
}


def measure(shapes: tuple[tuple[int, int], ...], repeat: int) -> list[dict[str, Any]]:
    """A row per program, shape and axis: medians in milliseconds, and what autojit does not agree in."""
    rows = []
    for shape in shapes:
        x = np.random.default_rng(7).random(shape)
        for title, program in PROGRAMS.items():
            for axis in (0, 1, None):
                compiled = aj.autocluster(program, policy="eager")
                problem = compare(program(x, axis), compiled(x, axis)).problem
                compiled(x, axis)
                functions = {"numpy": program, "autojit": compiled}
                times = take_turns(functions, lambda x=x, axis=axis: (x, axis), repeat=repeat, budget=3)
                medians = {name: median_ms(seconds) for name, seconds in times.items()}
                rows.append({"program": title, "shape": shape, "axis": axis, "ms": medians, "problem": problem})
    return rows


def text(rows: list[dict[str, Any]], machine: dict[str, object]) -> str:
    """The result as Markdown."""
    ratios = [row["ms"]["numpy"] / row["ms"]["autojit"] for row in rows]
    lines = [
        "# Reductions",
        "",
        f"float64, policy eager, NumPy arrays in and out; medians of calls that take turns. {sentence(machine)}",
        "",
        "| program | shape | axis | NumPy ms | autojit ms | times as fast | agrees |",
        "| --- | --- | --- | ---: | ---: | ---: | --- |",
    ]
    for row, ratio in zip(rows, ratios, strict=True):
        shape, ms = " x ".join(map(str, row["shape"])), row["ms"]
        cells = (row["program"], shape, row["axis"], f"{ms['numpy']:.3f}", f"{ms['autojit']:.3f}", f"{ratio:.2f}")
        lines.append(f"| {' | '.join(map(str, cells))} | {row['problem'] or 'yes'} |")
    slower = sum(ratio < 0.95 for ratio in ratios)
    lines += ["", f"Geometric mean {geometric_mean(ratios):.2f}; {slower} of {len(ratios)} slower than 0.95 of NumPy."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(prog="python -m bench.reductions", description=__doc__)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--out", type=Path, default=RESULTS / "reductions", help="where to save, without the ending")
    options = parser.parse_args()
    machine, rows = describe(), measure(SHAPES, options.repeat)
    written = text(rows, machine)
    save(options.out, {"machine": machine, "rows": rows}, written)
    print(written)


if __name__ == "__main__":
    main()
