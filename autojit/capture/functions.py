"""Calls of NumPy functions and array methods: views and copies here, everything else by its row."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autojit.capture.arrays import Arrays
from autojit.capture.lengths import filled_up, refuse_length
from autojit.capture.lists import check_parts, from_list, is_index_tuple, is_list, is_tuple
from autojit.capture.overlap import mask_is_apart
from autojit.capture.plain import parts
from autojit.capture.refusals import check_arguments
from autojit.capture.values import Arr, Items, Known, LoopInt, Partial, Rows, Storage, Sym, freeze
from autojit.capture.view_functions import VIEW_FUNCTIONS, VIEW_KINDS, VIEW_METHODS
from autojit.capture.words import describe
from autojit.errors import CannotCapture, comes_from_a_signal
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.ops.chapters import TABLE
from autojit.ops.declared import is_declared
from autojit.ops.elementwise_rounding import clip_call
from autojit.ops.host import host_function
from autojit.ops.host_calls import METHOD_PARAMETERS
from autojit.ops.linalg import RESULT_TYPES
from autojit.ops.reductions import UFUNC_METHODS
from autojit.ops.trust import is_trusted

#: Functions of dtypes, shapes and constants only: NumPy answers them at capture.
STATIC_FUNCTIONS = (
    np.shape, np.ndim, np.size, np.result_type, np.promote_types, np.can_cast, np.issubdtype, np.iscomplexobj,
    np.isrealobj, np.isscalar, np.broadcast_shapes, np.finfo, np.iinfo, np.dtype, np.isfortran, np.iterable,
    np.isdtype, np.common_type, np.mintypecode, np.min_scalar_type, np.base_repr, np.binary_repr, np.typename,
    normalize_axis_index, normalize_axis_tuple,
)  # fmt: skip
_STATIC = frozenset(map(id, STATIC_FUNCTIONS))


#: Parameters that say how large an array is made.
_OF_SHAPES = ("shape", "start_or_stop", "stop")
#: Those of them that read numbers, not types and shapes.
_OF_VALUES = (np.base_repr, np.binary_repr, np.broadcast_shapes, normalize_axis_index, normalize_axis_tuple)
#: View functions whose first argument need not be an array.
_OF_ANYTHING = (
    np.asarray, np.asanyarray, np.array, np.ascontiguousarray, np.asfortranarray, np.einsum, np.block,
    np.copyto, np.put, np.putmask, np.place, np.fill_diagonal,
)  # fmt: skip
#: Keywords whose numbers NumPy computes with: it matters whether they are Python's.
_OF_ANY_TYPE = frozenset(
    "ddof correction nan posinf neginf rtol atol pad_width constant_values rcond tol beta left right range bins".split()
)
_NUMBERS = (bool, int, float, complex, np.generic)
_SIGNATURES: dict[int, tuple[Any, inspect.Signature | None]] = {}


#: Rows that divide what they have added up.
_MOMENTS = frozenset("np.mean np.var np.std np.nanmean np.nanvar np.nanstd np.median".split())
#: Rows of functions that write into `out` before they have read all.
_WRITE_EARLY = frozenset("np.ptp np.take np.choose np.argmax np.argmin".split())
#: Rows of functions that use `out` otherwise than for their result, or not at all.
_WITHOUT_OUT = frozenset(
    "np.fft.fft2 np.fft.ifft2 np.fft.rfft2 np.fft.irfft2 np.fft.fftn np.fft.ifftn np.fft.rfftn np.fft.irfftn "
    "np.fft.hfft np.linalg.multi_dot".split()
)
#: Parameters for which a bool is no integer.
_INTEGERS = frozenset("axis axis1 axis2 N M k offset repeats n num".split())
#: What the function of a method's name takes and the method does not.
_NOT_OF_METHODS = {"var": ("correction",), "std": ("correction",), "clip": ("a_min", "a_max"), "fill": ("value",)}


class Functions(Arrays):
    """Calls of NumPy functions with abstract arguments."""

    def find_row(self, function: Any) -> Op | None:
        """The row for a callable: of the table, or a host row for a function that is known to be pure."""
        return TABLE.find(function) or host_function(function)

    def call_numpy(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a NumPy function; `NotImplemented` when there is no rule and no row for it."""
        rule = VIEW_FUNCTIONS.get(function) if type(function) in VIEW_KINDS else None  # other hashes may be anybody's
        if rule is not None:
            self._check_signature(function, args, kwargs)
            scalar = args[0] if len(args) == 1 and isinstance(args[0], Sym | Known) else None
            is_number = len(args) == 1 and _is_number(args[0])
            if is_number and function in (np.real, np.imag):
                return self.attribute(args[0], function.__name__)  # a number keeps its kind
            if scalar is not None and function in (np.squeeze, np.transpose) and isinstance(scalar.value, np.generic):
                return scalar
            if args and function not in _OF_ANYTHING:
                self.make_sure(args[0])
                args = [self.as_array(args[0]), *args[1:]]
            return self._ask_rule(rule, args, kwargs)
        if id(function) in _STATIC:
            return self._call_static(function, args, kwargs)
        if isinstance(function, type) and issubclass(function, np.generic) and is_trusted(function):
            return self._convert(function, args, kwargs)
        check_arguments(function, args, kwargs)
        is_power = function is np.power and len(args) == 2 and not kwargs
        if is_power and isinstance(args[0], Arr) and args[0].kind != "python":
            return self._power(args[0], self._as_operand(args[1]), is_operator=False)
        row = self.find_row(function)
        if row is None:
            return NotImplemented
        if row.family in ("elementwise", "reduction") and not kwargs and self._is_scalar(function, args):
            names = ", ".join("{}" for _ in args)
            return self.compute(f"{self.prologue.constant(function)}({names})", function, *args)
        return self.call_row(row, args, kwargs, function)

    def _check_signature(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
        signature = _signature(function)
        try:
            if signature is not None:
                signature.bind(*args, **kwargs)
        except TypeError as error:
            raise CannotCapture("raises", f"TypeError: {error}") from None

    def _ask_rule(self, rule: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return rule(self, *args, **kwargs)
        except (TypeError, ValueError) as error:
            raise CannotCapture("raises", f"{type(error).__name__}: {error}") from None

    def _is_scalar(self, function: Any, args: list[Any]) -> bool:
        """Whether a call has scalars for arguments and gives no array."""
        scalars = int | float | complex | np.generic
        if not args or not all(isinstance(a, Known | Sym) and isinstance(a.value, scalars) for a in args):
            return False
        try:
            with np.errstate(all="ignore"):
                return not isinstance(function(*(a.value for a in args)), np.ndarray)
        except Exception as error:  # the computation itself will tell
            if comes_from_a_signal(error):
                raise
            return True

    def _call_static(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Known:
        def plain(value: Any) -> Any:
            if isinstance(value, Arr):
                if function in (np.shape, np.size):
                    refuse_length(self, value)
                return value.dummy[()] if value.kind == "scalar" else value.dummy
            if function is np.result_type and isinstance(value, Sym) and type(value.value) in (bool, float, complex):
                return value.value  # no dtype depends on which one it is
            return self.static(value)

        if function is np.min_scalar_type and any(isinstance(a, Arr) and not a.dummy.ndim for a in args):
            raise CannotCapture("data-value", "the least type for a number")
        if function is np.isfortran and args and isinstance(args[0], Arr):
            self.layout_matters(args[0])
        for value in (*args, *kwargs.values()):
            self.make_sure(value)
        if any(isinstance(a, Arr) and (a.kind == "python" or function in _OF_VALUES) for a in args):
            raise CannotCapture("data-value", "the value, or the type, of a number taken out of an array")
        if args and function in (np.shape, np.ndim, np.size):
            args = [self.as_array(args[0]) if isinstance(args[0], Items) else args[0], *args[1:]]
        return Known(self.ask(function, *map(plain, args), **{name: plain(v) for name, v in kwargs.items()}))

    def _convert(self, kind: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`np.float32(x)` and the like."""
        if args and _asks_the_clock(kind, args[0]):
            raise CannotCapture("effect", "`np.datetime64` asks for the time")
        if len(args) != 1 or kwargs:
            if kwargs or not all(isinstance(value, Known) for value in args):
                raise CannotCapture("unsupported-syntax", f"`{kind.__name__}` with other than one argument")
            return Known(self.ask(kind, *(self.static(value) for value in args)))
        if not isinstance(args[0], Arr):
            if isinstance(args[0], Items):
                return self.astype(self.as_array(from_list(self, args[0], np.dtype(kind))), kind)
            return self.compute(self.prologue.constant(kind) + "({})", kind, args[0])
        array = args[0]
        if array.kind == "python":
            raise CannotCapture("data-value", "a NumPy scalar of a number taken out of an array")
        result = self.astype(array, kind, copy=False)
        if result.dummy.ndim == 0:
            result = Arr(Storage(self.read(result), Spec((), result.dtype, "scalar")), (), result.dummy, "scalar")
        return result

    def call_method(self, array: Arr, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`array.name(*args, **kwargs)`."""
        rule = VIEW_METHODS.get(name)
        if rule is not None:
            method_arguments(name, args, kwargs)
            _check_call(name, args, kwargs)
            return self._ask_rule(rule, [array, *args], kwargs)
        row = TABLE.method(name)
        if row is None:
            raise CannotCapture("no-row", f"the array method `.{name}`")
        args, kwargs = method_arguments(name, args, kwargs)
        return self.call_row(row, [array, *args], kwargs, row.numpy[0] if row.numpy else None)

    def call_partial(self, partial: Partial, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`np.add.outer(...)`, `np.add.reduce(...)`, `np.add.at(...)`."""
        if partial.name == "at" and len(args) > 1 and is_index_tuple(args[1]):
            raise CannotCapture("keyword", f"`np.{partial.function.__name__}.at` at a tuple of indices")
        if partial.name == "at" and len(args) == 3 and not kwargs and isinstance(args[0], Arr):
            row = TABLE.rows.get(f"{partial.function.__name__}_at")
            args = [args[0], *map(self._array_operand, args[1:])]
            if row is not None and args[0].kind == "array":
                self.write(args[0], self.read(self.apply(row, args, {})))
                return Known(None)
        row = UFUNC_METHODS.get((partial.function.__name__, partial.name))
        if row is None:
            raise CannotCapture("no-row", f"`np.{partial.function.__name__}.{partial.name}`")
        if partial.name == "outer" and (len(args) != 2 or kwargs.keys() & {"A", "B"}):
            raise CannotCapture("raises", "TypeError: exactly two arguments expected")
        if partial.name in ("reduce", "accumulate") and args and "array" in kwargs:
            raise CannotCapture("raises", "TypeError: `array` is given by name and position")
        if partial.name in ("reduce", "accumulate"):
            placed = dict(zip(METHOD_PARAMETERS[partial.name][1:], args[1:], strict=False))
            if len(placed) < len(args) - 1 or placed.keys() & kwargs.keys():
                raise CannotCapture("raises", f"TypeError: arguments of `.{partial.name}` too many, or given twice")
            args, kwargs = args[:1], {"axis": Known(0), **placed, **kwargs}
        return self.call_row(row, args, kwargs)

    def contains_element(self, array: Arr, item: Any) -> Arr:
        """`item in array`: whether any element is equal."""
        if array.kind != "array" or not isinstance(item, Known | Sym | Arr):
            raise CannotCapture("unsupported-syntax", f"a membership test in {describe(array)}")
        equal = self.binary(ast.Eq, array, item)
        return self.apply(TABLE["item_bool"], [self.call_row(TABLE["np.any"], [equal], {}, np.any)], {})

    def attribute(self, value: Any, name: str) -> Any:
        """`value.name` (the expressions' room provides it)."""
        raise NotImplementedError

    # ---- rows

    def call_row(self, row: Op, args: list[Any], kwargs: dict[str, Any], function: Any = None) -> Any:
        """Call a row with Python's arguments: sort them into operands and parameters, and handle `out=`."""
        given = self.bind_row(row, args, kwargs, function)
        if row.name == "np.clip":
            row, given = self._bounded(row, given)
        out = given.pop("out", Known(None))
        if isinstance(out, Items) and out.kind is tuple and len(out.items) == 1 and row.family == "elementwise":
            out = out.items[0]  # type: ignore[index] -- a tuple has a list
        is_elementwise = isinstance(function, np.ufunc) and function.signature is None
        where = given.pop("where", None) if is_elementwise else None
        operands, params = self.sort_row(row, given)
        if where is None or (isinstance(where, Known) and where.value is True):
            result = self.apply(row, operands, params)
        else:
            result = self._where(row, where, operands, params, out)
        if not (isinstance(out, Known) and out.value is None):
            if not isinstance(out, Arr) or not isinstance(result, Arr) or row.name in _WITHOUT_OUT:
                raise CannotCapture("keyword", f"`out=` of `{row.name}`")
            if row.name == "np.round" and out.dtype.kind in "iu":
                raise CannotCapture("keyword", "`out=` of integers, in which `np.round` may hold fractions")
            if row.name == "np.dot":
                self.layout_matters(out)
            if row.name == "np.dot" and not out.dummy.flags.c_contiguous:
                raise CannotCapture("raises", "ValueError: output array is not acceptable (it must be a C-Array)")
            if row.name == "np.dot" and not out.dummy.ndim:
                raise CannotCapture("keyword", "`out=` without axes, which `np.dot` returns as a scalar")
            is_early = row.name in _WRITE_EARLY or any(name.startswith("[") for name in row.operands)
            if is_early and any(getattr(part, "storage", None) is out.storage for part in operands):
                raise CannotCapture("overlap", "`out=` lies in an array that is read meanwhile")
            is_cast = is_elementwise or row.name == "np.clip"  # the result alone
            is_half = row.name in _MOMENTS and out.dtype == np.float16  # what is added up is stored there, too
            if is_half or (not is_cast and out.dtype != result.dtype):
                raise CannotCapture("keyword", f"`out=` of dtype `{out.dtype}`, in which `{row.name}` would compute")
            return self.store(out, result)
        if isinstance(result, list):
            kind = RESULT_TYPES.get(row.name)
            return Items(kind, result) if kind is not None else Items(tuple, result)
        return result

    def _where(self, row: Op, where: Any, operands: list[Any], params: dict[str, Any], out: Any) -> Arr:
        """What a ufunc with `where=` makes of `out`."""
        if not isinstance(out, Arr):
            raise CannotCapture("keyword", f"`where=` of `{row.name}` without `out=`: the other elements have no value")
        if not isinstance(where, Arr) or where.dtype != np.bool_:
            raise CannotCapture("keyword", f"`where=` of `{row.name}` that is no array of bools")
        mask_is_apart(where, out)
        reads_out = any(getattr(operand, "storage", None) is out.storage for operand in operands)
        if row.traps:  # the elements that are left out may be what it traps on
            operands = [
                self.apply(TABLE["np.where"], [where, operand, Known(1)], {})
                if isinstance(operand, Arr) and operand.dtype.kind in "iu"
                else operand
                for operand in operands
            ]
        result = self.apply(row, operands, params)
        if not isinstance(result, Arr):
            raise CannotCapture("keyword", f"`where=` of `{row.name}`, which has several results")
        if not np.can_cast(result.dtype, out.dtype, "same_kind"):
            raise CannotCapture("raises", f"UFuncTypeError: cannot cast the result of `{row.name}` to {out.dtype}")
        if reads_out and result.dtype != out.dtype:  # NumPy writes to a copy of that dtype, and all of it back
            raise CannotCapture(
                "overlap", f"`out=` of another dtype, which `{row.name}` reads meanwhile, with `where=`"
            )
        chosen = self.apply(TABLE["np.where"], [where, self.astype(result, out.dtype), self.fresh(self.read(out))], {})
        if chosen.shape != out.shape:
            raise CannotCapture("raises", f"ValueError: the operands of `{row.name}` do not fit into `out`")
        return chosen

    def _bounded(self, row: Op, given: dict[str, Any]) -> tuple[Op, dict[str, Any]]:
        """A call of `np.clip` with one bound is another function's."""
        old = [name in given for name in ("a_min", "a_max")]
        if any(old) and (not all(old) or "min" in given or "max" in given):
            raise CannotCapture("raises", "TypeError: the bounds of `np.clip` are incomplete, or given twice")
        low, high = (given.pop(f"a_{name}", given.pop(name, Known(None))) for name in ("min", "max"))
        missing = [isinstance(bound, Known) and bound.value is None for bound in (low, high)]
        if missing == [False, False]:
            return row, {**given, "a_min": low, "a_max": high}
        if not isinstance(given.get("a"), Arr) or all(missing):
            raise CannotCapture("keyword", "`np.clip` without bounds")
        ends = [None if gone else getattr(end, "value", end) for end, gone in zip((low, high), missing, strict=True)]
        function, bounds = clip_call(given["a"].spec, *ends)
        if len(bounds) != 1:
            raise CannotCapture("keyword", "a bound of `np.clip` that bounds nothing")
        operands = dict(zip(TABLE[f"np.{function.__name__}"].operands, (given.pop("a"), high if missing[0] else low)))
        return TABLE[f"np.{function.__name__}"], {**given, **operands}

    def bind_row(self, row: Op, args: list[Any], kwargs: dict[str, Any], function: Any) -> dict[str, Any]:
        """The arguments by parameter name; `*` holds a variadic part."""
        if any(name.startswith("*") for name in row.operands):
            fixed = [name for name in row.operands if not name.startswith("*")]
            if args and row.params and isinstance(args[0], Known) and isinstance(args[0].value, str):
                kwargs = {row.params[0]: args[0], **kwargs}  # the subscripts of `np.einsum`
                args = args[1:]
            given = dict(zip(fixed, args, strict=False))
            given["*"] = args[len(fixed) :]
            return {**given, **kwargs}
        names = [name.strip("[]") for name in row.operands]
        if isinstance(function, np.ufunc):
            if len(args) > function.nin + function.nout:
                raise CannotCapture("raises", f"TypeError: too many arguments for `{row.name}`")
            if any(name in kwargs for name in names) or (len(args) > function.nin and "out" in kwargs):
                raise CannotCapture("raises", f"TypeError: `{row.name}` takes its operands by position, and `out` once")
            if len(args) > function.nin and function in (np.maximum, np.minimum):
                raise CannotCapture("keyword", f"`out` of `{row.name}` by position, which is deprecated")
            if len(args) > function.nin + 1:
                raise CannotCapture("keyword", f"several arrays for the results of `{row.name}`")
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

    def sort_row(self, row: Op, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        operands: list[Any] = []
        params: dict[str, Any] = {}
        # What a user has written may tell a list from a tuple, and NumPy's ints from Python's; SciPy's tells tuples.
        is_host = row.family == "host" and row.operands == ("*args",)
        is_the_users = is_host and is_declared(row)
        for name in row.operands:
            if name.startswith("*"):
                for value in given.pop("*", []):
                    if is_host and (is_tuple(value) or (is_the_users and (is_list(value) or isinstance(value, Rows)))):
                        raise CannotCapture("argument-type", f"a list or tuple as an argument of `{row.name}`")
                    operands.append(self._array_operand(value))
            elif name.startswith("["):
                sequence, count = given.pop(name.strip("[]"), None), len(operands)
                if isinstance(sequence, Arr):
                    operands += self.rows_of(sequence)
                elif sequence is not None:
                    operands += [self._array_operand(value) for value in self.as_items(sequence).values]
                if row.name == "np.select" and count and len(operands) != 2 * count:
                    message = "list of cases must be same length as list of conditions"
                    raise CannotCapture("raises", f"ValueError: {message}")
            elif name in given:
                operands.append(self._array_operand(given.pop(name)))
            elif name in row.defaults:
                operands.append(Known(row.defaults[name]))
            else:
                raise CannotCapture("raises", f"TypeError: `{row.name}` misses the argument `{name}`")
        for name, value in given.items():
            if name not in row.params and not is_host:
                raise CannotCapture("keyword", f"`{name}=` of `{row.name}`")
            params[name] = self.parameter(name, value)
            self._refuse_kind(row, name, value)
            if is_the_users and repr(self.static(value)) != repr(params[name]):
                raise CannotCapture("argument-type", f"`{name}=` of `{row.name}`, which is no plain number or text")
        if params.get("ddof") and "correction" in params:
            raise CannotCapture("raises", "ValueError: ddof and correction can't be provided simultaneously.")
        return operands, params

    def _refuse_kind(self, row: Op, name: str, value: Any) -> None:
        """NumPy takes no list for the axes of a reduction, and no bool for an integer."""
        if is_list(value) and not is_tuple(value) and name == "axis" and row.family in ("reduction", "linalg"):
            raise CannotCapture("raises", "TypeError: 'list' object cannot be interpreted as an integer")
        number = value.value if isinstance(value, Known | Sym) else None
        if isinstance(number, np.unsignedinteger) or (name in _INTEGERS and isinstance(number, bool | np.bool_)):
            raise CannotCapture("keyword", f"a {type(number).__name__} for `{name}=` of `{row.name}`")

    def _array_operand(self, value: Any) -> Any:
        if isinstance(value, Items | Rows) or (isinstance(value, Known) and isinstance(value.value, list | tuple)):
            return self.as_array(value)
        if isinstance(value, Known) and isinstance(value.value, np.ndarray):
            return self.constant(value.value)
        return value

    def parameter(self, name: str, value: Any) -> Any:
        """A static parameter in its hashable form."""
        static = self.static(filled_up(self, value) if name in _OF_SHAPES else value)
        if type(static) is np.uint64 and name in ("start_or_stop", "stop", "step"):
            raise CannotCapture("keyword", "a bound of `np.arange` of type `uint64`, which gives floats")
        if name == "dtype" and static is not None:
            return self.dtype_of(static)
        is_count = type(static) is np.int64 and name in ("ddof", "correction", "bins")
        if name in _OF_ANY_TYPE and not is_count and any(isinstance(part, np.generic) for part in parts(static)):
            raise CannotCapture("keyword", f"a NumPy scalar for `{name}=`, whose dtype takes part in the result's")
        if name == "mode" and (isinstance(static, slice) or callable(static)):
            raise CannotCapture("keyword", f"a slice or a function for `{name}=`")
        return freeze(static)

    def rows_of(self, array: Arr) -> list[Arr]:
        """The items of an array along its first axis, as iteration gives them."""
        if array.dummy.ndim == 0:
            raise CannotCapture("raises", "TypeError: iteration over a 0-d array")
        check_parts(array.shape[0])
        return [self.getitem(array, Known(position)) for position in range(array.shape[0])]


def method_arguments(name: str, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of an array method as its function takes them.

    Raises:
        CannotCapture: The method does not take them.
    """
    if any(keyword in kwargs for keyword in _NOT_OF_METHODS.get(name, ())):
        raise CannotCapture("raises", f"TypeError: an unexpected keyword argument of `.{name}`")
    if name in ("any", "all") and len(args) > 1:
        raise CannotCapture("raises", f"positional arguments of `.{name}`, which are not those of the function")
    if name == "clip":  # its positions are not those of `np.clip`
        placed = dict(zip(("min", "max", "out"), args, strict=False))
        if len(placed) < len(args) or placed.keys() & kwargs.keys():
            raise CannotCapture("raises", "TypeError: arguments of `.clip` too many, or given twice")
        return [], {**placed, **kwargs}
    return args, kwargs


def _is_number(value: Any) -> bool:
    if isinstance(value, Arr):
        return value.kind == "python"
    return isinstance(value, LoopInt) or isinstance(getattr(value, "value", None), _NUMBERS)


def _check_call(name: str, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Refuse arguments that the array method does not take, be it that the function of that name does."""
    signature = _signature(getattr(np.ndarray, name))
    try:
        if signature is not None:
            signature.bind(None, *args, **kwargs)
    except TypeError as error:
        raise CannotCapture("raises", f"TypeError: `.{name}`: {error}") from None
    if name == "reshape" and any(isinstance(getattr(one, "value", None), str) for one in args):
        raise CannotCapture("raises", "TypeError: `.reshape` takes its order by name")


def _signature(function: Any) -> inspect.Signature | None:
    key = id(function)
    if key not in _SIGNATURES:
        try:
            _SIGNATURES[key] = function, inspect.signature(function)
        except (TypeError, ValueError):
            _SIGNATURES[key] = function, None
    return _SIGNATURES[key][1]


def _asks_the_clock(kind: Any, given: Any) -> bool:
    """Whether `kind(given)` is the time of the call: `np.datetime64("now")`."""
    if kind is not np.datetime64 or not isinstance(given, Known) or not isinstance(given.value, str | bytes):
        return False
    text = given.value.decode("latin-1") if isinstance(given.value, bytes) else given.value
    return text.strip().lower() in ("now", "today")
