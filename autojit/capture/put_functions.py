"""NumPy functions and methods that write to some elements of an array, and the flat view of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.lists import is_index_tuple
from autojit.capture.overlap import flat_is_apart, mask_is_apart, vector_is_apart
from autojit.capture.values import Arr, Items, Known, LoopInt, Storage, Sym
from autojit.errors import CannotCapture
from autojit.ir.index import Index
from autojit.ir.spec import Spec
from autojit.ops.chapters import TABLE


def target_of(array: Any, name: str) -> Arr:
    """The array that is written.

    Raises:
        CannotCapture: It is none.
    """
    if not isinstance(array, Arr) or array.kind != "array":
        raise CannotCapture("raises", f"TypeError: the target of `{name}` is no array")
    return array


def flat_view(self: Any, array: Arr) -> Arr:
    """The elements of an array in C order, as a view.

    Raises:
        CannotCapture: NumPy would have to copy.
    """
    self.layout_matters(array)
    if array.kind != "array" or not array.dummy.flags.c_contiguous:
        raise CannotCapture("unsupported-syntax", "the flat elements of an array that is not in C order")
    return self.reshape(array, (-1,))


def flat_items(self: Any, array: Arr) -> Arr:
    """The elements of an array in C order, to be read."""
    if array.kind != "array":
        raise CannotCapture("unsupported-syntax", "the flat elements of a scalar")
    self.layout_matters(array)
    return self.reshape(array if array.dummy.flags.c_contiguous else self.copy(array), (-1,))


def _check_flat(key: Any) -> None:
    """Refuse keys of flat elements that are refused by NumPy, which takes them for vectors."""
    value = getattr(key, "value", Ellipsis)
    if isinstance(key, Arr) and key.dtype == np.bool_ and not key.dummy.ndim:
        raise CannotCapture("unsupported-syntax", "a bool as an index of flat elements")
    if is_index_tuple(key) or value is None:
        raise CannotCapture("unsupported-syntax", "a tuple or `None` as an index of flat elements")
    items = value if isinstance(value, list) else key.values if isinstance(key, Items) else []
    if any(isinstance(getattr(item, "value", item), bool | np.bool_) for item in items):
        raise CannotCapture("unsupported-syntax", "a list of bools as an index of flat elements")


def flat_item(self: Any, array: Arr, key: Any) -> Any:
    """`array.flat[key]`: a copy."""
    _check_flat(key)
    found = self.getitem(flat_items(self, array), key)
    return self.copy(found) if isinstance(found, Arr) and found.kind == "array" else found


def put_flat(self: Any, array: Arr, key: Any, value: Any) -> None:
    """`array.flat[key] = value`, which repeats the values that are too few."""
    _check_flat(key)
    if isinstance(key, Arr) and key.dummy.ndim and key.storage.may_be(array.storage):
        raise CannotCapture("overlap", "flat elements at places that the array itself holds")
    view = flat_view(self, array)
    value = exactly(self, value, array)
    flat_is_apart(array, value)
    if not isinstance(value, Known | Sym) or isinstance(getattr(value, "value", None), list | tuple):
        value = self.as_array(value)
        wanted = self.getitem(view, key)
        if not isinstance(wanted, Arr) or value.spec.size != wanted.spec.size:
            raise CannotCapture("keyword", "fewer or more values than flat elements")
        value = self.reshape(value, wanted.shape)
    self.setitem(view, key, value)


def rule_put(self: Any, array: Any, indices: Any, values: Any, mode: Any = Known("raise")) -> Any:
    """`np.put`."""
    array = target_of(array, "np.put")
    if self.static(mode) != "raise":
        raise CannotCapture("keyword", "`mode=` of `np.put`")
    places = self.as_array(indices)
    if places.dtype.kind not in "iu" or not np.can_cast(places.dtype, np.intp):
        raise CannotCapture("keyword", "`np.put` at indices that are not integers, or are `uint64`")
    if isinstance(values, Arr) and values.kind == "array":
        values = self.copy(values)  # as NumPy does
    put_flat(self, array, self.reshape(places, (-1,)), values)
    return Known(None)


def rule_putmask(self: Any, array: Any, mask: Any, values: Any) -> Any:
    """`np.putmask`."""
    return _put_where(self, array, mask, values, "np.putmask")


def rule_place(self: Any, array: Any, mask: Any, values: Any) -> Any:
    """`np.place`: values that are used one after the other."""
    values = self.as_array(values)
    if values.spec.size != 1:
        raise CannotCapture("data-shape", "`np.place` of several values: the data decides which goes where")
    mask_is_apart(mask, array)
    return _put_where(self, array, mask, self.reshape(values, ()), "np.place")


def _put_where(self: Any, array: Any, mask: Any, values: Any, name: str) -> Any:
    array = target_of(array, name)
    mask, values = self.as_array(mask), self.as_array(exactly(self, values, array), array.dtype)
    if mask.shape != array.shape or values.shape not in ((), array.shape):
        raise CannotCapture("keyword", f"`{name}` with a mask or values of another shape than the array's")
    choose(self, array, mask, values)
    return Known(None)


def exactly(self: Any, values: Any, array: Arr) -> Any:
    """Values that are cast to the array's dtype without a loss, so that all functions agree on how."""
    value = getattr(values, "value", None)
    kind = array.dtype.kind
    if (
        type(value) is bool
        or (type(value) in (int, float) and kind in "fc")
        or (type(value) is int and array.dtype == int)
    ):
        return values
    values = self.as_array(values)
    if values.dtype == array.dtype or np.can_cast(values.dtype, array.dtype, "safe"):
        return values
    raise CannotCapture("keyword", f"values of dtype `{values.dtype}` into an array of `{array.dtype}`")


