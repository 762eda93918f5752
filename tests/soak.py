"""An hour of random calls, shapes and threads: `python -m tests.soak --seed 1 --minutes 60`.

Threads call programs of `tests/programs` and `bench/programs.py` with arguments of random sizes, through functions that all
threads share and through ones that are decorated anew; results are kept for a while and looked at again. Prints each call that
differs from NumPy by more than rounding can, and the memory of the process once a minute, which must stay flat.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import gc
import io
import os
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np

import autojit as aj
from bench.programs import PROGRAMS
from tests.conditioning import is_rounding
from tests.helpers import TOLERANCE, Outcome, _aliases, _compare_outcomes, arrays_of, assert_same, clone, outcome
from tests.programs import chance
from tests.test_programs import MODULES

#: How many results a thread keeps, to look at them again.
KEPT = 200
#: Where this command writes; what the programs print is not shown.
OUT = sys.stdout
#: Memory may grow by so much between the second quarter and the last: by a part of it, or by megabytes.
PART, MEGABYTES = 0.05, 64


class Subject(NamedTuple):
    """A program, its generator of inputs, and how close a result must be."""

    program: Callable[..., Any]
    inputs: Callable[[np.random.Generator, int], tuple[Any, ...]]
    rtol: float | None
    sizes: tuple[int, ...]


def subjects() -> list[Subject]:
    """Everything that can be called."""
    found = [
        Subject(program, inputs, getattr(module, "RTOL", {}).get(program), (8, 9, 12, 13, 20))
        for module in MODULES
        if module is not chance  # its programs draw from the generator that all threads share
        for program, inputs in module.PROGRAMS.items()
    ]
    for each in PROGRAMS.values():
        sizes = each.small, each.small + 3, 2 * each.small, 8 * each.small
        found.append(Subject(each.run, lambda rng, size, make=each.make: make(size), 1e-9, sizes))
    return found


class Soak:
    """The state that the threads share.

    Args:
        seed: Repeats the choices of each thread; how the threads meet is not repeated.
        policies: What the functions are decorated with, at random.
    """

    def __init__(self, seed: int, policies: tuple[str, ...]) -> None:
        self.seed = seed
        self.policies = policies
        self.subjects = subjects()
        self.functions: dict[tuple[int, str], Any] = {}
        self.calls = self.differences = self.rounded = 0
        self.stops = False
        self._lock = threading.Lock()

    def work(self, number: int) -> None:
        """One thread."""
        random, kept = Random(f"{self.seed} {number}"), collections.deque[tuple[Any, Any]](maxlen=KEPT)
        while not self.stops:
            which = random.randrange(len(self.subjects))
            subject, seed = self.subjects[which], random.randrange(1 << 30)
            size, policy = random.choice(subject.sizes), random.choice(self.policies)
            try:
                args = subject.inputs(np.random.default_rng(seed), size)
                function = self._function(which, policy, random)
                expected = outcome(subject.program, args, {})
                got = outcome(function, args, {})
                self._judge(subject, size, seed, got, expected)
                kept.append((got.result, clone(got.result)))
                self._look_again(random, kept)
            except Exception:
                with self._lock:
                    self.differences += 1
                    print(f"==== {subject.program.__name__}, size {size}, seed {seed}, {policy}, thread {number}", file=OUT)
                    traceback.print_exc(file=OUT)
            with self._lock:
                self.calls += 1

    def _judge(self, subject: Subject, size: int, seed: int, got: Outcome, expected: Outcome) -> None:
        """Raise if an answer is not NumPy's; where rounding decides about a result, that is counted."""
        try:
            _compare_outcomes(got, expected, subject.rtol)
        except AssertionError:
            if got.error is not None or expected.error is not None:
                raise
            assert_same(got.arguments, expected.arguments, subject.rtol)
            assert _aliases(got) == _aliases(expected)
            if not is_rounding(
                subject.program,
                lambda: subject.inputs(np.random.default_rng(seed), size),
                got.result,
                subject.rtol or TOLERANCE["float64"],
            ):
                raise
            with self._lock:
                self.rounded += 1
                print(f"---- {subject.program.__name__}, size {size}, seed {seed}: rounding", file=OUT)

    def _function(self, which: int, policy: str, random: Random) -> Any:
        """The decorated function that all share; now and then a new one, or one that has forgotten its plans."""
        function = self.functions.get((which, policy))
        chance = random.random()
        if function is None or chance < 0.01:
            function = aj.autocluster(self.subjects[which].program, policy=policy)
            self.functions[which, policy] = function
        elif chance < 0.015:
            function.clear_cache()
        return function

    @staticmethod
    def _look_again(random: Random, kept: collections.deque[tuple[Any, Any]]) -> None:
        """A result of before is still what it was, whatever has been computed since; then its memory is given back."""
        if random.random() < 0.1:
            result, copy = kept[random.randrange(len(kept))]
            assert_same(result, copy, 0.0)
        if random.random() < 0.05:
            for array in arrays_of(kept.popleft()[0]):
                with contextlib.suppress(ValueError):  # read-only
                    array.fill(0)


def resident() -> float:
    """The memory of this process, in megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def is_flat(memory: list[float]) -> bool:
    """Whether the memory of the last quarter is that of the second."""
    quarter = len(memory) // 4
    before, after = max(memory[quarter : 2 * quarter] or memory), max(memory[3 * quarter :])
    return after - before < max(PART * before, MEGABYTES)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--policies", default="eager,measured", help="with commas between them")
    options = parser.parse_args()
    sys.stdout = io.StringIO()
    warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's floating point warnings, which plans do not repeat
    warnings.filterwarnings("error", category=aj.AutojitWarning)
    warnings.filterwarnings("ignore", r"autojit \[too-many-plans\]", aj.AutojitWarning)  # that many kinds of calls come is the point
    soak = Soak(options.seed, tuple(options.policies.split(",")))
    threads = [threading.Thread(target=soak.work, args=(number,), daemon=True) for number in range(options.threads)]
    for thread in threads:
        thread.start()
    start, memory = time.monotonic(), []
    while time.monotonic() - start < 60 * options.minutes:
        time.sleep(min(60.0, 60 * options.minutes / 8))
        sys.stdout = io.StringIO()
        gc.collect()
        memory.append(resident())
        minutes = (time.monotonic() - start) / 60
        print(f"{minutes:.1f} min: {soak.calls} calls, {soak.differences} differ, {memory[-1]:.0f} MB", file=OUT, flush=True)
    soak.stops = True
    for thread in threads:
        thread.join()
    print(f"{soak.rounded} answers were decided by rounding", file=OUT)
    print(f"{soak.calls} calls, {soak.differences} differ; memory is {'' if is_flat(memory) else 'NOT '}flat", file=OUT)
    return 1 if soak.differences or not is_flat(memory) else 0


if __name__ == "__main__":
    sys.exit(main())
