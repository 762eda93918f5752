"""Fills the op table: one line per chapter."""

from autojit.ops import indexing
from autojit.ops.table import TABLE

CHAPTERS = (indexing,)

for chapter in CHAPTERS:
    TABLE.extend(chapter.ROWS)
