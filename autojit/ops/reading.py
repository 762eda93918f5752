"""Lowering of `x[index]`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.index import Place, Slice, Window, ends_of
from autojit.jax_names import jnp, lax
from autojit.ops.index_plan import Axis, Plan

Trap = Callable[[Any], None]


def read(x: Any, plan: Plan, operands: Sequence[Any], trap: Trap) -> Any:
    """`x[index]` for an index without a boolean array; traps where an index is out of bounds."""
    box = read_box(x, plan, operands, trap)
    if not plan.arrays:
        return box.reshape(plan.rest)
    return unfold(gather(box, plan, operands, trap), plan)


def read_box(x: Any, plan: Plan, operands: Sequence[Any], trap: Trap) -> Any:
    """The block of `x` that the slices and integers select, no axis dropped, axes with index arrays whole."""
    spans = [span(axis, whole=number in plan.arrays) for number, axis in enumerate(plan.axes)]
    if any(dynamic for _, _, dynamic in spans):
        starts = starts_of(plan, operands, trap)
        if 0 in x.shape:
            return jnp.zeros([_count(axis, number in plan.arrays) for number, axis in enumerate(plan.axes)], x.dtype)
        x = lax.dynamic_slice(x, starts, [n for _, n, _ in spans], allow_negative_indices=False)
    else:
        x = lax.slice(x, [first for first, _, _ in spans], [first + length for first, length, _ in spans])
    return take_steps(x, plan)


def _count(axis: Axis, whole: bool) -> int:
    return axis.length if whole else axis.count


def take_steps(x: Any, plan: Plan) -> Any:
    """Every step-th element of each span, in the order of the slice."""
    steps = [1 if number in plan.arrays else axis.step for number, axis in enumerate(plan.axes)]
    if any(step not in (1, -1) for step in steps):
        x = lax.slice(x, [0] * x.ndim, x.shape, [abs(step) for step in steps])
    flipped = [number for number, step in enumerate(steps) if step < 0]
    return lax.rev(x, flipped) if flipped else x


def span(axis: Axis, *, whole: bool = False) -> tuple[int, int, bool]:
    """`(first, length, dynamic)` of the stretch of an axis that an entry touches, steps included."""
    entry, count = axis.entry, axis.count
    if whole:
        return 0, axis.length, False
    if isinstance(entry, Slice):
        indices = range(*slice(entry.start, entry.stop, entry.step).indices(axis.length))
        if not count:
            return 0, 0, False
        low, high = ends_of(indices)
        return low, high - low + 1, False
    if isinstance(entry, Window):
        return 0, (count - 1) * abs(axis.step) + 1 if count else 0, bool(count)
    if isinstance(entry, Place):
        return 0, 1, True
    return entry % axis.length, 1, False


def _start(axis: Axis, first: int, operands: Sequence[Any], trap: Trap) -> Any:
    """The first element of a stretch; traps when a run-time start is out of bounds."""
    entry = axis.entry
    if isinstance(entry, Place):
        return place(entry, axis.length, operands, trap)
    if not isinstance(entry, Window) or not axis.count:
        return jnp.int64(first)
    start = operands[entry.operand].astype(jnp.int64).reshape(())
    low = start + min(0, (axis.count - 1) * axis.step) if axis.step < 0 else start
    length = (axis.count - 1) * abs(axis.step) + 1
    if not entry.proven:
        trap((low < 0) | (low + length > axis.length))
    return low


def starts_of(plan: Plan, operands: Sequence[Any], trap: Trap) -> list[Any]:
    """The first element of each axis's stretch."""
    return [
        jnp.int64(0) if number in plan.arrays else _start(axis, span(axis)[0], operands, trap)
        for number, axis in enumerate(plan.axes)
    ]


def place(entry: Place, length: int, operands: Sequence[Any], trap: Trap) -> Any:
    """The run-time indices of an entry, counted from the front."""
    index = operands[entry.operand]
    return index.astype(jnp.int64) if entry.proven else bounded(index, length, trap)


def bounded(index: Any, length: int, trap: Trap) -> Any:
    """Run-time indices as int64 counted from the front; traps when one is out of bounds."""
    unsigned = np.dtype(index.dtype).kind == "u"
    wide = index if unsigned else index.astype(jnp.int64)
    if wide.dtype == jnp.uint64 or unsigned:
        trap(jnp.any(wide.astype(jnp.uint64) >= np.uint64(length)))
        return wide.astype(jnp.int64)
    trap(jnp.any((wide < -length) | (wide >= length)))
    return jnp.where(wide < 0, wide + length, wide)


def array_indices(plan: Plan, operands: Sequence[Any], trap: Trap) -> list[Any]:
    """One entry per axis of the base: whole slices, and index arrays counted from the front."""
    parts: list[Any] = [slice(None)] * len(plan.axes)
    for number in plan.arrays:
        entry, length = plan.axes[number].entry, plan.axes[number].length
        if isinstance(entry, Place):
            parts[number] = place(entry, length, operands, trap)
        else:
            parts[number] = jnp.asarray(entry % length)
    return parts


def gather(x: Any, plan: Plan, operands: Sequence[Any], trap: Trap) -> Any:
    """Apply the index arrays; their broadcast axes come first in the result."""
    kept = [n for number, n in enumerate(x.shape) if number not in plan.arrays]
    parts = array_indices(plan, operands, trap)
    if any(x.shape[number] == 0 for number in plan.arrays):
        return jnp.zeros((*plan.broadcast, *kept), x.dtype)
    found = x.at[tuple(parts)].get(mode="promise_in_bounds", wrap_negative_indices=False)
    return jnp.moveaxis(found, _axes(_jax_place(plan), plan), range(len(plan.broadcast)))


def _jax_place(plan: Plan) -> int:
    """Where the indexing of jax, which sees no new axes, puts the broadcast axes."""
    first = plan.arrays[0]
    return first if plan.arrays == tuple(range(first, first + len(plan.arrays))) else 0


def _axes(place: int, plan: Plan) -> range:
    return range(place, place + len(plan.broadcast))


def unfold(x: Any, plan: Plan) -> Any:
    """Move the broadcast axes from the front to where NumPy has them, and add the new axes."""
    place = plan.at - sum(new < plan.at for new in plan.new)
    return jnp.moveaxis(x, range(len(plan.broadcast)), _axes(place, plan)).reshape(plan.shape)


def fold(value: Any, plan: Plan) -> Any:
    """The inverse of `unfold`, with the broadcast axes where the indexing of jax has them."""
    fixed = tuple(n for place, n in enumerate(plan.rest) if place not in plan.new)
    place = plan.at - sum(new < plan.at for new in plan.new)
    value = value.reshape(fixed[:place] + plan.broadcast + fixed[place:])
    return jnp.moveaxis(value, _axes(place, plan), _axes(_jax_place(plan), plan))
