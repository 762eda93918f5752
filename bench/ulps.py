"""How far compiled floating point results are from NumPy's and from exact ones; writes a documentation page.

`python -m bench.ulps` measures each function and dtype, compares with the published bounds of `bench/ulp_bounds.json`,
which the tests enforce, too, and rewrites `docs/reference/ulps.md`. `--bounds` lowers the bounds to what was measured,
with room for other processors, and adds those that are missing; it never raises one.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import autojit as aj
from bench.machine import describe, sentence
from bench.ulp_draws import CANCELLING, cases, distance, draw, reference

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "ulps.md"
BOUNDS = Path(__file__).resolve().parent / "ulp_bounds.json"
COUNT = 200_000

ROWS = 1000
REDUCTIONS = "sum mean std prod cumsum".split()
#: Terms of both signs cancel: the error is measured against the largest number among the terms and results.
MIXED = "sum mean cumsum".split()


class Measured(NamedTuple):
    """The largest distances: of the compiled result from NumPy's and from the reference, of NumPy's from that."""

    numpy: float
    reference: float
    numpys: float
    equal: float


def of(name: str) -> Callable[..., Any]:
    """A user's function around a NumPy function."""
    function = getattr(np, name)
    if name in REDUCTIONS:
        return lambda x: function(x, axis=1)
    return (lambda x: function(x)) if function.nin == 1 else (lambda x, y: function(x, y))


def measure(name: str, dtype: np.dtype, count: int = COUNT) -> Measured:
    """The distances of one function, on `count` numbers."""
    call = of(name)
    arguments = draw(name, dtype, count)
    with np.errstate(all="ignore"):
        expected = np.asarray(call(*arguments))
    compiled = aj.jit_compile(call)
    actual = np.asarray(compiled(*arguments))
    assert not compiled.cache_info().traps, f"`np.{name}` of {dtype} was left to NumPy"
    exact = reference(name, arguments)
    pairs = ((actual, expected), (actual, exact), (expected, exact))
    found = [float(distance(name, arguments, got, wanted).max()) for got, wanted in pairs]
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    return Measured(*found, float(np.mean(same)))


def bounds() -> dict[str, dict[str, dict[str, float]]]:
    """The published bounds: by function and dtype, the distance from NumPy ("numpy") and from exact ("reference")."""
    return json.loads(BOUNDS.read_text()) if BOUNDS.exists() else {}


def takes_c_library(name: str, dtype: np.dtype) -> bool:
    """Whether NumPy has no loop for this processor: its plain one calls the C library where C has the function."""
    loops = np.lib.introspect.opt_func_info(f"^{name}$").get(name, {})
    loop = loops.get(dtype.char * len(next(iter(loops), "")), {"current": ""})
    return loop["current"].startswith("baseline")


def limits(name: str, dtype: np.dtype) -> dict[str, float]:
    """The bounds that hold on this processor.

    A third published bound, "c_library", stands for "numpy" where NumPy takes the C library's function, if that is so
    inexact that NumPy's results are further from the exact ones than the compiled ones are.
    """
    known = dict(bounds()[name][dtype.name])
    wider = known.pop("c_library", known["numpy"])
    return known | {"numpy": wider} if takes_c_library(name, dtype) else known


def too_far(name: str, dtype: np.dtype, found: Measured) -> str | None:
    """What is beyond the published bounds."""
    known = limits(name, dtype)
    wrong = [
        f"{what} {getattr(found, what):.4g} > {most:g}" for what, most in known.items() if getattr(found, what) > most
    ]
    return f"np.{name} {dtype.name}: {', '.join(wrong)}" if wrong else None


#: Functions of which the standard of floating point numbers, or NumPy, says each bit.
ROUNDED = "sqrt square reciprocal rint add subtract multiply divide remainder fmod floor_divide maximum".split()


def _room(name: str, dtype: np.dtype, what: str, found: float) -> float:
    """A bound for a measured distance: other numbers and other processors' NumPy are a little further away."""
    if found > 8:
        return float(f"{2 * found:.1g}")
    if what == "reference":
        return 0.51 if found <= 0.505 else math.ceil(10 * found) / 10 + 0.5
    is_rounded = name in ROUNDED and (dtype.kind == "f" or name in ("add", "subtract"))
    return 0 if is_rounded and found == 0 else math.ceil(found) + 1


