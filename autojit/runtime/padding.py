"""Arrays that are filled up to the number of rows that a plan is for."""

from __future__ import annotations

import numpy as np

from autojit.compile.transfer import ResultMemory, aligned_empty

#: So many buffers are kept for later calls: as many threads may run a plan at once without making new ones.
_KEPT = 2


class Padding:
    """Memory for one argument of a plan.

    Args:
        shape: With the rows that the plan is for.
        dtype: Of the elements.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self._shape, self._dtype = shape, dtype
        self._free: list[np.ndarray] = []

    def filled(self, array: np.ndarray) -> np.ndarray:
        """The rows, and the last one again and again: what is no trouble for that one is none for its copies."""
        count = len(array)
        if count == self._shape[0]:
            return array
        try:
            memory = self._free.pop()
        except IndexError:
            memory = aligned_empty(self._shape, self._dtype)
        memory[:count] = array
        memory[count:] = array[count - 1]
        return memory

    def free(self, memory: np.ndarray, array: np.ndarray) -> None:
        """The program has read what `filled` has given for an array."""
        if memory is not array and len(self._free) < _KEPT:
            self._free.append(memory)


def first_rows(view: np.ndarray, count: int) -> np.ndarray:
    """As `own`, of the first rows of a result."""
    if isinstance(view.base, ResultMemory):
        return view.base.array(writeable=True)[:count]
    return view[:count].copy()
