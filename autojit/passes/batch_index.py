"""Batched forms of `x[index]` and of writes, where the index moves with the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autojit.ir.graph import Operand
from autojit.ir.index import Entry, Index, Place, Slice, Window
from autojit.ir.spec import Spec
from autojit.ops.index_plan import Plan, plan_index
from autojit.passes.access import Refused
from autojit.passes.lanes import WHOLE, Batch, Lane


@dataclass(frozen=True, slots=True)
class _Part:
    """One entry of an index: the axis of the base it stands on, or a new axis.

    Attributes:
        entry: The entry.
        axis: The axis of the base; `None` for a new one.
        operand: Its run-time operand.
    """

    entry: Entry
    axis: int | None
    operand: Lane | None

    @property
    def moves(self) -> bool:
        lane = self.operand
        return lane is not None and (lane.batched or (lane.form is not None and lane.form.coefficient != 0))


def parts_of(index: Index, base: Spec, operands: Sequence[Lane]) -> tuple[list[_Part], Plan]:
    """The entries in order, the ellipsis written out.

    Raises:
        Refused: A boolean array.
    """
    plan = plan_index(index, base, [lane.spec for lane in operands])
    if plan.mask is not None:
        raise Refused("a boolean array as an index has no batched form")
    used = sum(entry is not None and entry is not Ellipsis for entry in index.entries)
    entries: list[Entry] = []
    for entry in (*index.entries, *(() if Ellipsis in index.entries else (Ellipsis,))):
        entries += [WHOLE] * (base.ndim - used) if entry is Ellipsis else [entry]
    parts: list[_Part] = []
    axis = 0
    for entry in entries:
        lane = operands[entry.operand] if isinstance(entry, Place | Window) else None
        parts.append(_Part(entry, None if entry is None else axis, lane))
        axis += entry is not None
    return parts, plan


class _Entries:
    """An index in the making, with its operands."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.operands: list[Operand] = []

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)

    def fixed(self, part: _Part) -> None:
        """An entry as it is, with its constant operand."""
        entry, lane = part.entry, part.operand
        if isinstance(entry, Place | Window):
            assert lane is not None and lane.operand is not None
            self.operand(entry, lane.operand)
        else:
            self.add(entry)

    def operand(self, entry: Place | Window, operand: Operand) -> None:
        number = len(self.operands)
        self.operands.append(operand)
        if isinstance(entry, Place):
            self.add(Place(number, entry.proven))
        else:
            self.add(Window(number, entry.length, entry.step, entry.proven))

    def around(self, parts: Sequence[_Part], base: Lane) -> int:
        """All entries as they are, and the whole axis of the trips; the number of axes behind it in the result."""
        tail = 0
        placed = not base.batched
        for part in parts:
            if not placed and part.axis == base.place:
                self.add(WHOLE)
                placed, tail = True, 0
            self.fixed(part)
            tail += part.entry is None or isinstance(part.entry, Slice | Window)
        if not placed:
            self.add(WHOLE)
            tail = 0
        return tail

    @property
    def index(self) -> Index:
        return Index(tuple(self.entries))


def read(batch: Batch, base: Lane, index: Index, operands: Sequence[Lane], spec: Spec) -> Lane:
    """The lane of `base[index]`; `spec` is the result's in one trip."""
    parts, plan = parts_of(index, base.spec, operands)
    moving = [part for part in parts if part.moves]
    assert base.operand is not None
    if not moving and not plan.arrays:
        entries = _Entries()
        tail = entries.around(parts, base)
        value = batch.call("getitem", [base.operand, *entries.operands], index=entries.index)
        return batch.lane(value, spec, tail) if base.batched else Lane(value, spec, False)
    if not base.batched and len(moving) == 1 and not plan.arrays:
        lane = _slide(batch, base.operand, parts, moving[0], spec)
        if lane is not None:
            return lane
    return batch.lane(_gather(batch, base, parts, plan, spec), spec)


def _slide(batch: Batch, base: Operand, parts: list[_Part], moving: _Part, spec: Spec) -> Lane | None:
    """A read that moves along one axis: slices of that axis; `None` where there are none."""
    entry, lane = moving.entry, moving.operand
    assert lane is not None and moving.axis is not None
    if lane.form is None:
        return None
    length = base.spec.shape[moving.axis]
    first, change = batch.trips.at(lane.form)
    size = entry.length if isinstance(entry, Window) else 1
    step = entry.step if isinstance(entry, Window) else 1
    behind = spec.ndim - _place(parts, moving)
    if size == 0:
        return None
    if size > 1 and step == 1 and change == size and not lane.form.symbols:
        value = _blocks(batch, base, parts, moving, first, size)
        return None if value is None else batch.lane(value, spec, behind)
    if size > MOST_SLICES:
        return None
    slices = []
    for number in range(size):
        piece = _line(batch, moving, first + number * step, change, length)
        if piece is None:
            return None
        slices.append(_slice(batch, base, parts, moving, *piece))
    if isinstance(entry, Place):
        return batch.lane(slices[0], spec, behind)
    return batch.lane(batch.call("np.stack", slices, axis=_place(parts, moving) + 1), spec, behind)


