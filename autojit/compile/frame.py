"""The arguments of one execution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autojit.compile.transfer import Places, aligned_empty, enter, enter_window, readable_at
from autojit.compile.xla import share
from autojit.errors import Trapped
from autojit.lowering.parameters import Parameter

#: Up to this size copying an array is cheaper than asking for its address.
SMALL = 64 * 1024

#: Up to this size an array that XLA cannot read in place is copied into memory that the frame keeps.
MEDIUM = 256 * 1024


class Frame:
    """Memory for the small arguments of one execution at a time: jax arrays made once, filled anew for each call.

    Making a jax array costs 3 us; copying a few elements into one that exists costs 0.1 us.

    Args:
        parameters: The program's parameters.
    """

    __slots__ = (
        "_buffers",
        "_has_large",
        "_large",
        "_medium",
        "_offsets",
        "_packs",
        "_small",
        "_windows",
    )

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._buffers: list[Any] = [None] * len(parameters)
        self._small: list[tuple[np.ndarray, int]] = []
        self._packs: list[tuple[np.ndarray, tuple[int, ...]]] = []
        self._medium: list[tuple[np.ndarray, int, int, Places]] = []
        self._large: list[tuple[int, int, Places]] = []
        self._windows: list[tuple[int, Parameter, Places]] = []
        self._offsets: np.ndarray | None = None
        for number, parameter in enumerate(parameters):
            position = parameter.positions[0]
            places = Places(parameter.shape, parameter.dtype)
            if parameter.kind == "window":
                self._windows.append((number, parameter, places))
                continue
            if parameter.kind == "array" and parameter.nbytes > MEDIUM:
                self._large.append((number, position, places))
                continue
            memory = aligned_empty(parameter.shape, parameter.dtype)
            self._buffers[number] = share(memory)
            if parameter.kind == "pack":
                self._packs.append((memory, parameter.positions))
            elif parameter.kind == "offsets":
                self._offsets = memory
            elif parameter.nbytes > SMALL:
                self._medium.append((memory, number, position, places))
            else:
                self._small.append((memory, position))
        self._has_large = bool(self._medium or self._large or self._windows)

    def fill(self, values: Sequence[Any], lent: list[np.ndarray]) -> list[Any]:
        """The jax arrays that carry these inputs of the graph. The list belongs to the frame.

        Args:
            values: One value per input of the graph.
            lent: Takes the staging buffers that were needed.

        Raises:
            Trapped: A Python int does not fit into 64 bits.
        """
        for memory, position in self._small:
            memory[...] = values[position]
        for memory, positions in self._packs:
            try:
                memory[:] = [values[position] for position in positions]
            except OverflowError:
                raise Trapped("a Python int does not fit into 64 bits") from None
        return self._fill_large(values, lent) if self._has_large else self._buffers

    def _fill_large(self, values: Sequence[Any], lent: list[np.ndarray]) -> list[Any]:
        buffers = self._buffers.copy()
        for memory, number, position, places in self._medium:
            array = values[position]
            if start := readable_at(array):
                buffers[number] = places.at(start)
            else:
                memory[...] = array
        for number, position, places in self._large:
            buffers[number] = enter(values[position], places, lent)
        for index, (number, parameter, places) in enumerate(self._windows):
            buffers[number], before = enter_window(values[parameter.positions[0]], parameter, places, lent)
            self._offsets[index] = before  # type: ignore[index] -- made where there are windows
        return buffers
