"""`where=` and `initial=` of reductions: what is not meant changes nothing, what comes first is combined last."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.products import Products
from autojit.capture.reduced import Part
from autojit.capture.values import Arr, Items, Known
from autojit.errors import CannotCapture
from autojit.ir.op import Op
from autojit.ops.chapters import TABLE
from autojit.ops.reductions_common import normal_axes

#: What combines the first value with the rest.
_COMBINED = {
    "np.sum": "np.add", "np.add.reduce": "np.add", "np.nansum": "np.add",
    "np.prod": "np.multiply", "np.multiply.reduce": "np.multiply", "np.nanprod": "np.multiply",
    "np.max": "np.maximum", "np.maximum.reduce": "np.maximum",
    "np.min": "np.minimum", "np.minimum.reduce": "np.minimum",
}  # fmt: skip
_EXTREMES = ("np.maximum", "np.minimum")
#: Those that take `where=` alone.
_WHERE = (
    "np.any", "np.all", "np.logical_or.reduce", "np.logical_and.reduce",
    "np.mean", "np.var", "np.std", "np.nanmean", "np.nanvar", "np.nanstd",
)  # fmt: skip


class WhereReductions(Products):
    """Reductions of the elements that a mask names, with a value to begin with."""

    def call_row(self, row: Op, args: list[Any], kwargs: dict[str, Any], function: Any = None) -> Any:
        """Call a row with Python's arguments."""
        combined = _COMBINED.get(row.name)
        if combined is None and row.name not in _WHERE:
            return super().call_row(row, args, kwargs, function)
        given = self.bind_row(row, args, kwargs, function)
        where, initial = given.pop("where", None), given.pop("initial", None)
        if where is None and initial is None:
            return super().call_row(row, args, kwargs, function)
        given = {name: value for name, value in given.items() if name not in ("dtype", "out") or not _is_none(value)}
        [full], params = self.sort_row(row, given)
        if not isinstance(full, Arr) or full.kind != "array" or not full.dummy.ndim:
            raise CannotCapture("keyword", f"`where=` or `initial=` of `{row.name}` of what is no array")
        if full.dtype == np.float16 or not full.dummy.flags.c_contiguous:
            # NumPy rounds float16 wherever the mask has a gap, and the result lies in memory as the operand does.
            raise CannotCapture("keyword", f"`where=` or `initial=` of `{row.name}` of float16, or not in C order")
        mask = None if where is None else self._mask(where, full)
        if mask is not None and not full.dummy.size:
            raise CannotCapture(
                "keyword", f"`where=` of `{row.name}` of nothing, whose result lies in memory as the mask"
            )
        if combined in _EXTREMES:
            return self._extreme_with(row, TABLE[combined], full, mask, initial, params)
        result = self._of_some(row, full, mask, params)
        if initial is None:
            return result
        if combined is None:
            raise CannotCapture("raises", f"TypeError: `{row.name}` takes no `initial=`")
        first = _first(initial, result)
        if first.value == 0 and np.signbit(first.value):
            raise CannotCapture("keyword", f"`initial=-0.0` of `{row.name}`, which keeps the sign of zero")
        if combined == "np.multiply" and abs(first.value) != 1:  # what overflows depends on the order
            raise CannotCapture("keyword", f"`initial=` of `{row.name}`")
        return self.apply(TABLE[combined], [result, first], {})

    def _extreme_with(
        self, row: Op, combined: Op, full: Arr, mask: Arr | None, initial: Any, params: dict[str, Any]
    ) -> Any:
        if initial is None or not full.dummy.size:
            raise CannotCapture("keyword", f"`{row.name}` of what may be nothing")
        first = _first(initial, full)
        if mask is not None:
            full = self.apply(TABLE["np.where"], [mask, full, first], {})
        return self.apply(combined, [self.apply(row, [full], params), first], {})

    def _of_some(self, row: Op, full: Arr, mask: Arr | None, params: dict[str, Any]) -> Any:
        if mask is None:
            return self.apply(row, [full], params)
        axes = self.ask(normal_axes, params.get("axis", 0 if row.name.endswith(".reduce") else None), full.dummy.ndim)
        count: Any = None
        if row.name.endswith(("mean", "var", "std")):
            wide = self.apply(TABLE["np.broadcast_to"], [mask], {"shape": full.shape})
            count = self.apply(TABLE["np.count_nonzero"], [wide], {"axis": axes, "keepdims": True})
        return self.reduce_part(row, Part(full, mask, axes, count, params))

    def _mask(self, where: Any, full: Arr) -> Arr | None:
        """The mask; `None` when it names all elements."""
        if isinstance(where, Known) and where.value is True:
            return None
        mask = self.as_array(where) if isinstance(where, Items | Known) else where
        if not isinstance(mask, Arr) or mask.dtype != np.bool_ or mask.dummy.ndim > full.dummy.ndim:
            raise CannotCapture("keyword", "this `where=` of a reduction")
        if self.ask(np.broadcast_shapes, mask.shape, full.shape) != full.shape:
            raise CannotCapture("raises", "ValueError: `where=` has another shape than what is reduced")
        return mask


def _first(initial: Any, like: Arr) -> Known:
    """The value to begin with, in the dtype of the result."""
    kinds = {"b": (bool,), "i": (bool, int), "u": (bool, int), "f": (bool, int, float)}.get(like.dtype.kind, ())
    value = initial.value if isinstance(initial, Known) else None
    if isinstance(value, np.generic) and value.dtype == like.dtype and like.dtype.kind in "biuf":
        return Known(value)
    if type(value) not in kinds:
        raise CannotCapture("keyword", "this `initial=` of a reduction")
    try:
        with np.errstate(over="raise"):
            return Known(like.dtype.type(value))
    except ArithmeticError as error:
        raise CannotCapture("raises", f"{type(error).__name__}: {error}") from None


def _is_none(value: Any) -> bool:
    return isinstance(value, Known) and value.value is None