def _line(batch: Batch, moving: _Part, first: int, change: int, length: int) -> tuple[Entry, Operand | None] | None:
    """The entry that takes the elements `first`, `first + change`, ... of an axis, one per trip, and its operand."""
    lane = moving.operand
    assert lane is not None and lane.form is not None
    last = first + change * (batch.count - 1)
    if lane.form.symbols:
        if abs(change) * (batch.count - 1) >= length:
            return None
        proven = isinstance(moving.entry, Place | Window) and moving.entry.proven
        return Window(0, batch.count, change, proven), _start(batch, lane.form.symbols, first)
    if max(first, last) < 0 and isinstance(moving.entry, Place):
        first, last = first + length, last + length
    if min(first, last) < 0 or max(first, last) >= length:
        return None
    stop: int | None = last + (1 if change > 0 else -1)
    return Slice(first, None if stop is not None and stop < 0 else stop, None if change == 1 else change), None


def _start(batch: Batch, symbols: Sequence[tuple[str, int]], first: int) -> Operand:
    """The integer that symbols and an offset add up to."""
    total: Operand | None = batch.const(first) if first else None
    for name, factor in symbols:
        operand = batch.symbols[name]
        if factor != 1:
            operand = batch.call("py_multiply", [operand, batch.const(factor)])
        total = operand if total is None else batch.call("py_add", [operand, total])
    assert total is not None
    return total


def _entries_with(parts: list[_Part], moving: _Part, entry: Entry, operand: Operand | None) -> _Entries:
    """The index with `entry` in the place of the moving part."""
    entries = _Entries()
    for part in parts:
        if part is not moving:
            entries.fixed(part)
        elif operand is None:
            entries.add(entry)
        else:
            assert isinstance(entry, Window)
            entries.operand(entry, operand)
    return entries


def _slice(
    batch: Batch, base: Operand, parts: list[_Part], moving: _Part, entry: Entry, operand: Operand | None
) -> Operand:
    """The base with `entry` in the place of the moving one."""
    entries = _entries_with(parts, moving, entry, operand)
    return batch.call("getitem", [base, *entries.operands], index=entries.index)


def _place(parts: list[_Part], moving: _Part) -> int:
    """The axis of a basic index's result that comes from one part."""
    before = parts[: next(n for n, part in enumerate(parts) if part is moving)]
    return sum(part.entry is None or isinstance(part.entry, Slice | Window) for part in before)


def _blocks(batch: Batch, base: Operand, parts: list[_Part], moving: _Part, first: int, size: int) -> Operand | None:
    """Windows that lie one after the other are one slice."""
    assert moving.axis is not None
    if first < 0 or first + size * batch.count > base.spec.shape[moving.axis]:
        return None
    entries = _Entries()
    for part in parts:
        if part is moving:
            entries.add(Slice(first, first + size * batch.count, None))
        else:
            entries.fixed(part)
    value: Operand = batch.call("getitem", [base, *entries.operands], index=entries.index)
    place, shape = _place(parts, moving), value.spec.shape
    return batch.reshape(value, (*shape[:place], batch.count, size, *shape[place + 1 :]))


#: Windows of more elements than this are read by index arrays, not as slices side by side.
MOST_SLICES = 16


