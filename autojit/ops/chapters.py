"""Fills the op table: one line per chapter."""

from autojit.ops import (
    branching,
    contraction,
    copying,
    creation,
    elementwise,
    flushing,
    fourier,
    grids,
    host,
    indexing,
    inserting,
    linalg,
    loops,
    python_math,
    python_scalars,
    quantiles,
    reductions,
    scattering,
    shaping,
    sorting,
)
from autojit.ops.table import TABLE

CHAPTERS = (
    elementwise,
    reductions,
    quantiles,
    shaping,
    copying,
    inserting,
    sorting,
    indexing,
    scattering,
    creation,
    grids,
    contraction,
    linalg,
    fourier,
    python_scalars,
    python_math,
    branching,
    flushing,
    loops,
    host,
)

#: Rows whose lowering was measured many times slower than NumPy (sorting 100,000 float64: 48 ms against 0.4): worth a
#: node on the host wherever a program need not be whole. (Medians and quantiles of a few elements each are not.)
FASTER_IN_NUMPY = frozenset("np.sort np.argsort np.median np.percentile np.quantile np.linalg.eigvalsh".split())

for chapter in CHAPTERS:
    TABLE.extend(chapter.ROWS)

__all__ = ["CHAPTERS", "FASTER_IN_NUMPY", "TABLE"]
