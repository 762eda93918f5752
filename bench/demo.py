"""Three NumPy programs with and without autojit: times, agreement, clusters, and what XLA made of one of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import autojit as aj
from autojit.runtime.agree import compare
from bench.machine import describe, sentence
from bench.programs import PROGRAMS, heat_step, pairwise_distances, running_example
from bench.timing import median_ms, once, take_turns


def show(title: str, function: Callable[..., Any], compiled: Any, arguments: tuple[Any, ...], repeat: int) -> bool:
    """Run a program both ways, print what came out, and say whether the answers agree."""
    expected = function(*arguments)
    actual, first = once(compiled, arguments)
    compiled(*arguments)
    times = take_turns({"numpy": function, "autojit": compiled}, lambda: arguments, repeat=repeat)
    numpy_ms, autojit_ms = (median_ms(seconds) for seconds in times.values())
    agreement = compare(expected, actual)
    found = compiled.explain(*arguments)
    verdict = f"agree, relative difference at most {agreement.error:.1e}" if agreement else agreement.problem
    print(f"\n{title}")
    print(f"  NumPy      {numpy_ms:8.2f} ms")
    print(f"  autojit    {autojit_ms:8.2f} ms   {numpy_ms / autojit_ms:.2f} times as fast; first call {first:.2f} s")
    print(f"  answers    {verdict}")
    print(
        f"  clusters   {len(found.clusters)}, host nodes {len(found.host_nodes)}, "
        f"native statements {len(found.native_statements)}{', one program' if found.is_whole else ''}"
    )
    return bool(agreement)


def head(text: str, lines: int) -> str:
    """The end of an HLO text: the entry computation, shortened."""
    start = text.rfind("ENTRY")
    rows = text[max(start, 0) :].splitlines()
    return "\n".join("  " + row[:150] for row in rows[:lines]) + ("\n  ..." if len(rows) > lines else "")


def main() -> None:
    """Run the demo; the exit status is 1 when an answer differs from NumPy's."""
    parser = argparse.ArgumentParser(prog="python -m bench.demo", description=__doc__)
    parser.add_argument("--small", action="store_true", help="small arrays, for a quick look")
    options = parser.parse_args()
    repeat = 3 if options.small else 9
    print(sentence(describe()))

    example = aj.jit_compile(running_example)
    size = 256 if options.small else 4096
    arguments = PROGRAMS["running_example"].make(size)
    good = show(f"mean of x**2 * 3 + y, {size} x {size}", running_example, example, arguments, repeat)

    size = 128 if options.small else 2048
    step = aj.autocluster(policy="eager")(heat_step)
    plate = PROGRAMS["heat_step"].make(size)
    good &= show(f"heat equation, one step, {size} x {size}", heat_step, step, plate, repeat)

    size = 500 if options.small else 5000
    distances = aj.autocluster(policy="eager")(pairwise_distances)
    points = PROGRAMS["pairwise_distances"].make(size)
    good &= show(f"pairwise distances, {size} x 256 points", pairwise_distances, distances, points, repeat)

    print("\nthe first program as XLA has optimized it")
    print(head(example.get_compiler_ir(*arguments)(stage="optimized_hlo"), 12))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