def choose(self: Any, target: Arr, where: Arr, values: Arr) -> None:
    """Write `values` where `where` is true; both broadcast to the target."""
    if where.dtype != np.bool_:
        where = self.apply(TABLE["np.not_equal"], [where, Known(where.dtype.type(0))], {})
    if np.broadcast_shapes(target.shape, where.shape, values.shape) != target.shape:
        raise CannotCapture("raises", "ValueError: the mask or the values do not fit to the array")
    if values.dtype != target.dtype:
        values = self.apply(TABLE["astype"], [values], {"dtype": target.dtype})
    old = Arr(Storage(self.read(target), Spec(target.shape, target.dtype)), (), target.dummy)
    self.write(target, self.read(self.apply(TABLE["np.where"], [where, values, old], {})))


def rule_copyto(
    self: Any, target: Any, source: Any, casting: Any = Known("same_kind"), where: Any = Known(True)
) -> Any:
    """`np.copyto`."""
    target = target_of(target, "np.copyto")
    is_number = isinstance(source, LoopInt) or (isinstance(source, Arr) and source.kind == "python")
    if is_number and target.dtype.kind in "iu" and target.dtype != np.int64:
        raise CannotCapture("keyword", f"a Python int of the run in `np.copyto` to an array of `{target.dtype}`")
    value = self.as_array(source) if not isinstance(source, Known | Sym) else source
    if isinstance(value, Arr):
        if not np.can_cast(value.dtype, target.dtype, self.static(casting)):
            raise CannotCapture("raises", "TypeError: cannot cast array data")
    else:
        self.ask(np.copyto, np.zeros((), target.dtype), value.value, self.static(casting))
    if is_number:
        value = self.as_array(source, target.dtype)
    if isinstance(where, Known) and where.value is True:
        self.setitem(target, Known(Ellipsis), value)
        return Known(None)
    mask = self.as_array(where)
    if mask.dtype != np.bool_:
        raise CannotCapture("raises", "TypeError: a mask that is not of bools")
    mask_is_apart(mask, target)
    vector_is_apart(target, Index((Ellipsis,)), [], value)
    if not isinstance(value, Arr):
        value = exactly(self, value, target)
    choose(self, target, mask, self.as_array(value, target.dtype))
    return Known(None)


def rule_fill_diagonal(self: Any, array: Any, value: Any, wrap: Any = Known(False)) -> Any:
    """`np.fill_diagonal`."""
    array = target_of(array, "np.fill_diagonal")
    ndim = array.dummy.ndim
    if ndim < 2 or self.static(wrap):
        raise CannotCapture("keyword", "`np.fill_diagonal` of such an array")
    if ndim > 2 and len(set(array.shape)) > 1:
        raise CannotCapture("raises", "ValueError: all dimensions must be equal")
    # Not from the strides: those of axes of length 1 mean nothing.
    step = sum(int(np.prod(array.shape[axis + 1 :], dtype=int)) for axis in range(ndim))
    end = array.shape[1] ** 2 if ndim == 2 else array.spec.size
    put_flat(self, array, Known(slice(None, min(end, array.spec.size), step)), value)
    return Known(None)
