"""Arrays that are filled up to the number of rows that a plan is for."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from autojit.compile.executable import LARGE
from autojit.compile.transfer import ResultMemory, staging
from autojit.ir.graph import Value


class Padding:
    """How one argument of a plan is filled up.

    Args:
        shape: With the rows that the plan is for.
        dtype: Of the elements.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self._shape, self._dtype = shape, dtype
        self._nbytes = prod(shape) * dtype.itemsize

    def filled(self, array: np.ndarray, lent: list[np.ndarray]) -> np.ndarray:
        """The rows, and the last one again and again: what is no trouble for that one is none for its copies.

        Args:
            array: The argument.
            lent: Takes the memory, if some was needed: it is to be given back.
        """
        count = len(array)
        if count == self._shape[0]:
            return array
        memory = staging(self._nbytes)
        lent.append(memory)
        filled = memory.view(self._dtype).reshape(self._shape)
        filled[:count] = array
        filled[count:] = array[count - 1]
        return filled


def filled_up(values: Sequence[Value], arguments: Sequence[Any]) -> list[Any]:
    """A graph's inputs, filled up in memory of their own where they have fewer rows."""
    return [
        Padding(value.spec.shape, value.spec.dtype).filled(argument, [])
        if isinstance(argument, np.ndarray) and argument.shape != value.spec.shape
        else argument
        for value, argument in zip(values, arguments, strict=True)
    ]


def first_rows(view: np.ndarray, count: int) -> np.ndarray:
    """As `own`, of the first rows of a result; these decide whether it is a large one."""
    if isinstance(view.base, ResultMemory) and view[:count].nbytes >= LARGE:
        return view.base.array(writeable=True)[:count]
    return view[:count].copy()
