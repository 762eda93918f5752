"""How arrays get into a compiled program and results out of it, without a copy where that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autojit.compile.pool import RESULTS, STAGING
from autojit.compile.room import make_room
from autojit.compile.uninitialized import allocate
from autojit.compile.xla import JaxRuntimeError, share
from autojit.lowering.alignment import ALIGNMENT
from autojit.lowering.parameters import Parameter

#: Results from this size on are written into memory that was used before.
REUSED = 512 * 1024
#: For so many addresses a parameter keeps jax arrays.
_MOST_PLACES = 16


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An uninitialized C-contiguous array whose memory XLA reads in place. NumPy asks for huge pages for it."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -address(memory) % ALIGNMENT
    return memory[start : start + nbytes].view(dtype).reshape(shape)


def address(array: np.ndarray) -> int:
    """The address of the first element."""
    return array.__array_interface__["data"][0]


def readable_at(array: np.ndarray) -> int:
    """The address of an array that XLA can read where it is; 0 of others."""
    if not array.flags.c_contiguous:
        return 0
    start = address(array)
    return 0 if start % ALIGNMENT else start


class Places:
    """Jax arrays over memory that XLA reads in place, by its address: making one takes 10 us, finding it again 0.1 us.

    They own nothing, and are nobody's but a program's that was just given an array at the address: the memory of others
    may be gone.

    Args:
        shape: Of all of them.
        dtype: The same.
    """

    __slots__ = ("_dtype", "_known", "_shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self._shape, self._dtype = shape, dtype
        self._known: dict[int, Any] = {}

    def at(self, start: int) -> Any:
        """The array at an address, a multiple of `ALIGNMENT`."""
        found = self._known.get(start)
        if found is None:
            if len(self._known) >= _MOST_PLACES:
                self._known.clear()
            found = self._known[start] = share(np.asarray(_Memory(start, self._shape, self._dtype)))
        return found


class _Memory:
    """Memory of somebody's, for NumPy."""

    __slots__ = ("__array_interface__",)

    def __init__(self, start: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.__array_interface__ = {"shape": shape, "typestr": dtype.str, "data": (start, True), "version": 3}


def enter(array: np.ndarray, places: Places, lent: list[np.ndarray]) -> Any:
    """A jax array with the values of `array`, valid until the buffers in `lent` are given back.

    Args:
        array: Any array; the caller must not write to it before the execution is complete.
        places: Those of the parameter.
        lent: Takes the staging buffer, if one was needed.
    """
    if start := readable_at(array):
        return places.at(start)
    staged = _stage(array.nbytes, lent)
    np.copyto(staged.view(array.dtype).reshape(array.shape), array)
    return places.at(address(staged))


def enter_window(array: np.ndarray, parameter: Parameter, places: Places, lent: list[np.ndarray]) -> tuple[Any, int]:
    """A jax array over the aligned memory around `array`, and the number of elements before it.

    The program reads only the array's own elements.
    """
    if array.flags.c_contiguous:
        start = address(array)
        before = start % ALIGNMENT
        if before % parameter.dtype.itemsize == 0:
            return places.at(start - before), before // parameter.dtype.itemsize
    staged = _stage(parameter.nbytes, lent)
    np.copyto(staged.view(parameter.dtype)[: array.size].reshape(array.shape), array)
    return places.at(address(staged)), 0


def staging(nbytes: int) -> np.ndarray:
    """Aligned memory, to be given back with `give_back`."""
    buffer = STAGING.take(nbytes)
    if buffer is None:
        make_room(nbytes)
        buffer = aligned_empty((nbytes,), np.dtype(np.uint8))
    return buffer


def _stage(nbytes: int, lent: list[np.ndarray]) -> np.ndarray:
    lent.append(staging(nbytes))
    return lent[-1]


def give_back(lent: list[np.ndarray]) -> None:
    """Return staging memory after the execution that read it."""
    for buffer in lent:
        STAGING.give(buffer.nbytes, buffer)


def memory_for(sizes: Sequence[int]) -> list[Any]:
    """Jax arrays over memory of XLA's for results of so many bytes: used before if possible, else fresh."""
    found = [RESULTS.take(nbytes) for nbytes in sizes]
    missing = [nbytes for buffer, nbytes in zip(found, sizes, strict=True) if buffer is None]
    if not missing:
        return found
    make_room(sum(missing))  # nothing touches them yet, so that the system does not know of those that it has given
    return [_fresh(nbytes) if buffer is None else buffer for buffer, nbytes in zip(found, sizes, strict=True)]


def _fresh(nbytes: int) -> Any:
    try:
        return allocate(nbytes)
    except JaxRuntimeError:
        # XLA does not write into memory of NumPy's that is handed over: it allocates, which is correct and slow.
        return share(aligned_empty((nbytes,), np.dtype(np.uint8)))


class ResultMemory:
    """XLA's memory of one large result, as the base of the NumPy arrays over it.

    When the last of these arrays is gone, the memory is used for a later result.
    """

    __slots__ = ("__array_interface__", "__weakref__", "_watch", "buffer")

    def __init__(self, buffer: Any, shape: tuple[int, ...], dtype: np.dtype, nbytes: int) -> None:
        self.buffer = buffer
        if nbytes >= REUSED:
            self._watch = RESULTS.watch(self, nbytes, buffer)
        self.__array_interface__ = {
            "shape": shape,
            "typestr": dtype.str,
            "data": (buffer.unsafe_buffer_pointer(), True),
            "version": 3,
        }

    def array(self, writeable: bool) -> np.ndarray:
        """An array over the memory."""
        pointer, _ = self.__array_interface__["data"]
        self.__array_interface__["data"] = (pointer, not writeable)
        return np.asarray(self)
