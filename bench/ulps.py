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


def ulps(expected: np.ndarray, actual: np.ndarray, unit: np.ndarray | None = None) -> np.ndarray:
    """The distances in units in the last place of NumPy's results (of `unit`, where given)."""
    unit = np.abs(expected) if unit is None else unit
    # Where NumPy gives zero, the unit is that of one: the last place of nothing is meaningless.
    spacing = np.spacing(np.where(unit == 0, 1, unit).astype(expected.dtype)).astype(np.float64)
    return np.abs(expected.astype(np.float64) - actual.astype(np.float64)) / spacing


def measure(name: str, dtype: np.dtype) -> tuple[float, float]:
    """The largest distance, and the share of results that are equal."""
    rng = np.random.default_rng(7)
    function = getattr(np, name)
    count = 2 if isinstance(function, np.ufunc) and function.nin == 2 else 1
    low, high = INTERVALS.get(name, DEFAULT)
    if name == "prod":
        arguments: tuple[np.ndarray, ...] = (rng.uniform(0.9, 1.1, 1000).astype(dtype),)
    else:
        arguments = tuple(rng.uniform(low, high, COUNT).astype(dtype) for _ in range(count))
    call = of_two(function) if count == 2 else of_one(function)
    expected, actual = np.asarray(call(*arguments)), np.asarray(aj.jit_compile(call)(*arguments))
    unit = None
    if name in REDUCTIONS and name != "prod":
        # Terms of both signs cancel: the error of a sum is measured against its terms.
        unit = np.maximum(np.abs(expected), np.abs(arguments[0]).max())
    distance = ulps(expected, actual, unit)
    return float(distance.max()), float(np.mean(expected == actual))


def page(rows: list[tuple[str, list[tuple[float, float]]]]) -> str:
    """The page."""
    heads = [f"{dtype.name}: {what}" for dtype in DTYPES for what in ("largest distance", "equal")]
    lines = [
        "# Measured distances",
        "",
        "The largest distance of a compiled result from NumPy's in units in the last place, and the share of equal "
        f"results, on {COUNT:,} numbers drawn evenly from each function's interval. Sums are measured in units of the "
        "result or the largest term, whichever is larger. Made by `python -m bench.ulps`.",
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
