"""Rules for minima and maxima and where they stand.

XLA:CPU's library for float reductions drops NaN from `max` and sometimes from `min`. So the extremes of floats are
reduced together with a flag, in one reduction of two operands, or, of large arrays, in stages of such: it is not handed
to that library, keeps NaN, and still fuses with what makes its operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.jax_names import jnp, lax
from autojit.ops import stages
from autojit.ops.elementwise_arithmetic import kind
from autojit.ops.families import trap_if

#: From this length on the place of an extreme in a vector is sought by rows, which run in parallel.
_LONG = 4096


def maximum(x: Any, axes: tuple[int, ...], node: Any = None) -> Any:
    """`np.max`: NaN wins; complex numbers are ordered by the real, then the imaginary part."""
    return _extreme(x, axes, True)


def minimum(x: Any, axes: tuple[int, ...], node: Any = None) -> Any:
    """`np.min`: NaN wins."""
    return _extreme(x, axes, False)


def _extreme(x: Any, axes: tuple[int, ...], largest: bool) -> Any:
    if not axes:
        return x
    if kind(x) == "b":
        return (stages.any_true if largest else stages.all_true)(x, axes)
    if kind(x) == "c":
        return _complex_extreme(x, axes, largest)
    if x.dtype == jnp.float16:
        return _extreme(x.astype(jnp.float32), axes, largest).astype(jnp.float16)
    if kind(x) == "f" or stages.are_useful(x, axes):
        return (stages.largest if largest else stages.smallest)(x, axes)
    return (jnp.max if largest else jnp.min)(x, axis=axes)


def of_rest(x: Any, axes: tuple[int, ...], largest: bool) -> Any:
    """`np.nanmax` or `np.nanmin` of real numbers: NaN comes back only where nothing else is there."""
    if kind(x) != "f" or not axes:
        return _extreme(x, axes, largest)
    rest = jnp.where(x == x, x, _worst(x, largest))
    return jnp.where(stages.any_true(x == x, axes), _extreme(rest, axes, largest), jnp.full((), jnp.nan, x.dtype))


def _complex_extreme(x: Any, axes: tuple[int, ...], largest: bool) -> Any:
    """Reduce the two parts.

    `lax.select` and not `jnp.where` in what reduces: XLA crashes on a function call there when the result is dropped.
    """

    def combine(p: tuple[Any, Any], q: tuple[Any, Any]) -> tuple[Any, Any]:
        wins = p[0] > q[0] if largest else p[0] < q[0]
        draws = (p[0] == q[0]) & (p[1] >= q[1] if largest else p[1] <= q[1])
        is_nan = (p[0] != p[0]) | (p[1] != p[1])
        take = is_nan | (wins & (p[1] == p[1]) & (q[1] == q[1])) | draws
        return lax.select(take, p[0], q[0]), lax.select(take, p[1], q[1])

    parts = jnp.real(x), jnp.imag(x)
    worst = np.array(-np.inf if largest else np.inf, parts[0].dtype)
    return lax.complex(*lax.reduce(parts, (worst, worst), combine, axes))


def row_count(length: int) -> int:
    """Into how many rows of equal length a vector is cut; 1 when it is short or the length has no fitting divisor."""
    if length < _LONG:
        return 1
    return next((rows for rows in range(min(2048, length // 64), 3, -1) if length % rows == 0), 1)


def _worst(x: Any, largest: bool) -> Any:
    return np.array(-np.inf if largest else np.inf, x.dtype)


def position(x: Any, axis: int | None, largest: bool, trap: Callable[[Any], None]) -> Any:
    """`np.argmax` or `np.argmin` as int64, the axis dropped. NaN wins, then the first of equal elements."""
    if axis is None:
        return _position_of_vector(x.reshape(-1), largest, trap)
    if x.dtype == jnp.float16:
        x = x.astype(jnp.float32)
    if kind(x) == "b":
        x = x.astype(jnp.int32)
    if (axis == x.ndim - 1 or stages.are_useful(x, (axis,))) and x.shape[axis] < 2**31:
        return _first_equal(x, axis, largest, trap)
    return (lax.argmax if largest else lax.argmin)(x, axis, jnp.int64)


def _first_equal(x: Any, axis: int, largest: bool, trap: Callable[[Any], None]) -> Any:
    """The place of the first element that is the extreme.

    XLA computes `x` twice where it fuses it, and may contract a product and a sum in one of the two alone. Then nothing
    need be equal to the extreme, which traps: one reduction of values and places takes twice as long, or longer.
    """
    best = jnp.expand_dims(_extreme(x, (axis,), largest), axis)
    place = lax.broadcasted_iota(jnp.int32, x.shape, axis)
    hit = (x == best) | (x != x)
    length = np.int32(x.shape[axis])
    places = _extreme(jnp.where(hit, place, length), (axis,), False)
    trap_if(places == length, trap)
    return places.astype(jnp.int64)


def _position_of_vector(x: Any, largest: bool, trap: Callable[[Any], None]) -> Any:
    """Find the row, then the place in the row: the second step reads one row only."""
    if x.dtype == jnp.float16:
        x = x.astype(jnp.float32)
    if kind(x) == "b":
        x = x.astype(jnp.int32)
    rows = row_count(x.shape[0])
    if rows == 1:
        return position(x, 0, largest, trap)
    table = x.reshape(rows, -1)
    row = position(_extreme(table, (1,), largest), 0, largest, trap)
    place = position(lax.dynamic_index_in_dim(table, row, 0, keepdims=False), 0, largest, trap)
    return row * table.shape[1] + place
