"""Reading and writing elements: `x[index]` and `x[index] = value`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.errors import CannotCapture
from autojit.ir.index import Index, Place, Slice, Window
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.ops import text_helpers
from autojit.ops.casting import cast, check_assignable
from autojit.ops.index_plan import Plan, plan_index
from autojit.ops.reading import read
from autojit.ops.writing import write, write_masked

Trap = Callable[[Any], None]


def _getitem(x: Any, *operands: Any, index: Index) -> Any:
    text_helpers.check_windows(index, np.shape(x), operands)
    return x[index.fill(operands)]


def _setitem(base: Any, value: Any, *operands: Any, index: Index) -> np.ndarray:
    text_helpers.check_windows(index, np.shape(base), operands)
    return text_helpers.put(base, value, index.fill(operands))


def _getitem_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    base, *operands = specs
    plan = plan_index(params["index"], base, operands)
    if plan.mask is not None:
        raise CannotCapture("data-shape", "a boolean array selects a number of elements that the data decides")
    return (Spec(plan.shape, base.dtype, _kind(params["index"], plan)),)


def _kind(index: Index, plan: Plan) -> Any:
    """An index of integers only gives a scalar; an ellipsis, a slice or an array keeps an array."""
    return "scalar" if not plan.arrays and not plan.rest and Ellipsis not in index.entries else "array"


def _getitem_lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    plan = plan_index(node.keywords["index"], node.specs[0], node.specs[1:])
    return (read(xs[0], plan, xs[1:], trap),)


def _setitem_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    base, value, *operands = specs
    plan = plan_index(params["index"], base, operands)
    check_assignable(value, base.dtype)
    if plan.mask is not None:
        if len(params["index"].entries) == 1 and plan.mask[1] == base.ndim and value.ndim > 1:
            text = "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input"
            raise TypeError(f"{text}, input has {value.ndim} dimensions")
        count_axis = len(plan.rest) - plan.at
        shape = value.shape[max(0, value.ndim - len(plan.rest) - 1) :]
        is_counted = len(shape) > count_axis and shape[-count_axis - 1] != 1
        if is_counted and (params["index"].entries != (Place(0),) or value.ndim > len(plan.rest) + 1):
            raise CannotCapture("data-shape", "the data decides how many of the assigned values are used")
        shape = tuple(n for place, n in enumerate(shape) if place != len(shape) - count_axis - 1)
        check_value(shape, plan.rest)
    else:
        if value.shape and _kind(params["index"], plan) == "scalar":
            np.empty(1, base.dtype)[0] = np.ones(value.shape, value.dtype)
        check_value(value.shape, plan.shape)
    return (Spec(base.shape, base.dtype),)


def check_value(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    """Check that an assigned value broadcasts; axes of length 1 in front may be too many.

    Raises:
        ValueError: It does not, in NumPy's words.
    """
    used = shape
    while len(used) > len(target) and used[0] == 1:
        used = used[1:]
    pairs = zip(used[::-1], target[::-1], strict=False)
    if len(used) > len(target) or any(n not in (1, m) for n, m in pairs):
        text = f"could not broadcast input array from shape {_print(shape)} into shape {_print(target)}"
        raise ValueError(text)


def _print(shape: tuple[int, ...]) -> str:
    return str(shape).replace(" ", "")


def _setitem_lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    base, value, *operands = xs
    plan = plan_index(node.keywords["index"], node.specs[0], node.specs[2:])
    value = cast(value, np.dtype(base.dtype), trap, checked=node.specs[1].kind != "array", weak=node.specs[1].weak)
    if plan.mask is not None:
        return (write_masked(base, value, plan, operands, trap),)
    return (write(base, value, plan, operands, trap),)


def _getitem_text(inputs: list[str], params: dict[str, Any]) -> str:
    return f"{inputs[0]}[{params['index'].text(inputs[1:])}]"


def _setitem_text(inputs: list[str], params: dict[str, Any]) -> str:
    return f"aj.put({inputs[0]}, {inputs[1]}, np.s_[{params['index'].text(inputs[2:])}])"


def _getitem_samples(rng: Any) -> list[Any]:
    x = rng.standard_normal((4, 5))
    rows = np.array([3, -1, 0])
    whole = Slice(None, None, None)
    return [
        ((x,), {"index": Index((1,))}),
        ((x,), {"index": Index((-1, 2))}),
        ((x,), {"index": Index((Ellipsis, 2))}),
        ((x,), {"index": Index((Slice(None, None, -2), None, Slice(1, -1, None)))}),
        ((x, 2), {"index": Index((Place(0),))}),
        ((x, np.int64(-2), 1), {"index": Index((Place(0), Window(1, 3)))}),
        ((x, rows), {"index": Index((Place(0),))}),
        ((x, rows, rows), {"index": Index((Place(0), None, Place(1)))}),
        ((x, rows), {"index": Index((whole, Place(0)))}),
    ]


def _setitem_samples(rng: Any) -> list[Any]:
    x = rng.standard_normal((4, 5))
    rows = np.array([3, -1, 3])
    return [
        ((x, 2.5), {"index": Index((1,))}),
        ((x, rng.standard_normal((2, 3))), {"index": Index((Slice(1, -1, None), Slice(1, -1, None)))}),
        ((x, rng.standard_normal(3)), {"index": Index((1, Slice(None, None, -2)))}),
        ((x, x.copy()), {"index": Index((Ellipsis,))}),
        ((x, 1, 2), {"index": Index((Place(0), -1))}),
        ((x, rng.standard_normal(3), 1), {"index": Index((-1, Window(0, 3)))}),
        ((x, rng.standard_normal((3, 5)), rows), {"index": Index((Place(0),))}),
        ((x, np.nan, x > 0), {"index": Index((Place(0),))}),
        ((x, rng.standard_normal((2, 5)), np.array([True, False, False, True])), {"index": Index((Place(0),))}),
    ]


GETITEM = Op(
    name="getitem",
    call=_getitem,
    family="indexing",
    operands=("x", "*operands"),
    params=("index",),
    infer=_getitem_infer,
    lower=_getitem_lower,
    traps=True,
    text=_getitem_text,
    samples=_getitem_samples,
    note="`x[index]`; a boolean array as the index gives a shape that depends on data",
)

SETITEM = Op(
    name="setitem",
    call=_setitem,
    family="indexing",
    operands=("base", "value", "*operands"),
    params=("index",),
    infer=_setitem_infer,
    lower=_setitem_lower,
    traps=True,
    text=_setitem_text,
    samples=_setitem_samples,
    note="`x[index] = value`; the last one of repeated indices wins, as in NumPy; as many values as a mask selects",
)

ROWS = (GETITEM, SETITEM)
