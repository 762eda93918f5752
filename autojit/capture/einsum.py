"""`np.einsum` with `optimize=`: what NumPy makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autojit.capture.values import Arr


def is_one_product(text: Any, operands: Sequence[Any], optimize: Any) -> bool:
    """Whether NumPy makes one product of it, or asks for no path: else each pair has a dtype of its own."""
    if optimize is False:
        return True
    if not isinstance(text, str) or "." in text or type(optimize) not in (bool, str):
        return False
    if optimize not in (True, "greedy", "optimal") or len(operands) != 2:
        return False
    if not all(isinstance(one, Arr) and one.kind == "array" for one in operands):
        return False
    one, other = operands
    terms = text.replace(" ", "").partition("->")[0].split(",")
    shared = set(terms[0]) & set(terms[-1])
    lengths = zip(terms[0], one.shape, strict=False)
    given = set(text.replace(" ", "").partition("->")[2])
    is_summed = any(label in shared - given and length > 1 for label, length in lengths)
    only_multiplies = "->" in text and given == set("".join(terms))
    return one.dtype == other.dtype and (is_summed or only_multiplies)
