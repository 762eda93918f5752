"""How arrays get into a compiled program: copied into aligned memory, or aliased where they already are aligned."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any

import numpy as np

from autojit.compile.xla import share

#: XLA aliases host memory only at multiples of this.
ALIGNMENT = 64

#: Arrays up to this size are copied into memory that the executable keeps: cheaper than asking for their address.
SMALL = 32 * 1024

#: The default bound of the pool of staging buffers.
POOL_BYTES = 1 << 30


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An uninitialized C-contiguous array whose memory XLA can alias. NumPy's allocator asks for huge pages."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -memory.__array_interface__["data"][0] % ALIGNMENT
    return memory[start : start + nbytes].view(dtype).reshape(shape)


def is_aliasable(array: np.ndarray) -> bool:
    """Whether XLA can read the array where it is."""
    return array.flags.c_contiguous and array.__array_interface__["data"][0] % ALIGNMENT == 0


class StagingPool:
    """Aligned buffers that large unaligned arrays are copied into, kept for the next call.

    A buffer is lent to one execution at a time and comes back when the execution is complete.
    """

    def __init__(self, limit: int = POOL_BYTES) -> None:
        self.limit = limit
        self.nbytes = 0
        self._free: defaultdict[int, list[np.ndarray]] = defaultdict(list)
        self._lock = threading.Lock()

    def lend(self, nbytes: int) -> np.ndarray:
        """An aligned byte buffer of exactly `nbytes` bytes."""
        with self._lock:
            if free := self._free[nbytes]:
                self.nbytes -= nbytes
                return free.pop()
        return aligned_empty((nbytes,), np.dtype(np.uint8))

    def give_back(self, buffer: np.ndarray) -> None:
        """Return a buffer that nothing reads any more."""
        with self._lock:
            if self.nbytes + buffer.nbytes <= self.limit:
                self.nbytes += buffer.nbytes
                self._free[buffer.nbytes].append(buffer)

    def clear(self) -> None:
        """Free the memory of all buffers that are not lent."""
        with self._lock:
            self._free.clear()
            self.nbytes = 0


STAGING = StagingPool()


def enter(array: np.ndarray, lent: list[np.ndarray]) -> Any:
    """A jax array with the values of `array`, valid until the buffers in `lent` are given back.

    Args:
        array: Any array; the caller must not write to it before the execution is complete.
        lent: Takes the staging buffer, if one was needed.
    """
    if is_aliasable(array):
        return share(array)
    buffer = STAGING.lend(array.nbytes)
    lent.append(buffer)
    staged = buffer.view(array.dtype).reshape(array.shape)
    np.copyto(staged, array)
    return share(staged)
