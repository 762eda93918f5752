"""Batched forms of the operations: one rule per family, in a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from autojit.ir.graph import Node, Operand
from autojit.ir.spec import Spec
from autojit.ops.chapters import TABLE
from autojit.ops.families import loop_dtypes
from autojit.passes.access import Refused
from autojit.passes.batch_index import read, write_rows
from autojit.passes.lanes import Batch, Lane

#: `rule(batch, node, lanes) -> one lane per output`; at least one of `lanes` is batched.
Rule = Callable[[Batch, Node, Sequence[Lane]], "list[Lane]"]


def apply(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    """The lanes of a node's outputs.

    Raises:
        Refused: The operation has no batched form.
    """
    rule = RULES.get(node.op.name)
    if rule is None and isinstance(node.op.call, np.ufunc) and node.op.family == "elementwise":
        rule = _ufunc
    if rule is None:
        raise Refused(f"`{node.op.name}` has no batched form")
    return rule(batch, node, lanes)


def _one(batch: Batch, node: Node, value: Operand, tail: int | None = None) -> list[Lane]:
    return [batch.lane(value, node.outputs[0].spec, tail)]


# ---- elementwise


def _ufunc(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    tail = batch.common(lanes)
    # The checker cannot know: a ufunc, by its family.
    dtypes = loop_dtypes(node.op.call, node.specs, node.keywords.get("dtype"))  # type: ignore[arg-type]
    operands = [batch.strong(lane, dtype, tail) for lane, dtype in zip(lanes, dtypes, strict=False)]
    values = batch.calls(node.op, operands, node.keywords)
    return [batch.lane(value, out.spec, tail) for value, out in zip(values, node.outputs, strict=True)]


def _power(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    exponent, dtype = lanes[1].spec, node.outputs[0].spec.dtype
    if lanes[1].batched and exponent.weak and exponent.dtype.kind == "i" and dtype.kind == "c":
        raise Refused("NumPy takes the square of complex numbers where the exponent is Python's 2")
    return _ufunc(batch, node, lanes)


def _function(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    """A function whose operands broadcast; a Python number beside arrays takes part in the result's dtype."""
    spec, tail = node.outputs[0].spec, batch.common(lanes)
    is_choice = node.op.name == "np.where"

    def dtype_of(place: int, spec_of_lane: Spec) -> np.dtype:
        joins = spec_of_lane.weak and len(lanes) > 1 and not (is_choice and place == 0)
        return spec.dtype if joins else spec_of_lane.dtype

    operands = [batch.strong(lane, dtype_of(place, lane.spec), tail, is_choice) for place, lane in enumerate(lanes)]
    return _one(batch, node, batch.call(node.op.name, operands, **node.keywords), tail)


