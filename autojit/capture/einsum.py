"""`np.einsum` with `optimize=`: what NumPy makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autojit.capture.values import Arr
from autojit.errors import refusal
from autojit.ops.contraction import labels, summed


def check_subscripts(text: str, ndims: Sequence[int]) -> None:
    """Let NumPy read subscripts, which say nothing about lengths.

    Raises:
        CannotCapture: NumPy raises.
    """
    try:
        np.einsum(text, *(np.zeros((1,) * ndim) for ndim in ndims))
    except Exception as error:
        raise refusal(error) from None


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
    (first, *others), _ = labels(text)
    added = summed(text)
    is_one = any(label in added.intersection(*others) and n > 1 for label, n in zip(first, one.shape, strict=False))
    return one.dtype == other.dtype and (is_one or not added)
