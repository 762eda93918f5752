"""`np.lib.stride_tricks.sliding_window_view`: a read-only view in which elements occur many times."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.values import Arr, Known
from autojit.errors import CannotCapture


def rule_windows(self: Any, array: Any, window_shape: Any, axis: Any = Known(None), **kwargs: Any) -> Arr:
    """`sliding_window_view(array, window_shape, axis)`."""
    if any(self.static(value) for value in kwargs.values()) or not isinstance(array, Arr) or array.kind != "array":
        raise CannotCapture("keyword", "an argument of `sliding_window_view`")
    shape, axes = self.static(window_shape), self.static(axis)
    shape = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
    axes = tuple(axes) if isinstance(axes, list | tuple) else axes
    dummy = self.ask(np.lib.stride_tricks.sliding_window_view, array.dummy, shape, axes)
    return self.step(array, "np.lib.stride_tricks.sliding_window_view", {"window_shape": shape, "axis": axes}, dummy)
