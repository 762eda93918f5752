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
    linalg,
    reductions,
    shaping,
    sorting,
)
from autojit.ops.table import TABLE

CHAPTERS = (
    elementwise,
    reductions,
    shaping,
    copying,
    sorting,
    indexing,
    creation,
    grids,
    contraction,
    linalg,
    fourier,
    host,
)

for chapter in CHAPTERS:
    TABLE.extend(chapter.ROWS)

__all__ = ["CHAPTERS", "TABLE"]
