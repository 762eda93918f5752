"""Calls of NumPy functions and methods with slices whose length moves with a loop: views and copies of them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autojit.capture.functions import method_arguments
from autojit.capture.lists import check_single
from autojit.capture.reduced_where import WhereReductions
from autojit.capture.values import Items, Known, Ragged, Selected
from autojit.capture.view_functions import VIEW_FUNCTIONS, VIEW_KINDS, VIEW_METHODS
from autojit.errors import CannotCapture
from autojit.ops.chapters import TABLE

_COPIES = (np.copy, np.array)
_FLIPS: dict[Any, Any] = {np.flip: None, np.flipud: 0, np.fliplr: 1}
_SHAPES = {np.shape: "shape", np.ndim: "ndim", np.size: "size"}
_SAME = (np.asarray, np.asanyarray)


class RaggedFunctions(WhereReductions):
    """Functions and methods that NumPy answers with a view, a copy or a shape."""

    def call_numpy(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a NumPy function."""
        if args and isinstance(args[0], Selected):
            result = self._of_shape(function, args, kwargs)
            if result is not NotImplemented:
                return result
        if args and isinstance(args[0], Ragged):
            result = self._ragged_function(function, args[0], args[1:], kwargs)
            if result is not NotImplemented:
                return result
            if _is_view_function(function):
                raise CannotCapture("moving-shape", f"`np.{function.__name__}` of a slice whose length changes")
        if function is np.copyto and len(args) > 1 and isinstance(args[1], Selected):
            raise CannotCapture("moving-shape", "`np.copyto` of a slice whose length changes")
        return super().call_numpy(function, args, kwargs)

    def _of_shape(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`np.shape`, `np.ndim` and `np.size`."""
        name = next((text for known, text in _SHAPES.items() if known is function), None)
        if name is None:
            return NotImplemented
        given = [*args[1:], *kwargs.values()]
        if not given:
            return self.array_attribute(args[0], name)
        if name != "size" or len(given) > 1 or not kwargs.keys() <= {"axis"}:
            raise CannotCapture("raises", f"TypeError: the arguments of `np.{name}`")
        axis, lengths = self.static(given[0]), self.array_attribute(args[0], "shape").items
        self.ask(np.size, np.zeros((1,) * len(lengths)), axis)
        if axis is None:
            return self.array_attribute(args[0], name)
        found = [lengths[place] for place in normalize_axis_tuple(axis, len(lengths))]
        return functools.reduce(lambda one, other: self.operate("Mult", one, other), found) if found else Known(1)

    def _ragged_function(self, function: Any, array: Ragged, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if any(function is known for known in _FLIPS):
            axis = _FLIPS[function]
            if function is np.fliplr and array.full.dummy.ndim < 2:
                raise CannotCapture("raises", "ValueError: Input must be >= 2-d.")
            given = kwargs.get("axis", args[0] if args else None)
            return self.flipped(array, axis if given is None else self.static(given))
        plain = not args and not kwargs
        if function is np.transpose:
            given = kwargs.get("axes", args[0] if args else Known(None))
            return self._transposed(array, self.static(given))
        if any(function is known for known in _COPIES) and plain:
            return self.ragged_copy(array)
        if any(function is known for known in _SAME) and plain:
            return array
        if function is np.ascontiguousarray and plain and array.full.dummy.ndim and self._is_in_order(array):
            return array
        if function is np.ravel and plain and array.full.dummy.ndim == 1 and self._is_in_order(array):
            return Ragged(array.full, array.spans)
        if function in (np.real, np.imag) and plain:
            return self.array_attribute(array, function.__name__)
        return NotImplemented

    def _is_in_order(self, array: Ragged) -> bool:
        """Whether the elements lie one behind the other, however many there are: of others NumPy makes a copy."""
        full = array.full
        self.layout_matters(full)
        return full.dummy.flags.c_contiguous and all(span is None for span in array.spans[1:])

    def _transposed(self, array: Ragged, axes: Any) -> Ragged:
        ndim = array.full.dummy.ndim
        order = tuple(range(ndim))[::-1] if axes is None else self.ask(normalize_axis_tuple, axes, ndim)
        if len(order) != ndim:
            raise CannotCapture("raises", "ValueError: axes don't match array")
        return Ragged(self.transpose(array.full, order), tuple(array.spans[axis] for axis in order))

    def call_method(self, array: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`array.name(*args, **kwargs)`."""
        if not isinstance(array, Ragged):
            return super().call_method(array, name, args, kwargs)
        full = array.full
        if name == "copy" and not args and not kwargs:
            return self.ragged_copy(array)
        if name == "flatten" and not args and not kwargs and full.dummy.ndim == 1:
            return self.ragged_copy(array)
        if name == "ravel" and not args and not kwargs and full.dummy.ndim == 1 and self._is_in_order(array):
            return Ragged(full, array.spans)
        if name == "transpose" and not kwargs:
            given = args[0] if len(args) == 1 else Items(tuple, list(args)) if args else Known(None)
            return self._transposed(array, self.static(given))
        if name == "fill" and len(args) == 1 and not kwargs:
            check_single(args[0])
            self.store_ragged(array, args[0])
            return Known(None)
        if name == "astype" and len(args) == 1 and not kwargs:
            wanted = self.dtype_of(self.static(args[0]))
            return self.apply(TABLE["astype"], [array], {"dtype": wanted})
        if name in ("conj", "conjugate") and full.dtype.kind in "biuf" and not args and not kwargs:
            return array
        if name in VIEW_METHODS and name not in ("conj", "conjugate"):
            raise CannotCapture("moving-shape", f"the method `.{name}` of a slice whose length changes")
        row = TABLE.method(name)
        if row is None:
            raise CannotCapture("no-row", f"the array method `.{name}`")
        args, kwargs = method_arguments(name, args, kwargs)
        return self.call_row(row, [array, *args], kwargs, row.numpy[0] if row.numpy else None)


def _is_view_function(function: Any) -> bool:
    return type(function) in VIEW_KINDS and function in VIEW_FUNCTIONS  # other hashes may be anybody's
