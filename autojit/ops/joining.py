"""Joining jax arrays along an axis.

A concatenation ends a fusion, and along any axis but the first it copies short runs. Padding every part to the full
shape and selecting is one fused pass. Measured on 2048 x 2048 float64: `np.hstack` 20 ms against 30.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autojit.jax_names import jnp, lax

#: More parts than this are concatenated: every element tests each part's place.
MANY_PARTS = 8


def concatenate(parts: Sequence[Any], axis: int | None = 0) -> Any:
    """`np.concatenate` of arrays of one dtype.

    Raises:
        TypeError: The shapes do not fit.
    """
    if axis is None:
        return lax.concatenate([part.reshape(-1) for part in parts], 0)
    ndim = parts[0].ndim
    if (
        not -ndim <= axis < ndim
        or len({(part.shape[: axis % ndim], part.shape[axis % ndim + 1 :]) for part in parts}) > 1
    ):
        raise TypeError("the shapes do not fit")
    return join(parts, axis % ndim)


def join(parts: Sequence[Any], axis: int, *, fused: bool | None = None) -> Any:
    """The parts, of one dtype, one after the other.

    Args:
        parts: At least one array.
        axis: The axis, not negative.
        fused: Whether to select instead of concatenating; by default along all axes but the first.
    """
    parts = [part for part in parts if part.shape[axis]] or [parts[0]]
    if len(parts) == 1:
        return parts[0]
    if fused is None:
        fused = axis > 0
    if not fused or len(parts) > MANY_PARTS:
        return lax.concatenate(parts, axis)
    length = sum(part.shape[axis] for part in parts)
    shape = (*parts[0].shape[:axis], length, *parts[0].shape[axis + 1 :])
    place = lax.broadcasted_iota(jnp.int32 if length < 2**31 else jnp.int64, shape, axis)
    result: Any = None
    start = 0
    for part in parts:
        pads = [(0, 0, 0)] * len(shape)
        pads[axis] = (start, length - start - part.shape[axis], 0)
        padded = lax.pad(part, jnp.zeros((), part.dtype), pads)
        result = padded if result is None else jnp.where(place >= start, padded, result)
        start += part.shape[axis]
    return result


def overlay(parts: Sequence[Any], axis: int) -> Any:
    """`join` where one part is nearly all: the others are written over a padded copy of it, in a loop of its own.

    To select between them where the result is used would save a pass, but does not become vector code. Four rolls of
    800 x 800, added up, with AVX2 on two cores: 1.4 ms so and 0.5 ms by copies in float64, 1.3 and 0.3 in uint8; what
    `np.pad` with the mode "edge" makes of 1000 x 1000 float64, added up in four places: 28 and 5 ms.
    """
    parts = [part for part in parts if part.shape[axis]] or [parts[0]]
    starts = np.cumsum([0, *(part.shape[axis] for part in parts)]).tolist()
    largest = max(range(len(parts)), key=lambda number: parts[number].shape[axis])
    pads = [(0, 0, 0)] * parts[0].ndim
    pads[axis] = (starts[largest], starts[-1] - starts[largest + 1], 0)
    whole: Any = lax.pad(parts[largest], jnp.zeros((), parts[0].dtype), pads)
    for number, part in enumerate(parts):
        if number != largest:
            whole = lax.dynamic_update_slice_in_dim(whole, part, starts[number], axis)
    return lax.optimization_barrier(whole)
