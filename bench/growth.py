"""How time grows: with the size of arrays, the length of a program, the number of arguments, shapes and threads.

Writes one table and, where matplotlib is installed, one picture per curve into `bench/results`.
"""

from __future__ import annotations

import argparse
import itertools
import linecache
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import autojit as aj
from autojit.config import set_flags
from bench.machine import describe, sentence
from bench.programs import running_example, standardize
from bench.saving import RESULTS, save
from bench.timing import median_ms, once, take_turns

Point = dict[str, float]


def chain(length: int, arguments: int) -> Callable[..., Any]:
    """A straight program of so many operations over so many arrays."""
    names = [f"a{number}" for number in range(arguments)]
    lines = [f"def program({', '.join(names)}):", "    x = a0"]
    for number in range(length // 2):
        other = names[number % arguments]
        lines.append(f"    x = x * {1 - 1 / (number + 2)} + {other}" if number % 5 else f"    x = np.abs(x) - {other}")
    namespace: dict[str, Any] = {"np": np}
    source = "\n".join([*lines, "    return x"])
    return _from_source(source, namespace, f"<chain of {length} over {arguments}>")


def _from_source(source: str, namespace: dict[str, Any], file: str) -> Callable[..., Any]:
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), namespace)
    return namespace["program"]


def compared(function: Callable[..., Any], arguments: tuple[Any, ...], budget: float) -> Point:
    """The first call in seconds, and medians of warm ones in milliseconds, of NumPy and compiled."""
    compiled = aj.autocluster(function, policy="eager")
    _, first = once(compiled, arguments)
    compiled(*arguments)
    times = take_turns({"numpy": function, "autojit": compiled}, lambda: arguments, repeat=25, budget=budget)
    found = {"first_s": first, **{f"{name}_ms": median_ms(seconds) for name, seconds in times.items()}}
    compiled.clear_cache()  # type: ignore[attr-defined] -- a decorated function has it
    return found


def sizes(largest: int) -> Iterator[Point]:
    """Elements of two arrays, 10 to `largest`, about three points per decade."""
    for size in np.unique(np.geomspace(10, largest, 3 * round(np.log10(largest / 10)) + 1).astype(int)):
        x, y = np.random.default_rng(0).standard_normal((2, size)).copy()
        found = compared(running_example, (x, y), 4.0)
        yield {"elements": int(size), **found, "ns_per_element": found["autojit_ms"] * 1e6 / size}


def columns(largest: int) -> Iterator[Point]:
    """The same with reductions along the first axis and results of the same size."""
    for size in np.unique(np.geomspace(4, int(largest**0.5), 12).astype(int)):
        found = compared(standardize, (np.random.default_rng(0).standard_normal((size, size)),), 4.0)
        yield {"elements": int(size) ** 2, **found, "ns_per_element": found["autojit_ms"] * 1e6 / size**2}


def lengths(longest: int) -> Iterator[Point]:
    """Operations of a straight program; the first call is capture and compilation."""
    x = np.random.default_rng(0).standard_normal((3, 1000)).copy()
    for length in (10, 30, 100, 300, 1000, longest):
        found = compared(chain(length, 3), tuple(x), 2.0)
        yield {"operations": length, **found, "first_ms_per_operation": found["first_s"] * 1e3 / length}


def many_arguments(most: int) -> Iterator[Point]:
    """Arguments of a program of twice as many operations."""
    for count in (1, 3, 10, 30, 100, most):
        x = np.random.default_rng(0).standard_normal((count, 1000)).copy()
        yield {"arguments": count, **compared(chain(2 * count, count), tuple(x), 2.0)}


def many_shapes(most: int) -> Iterator[Point]:
    """Shapes that come in turns; each has a plan of its own up to `max_plans`."""
    for count in (1, 2, 4, 8, 16, most):
        rng = np.random.default_rng(0)
        arrays = [(rng.standard_normal(20_000 + n), rng.standard_normal(20_000 + n)) for n in range(count)]
        compiled = aj.autocluster(lambda x, y: np.tanh(x * y) + np.sqrt(x * x + 1), policy="eager", max_plans=64)
        first = sum(once(compiled, pair)[1] for pair in arrays)
        for pair in arrays:
            compiled(*pair)
        times = [once(compiled, pair)[1] for _ in range(50) for pair in arrays]
        yield {"shapes": count, "first_s": first, "autojit_ms": median_ms(times)}


