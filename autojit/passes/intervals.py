"""Intervals of numbers: between which two numbers the elements of a value lie, whatever data a program meets.

Only what is not NaN counts. Endpoints of integers and bools are ints; those of floats are floats, infinite where
nothing is known. A rule may rely on the traps of its operation: where one is met, nobody uses the results
of the program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autojit.ir.graph import Const, Node
from autojit.ir.spec import Spec


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, both included."""

    low: Any
    high: Any

    def within(self, other: Interval) -> bool:
        return other.low <= self.low and self.high <= other.high

    def union(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))


Rule = Callable[[Node, Sequence[Interval]], Interval]


def whole(dtype: np.dtype) -> Interval:
    """All numbers of a dtype."""
    if dtype.kind == "b":
        return Interval(0, 1)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return Interval(int(info.min), int(info.max))
    return Interval(-math.inf, math.inf)


def of_constant(constant: Const) -> Interval:
    """That of a constant's elements."""
    everything = whole(constant.spec.dtype)
    if constant.spec.dtype.kind not in "biuf":
        return everything
    kind = float if constant.spec.dtype.kind == "f" else int
    numbers = [kind(number) for number in np.asarray(constant.value, object).flat]
    numbers = [number for number in numbers if number == number]
    return _in(Interval(min(numbers), max(numbers)), constant.spec.dtype) if numbers else everything


def of_node(node: Node, given: Sequence[Interval]) -> tuple[Interval, ...]:
    """Those of a node's outputs.

    Args:
        node: The node.
        given: Those of its inputs.
    """
    dtypes = [value.spec.dtype for value in node.outputs]
    rule = _RULES.get(node.op.name)
    kinds = {dtype.kind for dtype in (*dtypes, *(spec.dtype for spec in node.specs))}
    if rule is None or not kinds <= set("biuf") or all(dtype.kind == "b" for dtype in dtypes):
        return tuple(map(whole, dtypes))
    found = rule(node, given)
    return tuple(_in(found, dtype) for dtype in dtypes)


def _in(interval: Interval, dtype: np.dtype) -> Interval:
    """The interval, if a value of the dtype can have it: integers wrap around, and infinities make NaN."""
    everything = whole(dtype)
    if not interval.within(everything) or not interval.low <= interval.high:
        return everything
    return interval if dtype.kind == "f" else Interval(math.ceil(interval.low), math.floor(interval.high))


def cast(interval: Interval, source: np.dtype, target: np.dtype) -> Interval:
    """What a conversion makes of it that traps nowhere: integers that do not fit wrap around."""
    if source == target:
        return interval
    if target.kind == "f":
        try:
            with np.errstate(all="ignore"):
                return _flushed(float(target.type(interval.low)), float(target.type(interval.high)), target)
        except OverflowError:  # of an int
            return whole(target)
    return _in(interval, target) if target.kind in "iu" and source.kind in "biu" else whole(target)


def _truncated(interval: Interval, source: np.dtype, target: np.dtype) -> Interval:
    """What a conversion makes of it that traps where floats do not fit an integer."""
    if source.kind != "f" or target.kind not in "iu":
        return cast(interval, source, target)
    everything = whole(target)
    if interval.low > everything.high or interval.high < everything.low:
        return everything
    low = everything.low if interval.low < everything.low else math.trunc(interval.low)
    high = everything.high if interval.high > everything.high else math.trunc(interval.high)
    return Interval(low, high)


def _flushed(low: float, high: float, dtype: np.dtype) -> Interval:
    """Programs may take subnormal numbers for zeros."""
    least = float(np.finfo(dtype).tiny)
    return Interval(0.0 if 0 < low < least else low, 0.0 if -least < high < 0 else high)


def _rounded(low: float, high: float, dtype: np.dtype) -> Interval:
    """The interval of computed floats: of a product and a sum that are contracted, one of them is not rounded."""
    with np.errstate(all="ignore"):
        ends: list[float] = []
        for end, direction in ((low, -math.inf), (high, math.inf)):
            number = dtype.type(end)
            for _ in range(2):
                number = np.nextafter(number, dtype.type(direction))
            ends.append(float(number))
    return _flushed(ends[0], ends[1], dtype)


