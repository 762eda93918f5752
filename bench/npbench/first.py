"""The first call in a cold process, with autojit and without: `python -m bench.npbench.first --path CHECKOUT`.

Each call has a process of its own and an empty folder for the disk cache. The two ways take turns. The shortest calls
are compared: what other processes take from one of them says nothing about autojit; medians stand beside.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import autojit as aj
from bench.machine import describe, sentence
from bench.npbench.checkout import find, fresh
from bench.timing import geometric_mean, once

RESULTS = Path(__file__).resolve().parent.parent / "results"
#: A first call that takes more than this many times as long as NumPy's is told.
LIMIT = 1.2
WAYS = "numpy", "autojit"


def call(path: Path, name: str, preset: str, way: str) -> float:
    """The seconds of the first call, made here."""
    kernel = find(path, [name])[0]
    arguments = fresh(kernel.inputs(preset))
    module = kernel.load("_numpy", "first")
    function = getattr(module, kernel.function_name)
    if way == "autojit":
        function = aj.autocluster(policy="measured")(function)
        setattr(module, kernel.function_name, function)
    return once(function, arguments)[1]


def measure(path: Path, name: str, preset: str, repeat: int) -> dict[str, Any]:
    """The row of a kernel."""
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    for turn in range(repeat):
        for way in WAYS if turn % 2 == 0 else reversed(WAYS):
            words = ["--path", str(path), "--kernels", name, "--preset", preset, "--way", way]
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "AUTOJIT_FLAGS": f"--cache_dir={folder}"}
                command = [sys.executable, "-m", "bench.npbench.first", *words]
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            seconds[way].append(float(done.stdout.split()[-1]))
    least = {way: min(found) for way, found in seconds.items()}
    medians = {way: statistics.median(found) for way, found in seconds.items()}
    return {
        "kernel": name,
        **least,
        "ratio": least["autojit"] / least["numpy"],
        "ratio_of_medians": medians["autojit"] / medians["numpy"],
        "seconds": seconds,
    }


def text(rows: list[dict[str, Any]], preset: str, repeat: int, machine: dict[str, object]) -> str:
    """The result as Markdown."""
    above = ", ".join(f"{row['kernel']} {row['ratio']:.2f}" for row in rows if row["ratio"] > LIMIT) or "none"
    lines = [
        "# NPBench: the first call in a cold process",
        "",
        f"Preset {preset}, policy measured, the disk cache empty; the shortest of {repeat} processes each. "
        f"{sentence(machine)}",
        "",
        "| kernel | NumPy ms | autojit ms | times as long | by medians |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {row['kernel']} | {1e3 * row['numpy']:.1f} | {1e3 * row['autojit']:.1f} | {row['ratio']:.2f} | "
            f"{row['ratio_of_medians']:.2f} |"
            for row in rows
        ),
        "",
        f"More than {LIMIT} times as long as NumPy: {above}. "
        f"Geometric mean {geometric_mean(row['ratio'] for row in rows):.2f}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, save; or make one call, and print its seconds."""
    parser = argparse.ArgumentParser(prog="python -m bench.npbench.first", description=__doc__)
    parser.add_argument("--path", type=Path, required=True, help="an NPBench checkout")
    parser.add_argument("--preset", default="M", help="S, M, L or paper")
    parser.add_argument("--kernels", type=lambda words: words.split(","), default=None, help="names with commas")
    parser.add_argument("--repeat", type=int, default=5, help="processes per kernel and way")
    parser.add_argument("--out", type=Path, default=None, help="where to save, without the ending")
    parser.add_argument("--way", choices=WAYS, default=None, help="make one call in this process")
    options = parser.parse_args()
    if options.way:
        print(call(options.path, options.kernels[0], options.preset, options.way))
        return
    machine, rows = describe(), []
    for kernel in find(options.path, options.kernels):
        row = measure(options.path.resolve(), kernel.name, options.preset, options.repeat)
        rows.append(row)
        print(
            f"{row['kernel']:26} {row['numpy']:8.4f} s {row['autojit']:8.4f} s {row['ratio']:6.2f}, "
            f"by medians {row['ratio_of_medians']:5.2f}",
            flush=True,
        )
    written = text(rows, options.preset, options.repeat, machine)
    base = options.out or RESULTS / f"npbench-{options.preset}-first"
    base.with_name(base.name + ".json").write_text(json.dumps({"machine": machine, "kernels": rows}, indent=1) + "\n")
    base.with_name(base.name + ".md").write_text(written)
    print(written.splitlines()[-1])


if __name__ == "__main__":
    main()
