"""A function that is called with a different shape each time: what it costs, and what is kept."""

from __future__ import annotations

import argparse
import gc
import resource
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import autojit as aj
from autojit.config import set_flags
from autojit.runtime.agree import compare
from autojit.runtime.background import BACKGROUND
from bench.machine import describe, sentence
from bench.programs import softmax, standardize
from bench.saving import RESULTS, save

PROGRAMS = {program.__name__: program for program in (softmax, standardize)}


def shapes(count: int, largest: int, seed: int = 3) -> list[tuple[int, int]]:
    """Different shapes with up to `largest` elements, in no order."""
    rng = np.random.default_rng(seed)
    found: dict[tuple[int, int], None] = {}
    while len(found) < count:
        rows = int(rng.integers(1, 400))
        found[rows, int(rng.integers(1, max(2, largest // rows)))] = None
    return list(found)


def measure(name: str, count: int, largest: int, policy: str) -> dict[str, Any]:
    """Seconds of all calls in NumPy and through autojit, in turns; compilations; memory."""
    program = PROGRAMS[name]
    compiled = aj.autocluster(program, policy=policy)
    rng = np.random.default_rng(5)
    seconds = {"numpy": 0.0, "autojit": 0.0}
    warned: list[str] = []
    problem, memory = "", 0
    for number, shape in enumerate(shapes(count, largest)):
        x = rng.standard_normal(shape)
        start = time.perf_counter()
        expected = program(x)
        middle = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", aj.AutojitWarning)
            begin = time.perf_counter()
            actual = compiled(x)
            end = time.perf_counter()
        warned += [str(one.message) for one in caught]
        seconds["numpy"] += middle - start
        seconds["autojit"] += end - begin
        problem = problem or compare(expected, actual).problem
        if number == count // 2:
            gc.collect()
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    BACKGROUND.wait()
    info = compiled.cache_info()
    return {
        "program": name,
        "shapes": count,
        "seconds": seconds,
        "ratio": seconds["autojit"] / seconds["numpy"],
        "compiles": info.compiles,
        "plans": info.plans,
        "grown_mb_in_second_half": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024,
        "warnings": warned,
        "problem": problem,
    }


def text(rows: list[dict[str, Any]], policy: str, machine: dict[str, object]) -> str:
    """The result as Markdown."""
    lines = [
        "# Shapes that vary",
        "",
        f"Each call has a shape of its own; policy {policy}; NumPy and autojit take turns. {sentence(machine)}",
        "",
        "| program | shapes | NumPy s | autojit s | ratio | compiled | plans | memory, second half, MB | warnings |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        lines.append(
            f"| {row['program']} | {row['shapes']} | {row['seconds']['numpy']:.2f} | {row['seconds']['autojit']:.2f} | "
            f"{row['ratio']:.2f} | {row['compiles']} | {row['plans']} | +{row['grown_mb_in_second_half']:.0f} | "
            f"{len(row['warnings'])}{' ' + row['problem'] if row['problem'] else ''} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(prog="python -m bench.shapes", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--largest", type=int, default=200_000, help="the most elements of an array")
    parser.add_argument("--policy", default="measured")
    parser.add_argument("--out", type=Path, default=None, help="where to save, without the ending")
    options = parser.parse_args()
    set_flags(disk_cache=False)
    machine = describe()
    rows = [measure(name, options.count, options.largest, options.policy) for name in PROGRAMS]
    base = options.out or RESULTS / f"shapes-{options.policy}"
    written = text(rows, options.policy, machine)
    save(base, {"machine": machine, "rows": rows}, written)
    print(written)
    for row in rows:
        print(*dict.fromkeys(row["warnings"]), sep="\n")


if __name__ == "__main__":
    main()