# ---- rules


def _arithmetic(rule: Callable[..., Iterable[Any]]) -> Rule:
    """A rule that gives ends, from operands converted to the result's dtype."""

    def intervals(node: Node, given: Sequence[Interval]) -> Interval:
        dtype = node.outputs[0].spec.dtype
        operands = [cast(one, spec.dtype, dtype) for one, spec in zip(given, node.specs, strict=True)]
        try:
            ends = list(rule(*operands))
        except (OverflowError, ZeroDivisionError):
            return whole(dtype)
        if any(end != end for end in ends):
            return whole(dtype)
        return _rounded(min(ends), max(ends), dtype) if dtype.kind == "f" else Interval(min(ends), max(ends))

    return intervals


def _exact(rule: Callable[..., Interval]) -> Rule:
    """A rule that gives an interval of numbers that the operands have, converted to the result's dtype."""

    def intervals(node: Node, given: Sequence[Interval]) -> Interval:
        dtype = node.outputs[0].spec.dtype
        return rule(*(cast(one, spec.dtype, dtype) for one, spec in zip(given, node.specs, strict=True)))

    return intervals


def _times(one: Any, other: Any) -> Any:
    """A product of ends; an infinite one stands for numbers as large as they may be, and no such times zero is more."""
    return 0 if one == 0 or other == 0 else one * other


