"""Arithmetic on the bounds of slices: ints made from loop indices, compared by their form where that decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.host_calls import HostCalls
from autojit.capture.values import Arr, Known, LoopInt, Ragged, Span, Sym
from autojit.errors import CannotCapture
from autojit.ir.graph import Const, Operand
from autojit.ops.chapters import TABLE

#: A bound: an int that is known, or one that moves with a loop.
Bound = Known | LoopInt


class Bounds(HostCalls):
    """Ints between 0 and the length of an axis."""

    def bound_of(self, value: Any) -> Bound:
        """An abstract int as a bound, with a form of its own where it has no better one."""
        if isinstance(value, Known | Sym):
            number = self.static(value)
            if isinstance(number, bool) or not isinstance(number, int | np.integer):
                raise CannotCapture("raises", "a slice bound that is not an integer")
            return Known(int(number))
        if isinstance(value, Arr):
            if value.dtype.kind not in "iu" or value.dummy.ndim:
                raise CannotCapture("raises", "TypeError: slice indices must be integers")
            if value.kind != "python":
                value = self.apply(TABLE["item_int"], [value], {})
            return LoopInt(self.read(value), None, None)
        if isinstance(value, LoopInt):
            return value
        raise CannotCapture("unsupported-syntax", "a slice bound that is not an integer")

    # ---- arithmetic

    def plus(self, one: Bound, other: Bound) -> Bound:
        """`one + other`."""
        return self._sum(one, other, 1)

    def minus(self, one: Bound, other: Bound) -> Bound:
        """`one - other`."""
        return self._sum(one, other, -1)

    def _sum(self, one: Bound, other: Bound, sign: int) -> Bound:
        form = _add_forms(_form(one), _form(other), sign)
        terms = {name: c for name, c in form[0].items() if c}
        if not terms:
            return Known(form[1])
        if isinstance(other, Known) and other.value == 0:
            return one
        if isinstance(one, Known) and one.value == 0 and sign == 1:
            return other
        row = TABLE["py_add" if sign == 1 else "py_subtract"]
        (value,) = self.builder.add(row, [self.operand(one), self.operand(other)], {}, self.line)
        (a, b), (c, d) = _ends(one), _ends(other)
        if sign < 0:
            c, d = (None if d is None else -d), (None if c is None else -c)
        low = None if a is None or c is None else a + c
        high = None if b is None or d is None else b + d
        return LoopInt(value, low, high, (tuple(sorted(terms.items())), form[1]))

    def difference(self, one: Bound, other: Bound) -> int | None:
        """`one - other` when it is the same for all indices; run-time scalars that remain are demanded."""
        return self._constant(_add_forms(_form(one), _form(other), -1))

    def _constant(self, form: tuple[dict[str, int], int]) -> int | None:
        total = form[1]
        for name, coefficient in form[0].items():
            if coefficient:
                sym = self.syms.get(name)
                if sym is None or sym.moving:
                    return None
                total += coefficient * self.demand(sym)
        return total

    def at_most(self, one: Bound, other: Bound) -> bool:
        """Whether `one <= other` is certain."""
        (_, high), (low, _) = _ends(one), _ends(other)
        if high is not None and low is not None and high <= low:
            return True
        gap = self.difference(other, one)
        return gap is not None and gap >= 0

    def least(self, one: Bound, other: Bound) -> Bound:
        """`min(one, other)`."""
        return self.extreme_of(one, other, True)

    def greatest(self, one: Bound, other: Bound) -> Bound:
        """`max(one, other)`."""
        return self.extreme_of(one, other, False)

    def extreme_of(self, one: Bound, other: Bound, least: bool) -> Bound:
        if self.at_most(one, other):
            return one if least else other
        if self.at_most(other, one):
            return other if least else one
        first, second = self.operand(one), self.operand(other)
        (flag,) = self.builder.add(TABLE["py_less"], [first, second], {}, self.line)
        pair = (first, second) if least else (second, first)
        pick, (low, high) = (min if least else max), _range_of(_ends(one), _ends(other), least)
        if isinstance(one, Known) and isinstance(other, Known):
            return Known(pick(one.value, other.value))
        return LoopInt(self.builder.choose(flag, *pair, self.line), low, high)

    def length_of(self, span: Span) -> Bound:
        """How many elements a span has."""
        length = self.minus(span.stop, span.start)
        return self.greatest(length, Known(0))

    def same_length(self, one: Span, other: Span) -> bool:
        """Whether two spans certainly have equally many elements."""
        first = _add_forms(_form(one.stop), _form(one.start), -1)
        second = _add_forms(_form(other.stop), _form(other.start), -1)
        return self._constant(_add_forms(first, second, -1)) == 0

    # ---- Python's slices

    def from_front(self, value: Bound, length: Bound) -> Bound:
        """A slice bound counted from the front; it may still lie outside."""
        low, high = _ends(value)
        if low is not None and low >= 0:
            return value
        wrapped = self.plus(value, length)
        if high is not None and high < 0:
            return wrapped
        operand = self.operand(value)
        (flag,) = self.builder.add(TABLE["py_less"], [operand, self.builder.const(0)], {}, self.line)
        return LoopInt(self.builder.choose(flag, self.operand(wrapped), operand, self.line), None, None)

    def clamp(self, value: Bound, length: Bound) -> Bound:
        """A bound between 0 and the length."""
        return self.greatest(self.least(value, length), Known(0))

    def slice_span(self, start: Any, stop: Any, step: int, base: Span) -> Span:
        """The elements that `start:stop:step` takes of a span, for a step of 1 or -1, in the order of the axis."""
        low, high = (start, stop) if step == 1 else (stop, start)
        ends = []
        for bound, default in ((low, base.start), (high, base.stop)):
            if isinstance(bound, Known) and bound.value is None:
                ends.append(default)
                continue
            length = self.length_of(base)
            place = self.from_front(self.bound_of(bound), length)
            if step == -1:
                if _ends(place)[1] is None:  # perhaps the greatest int there is
                    place = self.least(place, self.plus(length, Known(-1)))
                place = self.plus(place, Known(1))
            place = self.clamp(place, length)
            ends.append(self.plus(base.start, place))
        return Span(*ends)

    # ---- which elements are meant

    def places(self, length: int) -> Arr:
        """The numbers of the elements of an axis."""
        return self.apply(TABLE["np.arange"], [], {"start_or_stop": length})

    def inside_axis(self, span: Span, length: int) -> Arr | None:
        """Which elements of an axis a span has; `None` for all."""
        parts = []
        if not (isinstance(span.start, Known) and span.start.value == 0):
            parts.append(self.apply(TABLE["np.greater_equal"], [self.places(length), span.start], {}))
        if not (isinstance(span.stop, Known) and span.stop.value == length):
            parts.append(self.apply(TABLE["np.less"], [self.places(length), span.stop], {}))
        if len(parts) == 2:
            return self.apply(TABLE["np.logical_and"], parts, {})
        return parts[0] if parts else None

    def inside(self, ragged: Ragged, axes: Any = None) -> Arr | None:
        """Which elements of an array are meant, as far as some axes say, in a shape that broadcasts; `None` for all."""
        ndim, found = ragged.full.dummy.ndim, None
        for axis, span in enumerate(ragged.spans):
            if span is None or (axes is not None and axis not in axes):
                continue
            length = ragged.full.shape[axis]
            part = self.inside_axis(span, length)
            if part is None:
                continue
            if ndim > 1:
                shape = tuple(length if a == axis else 1 for a in range(ndim))
                part = self.apply(TABLE["np.reshape"], [part], {"shape": shape})
            found = part if found is None else self.apply(TABLE["np.logical_and"], [found, part], {})
        return found

    def trap_if_empty(self, span: Span) -> None:
        """Leave the call to NumPy when a span has no elements."""
        if self.at_most(self.plus(span.start, Known(1)), span.stop):
            return
        operands = [self.operand(span.stop), self.operand(span.start)]
        self.trap_if(self.builder.add(TABLE["py_less_equal"], operands, {}, self.line)[0])


def _ends(value: Bound) -> tuple[int | None, int | None]:
    if isinstance(value, Known):
        return value.value, value.value
    return value.low, value.high


def _range_of(
    one: tuple[int | None, int | None], other: tuple[int | None, int | None], least: bool
) -> tuple[int | None, int | None]:
    """The range of the lesser (or greater) of two ints."""
    pick = min if least else max
    both = [None if a is None or b is None else pick(a, b) for a, b in zip(one, other, strict=True)]
    sure = 1 if least else 0  # the lesser is at most each of the two
    known = [end for end in (one[sure], other[sure]) if end is not None]
    if known:
        both[sure] = pick(known)
    return both[0], both[1]


def _form(value: Bound) -> tuple[dict[str, int], int]:
    """An int as a sum of names; one without a form is a name of its own."""
    if isinstance(value, Known):
        return {}, value.value
    if value.affine is not None:
        return dict(value.affine[0]), value.affine[1]
    return {_name(value.value): 1}, 0


def _name(operand: Operand) -> str:
    return repr(operand.value) if isinstance(operand, Const) else operand.name


def _add_forms(one: tuple[dict[str, int], int], other: tuple[dict[str, int], int], sign: int) -> Any:
    terms = dict(one[0])
    for name, coefficient in other[0].items():
        terms[name] = terms.get(name, 0) + sign * coefficient
    return terms, one[1] + sign * other[1]


__all__ = ["Bound", "Bounds"]
