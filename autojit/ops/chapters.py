"""Fills the op table: one line per chapter."""

from autojit.ops import contraction, creation, elementwise, host, indexing, linalg, shaping
from autojit.ops.table import TABLE

CHAPTERS = (elementwise, shaping, indexing, creation, contraction, linalg, host)

for chapter in CHAPTERS:
    TABLE.extend(chapter.ROWS)

__all__ = ["CHAPTERS", "TABLE"]