def _multiply(a: Interval, b: Interval) -> Iterable[Any]:
    return [_times(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]


def _divide(a: Interval, b: Interval) -> Iterable[Any]:
    if b.low <= 0 <= b.high:
        return [-math.inf, math.inf]
    return [x / y for x in (a.low, a.high) for y in (b.low, b.high)]


def _square(a: Interval) -> Iterable[Any]:
    squares = [_times(a.low, a.low), _times(a.high, a.high)]
    return [0, *squares] if a.low <= 0 <= a.high else squares


def _absolute(a: Interval) -> Interval:
    ends = abs(a.low), abs(a.high)
    return Interval(0 if a.low <= 0 <= a.high else min(ends), max(ends))


def _maximum(a: Interval, b: Interval) -> Interval:
    return Interval(max(a.low, b.low), max(a.high, b.high))


def _minimum(a: Interval, b: Interval) -> Interval:
    return Interval(min(a.low, b.low), min(a.high, b.high))


def _union(*intervals: Interval) -> Interval:
    return Interval(min(one.low for one in intervals), max(one.high for one in intervals))


def _step(function: Callable[[float], int]) -> Rule:
    """A rule of a rounding to integers, which keeps their order; floats of that size are integers already."""

    def at(end: Any) -> Any:
        return end if isinstance(end, int) or abs(end) == math.inf else float(function(end))

    return _exact(lambda a: Interval(at(a.low), at(a.high)))


def _round(node: Node, given: Sequence[Interval]) -> Interval:
    is_plain = node.keywords.get("decimals", 0) == 0
    return _step(round)(node, given) if is_plain else whole(node.outputs[0].spec.dtype)


def _floor_divide(node: Node, given: Sequence[Interval]) -> Interval:
    dtype = node.outputs[0].spec.dtype
    a, b = (cast(one, spec.dtype, dtype) for one, spec in zip(given, node.specs, strict=True))
    if dtype.kind == "f" or b.low <= 0:
        return whole(dtype)
    ends = [x // y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(min(ends), max(ends))


def _remainder(node: Node, given: Sequence[Interval]) -> Interval:
    dtype = node.outputs[0].spec.dtype
    a, b = (cast(one, spec.dtype, dtype) for one, spec in zip(given, node.specs, strict=True))
    if b.low <= 0 <= b.high:
        return whole(dtype)
    if dtype.kind == "f":  # which may be rounded to the divisor
        return Interval(0.0, b.high) if b.low > 0 else Interval(b.low, 0.0)
    if b.high < 0:
        return Interval(b.low + 1, 0)
    return a if a.low >= 0 and a.high < b.low else Interval(0, b.high - 1)


def _bitwise_and(a: Interval, b: Interval) -> Interval:
    tops = [one.high for one in (a, b) if one.low >= 0]
    return Interval(0, min(tops)) if tops else Interval(-math.inf, math.inf)


def _bitwise_or(a: Interval, b: Interval) -> Interval:
    if a.low < 0 or b.low < 0:
        return Interval(-math.inf, math.inf)
    return Interval(0, (1 << max(a.high, b.high).bit_length()) - 1)


def _right_shift(a: Interval, b: Interval) -> Interval:
    if b.low < 0:
        return Interval(-math.inf, math.inf)
    ends = [x >> min(y, 64) for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(min(ends), max(ends))


def _root(a: Interval) -> Iterable[float]:
    return [math.sqrt(max(a.low, 0.0)), math.sqrt(max(a.high, 0.0))]


def _clip(node: Node, given: Sequence[Interval]) -> Interval:
    dtype, (array, _, bound) = node.outputs[0].spec.dtype, node.specs
    a, low, high = (cast(one, spec.dtype, dtype) for one, spec in zip(given, node.specs, strict=True))
    raised = _maximum(a, low)
    found = _minimum(raised, high)
    is_dropped = bound.weak and array.dtype.kind in "iu" and given[2].high >= np.iinfo(array.dtype).max
    return Interval(found.low, raised.high) if is_dropped else found


def _converted(node: Node, given: Sequence[Interval]) -> Interval:
    return _truncated(given[0], node.specs[0].dtype, node.outputs[0].spec.dtype)


def _moved(node: Node, given: Sequence[Interval]) -> Interval:
    """Elements of the operands, in other places."""
    dtype = node.outputs[0].spec.dtype
    return _union(*(cast(one, spec.dtype, dtype) for one, spec in zip(given, node.specs, strict=True)))


def _of_first(node: Node, given: Sequence[Interval]) -> Interval:
    """Elements of the first operand; the others say which."""
    return given[0]


def _or_zero(node: Node, given: Sequence[Interval]) -> Interval:
    return _union(_moved(node, given), Interval(0, 0))


def _where(node: Node, given: Sequence[Interval]) -> Interval:
    dtype = node.outputs[0].spec.dtype
    return _union(*(cast(one, spec.dtype, dtype) for one, spec in zip(given[1:], node.specs[1:], strict=True)))


def _stored(node: Node, given: Sequence[Interval]) -> Interval:
    return _union(given[0], _truncated(given[1], node.specs[1].dtype, node.outputs[0].spec.dtype))


def _filled(node: Node, given: Sequence[Interval]) -> Interval:
    return _truncated(given[-1], node.specs[-1].dtype, node.outputs[0].spec.dtype)


def _packed(node: Node, given: Sequence[Interval]) -> Interval:
    dtype = node.outputs[0].spec.dtype
    numbers = (_truncated(one, spec.dtype, dtype) for one, spec in zip(given, node.specs, strict=True))
    return _union(Interval(0, 0), *numbers)


def _arange(node: Node, given: Sequence[Interval]) -> Interval:
    spec, words = node.outputs[0].spec, node.keywords
    bounds: list[Any] = [words.get(name) for name in ("start_or_stop", "stop", "step")]
    numbers = [bound for bound in bounds if bound is not None]
    is_counted = spec.size and spec.dtype.kind in "iu"
    if not is_counted or not all(isinstance(number, int | np.integer) for number in numbers):
        return whole(spec.dtype)
    first = 0 if bounds[1] is None else int(bounds[0])
    last = first + int(1 if bounds[2] is None else bounds[2]) * (spec.size - 1)
    return Interval(min(first, last), max(first, last))


def _length(spec: Spec, node: Node, default: int | None) -> int:
    """The length of the axis along which an operation goes; all elements where it goes through all."""
    axis = node.keywords.get("axis", default)
    return spec.size if axis is None or not spec.shape else spec.shape[axis]


def _places(default: int | None) -> Rule:
    """Places along an axis."""
    return lambda node, given: Interval(0, max(_length(node.specs[0], node, default) - 1, 0))


def _total(node: Node, given: Sequence[Interval]) -> Interval:
    spec = node.outputs[0].spec
    if spec.dtype.kind == "f" or not spec.size:
        return whole(spec.dtype)
    count = node.specs[0].size // spec.size
    return Interval(count * given[0].low, count * given[0].high)


def _running(node: Node, given: Sequence[Interval]) -> Interval:
    spec = node.outputs[0].spec
    if spec.dtype.kind == "f" or not spec.size:
        return whole(spec.dtype)
    count = node.specs[0].size
    return _union(given[0], Interval(count * given[0].low, count * given[0].high))


def _counted(node: Node, given: Sequence[Interval]) -> Interval:
    return Interval(0, node.specs[0].size)


def _constant(low: int, high: int) -> Rule:
    return lambda node, given: Interval(low, high)


def _each(names: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


_RULES: dict[str, Rule] = {
    **_each("np.add py_add py_int_add", _arithmetic(lambda a, b: [a.low + b.low, a.high + b.high])),
    **_each("np.subtract py_subtract py_int_subtract", _arithmetic(lambda a, b: [a.low - b.high, a.high - b.low])),
    **_each("np.multiply py_multiply py_int_multiply", _arithmetic(_multiply)),
    **_each("np.divide py_divide", _arithmetic(_divide)),
    **_each("np.square", _arithmetic(_square)),
    **_each("np.sqrt", _arithmetic(_root)),
    **_each("np.negative py_negative", _exact(lambda a: Interval(-a.high, -a.low))),
    **_each("np.absolute np.fabs py_absolute", _exact(_absolute)),
    **_each("np.maximum", _exact(_maximum)),
    **_each("np.minimum", _exact(_minimum)),
    **_each("np.clip", _clip),
    **_each("np.floor", _step(math.floor)),
    **_each("np.ceil", _step(math.ceil)),
    **_each("np.trunc np.fix", _step(math.trunc)),
    **_each("np.rint", _step(round)),
    **_each("np.round", _round),
    **_each("np.sign", _constant(-1, 1)),
    **_each("np.floor_divide py_floor_divide", _floor_divide),
    **_each("np.remainder py_modulo", _remainder),
    **_each("np.bitwise_and py_and", _exact(_bitwise_and)),
    **_each("np.bitwise_or np.bitwise_xor py_or py_xor", _exact(_bitwise_or)),
    **_each("np.right_shift py_right_shift", _exact(_right_shift)),
    **_each("astype item item_int item_float", _converted),
    **_each("np.where select", _where),
    **_each(
        "np.reshape np.transpose np.broadcast_to np.roll np.repeat np.tile np.concatenate np.stack np.hstack np.vstack "
        "np.dstack np.column_stack np.copy np.positive np.diagonal np.sort np.real np.max np.min np.maximum.reduce "
        "np.minimum.reduce as_scalar",
        _moved,
    ),
    **_each("getitem np.take np.take_along_axis", _of_first),
    **_each("np.tril np.triu np.diag", _or_zero),
    **_each("setitem", _stored),
    **_each("np.full np.full_like", _filled),
    **_each("pack", _packed),
    **_each("np.zeros np.zeros_like", _constant(0, 0)),
    **_each("np.ones np.ones_like", _constant(1, 1)),
    **_each("np.eye np.identity np.tri", _constant(0, 1)),
    **_each("np.arange", _arange),
    **_each("np.argsort", _places(-1)),
    **_each("np.argmax np.argmin", _places(None)),
    **_each("np.searchsorted", _counted),
    **_each("np.digitize", lambda node, given: Interval(0, node.specs[1].size)),
    **_each("np.count_nonzero", _counted),
    **_each("np.sum np.add.reduce", _total),
    **_each("np.cumsum np.add.accumulate", _running),
}

#: The operations of which something is known.
NAMES = frozenset(_RULES)
