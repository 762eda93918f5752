"""What `import autojit` costs beyond `import jax`: fresh processes, in turns."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

from bench.machine import describe, sentence

STATEMENTS = {
    "nothing": "pass",
    "NumPy": "import numpy",
    "jax": "import numpy, jax, jax.numpy",
    "autojit": "import autojit",
    "autojit, after jax": "import numpy, jax, jax.numpy; start = time.perf_counter(); import autojit",
}


def seconds(statement: str) -> float:
    """The time of a statement in a new process, as that process measures it."""
    program = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    return float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.imports", description=__doc__)
    parser.add_argument("--repeat", type=int, default=15)
    options = parser.parse_args()
    print(sentence(describe()), "", "| import | median ms |", "| --- | --- |", sep="\n")
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(options.repeat):
        for name, statement in STATEMENTS.items():
            times[name].append(seconds(statement))
    for name, found in times.items():
        print(f"| {name} | {1e3 * statistics.median(found):.1f} |")


if __name__ == "__main__":
    main()
