"""`python -m autojit bisect -- COMMAND`: the one cluster that makes a program's output differ, or its run slow."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shlex
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from autojit.config import ENVIRONMENT_VARIABLE
from autojit.errors import AutojitError
from autojit.runtime.ledger import LEDGER

USAGE = "python -m autojit bisect [--slow] [--rtol=NUMBER] [--repeat=COUNT] -- COMMAND ..."
#: More clusters than a program has.
_ALL = 10**9
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
#: What a run under `--slow` must lose against NumPy, in parts of its time, before anything is looked for.
_SLOWER = 1.02


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of the command did.

    Attributes:
        output: What it printed on stdout.
        errors: What it printed on stderr.
        status: Its exit status.
        seconds: How long it took; of several runs the shortest.
        clusters: What its first process has told of each cluster, by number.
    """

    output: str
    errors: str
    status: int
    seconds: float
    clusters: dict[int, dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    add = parser.add_argument
    add("--slow", action="store_true", help="look for the cluster that takes most time, not for a difference")
    add("--rtol", type=float, default=0.0, help="how far printed numbers may be apart, relative to their size")
    add("--repeat", type=int, default=3, help="how often each run is timed under --slow")
    add("program", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="what to run, with its arguments")


def bisect(given: argparse.Namespace) -> int:
    """Run the command again and again, print what was found, and give the exit status: 0 where a cluster was found.

    Raises:
        AutojitError: There is no command, or it cannot be run.
    """
    words = given.program[1:] if given.program[:1] == ["--"] else given.program
    if not words:
        raise AutojitError("there is no command to run: python -m autojit bisect -- python script.py")
    with tempfile.TemporaryDirectory() as folder:
        try:
            search = _Search(words, given, Path(folder))
            return search.slow() if given.slow else search.different()
        except KeyboardInterrupt:
            return 130  # as shells say it


class _Search:
    def __init__(self, words: list[str], given: argparse.Namespace, folder: Path) -> None:
        self._words, self._folder = words, folder
        self._rtol, self._repeat = given.rtol, max(1, given.repeat)
        self.plain = self._run("--auto_jit=0")
        self.whole = self._run(_fuel(_ALL))
        self._count = max(self.whole.clusters, default=0)
        print(f"{shlex.join(words)}: {self._count} cluster(s) under --policy=eager", flush=True)
        others = [entry for entry in self.whole.clusters.values() if entry["policy"] != "eager"]
        if others:
            told = f"{len(others)} of them under --policy={others[0]['policy']}, as the command or a decorator says"
            print(f"{told}: their order depends on time", flush=True)

    def different(self) -> int:
        """Look for the cluster without which the output is that of NumPy."""
        if not self._differs(self.whole):
            status = self.plain.status
            failed = f": it ends with status {status} either way{_last(self.plain)}" if status else ""
            print(f"the output and the exit status are those without autojit{failed}: there is nothing to look for")
            return 1
        if self._differs(self._run(_fuel(0))):
            print("the output differs without any cluster, too: the program does not do the same in each run")
            return 1
        good, bad, found = 0, self._count, self._run(_fuel(self._count))
        if not self._differs(found):
            print("with all of these clusters the output is the same: another process that the command starts makes")
            print("the difference, or the program does not do the same in each run")
            return 1
        while bad - good > 1:
            middle = (good + bad) // 2
            run = self._run(_fuel(middle))
            differs = self._differs(run)
            print(f"  with the first {middle}: {'differs' if differs else 'the same'}", flush=True)
            if differs:
                bad, found = middle, run
            else:
                good = middle
        print(f"cluster {bad} makes the difference")
        self._show(bad, found)
        print(self._difference(found))
        return 0

    def slow(self) -> int:
        """Look for the cluster that adds most to the time of the run."""
        plain, whole = (self._timed(flags) for flags in ("--auto_jit=0", _fuel(_ALL)))
        print(f"without autojit {plain.seconds:.2f} s, with all clusters {whole.seconds:.2f} s", flush=True)
        if not self._count or whole.seconds <= _SLOWER * plain.seconds:
            print("it is not slower: there is nothing to look for")
            return 1
        low, high = 0, self._count
        first, last = self._timed(_fuel(0)).seconds, whole.seconds
        while high - low > 1:
            middle = (low + high) // 2
            seconds = self._timed(_fuel(middle)).seconds
            print(f"  with the first {middle}: {seconds:.2f} s", flush=True)
            # The clusters of one half add more to the time than those of the other.
            if seconds - first > last - seconds:
                high, last = middle, seconds
            else:
                low, first = middle, seconds
        print(f"cluster {high} takes {last - first:.2f} s more than NumPy does in its place")
        self._show(high, self.whole)
        return 0

    def _timed(self, flags: str) -> Run:
        """The fastest of some runs, whose programs are compiled already."""
        cache = f"--cache_dir={self._folder / 'cache'} --disk_cache=1"
        self._run(f"{flags} {cache}")  # compiles
        return min((self._run(f"{flags} {cache}") for _ in range(self._repeat)), key=lambda run: run.seconds)

    def _run(self, flags: str) -> Run:
        ledger = self._folder / "clusters"
        ledger.unlink(missing_ok=True)
        mine = f"{os.environ.get(ENVIRONMENT_VARIABLE, '')} --policy=eager --disk_cache=0 {flags}".strip()
        environment = {**os.environ, ENVIRONMENT_VARIABLE: mine, LEDGER: str(ledger)}
        start = perf_counter()
        try:
            done = subprocess.run(self._words, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
        except OSError as error:
            raise AutojitError(f"`{shlex.join(self._words)}` cannot be run: {error.strerror}") from error
        seconds = perf_counter() - start
        if done.returncode == -signal.SIGINT:
            raise KeyboardInterrupt
        output, errors = (text.decode(errors="backslashreplace") for text in (done.stdout, done.stderr))
        return Run(output, errors, done.returncode, seconds, _clusters(ledger))

    def _differs(self, run: Run) -> bool:
        return run.status != self.plain.status or not _same(self.plain.output, run.output, self._rtol)

    def _difference(self, run: Run) -> str:
        """The first line that differs, or how the program ends."""
        if run.status != self.plain.status:
            return f"exit status {run.status} instead of {self.plain.status}{_last(run)}"
        theirs, mine = self.plain.output.splitlines(), run.output.splitlines()
        for number, (expected, got) in enumerate(zip(theirs, mine, strict=False), 1):
            if not _same(expected, got, self._rtol):
                return f"first in line {number} of the output:\n  without autojit: {expected}\n  with it:         {got}"
        return f"{len(mine)} lines of output instead of {len(theirs)}"

    def _show(self, number: int, run: Run) -> None:
        cluster = run.clusters[number]
        first, last = cluster["region"]
        where = f"line {first}" if first == last else f"lines {first}-{last}"
        print(f"{cluster['cluster']} of `{cluster['function']}`, {where}: {', '.join(cluster['operations'])}")
        width = max((len(str(line)) for _, line, _ in cluster["lines"]), default=0)
        file = None
        for name, line, text in cluster["lines"]:
            if name != file:
                print(f"  {name}")
            file = name
            print(f"    {line:{width}}  {text}")
        print("as NumPy code")
        print("\n".join(f"    {line}" for line in cluster["graph"].splitlines()))


def _last(run: Run) -> str:
    """The last line of what a run has printed on stderr."""
    return "".join(f" ({line})" for line in run.errors.strip().splitlines()[-1:])


def _fuel(count: int) -> str:
    return f"--clustering_fuel={count}"


def _clusters(ledger: Path) -> dict[int, dict[str, Any]]:
    """What the process that came first has told, by number."""
    entries = [json.loads(line) for line in ledger.read_text().splitlines()] if ledger.exists() else []
    return {entry["number"]: entry for entry in reversed(entries) if entry["process"] == entries[0]["process"]}


def _same(expected: str, got: str, rtol: float) -> bool:
    """Whether two outputs are equal but for numbers that are close."""
    if expected == got:
        return True
    expected, got = (" ".join(text.split()) for text in (expected, got))  # NumPy pads numbers to equal widths
    if not rtol or _NUMBER.split(expected) != _NUMBER.split(got):
        return False
    numbers = zip(_NUMBER.findall(expected), _NUMBER.findall(got), strict=True)
    return all(math.isclose(float(one), float(other), rel_tol=rtol) for one, other in numbers)
