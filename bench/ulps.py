"""How far compiled floating point results are from NumPy's, in units in the last place; writes a documentation page.

`python -m bench.ulps` measures each function on a million numbers and rewrites `docs/reference/ulps.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import autojit as aj
from bench.machine import describe, sentence

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "ulps.md"
COUNT = 1_000_000
DTYPES = (np.dtype(np.float64), np.dtype(np.float32))

#: The interval from which the arguments are drawn, evenly, by function name; `DEFAULT` for the others.
DEFAULT = (-10.0, 10.0)
INTERVALS = {
    **dict.fromkeys(("log", "log2", "log10", "sqrt"), (1e-6, 1e6)),
    **dict.fromkeys(("arcsin", "arccos", "arctanh"), (-0.999, 0.999)),
    **dict.fromkeys(("power", "arccosh"), (1.0, 20.0)),
    "log1p": (-0.999, 1e3),
    "prod": (0.9, 1.1),
    "exp": (-80.0, 80.0),
    **dict.fromkeys(("sin", "cos", "tan"), (-1e3, 1e3)),
}

EXACT = "add subtract multiply divide sqrt square reciprocal negative absolute minimum maximum floor rint"
UNARY = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt"
)
BINARY = "power arctan2 hypot logaddexp remainder floor_divide"
ELEMENTWISE = f"{EXACT} {UNARY} {BINARY}".split()
REDUCTIONS = "sum mean std prod cumsum".split()

#: Terms of both signs cancel: the error is measured against the largest number among the terms and results.
CANCELLING = "sum mean cumsum logaddexp".split()


def of_one(function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's function around a NumPy function of one array."""

    def call(x):
        return function(x)

    return call


def of_two(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for two arrays."""

    def call(x, y):
        return function(x, y)

    return call


def of_rows(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for the rows of a matrix."""

    def call(x):
        return function(x, axis=1)

    return call


def ulps(expected: np.ndarray, actual: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """The distances in units in the last place of `unit`."""
    # Where the unit is zero it is that of one: the last place of nothing is meaningless.
    spacing = np.spacing(np.where(unit == 0, 1, unit).astype(expected.dtype)).astype(np.float64)
    return np.abs(expected.astype(np.float64) - actual.astype(np.float64)) / spacing


def measure(name: str, dtype: np.dtype) -> tuple[float, float]:
    """The largest distance, and the share of results that are equal."""
    rng = np.random.default_rng(7)
    function = getattr(np, name)
    low, high = INTERVALS.get(name, DEFAULT)
    if name in REDUCTIONS:
        call, shapes = of_rows(function), [(COUNT // 1000, 1000)]
    elif function.nin == 2:
        call, shapes = of_two(function), [(COUNT,), (COUNT,)]
    else:
        call, shapes = of_one(function), [(COUNT,)]
    arguments = [rng.uniform(low, high, shape).astype(dtype) for shape in shapes]
    expected, actual = np.asarray(call(*arguments)), np.asarray(aj.jit_compile(call)(*arguments))
    unit = np.abs(expected)
    if name in CANCELLING:
        unit = np.maximum(unit.max(), max(np.abs(x).max() for x in arguments)) * np.ones_like(unit)
    return float(ulps(expected, actual, unit).max()), float(np.mean(expected == actual))


def page(rows: list[tuple[str, list[tuple[float, float]]]]) -> str:
    """The page."""
    heads = [f"{dtype.name}: {what}" for dtype in DTYPES for what in ("largest distance", "equal")]
    lines = [
        "# Measured distances",
        "",
        "The largest distance of a compiled result from NumPy's in units in the last place, and the share of equal "
        f"results, on {COUNT:,} numbers drawn evenly from each function's interval; reductions are those of rows of "
        f"1000. For {', '.join(f'`np.{name}`' for name in CANCELLING)} the unit is that of the largest number among "
        "terms and results, because terms of both signs cancel. Made by `python -m bench.ulps`.",
        "",
        sentence(describe()),
        "",
        "| function | " + " | ".join(heads) + " |",
        "| --- " * (len(heads) + 1) + "|",
    ]
    for name, found in rows:
        cells = [cell for largest, equal in found for cell in (f"{largest:.3g}", f"{100 * equal:.1f} %")]
        lines.append(f"| `np.{name}` | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Measure everything and write the page."""
    rows = []
    for name in (*ELEMENTWISE, *REDUCTIONS):
        rows.append((name, [measure(name, dtype) for dtype in DTYPES]))
        print(name, *(f"{largest:.3g} {100 * equal:.1f}%" for largest, equal in rows[-1][1]), flush=True)
    PAGE.write_text(page(rows))


if __name__ == "__main__":
    main()