def lower_bounds(rows: dict[tuple[str, np.dtype], Measured]) -> None:
    """Lower the published bounds to what was measured, and add missing ones."""
    known = bounds()
    for (name, dtype), found in rows.items():
        entry = known.setdefault(name, {}).setdefault(dtype.name, {})
        for what in ("numpy", "reference"):
            entry[what] = min(entry.get(what, math.inf), _room(name, dtype, what, getattr(found, what)))
    lines = [f' "{name}": {json.dumps(known[name])}' for name in known]
    BOUNDS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def reductions(name: str, dtype: np.dtype) -> tuple[float, float]:
    """For a reduction of rows of 1000: the largest distance from NumPy's, and the share of results that are equal."""
    rng = np.random.default_rng(7)
    call = of(name)
    low, high = (0.9, 1.1) if name == "prod" else (-10.0, 10.0)
    x = rng.uniform(low, high, (ROWS, ROWS)).astype(dtype)
    expected, actual = np.asarray(call(x)), np.asarray(aj.jit_compile(call)(x))
    unit = np.abs(expected)
    if name in MIXED:
        unit = np.full_like(unit, max(unit.max(), np.abs(x).max()))
    off = np.abs(expected.astype(np.float64) - actual.astype(np.float64)) / np.spacing(unit).astype(np.float64)
    return float(off.max()), float(np.mean(expected == actual))


def page(rows: dict[tuple[str, np.dtype], Measured], reduced: dict[tuple[str, np.dtype], tuple[float, float]]) -> str:
    """The page."""
    lines = [
        "# Measured distances",
        "",
        "The largest distances in units in the last place, of the compiled result from NumPy's and from an exact one "
        "(in extended precision), and for comparison of NumPy's result from the exact one; the bounds of both, which "
        f"tests enforce; and the share of results that are equal to NumPy's. Each on {COUNT:,} numbers: random bit "
        "patterns of all sizes, numbers between -20 and 20, and neighbours of special places (1, multiples of pi / 2, "
        "the limits of overflow); for complex numbers, parts between 2**-20 and 2**4. Subnormal numbers and results "
        "are left out, see [Numerics](../numerics.md). The unit of a complex result is that of its absolute value; for "
        f"{', '.join(f'`np.{name}`' for name in CANCELLING)} it is that of the largest operand, if that is larger. "
        "A bound in brackets holds where NumPy takes the C library's function, as on processors without AVX-512. Made "
        "by `python -m bench.ulps`.",
        "",
        sentence(describe()),
        "",
        "| function | dtype | from NumPy | bound | from exact | bound | NumPy from exact | equal |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    known = bounds()
    for (name, dtype), found in rows.items():
        most = known[name][dtype.name]
        wider = f" ({most['c_library']:g})" if "c_library" in most else ""
        cells = (
            f"`np.{name}`", dtype.name, f"{found.numpy:.3g}", f"{most['numpy']:g}{wider}", f"{found.reference:.3g}",
            f"{most['reference']:g}", f"{found.numpys:.3g}", f"{100 * found.equal:.1f} %",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "## Reductions",
        "",
        f"The largest distance from NumPy's result for rows of {ROWS} numbers drawn evenly, and the share of equal "
        f"results. For {', '.join(f'`np.{name}`' for name in MIXED)} the unit is that of the largest number among "
        "terms and results, because terms of both signs cancel.",
        "",
        "| function | dtype | from NumPy | equal |",
        "| --- | --- | --- | --- |",
    ]
    for (name, dtype), (largest, equal) in reduced.items():
        lines.append(f"| `np.{name}` | {dtype.name} | {largest:.3g} | {100 * equal:.1f} % |")
    return "\n".join([*lines, ""])


def main(arguments: list[str] | None = None) -> int:
    """Measure everything and write the page; 1 if a bound does not hold."""
    parser = argparse.ArgumentParser(prog="bench.ulps", description=__doc__.splitlines()[0])
    parser.add_argument("--bounds", action="store_true", help="lower the published bounds to what is measured")
    options = parser.parse_args(arguments)
    rows: dict[tuple[str, np.dtype], Measured] = {}
    for name, dtype in cases():
        rows[name, dtype] = measure(name, dtype)
        print(name, dtype, *(f"{value:.4g}" for value in rows[name, dtype]), flush=True)
    reduced = {
        (name, dtype): reductions(name, dtype)
        for name in REDUCTIONS
        for dtype in map(np.dtype, (np.float64, np.float32))
    }
    if options.bounds:
        lower_bounds(rows)
    wrong = [text for (name, dtype), found in rows.items() if (text := too_far(name, dtype, found))]
    print(*wrong, sep="\n")
    PAGE.write_text(page(rows, reduced))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
