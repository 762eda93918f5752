"""Reductions and products over rows: those that only fill an array up must not count.

They get a value that changes nothing in the result, as the elements outside of a slice of moving length do.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from autojit.capture.lengths import number_of_rows
from autojit.capture.products import labels_of
from autojit.capture.reduced import Part, default_axis
from autojit.capture.values import Arr, Known
from autojit.errors import CannotCapture
from autojit.ir.op import Op
from autojit.ops.chapters import TABLE
from autojit.ops.reductions_common import normal_axes


def apply_over_rows(recorder: Any, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """What an operation gives that sums over rows, or finds the largest; `None` if it does not.

    Raises:
        CannotCapture: It has no form for some of the rows.
    """
    rows = recorder.rows
    if rows is None or rows.is_masking or not all(isinstance(one, Arr) and one.dummy.ndim for one in operands):
        return None
    if op.family == "contraction":
        made = _product(recorder, op, list(operands), params)
    elif len(operands) == 1 and recorder.is_reduction(op):
        made = _reduction(recorder, op, operands[0], params)
    else:
        return None
    if made is None:
        return None
    rows.is_masking = True
    try:
        return made()
    finally:
        rows.is_masking = False


def _reduction(recorder: Any, op: Op, array: Arr, params: dict[str, Any]) -> Any:
    size = recorder.rows.size
    axes = recorder.ask(normal_axes, params.get("axis", default_axis(op)), array.dummy.ndim)
    over = [axis for axis in axes if array.shape[axis] == size]
    if not over:
        return None
    if len(over) > 1:
        raise CannotCapture("moving-shape", "an array holds rows along several axes")

    def made() -> Any:
        others = prod(array.shape[axis] for axis in axes if axis != over[0])
        length = number_of_rows(recorder)
        count = length if others == 1 else recorder.operate("Mult", length, Known(others))
        inside = _inside(recorder, array.dummy.ndim - over[0])
        return recorder.reduce_part(op, Part(array, inside, axes, count, params))

    return made


def _product(recorder: Any, op: Op, operands: list[Arr], params: dict[str, Any]) -> Any:
    size = recorder.rows.size
    found = labels_of(op, [one.dummy.ndim for one in operands], params)
    if found is None:
        return None
    labels, result = found
    parts = zip(operands, labels, strict=True)
    over = {label for one, own in parts for label, length in zip(own, one.shape, strict=True) if length == size}
    if over <= set(result):
        return None
    if len(over) > 1:
        raise CannotCapture("moving-shape", "an array holds rows along several axes")
    (label,) = over

    def made() -> Any:
        masked = []
        for one, own in zip(operands, labels, strict=True):
            if own.count(label) > 1:
                raise CannotCapture("moving-shape", "an array holds rows along several axes")
            masked.append(_only(recorder, one, len(own) - own.index(label)) if label in own else one)
        return recorder.apply(op, masked, params)

    return made


def _only(recorder: Any, array: Arr, wide: int) -> Arr:
    """An array's rows, and zeros behind them."""
    zero = Known(array.dtype.type(0))
    return recorder.apply(TABLE["np.where"], [_inside(recorder, wide), array, zero], {})


def _inside(recorder: Any, wide: int) -> Arr:
    """Which rows are the call's, in a shape that broadcasts: the rows are the first of so many axes."""
    size = recorder.rows.size
    numbers = recorder.apply(TABLE["np.arange"], [], {"start_or_stop": size})
    inside = recorder.apply(TABLE["np.less"], [numbers, number_of_rows(recorder)], {})
    return inside if wide == 1 else recorder.apply(TABLE["np.reshape"], [inside], {"shape": (size, *(1,) * (wide - 1))})