def _gather(batch: Batch, base: Lane, parts: list[_Part], plan: Plan, spec: Spec) -> Operand:
    """The read by index arrays: one row per trip."""
    assert base.operand is not None
    value, sources = _take_fixed(batch, base, parts, plan)
    # `sources` says which part each axis of `value` still has to be indexed by, or belongs to.
    broadcast = plan.broadcast
    windows = [part for part in sources if isinstance(part, _Part) and isinstance(part.entry, Window) and part.moves]
    shape_of_tail = [1] * len(windows)
    ndim = 1 + len(broadcast) + len(windows)
    entries = _Entries()
    arrays: list[int] = []
    for number, part in enumerate(sources):
        if part is None:
            operand: Operand = batch.call("np.arange", [], start_or_stop=batch.count, dtype=np.dtype(np.int64))
            operand = batch.reshape(operand, (batch.count, *(1,) * (ndim - 1)))
        elif part.moves or (isinstance(part.entry, Place) and part.axis in plan.arrays):
            operand = _array(batch, part, len(broadcast), windows, shape_of_tail)
        else:
            entries.add(WHOLE)
            continue
        arrays.append(number)
        entries.operand(Place(0), operand)
    value = batch.call("getitem", [value, *entries.operands], index=entries.index)
    adjacent = arrays == list(range(arrays[0], arrays[0] + len(arrays)))
    at = arrays[0] if adjacent else 0
    # The axes of the result: the broadcast ones at `at`, the kept ones around them, in order.
    kept = [part for number, part in enumerate(sources) if number not in arrays]
    places: list[Any] = [*kept[:at], "trip", *(("b", n) for n in range(len(broadcast))), *windows, *kept[at:]]
    wanted: list[Any] = []
    for part in parts:
        if part in windows or part in kept:
            wanted.append(part)
    # Where the per-trip index arrays put their axes in one trip.
    position = plan.at - sum(new < plan.at for new in plan.new)
    wanted[position:position] = [("b", n) for n in range(len(broadcast))]
    order = [_find(places, one) for one in ("trip", *wanted)]
    value = batch.transpose(value, order)
    return batch.reshape(value, (batch.count, *spec.shape))


def _find(items: list[Any], wanted: Any) -> int:
    """The place of an object, or of an equal name."""
    named = isinstance(wanted, str | tuple)
    return next(n for n, item in enumerate(items) if item is wanted or (named and item == wanted))


def _take_fixed(batch: Batch, base: Lane, parts: list[_Part], plan: Plan) -> tuple[Operand, list[_Part | None]]:
    """Apply what does not move; the part behind each axis that is left, `None` for the trips of the base."""
    assert base.operand is not None
    entries, left = _Entries(), []
    if base.batched:
        entries.add(WHOLE)
        left.append(None)
        rows: Operand = batch.rows(base)
    else:
        rows = base.operand
    for part in parts:
        if part.entry is None:
            continue
        if part.moves or (isinstance(part.entry, Place) and part.axis in plan.arrays):
            entries.add(WHOLE)
            left.append(part)
            continue
        entries.fixed(part)
        if isinstance(part.entry, Slice | Window):
            left.append(part)
    if all(entry == WHOLE for entry in entries.entries):
        return rows, left
    return batch.call("getitem", [rows, *entries.operands], index=entries.index), left


def _array(batch: Batch, part: _Part, broadcast: int, windows: list[_Part], tail: list[int]) -> Operand:
    """The index array of one entry: a row per trip, then the axes of index arrays, then one axis per window."""
    lane, entry = part.operand, part.entry
    assert lane is not None and isinstance(entry, Place | Window)
    shape = lane.spec.shape
    if isinstance(entry, Place):
        middle = (*(1,) * (broadcast - len(shape)), *shape)
        if not part.moves:
            assert lane.operand is not None
            value = batch.array(lane.operand)
            return batch.reshape(value, (1, *middle, *tail))
        return batch.reshape(batch.rows(lane), (batch.count, *middle, *tail))
    if lane.form is None or lane.form.symbols:
        raise Refused("a moving slice starts at a place that is not known")
    bounds = {"start_or_stop": 0, "stop": entry.length * entry.step, "step": entry.step}
    offsets = batch.call("np.arange", [], **bounds, dtype=np.dtype(np.int64))
    mine = next(n for n, window in enumerate(windows) if window is part)
    own = [entry.length if n == mine else 1 for n in range(len(windows))]
    starts = batch.reshape(batch.rows(lane), (batch.count, *(1,) * broadcast, *tail))
    return batch.call("np.add", [starts, batch.reshape(offsets, (1, *(1,) * broadcast, *own))])


def write(batch: Batch, base: Operand, stored: Lane, index: Index, operands: Sequence[Lane], last: bool) -> Operand:
    """The array after the writes of all trips: `base[index] = stored`.

    Args:
        batch: Takes the nodes.
        base: The array before.
        stored: What is written.
        index: The index.
        operands: Its operands.
        last: Whether all trips write the same elements.
    """
    parts, plan = parts_of(index, base.spec, operands)
    if plan.arrays:
        raise Refused("a write through index arrays has no batched form")
    moving = [part for part in parts if part.moves]
    if last:
        if moving:
            raise Refused("a write that moves in an unknown way")
        if stored.batched:  # of what the earlier trips write, nothing is left but the exceptions
            _check_stored(batch, stored, base.spec.dtype)
        entries = _Entries()
        for part in parts:
            entries.fixed(part)
        return batch.call("setitem", [base, batch.last(stored), *entries.operands], index=entries.index)
    if not moving:
        raise Refused("a write does not move")
    lines = None
    if len(moving) == 1 and isinstance(moving[0].entry, Place):
        lane = moving[0].operand
        assert lane is not None and moving[0].axis is not None
        if lane.form is not None:
            first, change = batch.trips.at(lane.form)
            lines = _line(batch, moving[0], first, change, base.spec.shape[moving[0].axis])
    if lines is not None:
        return _write_line(batch, base, stored, parts, plan, moving[0], *lines)
    return _scatter(batch, base, stored, parts, plan, moving)