def _clip(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    array, upper = lanes[0].spec.dtype, lanes[2]
    is_int = upper.batched and upper.spec.weak and upper.spec.dtype.kind == "i"
    if is_int and array.kind in "iu" and array != node.outputs[0].spec.dtype:
        form = upper.form
        if form is None or form.symbols or batch.trips.bounds(form)[1] >= np.iinfo(array).max:
            raise Refused("NumPy drops a Python int that bounds no integer of the array")
    return _function(batch, node, lanes)


def _python(name: str) -> Rule:
    """Python's arithmetic on numbers: NumPy's in the dtype of the result. Integers here are far from 64 bits."""

    def rule(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
        dtype = node.outputs[0].spec.dtype
        operands = [batch.cast(batch.rows(lane), dtype) if lane.batched else _number(lane) for lane in lanes]
        return _one(batch, node, batch.call(name, operands))

    return rule


def _number(lane: Lane) -> Operand:
    assert lane.operand is not None
    return lane.operand


def _python_divide(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    try:
        _check_divisor(batch, lanes[1])
        if not all(_is_float(batch, lane) for lane in lanes):
            raise Refused("Python divides ints and rounds once")
    except Refused:
        return _math("divide")(batch, node, lanes)
    return _python("np.divide")(batch, node, lanes)


def _math(function: str) -> Rule:
    """A function of Python numbers that raises for some of them."""

    def rule(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
        operands = [batch.rows(lane) if lane.batched else _number(lane) for lane in lanes]
        return _one(batch, node, batch.call("each_number", operands, function=function))

    return rule


def _compare(name: str) -> Rule:
    """Python's comparisons of numbers of one type."""

    def rule(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
        if len({lane.spec.dtype for lane in lanes}) > 1 and not all(_is_float(batch, lane) for lane in lanes):
            raise Refused("Python compares numbers of different types exactly")
        return _one(batch, node, batch.call(name, [batch.rows(lane) for lane in lanes]))

    return rule


def _is_float(batch: Batch, lane: Lane) -> bool:
    """Whether a number is one of the float64s."""
    if lane.spec.dtype == np.float64:
        return True
    return lane.spec.dtype == np.bool_ or (lane.spec.dtype == np.int64 and batch.is_exact(lane))


def _logical(name: str) -> Rule:
    """`&`, `|` and `^` of two bools or two ints."""

    def rule(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
        if len({lane.spec.dtype for lane in lanes}) > 1:
            raise Refused(f"`{node.op.name}` of numbers of two types has no batched form")
        return _one(batch, node, batch.call(name, [batch.rows(lane) for lane in lanes]))

    return rule


def _leave(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    """The call is left to NumPy where one of the trips is."""
    batch.call("leave_if", [batch.call("np.any", [batch.rows(lanes[0])])])
    return [Lane(batch.const(False), node.outputs[0].spec, False)]


def _divide_ints(name: str) -> Rule:
    """Python's `//` and `%` of integers that are far from 64 bits."""

    def rule(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
        _check_divisor(batch, lanes[1])
        form = lanes[0].form
        if form is None or any(lane.spec.dtype.kind != "i" for lane in lanes):
            raise Refused(f"`{node.op.name}` of these numbers has no batched form")
        least = -math.inf if form.symbols else batch.trips.bounds(form)[0]
        divisor = lanes[1].form
        assert divisor is not None  # as was checked
        low, high = batch.trips.bounds(divisor)
        if low <= -1 <= high and least <= np.iinfo(np.int64).min:  # which by -1 is an integer that 64 bits do not hold
            raise Refused(f"`{node.op.name}` of these numbers has no batched form")
        return _one(batch, node, batch.call(name, [batch.rows(lane) for lane in lanes]))

    return rule


def _check_divisor(batch: Batch, divisor: Lane) -> None:
    if divisor.form is None or divisor.form.symbols:
        raise Refused("Python raises where it divides by zero")
    low, high = batch.trips.bounds(divisor.form)
    if low <= 0 <= high:
        raise Refused("Python raises where it divides by zero")


def _select(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    tail = batch.common(lanes)
    operands = [batch.array(batch.aligned(lane, tail)) for lane in lanes]
    return _one(batch, node, batch.call("np.where", operands), tail)


def _astype(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    tail = batch.common(lanes)
    value = batch.call("astype", [batch.aligned(lanes[0], tail)], dtype=node.keywords["dtype"])
    return _one(batch, node, value, tail)


def _item(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    value, dtype = batch.reshape(batch.rows(lanes[0]), (batch.count,)), node.outputs[0].spec.dtype
    if value.spec.dtype == np.uint64:
        raise Refused("a Python integer may be too large")
    if node.op.name == "item_int" and value.spec.dtype.kind == "f":  # which raises, also where nobody needs the integer
        return _one(batch, node, batch.call("each_number", [value], function="int"))
    return _one(batch, node, batch.cast(value, dtype))


def _outer(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    """`np.f.outer`: operands one after the other, then the elementwise operation."""
    first, second = (batch.array(_rows_or_value(batch, lane)) for lane in lanes)
    behind = lanes[1].spec.ndim
    first = batch.reshape(first, (*first.spec.shape, *(1,) * behind))
    if lanes[1].batched:
        shape = second.spec.shape
        second = batch.reshape(second, (batch.count, *(1,) * lanes[0].spec.ndim, *shape[1:]))
    name = node.op.name.removesuffix(".outer")
    return _one(batch, node, batch.call(name, [first, second], **node.keywords))


def _rows_or_value(batch: Batch, lane: Lane) -> Operand:
    if lane.batched:
        return batch.rows(lane)
    assert lane.operand is not None
    return lane.operand


# ---- reductions


def _reduction(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    if len(lanes) != 1:
        raise Refused(f"`{node.op.name}` with several operands has no batched form")
    params, lane = node.keywords, lanes[0]
    default = 0 if node.op.name.endswith(".reduce") else None
    axis = params.pop("axis", default)
    ndim = lane.spec.ndim
    if not ndim:
        params.pop("keepdims", None)
        rows = batch.reshape(batch.rows(lane), (batch.count, 1))
        return _one(batch, node, batch.call(node.op.name, [rows], axis=(1,), **params))
    axes = sorted(one % ndim for one in (range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)))
    value = lane.operand if lane.operand is not None else batch.rows(lane)
    shifted = tuple(one + (one >= lane.place) for one in axes)
    tail = lane.tail if params.get("keepdims") else lane.tail - sum(one >= lane.place for one in axes)
    return _one(batch, node, batch.call(node.op.name, [value], axis=shifted, **params), tail)


def _search(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    """`np.argmax`, `np.argmin` and running sums: one axis, or all of them laid out in a row."""
    params, rows, ndim = node.keywords, batch.rows(lanes[0]), lanes[0].spec.ndim
    axis = params.pop("axis", None)
    if axis is None:
        if params.pop("keepdims", False):
            raise Refused(f"`{node.op.name}` of all axes with `keepdims` has no batched form")
        size = lanes[0].spec.size
        value = batch.call(node.op.name, [batch.reshape(rows, (batch.count, size))], axis=1, **params)
        return _one(batch, node, value)
    if not ndim:
        raise Refused(f"`{node.op.name}` of a number has no batched form")
    return _one(batch, node, batch.call(node.op.name, [rows], axis=axis % ndim + 1, **params))


# ---- products


def _product(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    """`np.dot` and `np.matmul` of vectors and matrices."""
    first, second = lanes
    spec = node.outputs[0].spec
    if (
        node.op.name == "np.dot"
        and spec.dtype.kind in "fc"
        and spec.size > 1
        and 1 in (first.spec.size, second.spec.size)
    ):
        raise Refused("`np.dot` by a single number, which is none where that is zero, has no batched form")
    is_single = node.op.name == "np.dot" and first.spec.size == second.spec.size == 1
    is_added = spec.dtype.kind not in "fc" or spec.dtype == np.float16
    if is_single and not is_added and max(first.spec.ndim, second.spec.ndim) < 3:
        # BLAS multiplies one number by one: a sum would begin with zero.
        operands = [batch.reshape(batch.rows(lane), (batch.count, 1)) for lane in lanes]
        return _one(batch, node, batch.reshape(batch.call("np.multiply", operands), (batch.count, *spec.shape)))
    if not first.spec.ndim or not second.spec.ndim:
        tail = batch.common(lanes)
        return _one(batch, node, batch.call("np.multiply", [batch.aligned(x, tail) for x in lanes]), tail)
    if node.op.name == "np.dot" and max(first.spec.ndim, second.spec.ndim) > 2:
        raise Refused("`np.dot` of arrays of more than two axes has no batched form")
    if first.spec.ndim == 1 and second.spec.ndim == 1:
        value = _vectors(batch, lanes)
    elif first.spec.ndim == 1:
        value = _row_times(batch, first, second)
    elif second.spec.ndim == 1:
        value = _times_column(batch, first, second)
    else:
        value = batch.call("np.matmul", [batch.aligned(lane, spec.ndim) for lane in lanes])
    return _one(batch, node, batch.reshape(value, (batch.count, *spec.shape)))


def _vectors(batch: Batch, lanes: Sequence[Lane]) -> Operand:
    first, second = lanes
    if first.batched and second.batched:
        tail = batch.common(lanes)
        products = batch.call("np.multiply", [batch.aligned(lane, tail) for lane in lanes])
        if products.spec.dtype.kind == "b":
            raise Refused("a product of booleans has no batched form")
        if products.spec.dtype == np.float16:
            raise Refused("a product of float16 is made of products in float32, and has no batched form")
        return batch.call("np.sum", [products], axis=tail, dtype=products.spec.dtype)
    rows, other = (first, second) if first.batched else (second, first)
    return batch.call("np.matmul", [batch.rows(rows), _number(other)])


def _row_times(batch: Batch, vector: Lane, matrix: Lane) -> Operand:
    if matrix.spec.ndim > 2:
        raise Refused("a product of a vector and a stack of matrices has no batched form")
    if not matrix.batched:
        return batch.call("np.matmul", [batch.rows(vector), _number(matrix)])
    if not vector.batched:
        return batch.call("np.matmul", [_number(vector), batch.rows(matrix)])
    row = batch.reshape(batch.rows(vector), (batch.count, 1, vector.spec.shape[0]))
    return batch.call("np.matmul", [row, batch.rows(matrix)])


def _times_column(batch: Batch, matrix: Lane, vector: Lane) -> Operand:
    if matrix.spec.ndim > 2:
        raise Refused("a product of a stack of matrices and a vector has no batched form")
    if not vector.batched:
        return batch.call("np.matmul", [batch.rows(matrix), _number(vector)])
    if not matrix.batched:
        return batch.call("np.matmul", [batch.rows(vector), batch.transpose(_number(matrix), (1, 0))])
    column = batch.reshape(batch.rows(vector), (batch.count, vector.spec.shape[0], 1))
    return batch.call("np.matmul", [batch.rows(matrix), column])


def _np_outer(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    first, second = lanes
    rows = batch.array(_rows_or_value(batch, first))
    columns = batch.array(_rows_or_value(batch, second))
    count = (batch.count,)
    rows = batch.reshape(rows, (*(count if first.batched else ()), first.spec.size, 1))
    columns = batch.reshape(columns, (*(count if second.batched else ()), 1, second.spec.size))
    return _one(batch, node, batch.call("np.multiply", [rows, columns]))


# ---- shapes


def _transpose(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    ndim = lanes[0].spec.ndim
    axes = node.keywords.get("axes")
    order = reversed(range(ndim)) if axes is None else (axis % ndim for axis in axes)
    return _one(batch, node, batch.transpose(batch.rows(lanes[0]), (0, *(axis + 1 for axis in order))))


def _reshape(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    return _one(batch, node, batch.reshape(batch.rows(lanes[0]), (batch.count, *node.outputs[0].spec.shape)))


def _broadcast(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    shape = node.outputs[0].spec.shape
    value = batch.array(batch.aligned(lanes[0], len(shape)))
    return _one(batch, node, batch.call("np.broadcast_to", [value], shape=(batch.count, *shape)))


def _full(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    spec = node.outputs[0].spec
    batch.check_fits(lanes[0], spec.dtype)
    number = batch.as_python_float(lanes[0], batch.aligned(lanes[0], spec.ndim), spec.dtype)
    value = batch.cast(number, spec.dtype)
    return _one(batch, node, batch.call("np.broadcast_to", [value], shape=(batch.count, *spec.shape)))


def _copy(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    return _one(batch, node, batch.rows(lanes[0]))


def _join(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    """`np.concatenate` and `np.stack` along an axis; `np.hstack` of arrays with axes."""
    axis, ndim, name = node.keywords.get("axis", 0), lanes[0].spec.ndim, node.op.name
    if axis is None or (name == "np.hstack" and not ndim):
        raise Refused(f"`{name}` of flat arrays has no batched form")
    if name == "np.hstack":
        name, axis = "np.concatenate", min(1, ndim - 1)
    places = ndim + (name == "np.stack")
    return _one(batch, node, batch.call(name, [batch.rows(lane) for lane in lanes], axis=axis % places + 1))


def _pack(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    spec = node.outputs[0].spec
    for lane in lanes:
        batch.check_fits(lane, spec.dtype)
    values = [_item_of(batch, lane, spec.dtype) for lane in lanes]
    return _one(batch, node, batch.reshape(batch.call("np.stack", values, axis=1), (batch.count, *spec.shape)))


def _item_of(batch: Batch, lane: Lane, dtype: np.dtype) -> Operand:
    """The rows of what becomes an item of a `dtype`."""
    if lane.batched:
        return batch.cast(batch.as_python_float(lane, batch.rows(lane), dtype), dtype)
    assert lane.operand is not None
    value = batch.cast(batch.array(lane.operand, dtype), dtype)
    return batch.call("np.broadcast_to", [value], shape=(batch.count, *lane.spec.shape))


def _triangle(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    if lanes[0].spec.ndim < 2:
        raise Refused(f"`{node.op.name}` of a vector has no batched form")
    return _one(batch, node, batch.call(node.op.name, [batch.rows(lanes[0])], **node.keywords))


def _like(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    spec = node.outputs[0].spec
    name = node.op.name.removesuffix("_like")
    return [Lane(batch.call(name, [], shape=spec.shape, dtype=spec.dtype), spec, False)]


# ---- elements


def _setitem(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    """A write to an array that lives in one trip only."""
    base, stored, *operands = lanes
    return [write_rows(batch, base, stored, node.keywords["index"], operands, node.outputs[0].spec)]


def _getitem(batch: Batch, node: Node, lanes: Sequence[Lane]) -> list[Lane]:
    return [read(batch, lanes[0], node.keywords["index"], lanes[1:], node.outputs[0].spec)]


RULES: dict[str, Rule] = {
    "py_add": _python("np.add"),
    "py_subtract": _python("np.subtract"),
    "py_multiply": _python("np.multiply"),
    "py_negative": _python("np.negative"),
    "py_divide": _python_divide,
    "py_less": _compare("np.less"),
    "py_less_equal": _compare("np.less_equal"),
    "py_greater": _compare("np.greater"),
    "py_greater_equal": _compare("np.greater_equal"),
    "py_equal": _compare("np.equal"),
    "py_not_equal": _compare("np.not_equal"),
    "py_not": _compare("np.logical_not"),
    "py_and": _logical("np.bitwise_and"),
    "py_or": _logical("np.bitwise_or"),
    "leave_if": _leave,
    "py_xor": _logical("np.bitwise_xor"),
    "py_floor_divide": _divide_ints("np.floor_divide"),
    "py_modulo": _divide_ints("np.remainder"),
    "astype": _astype,
    "np.power": _power,
    "np.clip": _clip,
    "np.dot": _product,
    "np.matmul": _product,
    "np.outer": _np_outer,
    "np.transpose": _transpose,
    "np.reshape": _reshape,
    "np.broadcast_to": _broadcast,
    "np.full": _full,
    "np.copy": _copy,
    "np.concatenate": _join,
    "np.stack": _join,
    "np.hstack": _join,
    "pack": _pack,
    "np.tril": _triangle,
    "np.triu": _triangle,
    "getitem": _getitem,
    "setitem": _setitem,
    "select": _select,
    "as_scalar": _item,
    "np.zeros_like": _like,
    "np.ones_like": _like,
    "np.empty_like": _like,
}
RULES |= {name: _math(name.removeprefix("math.")) for name in TABLE.rows if name.startswith("math.")}
RULES |= dict.fromkeys(["item", "item_float", "item_int", "item_bool", "item_complex"], _item)
RULES |= dict.fromkeys(
    "np.where np.real np.imag np.angle np.isreal np.iscomplex np.isposinf np.isneginf np.nan_to_num np.isclose "
    "np.sinc np.round np.fix".split(),
    _function,
)
RULES |= dict.fromkeys(
    "np.sum np.prod np.mean np.std np.var np.max np.min np.ptp np.any np.all np.count_nonzero np.nansum np.nanprod "
    "np.nanmean np.nanvar np.nanstd np.nanmax np.nanmin np.add.reduce np.multiply.reduce np.maximum.reduce "
    "np.minimum.reduce np.logical_and.reduce np.logical_or.reduce".split(),
    _reduction,
)
RULES |= dict.fromkeys("np.argmax np.argmin np.cumsum np.cumprod np.nancumsum np.nancumprod".split(), _search)
RULES |= {name: _outer for name in TABLE.rows if name.count(".") == 2 and name.endswith(".outer")}
