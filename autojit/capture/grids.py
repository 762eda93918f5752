"""`np.mgrid[...]` and `np.ogrid[...]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.values import Items
from autojit.errors import CannotCapture
from autojit.ops.chapters import TABLE


def grid_of(self: Any, grid: Any, key: Any) -> Any:
    """`grid[key]`, for a slice or a tuple of slices."""
    small = self.ask(lambda: grid[key])
    if not isinstance(small, np.ndarray):
        return Items(type(small), [self.fresh_constant(part) for part in small])
    if "np.mgrid" not in TABLE.rows or small.size <= 64:
        return self.fresh_constant(small)
    if not isinstance(key, tuple):  # one slice gives no axis of grids
        raise CannotCapture("unsupported-syntax", "`np.mgrid` of one long slice")
    from_slices = tuple((part.start, part.stop, part.step) for part in key)
    return self.apply(TABLE["np.mgrid"], [], {"slices": from_slices})