def many_threads(most: int) -> Iterator[Point]:
    """Calls per second of threads that call the same function, each with arrays of its own."""

    def work(x, y):
        for _ in range(20):
            x = np.sin(x) * 0.5 + y
        return x

    compiled = aj.autocluster(work, policy="eager")
    for count in (1, 2, 4, 8, most):
        found: Point = {"threads": count}
        for name, function in (("numpy", work), ("autojit", compiled)):
            arrays = np.random.default_rng(0).standard_normal((count, 2, 20_000)).copy()
            function(*arrays[0])
            done = [0] * count
            end = time.perf_counter() + 2.0
            threads = [
                threading.Thread(target=_call_until, args=(end, function, arrays[number], done, number))
                for number in range(count)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            found[f"{name}_calls_per_s"] = sum(done) / 2.0
        yield found


def _call_until(end: float, function: Callable[..., Any], arguments: Any, done: list[int], number: int) -> None:
    while time.perf_counter() < end:
        function(*arguments)
        done[number] += 1


CURVES: dict[str, tuple[Callable[[int], Iterator[Point]], int]] = {
    "sizes": (sizes, 10**8),
    "columns": (columns, 10**8),
    "lengths": (lengths, 3000),
    "arguments": (many_arguments, 300),
    "shapes": (many_shapes, 32),
    "threads": (many_threads, 16),
}


def cliffs(points: list[Point]) -> list[str]:
    """Neighbours between which the cost per element more than doubles."""
    return [
        f"{before['elements']} to {after['elements']}: "
        f"{before['ns_per_element']:.2f} to {after['ns_per_element']:.2f} ns"
        for before, after in itertools.pairwise(points)
        if "ns_per_element" in after and after["ns_per_element"] > 2 * before["ns_per_element"]
    ]


def text(found: dict[str, list[Point]], machine: dict[str, object]) -> str:
    """The result as Markdown."""
    lines = ["# Growth", "", f"Policy eager. {sentence(machine)}"]
    for name, points in found.items():
        titles = list(points[0])
        lines += ["", f"## {name.capitalize()}", "", "| " + " | ".join(titles) + " |", "| --- " * len(titles) + "|"]
        lines += ["| " + " | ".join(f"{point[title]:.4g}" for title in titles) + " |" for point in points]
        if "ns_per_element" in titles:
            lines += ["", "Cost per element more than doubles: " + ("; ".join(cliffs(points)) or "nowhere")]
    return "\n".join(lines) + "\n"


def draw(name: str, points: list[Point], file: Path) -> bool:
    """A picture of one curve; not without matplotlib."""
    try:
        import matplotlib  # type: ignore[import-not-found] -- an extra

        matplotlib.use("Agg")
        from matplotlib import pyplot  # type: ignore[import-not-found] -- an extra
    except ImportError:
        return False
    axis, *values = list(points[0])
    figure, axes = pyplot.subplots(figsize=(6, 4))
    for value in values:
        axes.loglog([point[axis] for point in points], [point[value] for point in points], marker=".", label=value)
    axes.set_xlabel(axis)
    axes.set_title(name)
    axes.legend()
    figure.tight_layout()
    figure.savefig(file)
    pyplot.close(figure)
    return True


def main() -> None:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("curves", nargs="*", default=list(CURVES), help="all by default")
    parser.add_argument("--out", type=Path, default=RESULTS / "growth", help="where to save, without the ending")
    options = parser.parse_args()
    set_flags(disk_cache=False)
    machine, found = describe(), {}
    for name in options.curves:
        curve, most = CURVES[name]
        found[name] = []
        for point in curve(most):
            found[name].append(point)
            print(name, {key: float(f"{value:.4g}") for key, value in point.items()}, flush=True)
        draw(name, found[name], options.out.with_name(f"{options.out.name}-{name}.svg"))
    written = text(found, machine)
    save(options.out, {"machine": machine, "curves": found}, written)
    print(written)


if __name__ == "__main__":
    main()
