"""NumPy functions and methods that give views or copies, or write: how each acts on abstract arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.capture.dummies import make_dummy
from autojit.capture.einsum import check_subscripts, is_one_product
from autojit.capture.histograms import histogram
from autojit.capture.lengths import filled_up
from autojit.capture.lists import check_parts, from_list, is_index_tuple, is_list
from autojit.capture.put_functions import rule_copyto, rule_fill_diagonal, rule_place, rule_put, rule_putmask
from autojit.capture.values import Arr, Items, Known, Rows, Storage, plain
from autojit.capture.windows import rule_windows
from autojit.errors import CannotCapture
from autojit.ir.spec import Spec, is_compiled
from autojit.ops.chapters import TABLE

#: `np.block` of more elements goes another way (`_block_setup`).
_BLOCKS = 2 * 512 * 512


def _rule_transpose(self: Any, array: Arr, *axes: Any, **kwargs: Any) -> Arr:
    if kwargs.keys() - {"axes"}:
        raise CannotCapture("raises", "TypeError: an unexpected keyword argument of a transpose")
    wanted = kwargs.get("axes", axes[0] if len(axes) == 1 else Items(tuple, list(axes)) if axes else Known(None))
    order = self.static(wanted)
    return self.transpose(array, None if order is None else tuple(order) if not isinstance(order, int) else (order,))


def _rule_reshape(self: Any, array: Arr, *shape: Any, **kwargs: Any) -> Arr:
    order = self.static(kwargs.pop("order", Known("C")))
    copy = self.static(kwargs.pop("copy", Known(None)))
    self.ask(np.reshape, make_dummy((1,), np.dtype(bool)), (1,), order)
    order = order.upper() if isinstance(order, str) else "C"
    if len(shape) == 2 and isinstance(shape[1], Known) and shape[1].value in ("C", "F", "A"):
        shape, order = shape[:1], shape[1].value
    wanted = kwargs.get("shape", shape[0] if len(shape) == 1 else Items(tuple, list(shape)))
    if copy is False or kwargs.keys() - {"shape"} or not (shape or kwargs):
        raise CannotCapture("keyword", "an argument of a reshape")
    if copy:
        is_other_way = order == "F" or (order == "A" and array.dummy.flags.fnc)
        array = self.copy(array, order="F" if is_other_way else "C")
    return self.reshape(array, self.static(filled_up(self, wanted)), order)


def _rule_ravel(self: Any, array: Arr, order: Any = Known("C")) -> Arr:
    order = self.static(order)
    self.ask(np.ravel, make_dummy((1,), np.dtype(bool)), order)
    order = order.upper() if isinstance(order, str) else "C"
    self.layout_matters(array)
    flags = array.dummy.flags
    if array.dummy.ndim == 1 or (order == "K" and flags.c_contiguous):
        order = "C"
    elif order == "F" or (order in ("K", "A") and flags.fnc):
        array, order = self.transpose(array), "C"
    elif order == "A":
        order = "C"
    elif order == "K":
        raise CannotCapture("keyword", "`order='K'` of an array in neither order")
    if order == "C" and array.kind == "array" and not array.dummy.flags.c_contiguous:
        array = self.copy(array)  # the result is contiguous, also where a strided view would do
    return self.reshape(array, (-1,), order)


def _rule_flatten(self: Any, array: Arr, order: Any = Known("C")) -> Arr:
    return self.copy(_rule_ravel(self, array, order))


def _rule_squeeze(self: Any, array: Arr, axis: Any = Known(None)) -> Arr:
    wanted = self.static(axis)
    shape = self.ask(np.squeeze, make_dummy(array.shape, np.dtype(bool)), wanted).shape
    return array if shape == array.shape else self.reshape(array, shape)


def _rule_expand_dims(self: Any, array: Arr, axis: Any) -> Arr:
    wanted = self.static(axis)
    return self.reshape(array, self.ask(np.expand_dims, make_dummy(array.shape, np.dtype(bool)), wanted).shape)


def _rule_atleast(count: int) -> Callable[..., Any]:
    function = {1: np.atleast_1d, 2: np.atleast_2d, 3: np.atleast_3d}[count]

    def rule(self: Any, *arrays: Any) -> Any:
        made = []
        for value in arrays:
            array = self.as_array(value)
            shape = function(make_dummy(array.shape, np.dtype(bool))).shape
            made.append(array if shape == array.shape and array.kind == "array" else self.reshape(array, shape))
        return made[0] if len(made) == 1 else Items(tuple, made)

    return rule


def _rule_flip(*fixed: int) -> Callable[..., Any]:
    def rule(self: Any, array: Arr, axis: Any = Known(None)) -> Arr:
        wanted = fixed if fixed else self.static(axis)
        axes = range(array.dummy.ndim) if wanted is None else (wanted,) if isinstance(wanted, int) else wanted
        self.ask(np.flip, make_dummy(array.shape, np.dtype(bool)), tuple(axes))
        turned = {axis % array.dummy.ndim for axis in axes}
        parts = [slice(None, None, -1) if a in turned else slice(None) for a in range(array.dummy.ndim)]
        return self.getitem(array, Items(tuple, [Known(part) for part in parts]))

    return rule


def _rule_permute(function: Callable[..., Any]) -> Callable[..., Any]:
    def rule(self: Any, array: Arr, *args: Any, **kwargs: Any) -> Arr:
        static = {name: self.static(value) for name, value in kwargs.items()}
        return self.permuted(array, lambda d, *a: function(d, *a, **static), *[self.static(value) for value in args])

    return rule


def _rule_rot90(self: Any, array: Arr, k: Any = Known(1), axes: Any = Known((0, 1))) -> Arr:
    times, (first, second) = self.static(k) % 4, self.static(axes)
    self.ask(np.rot90, make_dummy(array.shape, np.dtype(bool)), times, (first, second))
    flip = _rule_flip()
    if times == 0:
        return self.getitem(array, Known(Ellipsis))
    if times == 2:
        return flip(self, flip(self, array, Known(first)), Known(second))
    order = list(range(array.dummy.ndim))
    order[first], order[second] = order[second], order[first]
    if times == 1:
        return self.transpose(flip(self, array, Known(second)), tuple(order))
    return flip(self, self.transpose(array, tuple(order)), Known(second))


def _rule_broadcast_to(self: Any, array: Any, shape: Any, subok: Any = None) -> Arr:
    if subok is not None and not isinstance(subok, Known):
        raise CannotCapture("keyword", "`subok=` of `np.broadcast_to`")
    array = self.as_array(array)
    wanted = self.static(filled_up(self, shape))
    wanted = tuple(wanted) if np.ndim(wanted) else (wanted,)
    dummy = self.ask(np.broadcast_to, array.dummy, wanted)
    if array.kind != "array":
        array = Arr(Storage(self.read(array), Spec((), array.dtype)), (), array.dummy)
    return self.step(array, "np.broadcast_to", {"shape": wanted}, dummy)


def _rule_diagonal(self: Any, array: Arr, *args: Any, **kwargs: Any) -> Arr:
    names = dict(zip(("offset", "axis1", "axis2"), args, strict=False)) | kwargs
    params = {"offset": 0, "axis1": 0, "axis2": 1} | {name: self.static(value) for name, value in names.items()}
    dummy = self.ask(np.diagonal, array.dummy, **params)
    return self.step(array, "np.diagonal", params, dummy)


def _rule_diag(self: Any, array: Arr, *args: Any, **kwargs: Any) -> Any:
    if array.dummy.ndim != 2:
        return self.call_row(TABLE["np.diag"], [array, *args], kwargs, np.diag)
    offset = kwargs.get("k", args[0] if args else Known(0))
    return _rule_diagonal(self, array, offset)


def _rule_einsum(self: Any, subscripts: Any, *operands: Any, **kwargs: Any) -> Any:
    text = subscripts.value if isinstance(subscripts, Known) else None
    if isinstance(text, str) and len(operands) == 1:
        taken, _, given = text.replace(" ", "").replace("...", "").partition("->")
        given = given if "->" in text else "".join(sorted(label for label in set(taken) if taken.count(label) == 1))
        array = self.as_array(operands[0])
        if set(given) == set(taken):  # nothing is summed: NumPy gives a view
            if kwargs or len(given) != len(taken) or "." in text or len(taken) != array.dummy.ndim:
                raise CannotCapture("keyword", "a view made by `np.einsum`")
            check_subscripts(text, [array.dummy.ndim])
            return self.transpose(array, tuple(taken.index(label) for label in given))
    for operand in operands:
        if isinstance(operand, Arr):
            self.layout_matters(operand)
            if any(step == 0 and length > 1 for step, length in zip(operand.dummy.strides, operand.shape, strict=True)):
                # NumPy takes it out of the sum: `(1 - 2) * inf`, where elements that are each there give NaN.
                raise CannotCapture("keyword", "`np.einsum` of an array that repeats its elements")
    if "optimize" in kwargs and not is_one_product(text, operands, self.static(kwargs["optimize"])):
        raise CannotCapture("keyword", "`optimize=` of `np.einsum`, but for one matrix product")
    return self.call_row(TABLE["np.einsum"], [subscripts, *operands], kwargs, np.einsum)


def _rule_split(function: Callable[..., Any]) -> Callable[..., Any]:
    def rule(self: Any, array: Arr, sections: Any, axis: Any = None, **kwargs: Any) -> Items:
        if not array.dummy.ndim:
            raise ValueError("an array without axes cannot be split")
        axis = kwargs.get("axis", axis)
        more = {} if axis is None else {"axis": self.static(axis)}
        wanted = kwargs.get("indices_or_sections", sections)
        static = self.static(wanted)
        # Axes of ones and one numbered axis: NumPy shows which slices it takes.
        parts = []
        for dimension in range(array.dummy.ndim):
            numbers = np.arange(array.shape[dimension]).reshape(
                [-1 if a == dimension else 1 for a in range(array.dummy.ndim)]
            )
            view = np.broadcast_to(numbers, array.shape)
            parts.append(list(self.ask(function, view, static, **more)))
        check_parts(len(parts[0]))
        views = []
        for number in range(len(parts[0])):
            key = []
            for dimension, pieces in enumerate(parts):
                piece = pieces[number]
                length = piece.shape[dimension]
                start = int(piece.reshape(-1)[0]) if piece.size else 0
                key.append(Known(slice(start, start + length)))
            views.append(self.getitem(array, Items(tuple, key)))
        return Items(list, views)

    return rule


def _rule_asarray(self: Any, value: Any, dtype: Any = Known(None), *args: Any, **kwargs: Any) -> Any:
    if args or any(name not in ("dtype", "order", "copy") for name in kwargs):
        raise CannotCapture("keyword", "an argument of `np.asarray`")
    wanted = self.static(kwargs.get("dtype", dtype))
    if wanted is not None and not is_compiled(self.dtype_of(wanted)):
        raise CannotCapture("argument-type", f"an array of dtype `{self.dtype_of(wanted)}`")
    if wanted is not None and not isinstance(value, Arr):
        value = from_list(self, value, self.dtype_of(wanted))
    inexact = self.dtype_of(wanted) if wanted is not None and self.dtype_of(wanted).kind in "fc" else None
    if inexact is None and not (isinstance(value, Arr) and value.is_native):
        self.make_sure(value)
    if inexact not in (None, np.float64, np.complex128) and isinstance(value, Arr) and value.dtype.kind == "i":
        self.make_sure(value)  # of these ints only Python's are rounded twice
    array = self.as_array(plain(value), inexact)
    order = self.static(kwargs.get("order", Known(None)))
    copy = self.static(kwargs.get("copy", Known(None)))
    if order not in (None, "C", "F", "A", "K"):
        raise CannotCapture("raises", f"ValueError: `order={order!r}`")
    if copy:
        array = self.copy(array, order=order or "K")
    if array.kind != "array":
        array = Arr(Storage(self.read(array), Spec((), array.dtype)), (), array.dummy)
    if wanted is not None and self.dtype_of(wanted) != array.dtype:
        array = self.astype(array, wanted)
    array = _in_order(self, array, order)
    if copy is not None and not copy and array is not value:
        raise CannotCapture("raises", "ValueError: a copy cannot be avoided")
    return array


def _in_order(self: Any, array: Arr, order: Any) -> Arr:
    """The array, or a copy, in the order that is asked for; one without axes is in any order."""
    if order not in ("C", "F") or not array.dummy.ndim:
        return array
    self.layout_matters(array)
    flags = array.dummy.flags
    return array if (flags.c_contiguous if order == "C" else flags.f_contiguous) else self.copy(array, order=order)


def _rule_asfortranarray(self: Any, value: Any, dtype: Any = Known(None)) -> Any:
    array = _rule_asarray(self, value, dtype, order=Known("F"))
    return array if array.dummy.ndim else self.reshape(array, (1,))


def _rule_ascontiguousarray(self: Any, value: Any, dtype: Any = Known(None)) -> Any:
    array = _rule_asarray(self, value, dtype)
    self.layout_matters(array)
    if array.dummy.flags.c_contiguous:
        return array if array.dummy.ndim else self.reshape(array, (1,))
    return self.copy(array)


def _rule_array(self: Any, value: Any, dtype: Any = Known(None), **kwargs: Any) -> Any:
    copy = self.static(kwargs.pop("copy", Known(True)))
    if isinstance(copy, str):
        raise CannotCapture("raises", "ValueError: strings are not allowed for 'copy' keyword.")
    count = self.static(kwargs.pop("ndmin", Known(0)))
    kwargs.pop("subok", None)
    fresh = not isinstance(value, Arr)
    if copy is not None and not copy:
        kwargs["copy"] = Known(False)
    array = _rule_asarray(self, value, dtype, **kwargs)
    if copy and not fresh and isinstance(value, Arr) and array.storage is value.storage:
        array = self.copy(array, order=self.static(kwargs.get("order", Known(None))) or "K")
    if array.dummy.ndim < count:
        array = self.reshape(array, (1,) * (count - array.dummy.ndim) + array.shape)
    return array


def _rule_copy(self: Any, array: Any, order: Any = Known("K"), subok: Any = None) -> Arr:
    return self.copy(self.as_array(array), order=self.static(order))


def _method_copy(self: Any, array: Arr, order: Any = Known("C")) -> Any:
    # Another object, also of a scalar.
    return self.fresh(self.read(array)) if array.kind == "scalar" else self.copy(array, order=self.static(order))


def _rule_fill(self: Any, array: Arr, value: Any) -> Any:
    if isinstance(value, Items) or np.ndim(value.dummy if isinstance(value, Arr) else getattr(value, "value", 0)):
        raise CannotCapture("raises", "ValueError: setting an array element with a sequence.")
    self.setitem(array, Known(Ellipsis), value)
    return Known(None)


def _rule_insert(self: Any, array: Any, places: Any, values: Any, axis: Any = Known(None)) -> Any:
    if isinstance(array, Arr):
        values = from_list(self, values, array.dtype)
    return self.call_row(TABLE["np.insert"], [array, places, values, axis], {}, np.insert)


def _method_sort(self: Any, array: Arr, axis: Any = Known(-1), **kwargs: Any) -> Any:
    if kwargs:
        raise CannotCapture("keyword", "an argument of `ndarray.sort`")
    if self.static(axis) is None:
        raise CannotCapture("raises", "TypeError: an array is sorted in place along an axis")
    self.write(array, self.read(self.call_row(TABLE["np.sort"], [array], {"axis": axis})))
    return Known(None)


def _rule_vecdot(self: Any, left: Any, right: Any, axis: Any = Known(-1)) -> Any:
    """`np.linalg.vecdot`, whose axis must not be broadcast."""
    left, right = self.as_array(left), self.as_array(right)
    place = self.static(axis)
    if place != -1:
        left, right = (self.permuted(one, lambda d: np.moveaxis(d, place, -1)) for one in (left, right))
    return self.call_row(TABLE["np.vecdot"], [left, right], {}, np.vecdot)


def _rule_block(self: Any, arrays: Any) -> Any:
    """`np.block`: the innermost lists are joined along the last axis, those around them along the one before."""

    def opened(value: Any) -> Any:
        if is_index_tuple(value):
            raise CannotCapture("raises", "TypeError: only lists can be used to arrange blocks, not tuples")
        if not (is_list(value) or isinstance(value, Rows)):
            return value
        return Items(list, [opened(item) for item in self.as_items(value).values])

    def depth(value: Any) -> int:
        if not isinstance(value, Items):
            return 0
        found = {depth(item) for item in value.values}
        if len(found) != 1:
            raise CannotCapture("raises", "ValueError: list depths are mismatched")
        return found.pop() + 1

    def leaves(value: Any) -> list[Arr]:
        return (
            [leaf for item in value.values for leaf in leaves(item)]
            if isinstance(value, Items)
            else [self.as_array(value)]
        )

    def join(value: Any, level: int) -> Arr:
        if level == levels:
            array = self.as_array(value)
            return self.reshape(array, (1,) * (ndim - array.dummy.ndim) + array.shape)
        parts = Items(list, [join(item, level + 1) for item in value.values])
        return self.call_row(TABLE["np.concatenate"], [parts], {"axis": Known(level - levels)}, np.concatenate)

    arrays = opened(arrays)
    levels = depth(arrays)
    if not levels:
        raise CannotCapture("keyword", "`np.block` of no list")
    found = leaves(arrays)
    ndim = max(levels, *(leaf.dummy.ndim for leaf in found))
    if any(leaf.dummy.ndim > 1 and leaf.dummy.flags.fnc for leaf in found):
        raise CannotCapture("keyword", "`np.block` of arrays in Fortran order")
    # NumPy copies large ones into a new array, of a dtype for all at once.
    is_like = all(leaf.dummy.flags.c_contiguous and leaf.dtype == found[0].dtype for leaf in found)
    if not is_like and levels * sum(leaf.dummy.size for leaf in found) > _BLOCKS:
        raise CannotCapture("keyword", "`np.block` of large arrays of several dtypes or in another order")
    return join(arrays, 0)


def _method_view(self: Any, array: Arr, dtype: Any = Known(None), kind: Any = Known(None)) -> Any:
    wanted = self.static(dtype)
    if wanted is np.ndarray and self.static(kind) is not None:
        raise CannotCapture("raises", "ValueError: `.view` with the class given twice")
    same = wanted is np.ndarray or wanted is None or self.dtype_of(wanted) == array.dtype
    if array.kind != "array" or self.static(kind) not in (None, np.ndarray) or not same:
        raise CannotCapture("keyword", "`.view` as another dtype or class")
    return self.getitem(array, Known(Ellipsis))


def _method_astype(self: Any, array: Arr, dtype: Any, **kwargs: Any) -> Arr:
    options = {name: self.static(value) for name, value in kwargs.items()}
    copy = options.pop("copy", True)
    wanted = self.static(dtype)
    order = options.pop("order", "K")
    if options.pop("casting", "unsafe") != "unsafe" or order not in ("K", "A", "C") or options:
        raise CannotCapture("keyword", "an argument of `astype`")
    if order != "K":
        self.layout_matters(array)
    result = self.astype(array, wanted, copy)
    flags = array.dummy.flags
    if order == "A" and not flags.c_contiguous:
        order = "K" if flags.f_contiguous else "C"
    if order == "K" or result.kind != "array" or result.dummy.flags.c_contiguous:
        return result
    return self.copy(result)


def _method_conj(self: Any, array: Arr) -> Any:
    # The method returns the array itself where there is nothing to do, the function does not.
    return array if array.dtype.kind in "biuf" else self.call_row(TABLE["np.conjugate"], [array], {}, np.conjugate)


def _rule_matrix_power(self: Any, array: Arr, n: Any) -> Any:
    power = self.static(n)
    if array.kind == "array" and power == 1:
        # NumPy returns the array itself.
        self.ask(np.linalg.matrix_power, array.dummy, power)
        return array
    return self.call_row(TABLE["np.linalg.matrix_power"], [array, n], {}, np.linalg.matrix_power)


def _method_item(self: Any, array: Arr, *args: Any) -> Any:
    if any(isinstance(part, Items) or isinstance(getattr(part, "value", None), list | tuple | bool) for part in args):
        raise CannotCapture("keyword", "an argument of `.item` that is no integer")
    if len(args) > 1 and len(args) != array.dummy.ndim:
        raise CannotCapture("raises", "ValueError: incorrect number of indices for array")
    if args:
        key = args[0] if len(args) == 1 else Items(tuple, list(args))
        array = self.getitem(array if len(args) > 1 else self.reshape(array, (-1,)), key)
    return self.apply(TABLE["item"], [array], {})


#: Functions that give views, copies, or write: by the NumPy function, and by the method's name.
VIEW_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.histogram: histogram,
    np.linalg.matrix_power: _rule_matrix_power,
    np.transpose: _rule_transpose,
    np.permute_dims: _rule_transpose,
    np.reshape: _rule_reshape,
    np.ravel: _rule_ravel,
    np.squeeze: _rule_squeeze,
    np.expand_dims: _rule_expand_dims,
    np.atleast_1d: _rule_atleast(1),
    np.atleast_2d: _rule_atleast(2),
    np.atleast_3d: _rule_atleast(3),
    np.flip: _rule_flip(),
    np.flipud: _rule_flip(0),
    np.fliplr: _rule_flip(1),
    np.swapaxes: _rule_permute(np.swapaxes),
    np.moveaxis: _rule_permute(np.moveaxis),
    np.rollaxis: _rule_permute(np.rollaxis),
    np.matrix_transpose: _rule_permute(np.matrix_transpose),
    np.broadcast_to: _rule_broadcast_to,
    np.rot90: _rule_rot90,
    np.diagonal: _rule_diagonal,
    np.diag: _rule_diag,
    np.einsum: _rule_einsum,
    np.insert: _rule_insert,
    np.split: _rule_split(np.split),
    np.array_split: _rule_split(np.array_split),
    np.hsplit: _rule_split(np.hsplit),
    np.vsplit: _rule_split(np.vsplit),
    np.dsplit: _rule_split(np.dsplit),
    np.block: _rule_block,
    np.linalg.vecdot: _rule_vecdot,
    np.lib.stride_tricks.sliding_window_view: rule_windows,
    np.asarray: _rule_asarray,
    np.asanyarray: _rule_asarray,
    np.ascontiguousarray: _rule_ascontiguousarray,
    np.asfortranarray: _rule_asfortranarray,
    np.array: _rule_array,
    np.copy: _rule_copy,
    np.copyto: rule_copyto,
    np.put: rule_put,
    np.putmask: rule_putmask,
    np.place: rule_place,
    np.fill_diagonal: rule_fill_diagonal,
    np.real: lambda self, array: self.array_attribute(self.as_array(array), "real"),
    np.imag: lambda self, array: self.array_attribute(self.as_array(array), "imag"),
}
#: The types of these functions.
VIEW_KINDS = frozenset(map(type, VIEW_FUNCTIONS))
VIEW_METHODS: dict[str, Callable[..., Any]] = {
    "transpose": _rule_transpose,
    "reshape": _rule_reshape,
    "ravel": _rule_ravel,
    "flatten": _rule_flatten,
    "squeeze": _rule_squeeze,
    "swapaxes": _rule_permute(np.swapaxes),
    "diagonal": _rule_diagonal,
    "copy": _method_copy,
    "fill": _rule_fill,
    "sort": _method_sort,
    "put": rule_put,
    "view": _method_view,
    "__copy__": lambda self, array: _method_copy(self, array, Known("K")),
    "astype": _method_astype,
    "item": _method_item,
    "conj": _method_conj,
    "conjugate": _method_conj,
}
