"""Whole scripts as they are, run by `python` and by `python -m autojit run`: output, exit status, time.

The launcher runs each script twice: with nothing in the disk cache, and again with what the first run has left there.
"""

from __future__ import annotations

import argparse
import compileall
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import autojit
from bench.machine import describe, sentence
from bench.saving import save

SCRIPTS = Path(__file__).resolve().parent.parent / "tests" / "programs" / "scripts"
#: How far printed numbers may be apart, relative to their size: sums are added up in another order.
TOLERANCE = 1e-9
#: Scripts that take NumPy so many seconds have something to gain.
LONG = 5.0
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass
class Run:
    """What a script did.

    Attributes:
        seconds: Of the whole process.
    """

    output: str
    errors: str
    status: int
    seconds: float


@dataclass
class Row:
    """A script's result.

    Attributes:
        name: Its file's name.
        numpy: Seconds of the whole process under `python`, the median.
        autojit: The same under `python -m autojit run`, the first time.
        again: The same, the second time.
        output: "identical"; "close", where only numbers differ, by rounding; or what differs.
    """

    name: str
    numpy: float
    autojit: float
    again: float
    output: str

    @property
    def speed(self) -> float:
        """How many times as fast the first time is."""
        return self.numpy / self.autojit

    @property
    def speed_again(self) -> float:
        """How many times as fast the second time is."""
        return self.numpy / self.again


def run(script: Path, scale: str, cache: str = "") -> Run:
    """Run a script in a folder of its own.

    Args:
        script: It.
        scale: Its argument: how much work it does, where 1 is all.
        cache: Where autojit, which runs it, keeps compiled programs; "" for `python`.
    """
    launcher = ["-m", "autojit", "run", f"--cache_dir={cache}"] if cache else []
    start = [sys.executable, *launcher]
    paths = [str(SCRIPTS.parents[2]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "MPLBACKEND": "Agg"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        done = subprocess.run(
            [*start, str(script), scale], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
        )
        return Run(done.stdout, done.stderr, done.returncode, time.perf_counter() - begin)


def difference(wanted: Run, got: Run) -> str:
    """What differs between two runs; "identical" or "close" for nothing."""
    if (wanted.status, wanted.errors) != (got.status, got.errors):
        return f"status {got.status} instead of {wanted.status}, stderr {got.errors[-300:]!r}"
    if wanted.output == got.output:
        return "identical"
    if _NUMBER.sub("#", wanted.output) != _NUMBER.sub("#", got.output):
        return "the text differs"
    pairs = zip(_NUMBER.findall(wanted.output), _NUMBER.findall(got.output), strict=True)
    apart = [(one, other) for one, other in pairs if not _close(one, other)]
    return f"{apart[0][1]} instead of {apart[0][0]}" if apart else "close"


def _close(one: str, other: str) -> bool:
    """Whether two printed numbers are the same but for rounding: of the computation, or to the last digit shown."""
    if "." not in one and "e" not in one.lower():
        return one == other
    digits = len(one.partition(".")[2].lower().partition("e")[0])
    exponent = int((one.lower().partition("e")[2]) or 0)
    last = 10.0 ** (exponent - digits)
    return abs(float(one) - float(other)) <= max(1.01 * last, TOLERANCE * abs(float(one)))


def measure(script: Path, scale: str, repeat: int) -> Row:
    """Run a script in turns."""
    plain, first, again = [], [], []
    for _ in range(repeat):
        plain.append(run(script, scale))
        with tempfile.TemporaryDirectory() as cache:
            first.append(run(script, scale, cache))
            again.append(run(script, scale, cache))
    told = {difference(plain[0], each) for each in [*first, *again]}
    worst = max(told, key=lambda text: ("identical", "close", text).index(text))
    seconds = [statistics.median(each.seconds for each in runs) for runs in (plain, first, again)]
    return Row(script.stem, *seconds, worst)


def table(rows: list[Row], machine: dict[str, object]) -> str:
    """The rows to read."""
    lines = ["# Whole scripts under `python -m autojit run`", "", sentence(machine), ""]
    lines += ["| script | NumPy s | autojit s | again s | times as fast | again | output |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | ---: | --- |"]
    for row in rows:
        times = f"{row.numpy:.2f} | {row.autojit:.2f} | {row.again:.2f} | {row.speed:.2f} | {row.speed_again:.2f}"
        lines.append(f"| {row.name} | {times} | {row.output} |")
    long = [row for row in rows if row.numpy > LONG]
    if long:
        first, again = _mean(row.speed for row in long), _mean(row.speed_again for row in long)
        words = f"Geometric mean of the {len(long)} that take NumPy over {LONG:.0f} s"
        lines += ["", f"{words}: {first:.2f}, again {again:.2f}."]
    return "\n".join([*lines, ""])


def _mean(speeds: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, speeds)))


def main() -> int:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(prog="python -m bench.scripts", description=__doc__)
    parser.add_argument("--scripts", default="", help="names, with commas between them; all without")
    parser.add_argument("--scale", default="1", help="how much work each does, where 1 is all")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=Path, help="save the table there, as .md and .json")
    options = parser.parse_args()
    names = [name for name in options.scripts.split(",") if name]
    machine, rows = describe(), []
    compileall.compile_dir(Path(autojit.__file__).parent, quiet=1)
    for script in sorted(SCRIPTS.glob("*.py")):
        if not names or script.stem in names:
            rows.append(measure(script, options.scale, options.repeat))
            print(rows[-1], flush=True)
    print(table(rows, machine))
    if options.out is not None:
        save(options.out, {"machine": machine, "rows": [asdict(row) for row in rows]}, table(rows, machine))
    return int(any(row.output not in ("identical", "close") for row in rows))


if __name__ == "__main__":
    sys.exit(main())
