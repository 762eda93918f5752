"""All combinations of a row: its forms with every dtype in every layout."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autojit.ir.op import Op
from tests.matrix.arguments import DTYPES, LAYOUTS, seeded
from tests.matrix.forms import Form, arguments, forms_of


@dataclass(frozen=True, slots=True)
class Combination:
    """One form of a row with arguments.

    Attributes:
        row: The row that the form is meant to try; others may be part of it.
        form: The text.
        dtype: The dtype's name.
        layout: The layout.
        values: The arguments by their names in the text.
    """

    row: Op
    form: Form
    dtype: str
    layout: str
    values: dict[str, Any]

    @property
    def label(self) -> str:
        return f"{self.dtype} {self.layout}"

    def text(self, number: int) -> list[str]:
        """The statements with the names of one combination among many."""
        names = {name: f"{name}{number}" for name in (*self.values, "r")}
        return [line.format(**names) for line in self.form.lines]


def combinations(row: Op, shard: int = 1, shards: int = 1) -> Iterator[Combination]:
    """Every combination of a row, or a part of them; those whose text has no argument that varies only once."""
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    for form in forms_of(row, rng):
        varies = form.varied or any("{" + letter + "}" in form.text for letter in "aqutsbvwo")
        laid_out = form.varied or any("{" + letter + "}" in form.text for letter in "aqut")
        start = zlib.crc32(form.text.encode())
        for dtype in DTYPES if varies else DTYPES[-3:-2]:
            if zlib.crc32(dtype.name.encode(), start) % shards != shard - 1:
                continue  # all layouts of a form and a dtype are of one part: most have the same program
            for layout in LAYOUTS if laid_out else LAYOUTS[:1]:
                if layout == "special" and _is_endless(row, form.text):
                    continue
                if layout == "empty" and "einsum('ii" in form.text:
                    continue  # NumPy takes a diagonal of three elements from a matrix of 0 x 3
                random = seeded(row.name, form.text, dtype, layout)
                with np.errstate(all="ignore"):
                    values = arguments(form, dtype, layout, random)
                yield Combination(row, form, dtype.name, layout, values)


def _is_endless(row: Op, text: str) -> bool:
    """Whether NumPy itself may not come to an end with extreme numbers.

    It wraps choices by subtracting, and LAPACK iterates on infinities.
    """
    return (row.name == "np.choose" and "wrap" in text) or (row.family in ("linalg", "host") and "np.linalg." in text)
