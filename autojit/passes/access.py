"""Which elements of an array an index touches in each trip of a loop, and whether two indices ever meet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from autojit.ir.graph import Const, Operand, Value
from autojit.ir.index import Index, Place, Slice, Window, ends_of
from autojit.ir.spec import Spec
from autojit.ops.index_plan import Axis, plan_index
from autojit.passes.affine import Affine, Trips, form_of
from autojit.passes.ragged import Span


class Refused(Exception):
    """A loop stays a loop; the text says why."""


#: What a loop's body puts before the user's names, and what it calls the values that have none.
_PREFIX, _NUMBERED = re.compile(r"b\d+_"), re.compile(r"v?\d+")


def told(carried: Value) -> str:
    """A carried value for people: what the user calls it, if there is a name."""
    name = _PREFIX.sub("", carried.name, count=1)
    return "a carried value" if _NUMBERED.fullmatch(name) else f"`{name}`"


@dataclass(frozen=True, slots=True)
class Reach:
    """The elements that an index touches on one axis: from `low` to `high` in the first trip.

    Attributes:
        low: The first element, symbols left out.
        high: The last element.
        change: By how much each trip moves the first.
        rise: By how much each trip moves the last.
        stride: The distance between touched elements.
        symbols: What is added to both, the same in all trips.
        key: What two reaches must share to be equal element for element.
        anywhere: Nothing is known: any element of the axis may be touched.
        varies: It may be another one in each trip, in a way that is not known.
        backward: Whether the last place of the index is the first element.
    """

    low: int
    high: int
    change: int
    rise: int
    stride: int
    symbols: tuple[tuple[str, int], ...]
    key: Any
    anywhere: bool = False
    varies: bool = False
    backward: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """What one read or write touches: one reach per axis of the array."""

    reaches: tuple[Reach, ...]
    empty: bool = False

    @property
    def fixed(self) -> bool:
        """Whether all trips touch the same elements."""
        return not any(reach.change or reach.rise or reach.varies for reach in self.reaches)

    def equals(self, other: Access) -> bool:
        """Whether both touch the same elements, in the same order, in every trip."""
        return [r.key for r in self.reaches] == [r.key for r in other.reaches]


class Meeting(NamedTuple):
    """Whether there are trips `t` of one access and `u` of another that may touch the same element.

    Attributes:
        earlier: With `u < t`.
        same: With `u == t`.
        later: With `u > t`.
    """

    earlier: bool
    same: bool
    later: bool


def access_of(
    shape_of: Operand, index: Index, operands: Sequence[Operand], forms: Mapping[str, Affine], trips: Trips
) -> Access:
    """The access of `x[index]`.

    Args:
        shape_of: The array that is indexed.
        index: The index.
        operands: Its run-time operands.
        forms: The affine forms of the body.
        trips: The trips of the loop.

    Raises:
        Refused: An index that is out of bounds in some trip.
    """
    spec = shape_of.spec
    plan = plan_index(index, spec, [operand.spec for operand in operands])
    reaches = []
    for number, axis in enumerate(plan.axes):
        masked = plan.mask is not None and plan.mask[0] <= number < plan.mask[0] + plan.mask[1]
        if masked:
            assert plan.mask is not None
            reaches.append(_anywhere(axis, ("mask", _name(operands[plan.mask[2]]), number)))
        else:
            reaches.append(_reach(axis, operands, forms, trips))
    return Access(tuple(reaches), any(axis.count == 0 or axis.length == 0 for axis in plan.axes))


def whole_of(spec: Spec) -> Access:
    """The access of a use of a whole array."""
    return Access(tuple(_range(0, length - 1, 1) for length in spec.shape), 0 in spec.shape)


def meeting(first: Access, second: Access, trips: Trips) -> Meeting:
    """When the two accesses of one array may touch the same element.

    Conservative: strides are honoured only where they exclude every meeting.
    """
    if first.empty or second.empty:
        return Meeting(False, False, False)
    t = np.arange(trips.count)
    low, high = np.zeros(trips.count, np.int64), np.full(trips.count, trips.count - 1)
    for one, other in zip(first.reaches, second.reaches, strict=True):
        span = _meet(one, other, t)
        if span is None:
            continue
        low, high = np.maximum(low, span[0]), np.minimum(high, span[1])
    some = low <= high
    return Meeting(
        bool(np.any(some & (low < t))), bool(np.any(some & (low <= t) & (t <= high))), bool(np.any(some & (high > t)))
    )


def _meet(one: Reach, other: Reach, t: np.ndarray) -> tuple[Any, Any] | None:
    """The first and the last trip `u` of `other` that meets trip `t` of `one`; `None` for no limit."""
    if one.anywhere or other.anywhere or one.symbols != other.symbols:
        return None
    changes = {one.change, one.rise, other.change, other.rise}
    if one.symbols and len(changes) > 1:
        return None  # negative indices count from the end
    common = gcd(*changes, one.stride, other.stride)
    if common > 1 and (one.low - other.low) % common:
        return np.ones_like(t), np.zeros_like(t)
    # `other.high` in trip u is at least `one.low`, and `other.low` is at most `one.high`.
    first = _at_least(other.rise, one.low + one.change * t - other.high, t)
    second = _at_least(-other.change, other.low - one.high - one.rise * t, t)
    return np.maximum(first[0], second[0]), np.minimum(first[1], second[1])


def _at_least(factor: int, least: np.ndarray, t: np.ndarray) -> tuple[Any, Any]:
    """The first and the last trip `u` with `factor * u >= least`."""
    if factor > 0:
        return -(-least // factor), np.full_like(t, t[-1])
    if factor < 0:
        return np.zeros_like(t), least // factor
    return np.where(least <= 0, 0, t[-1] + 1), np.full_like(t, t[-1])


def can_narrow(reach: Reach, span: Span) -> bool:
    """Whether `narrowed` leaves just the places in a span, and none beside them."""
    is_plain = not (reach.anywhere or reach.varies or reach.stride != 1 or reach.backward)
    has_symbols = any(bound is not None and bound.symbols for bound in (span.low, span.high))
    return is_plain and span.is_exact and not has_symbols


def narrowed(access: Access, spans: Mapping[int, Span], trips: Trips) -> Access:
    """The access of a part: on some axes of the array, only the places in a span of what is touched, or more."""
    reaches = list(access.reaches)
    for axis, span in spans.items():
        reach = reaches[axis]
        if reach.anywhere or reach.stride != 1 or reach.backward:
            continue
        if span.low is not None and not span.low.symbols:
            first, change = trips.at(span.low)
            reach = replace(reach, low=reach.low + first, change=reach.change + change)
        if span.high is not None and not span.high.symbols:
            first, change = trips.at(span.high)
            before = reaches[axis]
            reach = replace(reach, high=before.low + first - 1, rise=before.change + change)
        reaches[axis] = reach
    return replace(access, reaches=tuple(reaches))


def axes_of(index: Index, ndim: int) -> list[int | None] | None:
    """The axis of the array behind each axis of `x[index]`, `None` for a new axis; `None` for index arrays."""
    if any(isinstance(entry, Place) for entry in index.entries) and ndim == 0:
        return None
    used = sum(entry is not None and entry is not Ellipsis for entry in index.entries)
    axes: list[int | None] = []
    axis = 0
    for entry in (*index.entries, *(() if Ellipsis in index.entries else (Ellipsis,))):
        if entry is Ellipsis:
            axes += range(axis, axis + ndim - used)
            axis += ndim - used
        elif entry is None:
            axes.append(None)
        else:
            if isinstance(entry, Slice | Window):
                axes.append(axis)
            axis += 1
    return axes


def _reach(axis: Axis, operands: Sequence[Operand], forms: Mapping[str, Affine], trips: Trips) -> Reach:
    entry = axis.entry
    if isinstance(entry, int):
        return _range(entry % axis.length, entry % axis.length, 1)
    if isinstance(entry, Slice):
        indices = range(*slice(entry.start, entry.stop, entry.step).indices(axis.length))
        if not indices:
            return _range(0, -1, 1)
        key = ("slice", indices[0], indices[-1], indices.step if len(indices) > 1 else 1)
        return Reach(*ends_of(indices), 0, 0, abs(indices.step), (), key, backward=indices.step < 0)
    operand = operands[entry.operand]
    form = form_of(operand, forms) if not operand.spec.shape and operand.spec.dtype.kind in "iu" else None
    if form is None:
        key = (type(entry).__name__, _name(operand), getattr(entry, "length", 1), getattr(entry, "step", 1))
        return _anywhere(axis, key)
    return _moving(axis, entry, form, trips)


def _moving(axis: Axis, entry: Place | Window, form: Affine, trips: Trips) -> Reach:
    first, change = trips.at(form)
    length, step = (entry.length, entry.step) if isinstance(entry, Window) else (1, 1)
    span = (length - 1) * step
    low, high = first + min(0, span), first + max(0, span)
    if not form.symbols:
        least = min(low, low + change * (trips.count - 1))
        most = max(high, high + change * (trips.count - 1))
        bottom = 0 if isinstance(entry, Window) else -axis.length
        if length and (least < bottom or most >= axis.length):
            raise Refused("an index is out of bounds in some iteration")
        if least < 0 <= most:
            return _anywhere(axis, (first, change, length, step, form.symbols), varies=False, change=change)
        if least < 0:
            low, high = low + axis.length, high + axis.length
    elif isinstance(entry, Place) and not entry.proven:
        # The symbols may make it negative, in some trips or in all.
        return _anywhere(axis, (first, change, length, step, form.symbols), varies=False, change=change)
    key = ("slice", low, high, 1) if not change and not form.symbols and step == 1 else None
    key = key or (low, high, change, step, form.symbols)
    return Reach(low, high, change, change, abs(step), form.symbols, key, backward=step < 0)


def _range(low: int, high: int, stride: int) -> Reach:
    return Reach(low, high, 0, 0, stride, (), ("slice", low, high, stride))


def _anywhere(axis: Axis, key: Any, varies: bool = True, change: int = 0) -> Reach:
    return Reach(0, axis.length - 1, change, change, 1, (), ("anywhere", key), True, varies)


def _name(operand: Operand) -> Any:
    return ("constant", id(operand.value)) if isinstance(operand, Const) else operand.name
