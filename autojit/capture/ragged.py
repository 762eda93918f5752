"""Slices whose length moves with a loop: views of whole axes, of which only a span is meant."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autojit.capture.bounds import Bound, Bounds
from autojit.capture.lists import from_list, is_index_tuple, is_list
from autojit.capture.overlap import items_are_apart, vector_is_apart
from autojit.capture.values import Arr, Frame, Items, Known, LoopInt, Method, Ragged, Selected, Span, Sym
from autojit.capture.views import SliceParts
from autojit.errors import CannotCapture
from autojit.ir.index import Index, Place, Slice, Window
from autojit.ir.op import Op
from autojit.ops.chapters import TABLE

#: A slice may be a small part of the whole: in larger arrays than this one it is not worth to work on all elements.
MASKED_SIZE = 4096

_WHOLE = Slice(None, None, None)
#: Elementwise operations that cannot trap for any elements; others are given ones where nothing is meant.
_SAFE = frozenset(
    "np.add np.subtract np.multiply np.divide np.maximum np.minimum np.fmax np.fmin np.hypot np.arctan2 np.copysign "
    "np.less np.less_equal np.greater np.greater_equal np.equal np.not_equal np.logical_and np.logical_or "
    "np.logical_xor np.bitwise_and np.bitwise_or np.bitwise_xor np.where".split()
)


class RaggedViews(Bounds):
    """Reading, writing and elementwise use of slices whose length moves with a loop."""

    frame: Frame

    # ---- views

    def getitem(self, array: Any, key: Any) -> Any:
        """`array[key]`."""
        if isinstance(array, Ragged) or (isinstance(array, Arr) and self._moves(array, key)):
            return self._ragged_view(array, key)
        return super().getitem(array, key)

    def _moves(self, array: Arr, key: Any) -> bool:
        """Whether a slice in an index has no fixed length."""
        if not self.hidden or array.kind != "array":
            return False
        return any(
            isinstance(part, SliceParts) and axis < array.dummy.ndim and self._is_ragged(part, array.shape[axis])
            for part, axis, _ in self._matched(_parts(key), array.dummy.ndim)
        )

    def _matched(self, parts: list[Any], ndim: int) -> list[tuple[Any, int, int]]:
        """The parts of an index with the first axis that they are for, and the first that they are not."""
        used = sum(map(self.axes_used, parts))
        axis, out = 0, []
        for part in parts:
            after = axis + (max(ndim - used, 0) if _is(part, Ellipsis) else self.axes_used(part))
            out.append((part, axis, after))
            axis = after
        return out

    def _is_ragged(self, part: SliceParts, length: int) -> bool:
        bounds = (part.start, part.stop)
        if not any(isinstance(bound, LoopInt) or _is_int_array(bound) for bound in bounds):
            return False
        start, stop = bounds
        if isinstance(start, LoopInt) and isinstance(stop, LoopInt) and _is_plain_step(part.step):
            extent = self._extent(start, stop)
            if extent is not None:
                # A window; where its place is not known, the loop is tried again with known bounds.
                # A stop in front of the start may be negative, and count from the end.
                if start.low is None or start.high is None or stop.low is None:
                    return False
                return start.low < 0 or stop.low < 0 or start.high + max(extent, 0) > length
        return True

    def _ragged_view(self, array: Arr | Ragged, key: Any) -> Any:
        full = array.full if isinstance(array, Ragged) else array
        given = array.spans if isinstance(array, Ragged) else (None,) * full.dummy.ndim
        parts = _parts(key)
        plain: list[Any] = []
        spans: list[Span | None] = []
        last = 0
        for part, axis, after in self._matched(parts, full.dummy.ndim):
            last = after
            if _is(part, None):
                plain.append(part)
                spans.append(None)
            elif _is(part, Ellipsis):
                plain.append(part)
                spans += given[axis:after]
            elif axis >= full.dummy.ndim:
                raise CannotCapture("raises", "IndexError: too many indices for array")
            elif isinstance(part, SliceParts) or (isinstance(part, Known) and isinstance(part.value, slice)):
                taken, span = self._slice_axis(part, full.shape[axis], given[axis])
                plain.append(taken)
                spans.append(span)
            else:
                plain.append(self._element(part, given[axis]))
        spans += given[last:]
        view = super().getitem(full, Items(tuple, plain))
        if not any(span is not None for span in spans):
            return view
        if view.spec.size > MASKED_SIZE and any(span is not None and _may_be_short(span) for span in spans):
            raise CannotCapture("moving-shape", "data decides where a slice starts and ends, in a large array")
        return Ragged(view, tuple(spans))

    def _slice_axis(self, part: Any, length: int, span: Span | None) -> tuple[Any, Span | None]:
        """A slice of an axis: what to take of the whole axis, and the span of the result."""
        if isinstance(part, Known):
            bounds = (part.value.start, part.value.stop, part.value.step)
            part = SliceParts(*(Known(self._bound(Known(bound))) for bound in bounds))
        if span is None and not self._is_ragged(part, length):
            return part, None
        step = self._bound(part.step)
        if step not in (None, 1, -1):
            raise CannotCapture("moving-shape", "the length of a slice with a step changes with a loop variable")
        step = step or 1
        whole = Span(Known(0), Known(length)) if span is None else span
        taken = self.slice_span(part.start, part.stop, step, whole)
        if step == 1:
            return Known(slice(None)), taken
        return Known(slice(None, None, -1)), self._turned(taken, length)

    def _turned(self, span: Span, length: int) -> Span:
        return Span(self.minus(Known(length), span.stop), self.minus(Known(length), span.start))

    def _element(self, part: Any, span: Span | None) -> Any:
        """An integer index, in the numbering of the whole axis."""
        is_int = isinstance(part, LoopInt) or (isinstance(part, Known | Sym) and _is_int(part.value))
        if not (is_int or _is_int_array(part)):
            raise CannotCapture("moving-shape", "an array as an index beside a slice whose length changes")
        if span is None:
            return part
        length = self.length_of(span)
        place = self.from_front(self.bound_of(part), length)
        self.trap_unless_inside(place, length)
        return self.plus(span.start, place)

    def trap_unless_inside(self, place: Bound, length: Bound) -> None:
        """Leave the call to NumPy, which raises IndexError, when an index is outside."""
        checks: list[tuple[Bound, Bound]] = [] if self.at_most(Known(0), place) else [(place, Known(0))]
        if not self.at_most(self.plus(place, Known(1)), length):
            checks.append((self.minus(length, Known(1)), place))
        for one, other in checks:
            operands = [self.operand(one), self.operand(other)]
            self.trap_if(self.builder.add(TABLE["py_less"], operands, {}, self.line)[0])

    # ---- attributes

    def array_attribute(self, array: Any, name: str) -> Any:
        """`array.name`."""
        if not isinstance(array, Ragged):
            return super().array_attribute(array, name)
        full, spans = array.full, array.spans
        lengths = [Known(n) if s is None else self.length_of(s) for n, s in zip(full.shape, spans, strict=True)]
        if name == "shape":
            return Items(tuple, lengths)
        if name in ("size", "nbytes"):
            lengths += [Known(full.dummy.itemsize)] if name == "nbytes" else []
            total: Any = lengths[0]
            for length in lengths[1:]:
                total = self.binary(ast.Mult, total, length)
            return total
        if name in ("ndim", "dtype", "itemsize"):
            return Known(getattr(full.dummy, name))
        if name == "T":
            return Ragged(self.transpose(full), spans[::-1])
        if name == "real" and full.dtype.kind != "c":
            return array
        if name in ("real", "imag"):
            return Ragged(super().array_attribute(full, name), spans)
        found = super().array_attribute(full, name)
        if not isinstance(found, Method):
            raise CannotCapture("moving-shape", f"the attribute `.{name}` of a slice whose length changes")
        return Method(array, name)

    def ragged_copy(self, array: Ragged) -> Ragged:
        """A new array with the present contents."""
        return Ragged(self.copy(array.full), array.spans)

    def flipped(self, array: Ragged, axes: Any) -> Ragged:
        """`np.flip` of some axes; of all for `None`."""
        ndim = array.full.dummy.ndim
        turned = self.ask(normalize_axis_tuple, range(ndim) if axes is None else axes, ndim)
        step = [Known(slice(None, None, -1 if axis in turned else None)) for axis in range(ndim)]
        return self.getitem(array, Items(tuple, step))

    # ---- alignment

    def moved(self, array: Arr, axis: int, source: Bound, target: Bound, length: int) -> Arr:
        """An array whose axis has `length` elements, so that what was at `source` is at `target`."""
        have = array.shape[axis]
        shift = self.minus(source, target)
        low, high = (shift.value, shift.value) if isinstance(shift, Known) else (shift.low, shift.high)
        if low == high == 0 and have == length:
            return array
        low, high = max(-length, -length if low is None else low), min(have, have if high is None else high)
        front, back = max(-low, 0), max(high + length - have, 0)
        if front or back:
            shapes = [(*array.shape[:axis], n, *array.shape[axis + 1 :]) for n in (front, back)]
            pads = [self.apply(TABLE["np.zeros"], [], {"shape": shape, "dtype": array.dtype}) for shape in shapes]
            parts = [part for part in (pads[0], array, pads[1]) if part.shape[axis]]
            array = self.apply(TABLE["np.concatenate"], parts, {"axis": axis})
        start = self.plus(shift, Known(front))
        operands = []
        if isinstance(start, Known):
            entry: Any = Slice(start.value, start.value + length, None)
        else:
            entry = Window(0, length, proven=True)
            operands.append(self.operand(start))
        index = Index((_WHOLE,) * axis + (entry,))
        return self.fresh(self._node("getitem", [self.read(array), *operands], {"index": index})[0])

    def aligned(self, values: list[Any], target: Ragged | None = None) -> tuple[list[Any], tuple[Span | None, ...]]:
        """Arrays whose axes broadcast, moved so that what belongs together is at one place; the spans of the result.

        Args:
            values: Operands; scalars stay as they are.
            target: What the others are moved to; by default the operand with the shortest axis.

        Raises:
            CannotCapture: Lengths do not provably agree.
        """
        arrays = [value for value in values if _ndim(value)]
        ndim = max((_ndim(value) for value in [*arrays, target]), default=0)
        spans: list[Span | None] = []
        for back in range(ndim, 0, -1):
            meant = [(_length(v, back), _span(v, back)) for v in arrays if _ndim(v) >= back]
            if target is not None and _ndim(target) >= back and _span(target, back) is not None:
                chosen = _length(target, back), _span(target, back)
            else:
                ragged = [pair for pair in meant if pair[1] is not None]
                chosen = min(ragged, key=lambda pair: pair[0]) if ragged else (0, None)
            length, span = chosen
            spans.append(span)
            if target is not None and span is not None and (_ndim(target) < back or _span(target, back) is None):
                raise CannotCapture("moving-shape", "a slice whose length changes is assigned to one of fixed length")
            if span is None:
                continue
            for own, other in meant:
                if other is None and own != 1:
                    raise CannotCapture("moving-shape", "a slice whose length changes beside one of fixed length")
                if other is not None and not self.same_length(span, other):
                    raise CannotCapture("moving-shape", "slices whose lengths may differ")
            for position, value in enumerate(values):
                other = _span(value, back) if _ndim(value) >= back else None
                if other is not None:
                    axis = _ndim(value) - back
                    full = self.moved(value.full, axis, other.start, span.start, length)
                    ends = [span if a == axis else s for a, s in enumerate(value.spans)]
                    values = [*values[:position], Ragged(full, tuple(ends)), *values[position + 1 :]]
                    arrays = [v for v in values if _ndim(v)]
        return values, tuple(spans)

    # ---- elementwise operations

    def apply(self, op: Op, operands: Any, params: dict[str, Any]) -> Any:
        """Add a node, or several for operands whose length moves."""
        if not any(isinstance(value, Ragged) for value in operands):
            return super().apply(op, operands, params)
        if op.broadcasts:
            return self._elementwise(op, list(operands), params)
        return self.apply_ragged(op, list(operands), params)

    def apply_ragged(self, op: Op, operands: list[Any], params: dict[str, Any]) -> Any:
        """An operation that is not elementwise, on operands whose length moves."""
        raise CannotCapture("moving-shape", f"`{op.name}` of a slice whose length changes with a loop variable")

    def _elementwise(self, op: Op, operands: list[Any], params: dict[str, Any]) -> Any:
        if any(isinstance(value, Selected) and not isinstance(value, Ragged) for value in operands):
            raise CannotCapture("data-shape", "a slice whose length changes beside elements that a mask selects")
        operands, spans = self.aligned(operands)
        if op.traps and op.name not in _SAFE:
            operands = [self.filled(value, 1) if isinstance(value, Ragged) else value for value in operands]
        whole = [value.full if isinstance(value, Ragged) else value for value in operands]
        results = super().apply(op, whole, params)
        if isinstance(results, list):
            return [Ragged(result, spans) for result in results]
        return Ragged(results, spans)

    def filled(self, array: Ragged, value: Any, axes: Any = None) -> Ragged:
        """The array with a value in the places that are not meant, as far as some axes say."""
        inside = self.inside(array, axes)
        if inside is None:
            return array
        number = array.full.dtype.type(value)
        full = self.apply(TABLE["np.where"], [inside, array.full, Known(number)], {})
        return Ragged(full, array.spans)

    # ---- stores

    def setitem(self, array: Any, key: Any, value: Any) -> None:
        """`array[key] = value`."""
        if isinstance(array, Ragged) or (isinstance(array, Arr) and self._moves(array, key)):
            target = self._ragged_view(array, key)
            if isinstance(target, Ragged):
                self.store_ragged(target, value)
            elif target.kind == "array":
                self.setitem(target, Known(Ellipsis), value)
            else:
                assert isinstance(array, Ragged)
                parts = [self._element(p, s) for p, s in zip(_parts(key), array.spans, strict=True)]
                self.setitem(array.full, Items(tuple, parts), value)
        elif isinstance(value, Ragged):
            raise CannotCapture("moving-shape", "a slice whose length changes is assigned to one of fixed length")
        else:
            super().setitem(array, key, value)

    def store_ragged(self, target: Ragged, value: Any) -> None:
        """Assign to the places that are meant: a choice between new and old elements, written as a whole."""
        full = target.full
        if is_list(value):
            items_are_apart(full, Index((Ellipsis,)), [], self.flatten(value)[1])
            value = from_list(self, value, full.dtype)
        if not (isinstance(value, Ragged) and self._cross(target, value)):
            vector_is_apart(full, Index((Ellipsis,)), [], value.full if isinstance(value, Ragged) else value)
        if _ndim(value) > full.dummy.ndim:
            raise CannotCapture("moving-shape", "an assigned value with more axes than the slice")
        if isinstance(value, Ragged) and value.full.storage is full.storage and value.full.steps == full.steps:
            if all(a is b for a, b in zip(value.spans, target.spans, strict=True)):
                return  # assigned to itself
        (value,), _ = self.aligned([value], target)
        if isinstance(value, Ragged):
            if value.full.dtype.kind in "fc" and full.dtype.kind not in "fc":
                value = self.filled(value, 0)
            value = value.full
        old = self.fresh(self.read(full))
        whole = Index((Ellipsis,))
        new = self.fresh(self._node("setitem", [self.read(old), self.operand(value)], {"index": whole})[0])
        inside = self.inside(target)
        if inside is not None:
            new = self.apply(TABLE["np.where"], [inside, new, old], {})
        self.write(full, self.read(new))

    def _cross(self, one: Ragged, other: Ragged) -> bool:
        """Whether one is a part of a row of a matrix, and the other of a column, and the element of both in neither."""
        line, other_line = self._line(one), self._line(other)
        if line is None or other_line is None:
            return False
        (axis, place), (other_axis, other_place) = line, other_line
        return axis != other_axis and (_is_outside(place, other.spans[0]) or _is_outside(other_place, one.spans[0]))

    def _line(self, array: Ragged) -> tuple[int, LoopInt] | None:
        """The axis that the index of a row or column is for, and that index, if it is the variable of a loop."""
        storage, steps = array.full.storage, array.full.steps
        if storage.spec.ndim != 2 or len(steps) != 1 or steps[0].op.name != "getitem":
            return None
        entries = dict(steps[0].params)["index"].entries
        axes = [axis for axis, entry in enumerate(entries) if isinstance(entry, Place)]
        if len(entries) != 2 or len(axes) != 1 or entries[1 - axes[0]] != Slice(None, None, None):
            return None
        known = (value for value in self.frame.env.values() if isinstance(value, LoopInt))
        found = next((value for value in known if value.value is steps[0].operands[0]), None)
        return None if found is None or found.low is None or found.low < 0 else (axes[0], found)

    def inplace(self, kind: type, target: Any, value: Any) -> Any:
        """`target <operator>= value`."""
        if not isinstance(target, Ragged):
            if isinstance(value, Ragged) and isinstance(target, Arr) and target.kind == "array":
                raise CannotCapture("moving-shape", "a slice whose length changes is added to one of fixed length")
            return super().inplace(kind, target, value)
        result = self.binary(kind, target, value)
        if not isinstance(result, Ragged) or len(result.spans) != len(target.spans):
            raise CannotCapture("moving-shape", "a slice whose length changes, in place with another shape")
        if not np.can_cast(result.full.dtype, target.full.dtype, "same_kind"):
            raise CannotCapture("raises", f"UFuncTypeError: cannot cast {result.full.dtype} in place")
        self.store_ragged(target, result)
        return target


def _is_outside(place: LoopInt, span: Span | None) -> bool:
    """Whether an index is never one of a span's."""
    if span is None:
        return False
    before, behind = _difference(place, span.start), _difference(span.stop, place)
    return (before is not None and before > 0) or (behind is not None and behind >= 0)