def _write_line(
    batch: Batch, base: Operand, stored: Lane, parts: list[_Part], plan: Plan, moving: _Part,
    entry: Entry, operand: Operand | None,
) -> Operand:  # fmt: skip
    entries = _entries_with(parts, moving, entry, operand)
    place = _place(parts, moving)
    value = _value(batch, stored, base.spec.dtype, len(plan.shape), place)
    return batch.call("setitem", [base, value, *entries.operands], index=entries.index)


def _check_stored(batch: Batch, stored: Lane, dtype: np.dtype) -> None:
    """Refuse numbers of which NumPy may raise when it writes one, also where nobody reads it."""
    batch.check_fits(stored, dtype)
    if stored.spec.kind != "array" and stored.spec.dtype.kind == "f" and dtype.kind in "iu":
        raise Refused("a float that may be no integer is written")


def _value(batch: Batch, stored: Lane, dtype: np.dtype, ndim: int, place: int) -> Operand:
    """What is written to a `dtype`, with the axis of the trips at `place` among the `ndim` axes of a trip's target."""
    if stored.spec.ndim > ndim:
        raise Refused("the assigned value has more axes than its target")
    if stored.batched:
        _check_stored(batch, stored, dtype)
    return batch.as_python_float(stored, batch.aligned(stored, ndim - place), dtype)


def _scatter(batch: Batch, base: Operand, stored: Lane, parts: list[_Part], plan: Plan, moving: list[_Part]) -> Operand:
    """A write by index arrays, of which no two name the same element."""
    entries = _Entries()
    for part in parts:
        if part.moves:
            lane = part.operand
            assert lane is not None
            if not isinstance(part.entry, Place) or lane.spec.shape:
                raise Refused("a write to moving slices has no batched form")
            entries.operand(Place(0), batch.rows(lane))
        elif part.entry is None:
            raise Refused("a write with a new axis has no batched form")
        else:
            entries.fixed(part)
    numbers = [n for n, part in enumerate(parts) if not isinstance(part.entry, Slice | Window)]
    adjacent = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    place = sum(isinstance(part.entry, Slice | Window) for part in parts[: numbers[0]]) if adjacent else 0
    value = _value(batch, stored, base.spec.dtype, len(plan.shape), place)
    return batch.call("setitem", [base, value, *entries.operands], index=entries.index)


def write_rows(batch: Batch, base: Lane, stored: Lane, index: Index, operands: Sequence[Lane], spec: Spec) -> Lane:
    """`base[index] = stored` in every row, for an index that is the same in all trips."""
    if len(operands) == 1 and index.entries == (Place(0),) and operands[0].spec.dtype == np.bool_:
        mask = operands[0]
        if mask.spec.shape != base.spec.shape or stored.spec.ndim:
            raise Refused("a masked write has a batched form for whole masks and numbers only")
        _check_stored(batch, stored, base.spec.dtype)
        tail = batch.common([base, mask, stored])
        dtype = base.spec.dtype
        value = batch.as_python_float(stored, batch.array(batch.aligned(stored, tail), dtype), dtype)
        value = batch.cast(value, dtype)
        return batch.lane(
            batch.call("np.where", [batch.aligned(mask, tail), value, batch.aligned(base, tail)]), spec, tail
        )
    parts, plan = parts_of(index, base.spec, operands)
    if plan.arrays or any(part.moves for part in parts):
        raise Refused("a moving write to a temporary array has no batched form")
    if stored.spec.ndim > len(plan.shape):
        raise Refused("the assigned value has more axes than its target")
    if not base.batched:
        base = Lane(batch.rows(base), base.spec, True)
    entries = _Entries()
    tail = entries.around(parts, base)
    value = _value(batch, stored, base.spec.dtype, len(plan.shape), len(plan.shape) - tail)
    assert base.operand is not None
    return batch.lane(
        batch.call("setitem", [base.operand, value, *entries.operands], index=entries.index), spec, base.tail
    )
