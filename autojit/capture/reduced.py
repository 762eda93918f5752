"""Reductions of parts of arrays: what is not meant is replaced by what changes nothing in the result."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from autojit.capture.ragged import RaggedViews
from autojit.capture.values import Arr, Known, LoopInt, Ragged, Span
from autojit.errors import CannotCapture
from autojit.ir.op import Op
from autojit.ops.chapters import TABLE
from autojit.ops.reductions_common import normal_axes

#: Reductions with an element that changes nothing.
_NEUTRAL = {
    "np.sum": 0, "np.add.reduce": 0, "np.nansum": 0, "np.count_nonzero": 0, "np.any": 0, "np.logical_or.reduce": 0,
    "np.prod": 1, "np.multiply.reduce": 1, "np.nanprod": 1, "np.all": 1, "np.logical_and.reduce": 1,
    "np.linalg.norm": 0,
}  # fmt: skip
_SCANS = ("np.cumsum", "np.cumprod", "np.add.accumulate", "np.multiply.accumulate")
_LARGEST = ("np.max", "np.maximum.reduce", "np.argmax", "np.nanmax")
_SMALLEST = ("np.min", "np.minimum.reduce", "np.argmin", "np.nanmin")
_NAN_SKIPPED = ("np.nanmax", "np.nanmin", "np.nanmean", "np.nanvar", "np.nanstd")


@dataclass(slots=True)
class Part:
    """What is reduced.

    Attributes:
        full: The array.
        inside: Which elements are meant, in a shape that broadcasts; `None` for all.
        axes: The reduced axes of `full`.
        count: How many elements make one result.
        params: The parameters of the reduction, with the axes of `full`.
    """

    full: Arr
    inside: Arr | None
    axes: tuple[int, ...]
    count: Any
    params: dict[str, Any]


class Reductions(RaggedViews):
    """Sums, extremes and moments of some elements of an array."""

    def apply_ragged(self, op: Op, operands: list[Any], params: dict[str, Any]) -> Any:
        """A reduction of a slice whose length moves."""
        array = operands[0]
        weights = operands[1:]
        is_average = op.name == "np.average" and isinstance(weights[0], Known) and weights[0].value is True
        if is_average and isinstance(array, Ragged) and 0 not in array.full.shape:
            op, weights = TABLE["np.mean"], []
        if not isinstance(array, Ragged) or weights:
            return super().apply_ragged(op, operands, params)
        if op.name in _SCANS:
            axis = params.get("axis", 0 if op.name.endswith("accumulate") else None)
            if axis is None and array.full.dummy.ndim > 1:
                return super().apply_ragged(op, operands, params)
            first = before_scan(op, array.full.dtype)
            filled = self.filled(array, first, self.ask(normal_axes, axis, array.full.dummy.ndim))
            return Ragged(self.apply(op, [filled.full], params), array.spans)
        if not self.is_reduction(op):
            return super().apply_ragged(op, operands, params)
        axes = self.ask(normal_axes, params.get("axis", default_axis(op)), array.full.dummy.ndim)
        kept = [(n, span) for n, span in enumerate(array.spans) if n not in axes or params.get("keepdims")]
        spans = tuple(None if n in axes else span for n, span in kept)
        for span in filter(None, spans if is_average else ()):  # it divides by the number of its results
            self.trap_if_empty(span)
        moving = [span for n, span in enumerate(array.spans) if n in axes and span is not None]
        if not moving:
            result = self.apply(op, [array.full], params)
            return Ragged(result, spans)
        count: Any = Known(int(np.prod([array.full.shape[a] for a in axes if array.spans[a] is None], dtype=int)))
        for span in moving:
            length = self.length_of(span)
            count = length if isinstance(count, Known) and count.value == 1 else self.binary(ast.Mult, count, length)
            if self.needs_elements(op):
                self.trap_if_empty(span)
        part = Part(array.full, self.inside(array, axes), axes, count, params)
        if op.name in ("np.argmax", "np.argmin"):
            if len(axes) != 1 or (params.get("axis") is None and array.full.dummy.ndim > 1):
                return super().apply_ragged(op, operands, params)
            result = self._position(op, part, array.spans[axes[0]])
        else:
            result = self.reduce_part(op, part)
        return Ragged(result, spans) if any(span is not None for span in spans) else result

    def needs_elements(self, op: Op) -> bool:
        """Whether NumPy raises when there is nothing to reduce."""
        return op.name in (*_LARGEST, *_SMALLEST, "np.ptp")

    def is_reduction(self, op: Op) -> bool:
        """Whether there is a rule for reducing a part of an array with it."""
        return op.name in _NEUTRAL or op.name in _NAN_SKIPPED or op.name in (
            "np.mean", "np.var", "np.std", "np.ptp", *_LARGEST, *_SMALLEST
        )  # fmt: skip

    def reduce_part(self, op: Op, part: Part) -> Any:
        """The reduction of the elements that are meant; the caller has taken care of there being none."""
        name, dtype = op.name, part.full.dtype
        if part.inside is None:
            return self.apply(op, [part.full], part.params)
        if name == "np.linalg.norm" and part.params.get("ord") not in (None, 1, 2, "fro"):
            raise CannotCapture("keyword", "this norm of elements whose number the run decides")
        if name in _NAN_SKIPPED and dtype.kind not in "fc":
            name = name.replace("nan", "")
        if name in _NEUTRAL:
            return self.apply(op, [self.only(part, _NEUTRAL[name])], part.params)
        if name in _NAN_SKIPPED:
            return self.apply(op, [self.only(part, np.nan)], part.params)
        if name in _LARGEST or name in _SMALLEST:
            return self.apply(op, [self.only(part, worst_of(dtype, name in _LARGEST))], part.params)
        if name == "np.ptp":
            ends = [self.apply(TABLE[n], [self.only(part, worst_of(dtype, n == "np.max"))], part.params)
                    for n in ("np.max", "np.min")]  # fmt: skip
            return self.apply(TABLE["np.subtract"], ends, {})
        if name == "np.mean":
            return self._mean(part, part.params)
        variance = self._variance(part)
        return self.apply(TABLE["np.sqrt"], [variance], {}) if name == "np.std" else variance

    def worst(self, op: Op, dtype: np.dtype) -> Any:
        """What no element is worse than, for an extreme."""
        return worst_of(dtype, op.name in _LARGEST)

    def only(self, part: Part, value: Any, full: Arr | None = None) -> Arr:
        """The elements that are meant, and `value` elsewhere."""
        full = part.full if full is None else full
        return self.apply(TABLE["np.where"], [part.inside, full, Known(full.dtype.type(value))], {})

    def _position(self, op: Op, part: Part, span: Span | None) -> Any:
        """`np.argmax` or `np.argmin` along the axis of a span."""
        assert span is not None
        found = part.full
        if part.inside is not None:
            found = self.only(part, worst_of(part.full.dtype, op.name == "np.argmax"))
        place = self.apply(op, [found], part.params)
        if isinstance(span.start, Known) and span.start.value == 0:
            return place
        # In front of the span nothing is better than the worst: then the first element is as good as any.
        place = self.apply(TABLE["np.maximum"], [place, span.start], {})
        return self.apply(TABLE["np.subtract"], [place, span.start], {})

    # ---- moments

    def _mean(self, part: Part, params: dict[str, Any]) -> Any:
        dtype = _moment_dtype(part, np.float32)
        typed = dtype if part.params.get("dtype") is not None else None
        result = typed or (part.full.dtype if part.full.dtype.kind in "fc" else dtype)
        inside = part.inside
        if inside is not None and inside.shape == part.full.shape and dtype.kind == "f" and not params.get("keepdims"):
            if len(part.axes) == inside.dummy.ndim:  # one pass for both
                total, count = self.apply(TABLE["sum_and_count"], [part.full, inside], {"dtype": dtype})
                return self._over(total, count, result)
        total = self.apply(TABLE["np.sum"], [self.only(part, 0)], {**params, "dtype": dtype})
        return self._over(total, part.count, result)

    def _over(self, total: Arr, count: Any, dtype: np.dtype) -> Any:
        """`total / count`, rounded as NumPy does: in double precision, then to the dtype."""
        double = np.dtype(np.complex128 if dtype.kind == "c" else np.float64)
        if total.dtype != double:
            total = self.apply(TABLE["astype"], [total], {"dtype": double})
        if isinstance(count, Arr) and count.dummy.ndim > total.dummy.ndim:  # the count has kept its axes
            count = self.apply(TABLE["np.reshape"], [count], {"shape": total.shape})
        result = self.apply(TABLE["np.divide"], [total, count], {})
        return result if result.dtype == dtype else self.apply(TABLE["astype"], [result], {"dtype": dtype})

    def _variance(self, part: Part) -> Any:
        params = {name: value for name, value in part.params.items() if name in ("axis", "keepdims")}
        ddof = part.params.get("correction", part.params.get("ddof", 0))
        dtype = _moment_dtype(part, None)
        if dtype.kind != "f" or not isinstance(ddof, int) or not np.can_cast(part.full.dtype, dtype):
            raise CannotCapture("keyword", "this variance of elements whose number the run decides")
        center = self._mean(part, {**params, "axis": part.axes, "keepdims": True})
        full = part.full
        if full.dtype != dtype:
            full = self.apply(TABLE["astype"], [full], {"dtype": dtype})
        distance = self.apply(TABLE["np.subtract"], [full, center], {})
        squares = self.apply(TABLE["np.multiply"], [distance, distance], {})
        total = self.apply(TABLE["np.sum"], [self.only(part, 0, squares)], params)
        count = part.count
        if ddof and isinstance(count, Known | LoopInt):
            count = self.greatest(self.minus(count, Known(ddof)), Known(0))
        elif ddof:
            count = self.apply(TABLE["np.subtract"], [count, Known(ddof)], {})
            count = self.apply(TABLE["np.maximum"], [count, Known(0)], {})
        return self._over(total, count, dtype)


def neutral_of(name: str, dtype: np.dtype) -> Any:
    """What changes nothing in the result of a reduction; `None` where `reduce_part` has another way."""
    if name in _NAN_SKIPPED:
        return np.nan if dtype.kind in "fc" else None
    if name in _LARGEST or name in _SMALLEST:
        return worst_of(dtype, name in _LARGEST)
    return _NEUTRAL.get(name)


def default_axis(op: Op) -> int | None:
    """The axis of a reduction that names none."""
    return 0 if op.name.endswith(".reduce") else None


def before_scan(op: Op, dtype: np.dtype) -> Any:
    """What a running sum or product may begin with: all numbers stay what they are, negative zeros too."""
    if op.name in ("np.cumprod", "np.multiply.accumulate"):
        return 1
    return complex(-0.0, -0.0) if dtype.kind == "c" else -0.0


def worst_of(dtype: np.dtype, largest: bool) -> Any:
    """What no other element is worse than."""
    if dtype.kind == "f":
        return -np.inf if largest else np.inf
    if dtype.kind == "b":
        return not largest
    if dtype.kind == "c":
        raise CannotCapture("keyword", "the extremes of complex elements whose number the run decides")
    return np.iinfo(dtype).min if largest else np.iinfo(dtype).max


def _moment_dtype(part: Part, half: Any) -> np.dtype:
    """The dtype in which a mean or a variance is computed; `half` is for float16."""
    wanted, own = part.params.get("dtype"), part.full.dtype
    if wanted is not None:
        if np.dtype(wanted).kind not in "fc" or np.dtype(wanted) == np.float16:
            raise CannotCapture("keyword", f"a moment with `dtype={wanted}`")
        return np.dtype(wanted)
    if own == np.float16:
        if half is None:
            raise CannotCapture("keyword", "a variance of float16 elements whose number the run decides")
        return np.dtype(half)
    return own if own.kind in "fc" else np.dtype(np.float64)


__all__ = ["Part", "Reductions", "default_axis", "neutral_of"]
