"""Fills the op table: one line per chapter."""

from autojit.ops import (
    contraction,
    copying,
    creation,
    elementwise,
    fourier,
    grids,
    host,
    indexing,
    inserting,
    linalg,
    loops,
    python_scalars,
    quantiles,
    reductions,
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
    creation,
    grids,
    contraction,
    linalg,
    fourier,
    python_scalars,
    loops,
    host,
)

for chapter in CHAPTERS:
    TABLE.extend(chapter.ROWS)

__all__ = ["CHAPTERS", "TABLE"]
