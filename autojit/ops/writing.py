"""Lowering of `x[index] = value`.

Measured on a 2048 x 2048 float64 stencil: writing the interior with `lax.pad` and a select is one fusion and takes
16 ms where `dynamic_update_slice` takes 71; inside a loop 6 against 15. For a row or a column the update in place
wins. A write of the whole array is the value itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autojit.ir.index import Slice
from autojit.jax_names import jnp, lax
from autojit.ops.index_plan import Plan
from autojit.ops.modes import Mode
from autojit.ops.reading import array_indices, fold, read_box, span, starts_of

Trap = Callable[[Any], None]

#: A write to less than this part of the array is an update in place ...
SMALL_PART = 8
#: ... and others are where XLA needs no copy for it (`loop_stores.py`).
in_place = Mode("in_place")


def write(base: Any, value: Any, plan: Plan, operands: Sequence[Any], trap: Trap) -> Any:
    """The new base for an index without a boolean array; `value` has the base's dtype."""
    value = drop_leading(value, len(plan.shape))
    if not plan.arrays:
        return write_box(base, _box_value(value, plan), plan, operands, trap)
    block = read_box(base, plan, operands, trap)
    parts = array_indices(plan, operands, trap)
    if 0 in block.shape or 0 in plan.broadcast:
        return base
    updates = fold(jnp.broadcast_to(value, plan.shape), plan)
    # XLA:CPU applies the updates one after the other, in order, so the last of repeated indices wins.
    block = block.at[tuple(parts)].set(updates, mode="promise_in_bounds", wrap_negative_indices=False)
    return write_box(base, block, plan, operands, trap)


def drop_leading(value: Any, ndim: int) -> Any:
    """Drop axes of length 1 in front that are more than `ndim`."""
    return value.reshape(value.shape[value.ndim - ndim :]) if value.ndim > ndim else value


def _box_value(value: Any, plan: Plan) -> Any:
    """The value with one axis per axis of the base, not yet broadcast."""
    if not value.ndim:
        return value
    value = value.reshape((1,) * (len(plan.rest) - value.ndim) + value.shape)
    lengths = [n for place, n in enumerate(value.shape) if place not in plan.new]
    shape = [1 if axis.drops else lengths.pop(0) for axis in plan.axes]
    return value.reshape(shape)


def write_box(base: Any, value: Any, plan: Plan, operands: Sequence[Any], trap: Trap) -> Any:
    """Write `value`, which broadcasts to the block that the slices and integers select."""
    counts = [axis.length if number in plan.arrays else axis.count for number, axis in enumerate(plan.axes)]
    spans = [span(axis, whole=number in plan.arrays) for number, axis in enumerate(plan.axes)]
    starts = starts_of(plan, operands, trap)
    if 0 in counts or 0 in base.shape:
        return base
    steps = [1 if number in plan.arrays else axis.step for number, axis in enumerate(plan.axes)]
    flipped = [number for number, step in enumerate(steps) if step < 0 and value.ndim and value.shape[number] > 1]
    value = lax.rev(value, flipped) if flipped else value
    if not any(dynamic for _, _, dynamic in spans):
        return write_static(base, value, [first for first, _, _ in spans], counts, [abs(step) for step in steps])
    lengths = [length for _, length, _ in spans]
    block = jnp.broadcast_to(value, counts)
    if lengths != counts:
        inner = lax.dynamic_slice(base, starts, lengths, allow_negative_indices=False)
        block = write_static(inner, value, [0] * base.ndim, counts, [abs(step) for step in steps])
    return lax.dynamic_update_slice(base, block, starts, allow_negative_indices=False)


def write_static(base: Any, value: Any, starts: Sequence[int], counts: Sequence[int], steps: Sequence[int]) -> Any:
    """Write `value`, which broadcasts to `counts`, from `starts` in positive `steps`."""
    counts = tuple(counts)
    if counts == base.shape:
        return jnp.broadcast_to(value, base.shape)
    size = 1
    for count in counts:
        size *= count
    dense = all(step == 1 or count == 1 for step, count in zip(steps, counts, strict=True))
    if dense and (in_place.is_set() or size * SMALL_PART <= base.size):
        return lax.dynamic_update_slice(base, jnp.broadcast_to(value, counts), [jnp.int64(s) for s in starts])
    inside: Any = None
    pads = []
    for axis, (start, count, step, length) in enumerate(zip(starts, counts, steps, base.shape, strict=True)):
        step = step if count > 1 else 1
        last = start + (count - 1) * step
        pads.append((start, length - 1 - last, step - 1))
        if count == length:
            continue
        place = lax.broadcasted_iota(jnp.int32 if length < 2**31 else jnp.int64, base.shape, axis)
        here = (place >= start) & (place <= last)
        if step > 1:
            here &= (place - start) % step == 0
        inside = here if inside is None else inside & here
    if value.size == 1:
        return jnp.where(inside, value.reshape(()), base)
    padded = lax.pad(jnp.broadcast_to(value, counts), jnp.zeros((), base.dtype), pads)
    return jnp.where(inside, padded, base)


def write_masked(base: Any, value: Any, plan: Plan, operands: Sequence[Any], trap: Trap) -> Any:
    """The new base for a boolean array, and one value for all elements that it selects or one for each of them."""
    assert plan.mask is not None
    first, ndim, operand = plan.mask
    if value.ndim == len(plan.rest) + 1 and value.shape[plan.at] != 1:
        return _write_counted(base, value, operands[operand], trap)
    block = read_box(base, plan, operands, trap)
    mask = operands[operand].reshape((1,) * first + operands[operand].shape + (1,) * (block.ndim - first - ndim))
    value = drop_leading(value, len(plan.rest) + 1)
    if value.ndim:
        value = value.reshape((1,) * (len(plan.rest) + 1 - value.ndim) + value.shape)
        lengths = [n for place, n in enumerate(value.reshape(_without(value.shape, plan.at)).shape)]
        lengths = [n for place, n in enumerate(lengths) if place not in plan.new]
        covered = range(first, first + ndim)
        shape = [1 if i in covered or axis.drops else lengths.pop(0) for i, axis in enumerate(plan.axes)]
        value = value.reshape(shape)
    block = jnp.where(mask, value, block)
    if all(isinstance(axis.entry, Slice) and axis.whole for axis in plan.axes):
        return block
    return write_box(base, block, plan, operands, trap)


def _write_counted(base: Any, values: Any, mask: Any, trap: Trap) -> Any:
    """The new base for a boolean array of its first axes, and as many values as that selects."""
    count = values.shape[0]
    trap(jnp.count_nonzero(mask) != count)
    if not count or not base.size:
        return base
    number = jnp.clip(jnp.cumsum(mask.ravel()) - 1, 0, count - 1).reshape(mask.shape)
    values = jnp.broadcast_to(values, (count, *base.shape[mask.ndim :]))
    chosen = values.at[number].get(mode="promise_in_bounds", wrap_negative_indices=False)
    return jnp.where(mask.reshape(mask.shape + (1,) * (base.ndim - mask.ndim)), chosen, base)


def _without(shape: tuple[int, ...], place: int) -> tuple[int, ...]:
    return shape[:place] + shape[place + 1 :]
