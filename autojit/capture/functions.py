"""Calls of NumPy functions and array methods: views and copies here, everything else by its row."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autojit.capture.arrays import Arrays
from autojit.capture.values import Arr, Items, Known, Partial, Storage, Sym, make_dummy
from autojit.errors import CannotCapture
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.ops.chapters import TABLE
from autojit.ops.host import host_function
from autojit.ops.linalg import RESULT_TYPES
from autojit.ops.reductions import UFUNC_METHODS

#: Functions of dtypes, shapes and constants only: NumPy answers them at capture.
STATIC_FUNCTIONS = (
    np.shape, np.ndim, np.size, np.result_type, np.promote_types, np.can_cast, np.issubdtype, np.iscomplexobj,
    np.isrealobj, np.isscalar, normalize_axis_index, normalize_axis_tuple, np.broadcast_shapes, np.finfo, np.iinfo, np.dtype, np.isfortran, np.iterable,
)  # fmt: skip


def _rule_transpose(self: Functions, array: Arr, *axes: Any, **kwargs: Any) -> Arr:
    wanted = kwargs.get("axes", axes[0] if len(axes) == 1 else Items(tuple, list(axes)) if axes else Known(None))
    order = self.static(wanted)
    return self.transpose(array, None if order is None else tuple(order) if not isinstance(order, int) else (order,))


def _rule_reshape(self: Functions, array: Arr, *shape: Any, **kwargs: Any) -> Arr:
    order = self.static(kwargs.pop("order", Known("C")))
    kwargs.pop("copy", None)
    if len(shape) == 2 and isinstance(shape[1], Known) and shape[1].value in ("C", "F", "A"):
        shape, order = shape[:1], shape[1].value
    wanted = kwargs.get("shape", kwargs.get("newshape", shape[0] if len(shape) == 1 else Items(tuple, list(shape))))
    return self.reshape(array, self.static(wanted), order)


def _rule_ravel(self: Functions, array: Arr, order: Any = Known("C")) -> Arr:
    order = self.static(order)
    if order in ("K", "A") and array.dummy.flags.c_contiguous:
        order = "C"
    self.layout_matters(array)
    if order == "C" and array.kind == "array" and not array.dummy.flags.c_contiguous:
        array = self.copy(array)  # the result is contiguous, also where a strided view would do
    return self.reshape(array, (-1,), order)


def _rule_flatten(self: Functions, array: Arr, order: Any = Known("C")) -> Arr:
    return self.copy(self.reshape(self.copy(array), (-1,), self.static(order)))


def _rule_squeeze(self: Functions, array: Arr, axis: Any = Known(None)) -> Arr:
    wanted = self.static(axis)
    shape = self.ask(np.squeeze, make_dummy(array.shape, np.dtype(bool)), wanted).shape
    return self.reshape(array, shape)


def _rule_expand_dims(self: Functions, array: Arr, axis: Any) -> Arr:
    wanted = self.static(axis)
    return self.reshape(array, self.ask(np.expand_dims, make_dummy(array.shape, np.dtype(bool)), wanted).shape)


def _rule_atleast(count: int) -> Callable[..., Any]:
    function = {1: np.atleast_1d, 2: np.atleast_2d, 3: np.atleast_3d}[count]

    def rule(self: Functions, *arrays: Any) -> Any:
        made = []
        for value in arrays:
            array = self.as_array(value)
            shape = function(make_dummy(array.shape, np.dtype(bool))).shape
            made.append(array if shape == array.shape and array.kind == "array" else self.reshape(array, shape))
        return made[0] if len(made) == 1 else Items(tuple, made)

    return rule


def _rule_flip(*fixed: int) -> Callable[..., Any]:
    def rule(self: Functions, array: Arr, axis: Any = Known(None)) -> Arr:
        wanted = fixed if fixed else self.static(axis)
        axes = range(array.dummy.ndim) if wanted is None else (wanted,) if isinstance(wanted, int) else wanted
        self.ask(np.flip, make_dummy(array.shape, np.dtype(bool)), tuple(axes))
        turned = {axis % array.dummy.ndim for axis in axes}
        parts = [slice(None, None, -1) if a in turned else slice(None) for a in range(array.dummy.ndim)]
        return self.getitem(array, Items(tuple, [Known(part) for part in parts]))

    return rule


def _rule_permute(function: Callable[..., Any]) -> Callable[..., Any]:
    def rule(self: Functions, array: Arr, *args: Any, **kwargs: Any) -> Arr:
        static = {name: self.static(value) for name, value in kwargs.items()}
        return self.permuted(array, lambda d, *a: function(d, *a, **static), *[self.static(value) for value in args])

    return rule


def _rule_broadcast_to(self: Functions, array: Any, shape: Any, subok: Any = None) -> Arr:
    array = self.as_array(array)
    wanted = self.static(shape)
    wanted = (wanted,) if isinstance(wanted, int) else tuple(wanted)
    dummy = self.ask(np.broadcast_to, array.dummy, wanted)
    if array.kind != "array":
        return self.apply(TABLE["np.broadcast_to"], [array], {"shape": wanted})
    return self.step(array, "np.broadcast_to", {"shape": wanted}, dummy)


def _rule_diagonal(self: Functions, array: Arr, *args: Any, **kwargs: Any) -> Arr:
    names = dict(zip(("offset", "axis1", "axis2"), args, strict=False)) | kwargs
    params = {"offset": 0, "axis1": 0, "axis2": 1} | {name: self.static(value) for name, value in names.items()}
    dummy = self.ask(np.diagonal, array.dummy, **params)
    return self.step(array, "np.diagonal", params, dummy)


def _rule_split(function: Callable[..., Any]) -> Callable[..., Any]:
    def rule(self: Functions, array: Arr, sections: Any, axis: Any = None, **kwargs: Any) -> Items:
        axis = kwargs.get("axis", axis)
        more = {} if axis is None else {"axis": self.static(axis)}
        wanted = kwargs.get("indices_or_sections", sections)
        static = self.static(wanted)
        # Axes of ones and one numbered axis: NumPy shows which slices it takes.
        parts = []
        for dimension in range(array.dummy.ndim):
            numbers = np.arange(array.shape[dimension]).reshape([-1 if a == dimension else 1 for a in range(array.dummy.ndim)])
            view = np.broadcast_to(numbers, array.shape)
            parts.append([piece for piece in self.ask(function, view, static, **more)])
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


def _rule_asarray(self: Functions, value: Any, dtype: Any = Known(None), *args: Any, **kwargs: Any) -> Any:
    if args or any(name not in ("dtype", "order", "copy") for name in kwargs):
        raise CannotCapture("keyword", "an argument of `np.asarray`")
    array = self.as_array(value)
    wanted = self.static(kwargs.get("dtype", dtype))
    order = self.static(kwargs.get("order", Known(None)))
    if order not in (None, "C", "K", "A") or (order == "C" and not array.dummy.flags.c_contiguous):
        raise CannotCapture("keyword", f"`order={order!r}`")
    if self.static(kwargs.get("copy", Known(None))):
        array = self.copy(array)
    if array.kind != "array":
        array = Arr(Storage(self.read(array), Spec((), array.dtype)), (), array.dummy)
    if wanted is None or self.ask(np.dtype, wanted) == array.dtype:
        return array
    return self.astype(array, wanted)


def _rule_ascontiguousarray(self: Functions, value: Any, dtype: Any = Known(None)) -> Any:
    array = _rule_asarray(self, value, dtype)
    self.layout_matters(array)
    if array.dummy.flags.c_contiguous:
        return array if array.dummy.ndim else self.reshape(array, (1,))
    return self.copy(array)


def _rule_array(self: Functions, value: Any, dtype: Any = Known(None), **kwargs: Any) -> Any:
    copy = self.static(kwargs.pop("copy", Known(True)))
    count = self.static(kwargs.pop("ndmin", Known(0)))
    kwargs.pop("subok", None)
    fresh = not isinstance(value, Arr)
    array = _rule_asarray(self, value, dtype, **kwargs)
    if copy and not fresh and isinstance(value, Arr) and array.storage is value.storage:
        array = self.copy(array, order="K")
    if array.dummy.ndim < count:
        array = self.reshape(array, (1,) * (count - array.dummy.ndim) + array.shape)
    return array


def _rule_copy(self: Functions, array: Any, order: Any = Known("K"), subok: Any = None) -> Arr:
    return self.copy(self.as_array(array), order=self.static(order))


def _method_copy(self: Functions, array: Arr, order: Any = Known("C")) -> Any:
    return array if array.kind == "scalar" else self.copy(array, order=self.static(order))


def _rule_fill(self: Functions, array: Arr, value: Any) -> Any:
    self.setitem(array, Known(Ellipsis), value)
    return Known(None)


def _rule_copyto(self: Functions, target: Arr, source: Any, casting: Any = Known("same_kind"), where: Any = Known(True)) -> Any:
    if not (isinstance(where, Known) and where.value is True):
        raise CannotCapture("keyword", "`where=` of `np.copyto`")
    value = self.as_array(source) if not isinstance(source, Known | Sym) else source
    if isinstance(value, Arr) and not np.can_cast(value.dtype, target.dtype, self.static(casting)):
        raise CannotCapture("raises", "TypeError: cannot cast array data")
    self.setitem(target, Known(Ellipsis), value)
    return Known(None)


def _method_sort(self: Functions, array: Arr, axis: Any = Known(-1), **kwargs: Any) -> Any:
    if kwargs:
        raise CannotCapture("keyword", "an argument of `ndarray.sort`")
    self.write(array, self.read(self.call_row(TABLE["np.sort"], [array], {"axis": axis})))
    return Known(None)


def _method_astype(self: Functions, array: Arr, dtype: Any, **kwargs: Any) -> Arr:
    options = {name: self.static(value) for name, value in kwargs.items()}
    copy = options.pop("copy", True)
    wanted = self.static(dtype)
    if options.pop("casting", "unsafe") != "unsafe" or options.pop("order", "K") not in ("K", "A", "C") or options:
        raise CannotCapture("keyword", "an argument of `astype`")
    return self.astype(array, wanted, copy)


def _method_conj(self: Functions, array: Arr) -> Any:
    # The method returns the array itself where there is nothing to do, the function does not.
    return array if array.dtype.kind in "biuf" else self.call_row(TABLE["np.conjugate"], [array], {}, np.conjugate)


def _method_item(self: Functions, array: Arr, *args: Any) -> Any:
    if args:
        key = args[0] if len(args) == 1 else Items(tuple, list(args))
        array = self.getitem(array if len(args) > 1 else self.reshape(array, (-1,)), key)
    return self.apply(TABLE["item"], [array], {})


#: Functions that give views, copies, or write: by the NumPy function, and by the method's name.
VIEW_FUNCTIONS: dict[Any, Callable[..., Any]] = {
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
    np.diagonal: _rule_diagonal,
    np.split: _rule_split(np.split),
    np.array_split: _rule_split(np.array_split),
    np.hsplit: _rule_split(np.hsplit),
    np.vsplit: _rule_split(np.vsplit),
    np.dsplit: _rule_split(np.dsplit),
    np.asarray: _rule_asarray,
    np.asanyarray: _rule_asarray,
    np.ascontiguousarray: _rule_ascontiguousarray,
    np.array: _rule_array,
    np.copy: _rule_copy,
    np.copyto: _rule_copyto,
    np.real: lambda self, array: self.array_attribute(self.as_array(array), "real"),
    np.imag: lambda self, array: self.array_attribute(self.as_array(array), "imag"),
}
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
    "astype": _method_astype,
    "item": _method_item,
    "conj": _method_conj,
    "conjugate": _method_conj,
}
_SIGNATURES: dict[int, inspect.Signature | None] = {}


class Functions(Arrays):
    """Calls of NumPy functions with abstract arguments."""

    def find_row(self, function: Any) -> Op | None:
        """The row for a callable: of the table, or a host row for a function that is known to be pure."""
        return TABLE.find(function) or host_function(function)

    def call_numpy(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a NumPy function; `NotImplemented` when there is no rule and no row for it."""
        try:
            rule = VIEW_FUNCTIONS.get(function)
        except TypeError:  # not hashable
            rule = None
        if rule is not None:
            if args and function not in (np.asarray, np.asanyarray, np.array, np.ascontiguousarray):
                if not isinstance(args[0], Arr) and rule is not _rule_broadcast_to:
                    args = [self.as_array(args[0]), *args[1:]]
            return self._ask_rule(rule, args, kwargs)
        if any(function is static for static in STATIC_FUNCTIONS):
            return self._call_static(function, args, kwargs)
        if isinstance(function, type) and issubclass(function, np.generic):
            return self._convert(function, args, kwargs)
        row = self.find_row(function)
        if row is None:
            return NotImplemented
        if row.family in ("elementwise", "reduction") and not kwargs and self._scalars_only(args):
            names = ", ".join("{}" for _ in args)
            return self.compute(f"{self.prologue.constant(function)}({names})", function, *args)
        return self.call_row(row, args, kwargs, function)

    def _ask_rule(self, rule: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return rule(self, *args, **kwargs)
        except (TypeError, ValueError) as error:
            raise CannotCapture("raises", f"{type(error).__name__}: {error}") from None

    def _scalars_only(self, args: list[Any]) -> bool:
        return bool(args) and all(
            isinstance(a, Sym) or (isinstance(a, Known) and isinstance(a.value, int | float | complex | np.generic))
            for a in args
        )

    def _call_static(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Known:
        def plain(value: Any) -> Any:
            return value.dummy if isinstance(value, Arr) else self.static(value)

        if any(isinstance(a, Arr) and a.kind == "python" for a in args):
            raise CannotCapture("data-value", "the type of a number taken out of an array")
        if function is np.shape or function is np.ndim or function is np.size:
            args = [self.as_array(args[0]) if isinstance(args[0], Items) else args[0], *args[1:]]
        return Known(self.ask(function, *map(plain, args), **{name: plain(v) for name, v in kwargs.items()}))

    def _convert(self, kind: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`np.float32(x)` and the like."""
        if len(args) != 1 or kwargs:
            raise CannotCapture("unsupported-syntax", f"`{kind.__name__}` with other than one argument")
        if not isinstance(args[0], Arr):
            if isinstance(args[0], Items):
                return self.astype(self.as_array(args[0]), kind)
            return self.compute(self.prologue.constant(kind) + "({})", kind, args[0])
        array = args[0]
        if array.kind == "python":
            raise CannotCapture("data-value", "a NumPy scalar of a number taken out of an array")
        result = self.apply(TABLE["astype"], [array], {"dtype": np.dtype(kind)})
        if result.dummy.ndim == 0:
            result = Arr(Storage(self.read(result), Spec((), result.dtype, "scalar")), (), result.dummy, "scalar")
        return result

    def call_method(self, array: Arr, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`array.name(*args, **kwargs)`."""
        rule = VIEW_METHODS.get(name)
        if rule is not None:
            return self._ask_rule(rule, [array, *args], kwargs)
        row = TABLE.method(name)
        if row is None:
            raise CannotCapture("no-row", f"the array method `.{name}`")
        return self.call_row(row, [array, *args], kwargs, row.numpy[0] if row.numpy else None)

    def call_partial(self, partial: Partial, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`np.add.outer(...)`, `np.add.reduce(...)`."""
        row = UFUNC_METHODS.get((partial.function.__name__, partial.name))
        if row is None:
            raise CannotCapture("no-row", f"`np.{partial.function.__name__}.{partial.name}`")
        if partial.name == "reduce" and "axis" not in kwargs and len(args) < 2:
            kwargs = {**kwargs, "axis": Known(0)}
        return self.call_row(row, args, kwargs)

    # ---- rows

    def call_row(self, row: Op, args: list[Any], kwargs: dict[str, Any], function: Any = None) -> Any:
        """Call a row with Python's arguments: sort them into operands and parameters, and handle `out=`."""
        given = self._bind(row, args, kwargs, function)
        out = given.pop("out", Known(None))
        if isinstance(out, Items) and out.kind is tuple and len(out.items) == 1:
            out = out.items[0]  # type: ignore[index]
        operands, params = self._sort(row, given)
        result = self.apply(row, operands, params)
        if not (isinstance(out, Known) and out.value is None):
            if not isinstance(out, Arr) or not isinstance(result, Arr):
                raise CannotCapture("keyword", f"`out=` of `{row.name}`")
            return self.store(out, result)
        if isinstance(result, list):
            kind = RESULT_TYPES.get(row.name)
            return Items(kind, result) if kind is not None else Items(tuple, result)
        return result

    def _bind(self, row: Op, args: list[Any], kwargs: dict[str, Any], function: Any) -> dict[str, Any]:
        """The arguments by parameter name; `*` holds a variadic part."""
        if any(name.startswith("*") for name in row.operands):
            fixed = [name for name in row.operands if not name.startswith("*")]
            strings = [a for a in args[:1] if isinstance(a, Known) and isinstance(a.value, str)]  # np.einsum's
            args = args[len(strings) :]
            given = {**dict(zip(row.params, strings, strict=False)), **dict(zip(fixed, args, strict=False))}
            given["*"] = args[len(fixed) :]
            return {**given, **kwargs}
        names = [name.strip("[]") for name in row.operands]
        if isinstance(function, np.ufunc):
            if len(args) > function.nin + function.nout:
                raise CannotCapture("raises", f"TypeError: too many arguments for `{row.name}`")
            given = dict(zip([*names, "out"], args, strict=False))
            return {**given, **kwargs}
        signature = _signature(function) if function is not None else None
        if signature is None:
            given = dict(zip([*names, *row.params], args, strict=False))
            if len(args) > len(names) + len(row.params):
                raise CannotCapture("keyword", f"the positional arguments of `{row.name}`")
            return {**given, **kwargs}
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise CannotCapture("raises", f"TypeError: {row.name}: {error}") from None
        given = {}
        for name, value in bound.arguments.items():
            parameter = signature.parameters[name]
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                given.update(value)
                continue
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                raise CannotCapture("keyword", f"the positional arguments of `{row.name}`")
            if isinstance(value, Known) and value.value is parameter.default and name not in names:
                continue
            given[name] = value
        # A row may name its operands in its own words: the function's first parameters are meant.
        own = [p for p in signature.parameters if p not in row.params]
        for position, name in enumerate(names):
            if name not in given and position < len(own) and own[position] in given and own[position] not in names:
                given[name] = given.pop(own[position])
        return given

    def _sort(self, row: Op, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        operands: list[Any] = []
        params: dict[str, Any] = {}
        for name in row.operands:
            if name.startswith("*"):
                for value in given.pop("*", []):
                    operands.append(self._array_operand(value))
            elif name.startswith("["):
                sequence = given.pop(name.strip("[]"), None)
                if isinstance(sequence, Arr):
                    operands += self.rows_of(sequence)
                elif sequence is not None:
                    operands += [self._array_operand(value) for value in self.as_items(sequence).values]
            elif name in given:
                operands.append(self._array_operand(given.pop(name)))
            elif name in row.defaults:
                operands.append(Known(row.defaults[name]))
            else:
                raise CannotCapture("raises", f"TypeError: `{row.name}` misses the argument `{name}`")
        for name, value in given.items():
            if name not in row.params and not (row.family == "host" and row.operands == ("*args",)):
                raise CannotCapture("keyword", f"`{name}=` of `{row.name}`")
            params[name] = self.parameter(name, value)
        return operands, params

    def _array_operand(self, value: Any) -> Any:
        if isinstance(value, Items) or (isinstance(value, Known) and isinstance(value.value, list | tuple)):
            return self.as_array(value)
        if isinstance(value, Known) and isinstance(value.value, np.ndarray):
            return self.constant(value.value)
        return value

    def parameter(self, name: str, value: Any) -> Any:
        """A static parameter in its hashable form."""
        static = self.static(value)
        if name == "dtype" and static is not None:
            return self.ask(np.dtype, static)
        return _freeze(static)

    def rows_of(self, array: Arr) -> list[Arr]:
        """The items of an array along its first axis, as iteration gives them."""
        if array.dummy.ndim == 0:
            raise CannotCapture("raises", "TypeError: iteration over a 0-d array")
        return [self.getitem(array, Known(position)) for position in range(array.shape[0])]


def _freeze(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_freeze(part) for part in value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        return tuple(value.tolist()) if value.ndim == 1 else value
    return value


def _signature(function: Any) -> inspect.Signature | None:
    key = id(function)
    if key not in _SIGNATURES:
        try:
            _SIGNATURES[key] = inspect.signature(function)
        except (TypeError, ValueError):
            _SIGNATURES[key] = None
    return _SIGNATURES[key]