def _difference(one: Any, other: Any) -> int | None:
    """`other - one`, where the variables in it cancel."""
    if not (isinstance(one, LoopInt) and isinstance(other, LoopInt) and one.affine and other.affine):
        return None
    return other.affine[1] - one.affine[1] if one.affine[0] == other.affine[0] else None


def _parts(key: Any) -> list[Any]:
    if isinstance(key, Items) and is_index_tuple(key):
        return key.values
    if isinstance(key, Known) and isinstance(key.value, tuple):
        return [Known(part) for part in key.value]
    return [key]


def _is(part: Any, constant: Any) -> bool:
    return isinstance(part, Known) and part.value is constant


def _may_be_short(span: Span) -> bool:
    """Whether both ends move in a way of which nothing is known."""
    ends = (span.start, span.stop)
    return all(isinstance(end, LoopInt) for end in ends) and any(end.affine is None for end in ends)


def _is_int(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_int_array(value: Any) -> bool:
    """Whether a value is an integer that was taken out of an array or is carried by a loop."""
    return isinstance(value, Arr) and not value.dummy.ndim and value.kind != "array" and value.dtype.kind in "iu"


def _is_plain_step(step: Any) -> bool:
    return isinstance(step, Known) and step.value in (None, 1)


def _ndim(value: Any) -> int:
    if isinstance(value, Ragged):
        return value.full.dummy.ndim
    return value.dummy.ndim if isinstance(value, Arr) else 0


def _length(value: Any, back: int) -> int:
    """The length of the axis that is `back` axes before the end."""
    return (value.full if isinstance(value, Ragged) else value).shape[-back]


def _span(value: Any, back: int) -> Span | None:
    return value.spans[-back] if isinstance(value, Ragged) else None
