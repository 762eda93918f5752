"""Fills the op table: one line per chapter."""

from autojit.ops import contraction, copying, creation, elementwise, grids, host, indexing, linalg, reductions, shaping
from autojit.ops.table import TABLE

CHAPTERS = (elementwise, reductions, shaping, copying, indexing, creation, grids, contraction, linalg, host)

for chapter in CHAPTERS:
    TABLE.extend(chapter.ROWS)

__all__ = ["CHAPTERS", "TABLE"]
