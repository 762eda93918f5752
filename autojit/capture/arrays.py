"""Arithmetic, in-place operations, attributes and view functions of abstract arrays."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from autojit.capture.dummies import contiguous_strides, make_dummy
from autojit.capture.layout import ordered_strides, set_strides
from autojit.capture.lengths import length_of
from autojit.capture.plain import compare_sequences
from autojit.capture.protocols import is_plain
from autojit.capture.python_numbers import PythonNumbers, affine_of, is_python_number, is_traced
from autojit.capture.recorder import LONGEST
from autojit.capture.records import method_of
from autojit.capture.values import (
    Arr,
    Flat,
    Items,
    Known,
    LoopInt,
    Masked,
    Opaque,
    Ragged,
    Rows,
    Selected,
    Storage,
    Sym,
)
from autojit.capture.views import SliceParts
from autojit.capture.words import describe
from autojit.errors import CannotCapture
from autojit.ir.spec import Spec
from autojit.ops.chapters import TABLE
from autojit.ops.elementwise_power import fast_power

#: Python's operators: the ufunc behind them, the function, and how they are written.
BINARY: dict[type, tuple[Any, Callable[..., Any], str]] = {
    ast.Add: (np.add, operator.add, "({} + {})"),
    ast.Sub: (np.subtract, operator.sub, "({} - {})"),
    ast.Mult: (np.multiply, operator.mul, "({} * {})"),
    ast.Div: (np.divide, operator.truediv, "({} / {})"),
    ast.FloorDiv: (np.floor_divide, operator.floordiv, "({} // {})"),
    ast.Mod: (np.remainder, operator.mod, "({} % {})"),
    ast.Pow: (np.power, operator.pow, "({} ** {})"),
    ast.MatMult: (np.matmul, operator.matmul, "({} @ {})"),
    ast.LShift: (np.left_shift, operator.lshift, "({} << {})"),
    ast.RShift: (np.right_shift, operator.rshift, "({} >> {})"),
    ast.BitAnd: (np.bitwise_and, operator.and_, "({} & {})"),
    ast.BitOr: (np.bitwise_or, operator.or_, "({} | {})"),
    ast.BitXor: (np.bitwise_xor, operator.xor, "({} ^ {})"),
}
UNARY: dict[type, tuple[Any, Callable[..., Any], str]] = {
    ast.USub: (np.negative, operator.neg, "(-{})"),
    ast.UAdd: (np.positive, operator.pos, "(+{})"),
    ast.Invert: (np.invert, operator.invert, "(~{})"),
}
COMPARE: dict[type, tuple[Any, Callable[..., Any], str]] = {
    ast.Eq: (np.equal, operator.eq, "({} == {})"),
    ast.NotEq: (np.not_equal, operator.ne, "({} != {})"),
    ast.Lt: (np.less, operator.lt, "({} < {})"),
    ast.LtE: (np.less_equal, operator.le, "({} <= {})"),
    ast.Gt: (np.greater, operator.gt, "({} > {})"),
    ast.GtE: (np.greater_equal, operator.ge, "({} >= {})"),
}
_FROM_UFUNC = {entry[0].__name__: entry for table in (BINARY, UNARY, COMPARE) for entry in table.values()}


class Arrays(PythonNumbers):
    """What Python's operators and attribute access do with abstract values."""

    # ---- operators

    def binary(self, kind: type, left: Any, right: Any) -> Any:
        """`left <operator> right`."""
        ufunc, function, text = BINARY.get(kind) or COMPARE[kind]
        for value in (left, right):
            if isinstance(value, Opaque):
                raise value.error()
        left, right = self.settled(left), self.settled(right)
        left, right, flag = self.either(kind, left, right)
        if flag is not None:
            return replace(self.binary(kind, left, right), **flag)
        if is_python_number(left) and is_python_number(right) and (is_traced(left) or is_traced(right)):
            return self.python_number(kind, left, right)
        if not isinstance(left, Arr | Selected) and not isinstance(right, Arr | Selected):
            if self._is_sequence(left) or self._is_sequence(right):
                return self._sequence_operator(kind, left, right)
            if not (isinstance(left, Known | Sym) and isinstance(right, Known | Sym)):
                raise CannotCapture("unsupported-syntax", f"an operator on {describe(left)} and {describe(right)}")
            return self._scalar_operator(kind, function, text, left, right)
        self._refuse_repetition(kind, left, right)
        left, right = self._as_operand(left), self._as_operand(right)
        self._refuse_complex_first(left, right)
        if kind is ast.Pow:
            return self._power(left, right)
        self._refuse_python_scalars(ufunc, left, right)
        return self.apply(TABLE.rows[f"np.{ufunc.__name__}"], [left, right], {})

    def _scalar_operator(self, kind: type, function: Callable[..., Any], text: str, left: Any, right: Any) -> Any:
        result = self.compute(text, function, left, right)
        if isinstance(result, Sym) and type(result.value) is int and kind in (ast.Add, ast.Sub, ast.Mult):
            result.affine = affine_of(kind, left, right)
        return result

    def _is_sequence(self, value: Any) -> bool:
        if isinstance(value, Items):
            return is_plain(value.kind)
        return isinstance(value, Rows) or (isinstance(value, Known) and isinstance(value.value, list | tuple | dict))

    def _sequence_operator(self, kind: type, left: Any, right: Any) -> Any:
        if kind is ast.Add and self._is_sequence(left) and self._is_sequence(right):
            one, two = self.as_items(left), self.as_items(right)
            if one.kind is two.kind is tuple and not (one.values and two.values):
                return left if one.values else right  # Python copies no tuple
            if one.kind is two.kind and one.kind in (list, tuple):
                return Items(one.kind, [*one.values, *two.values])
        if kind is ast.Mult and self._is_sequence(left) != self._is_sequence(right):
            items, count = (left, right) if self._is_sequence(left) else (right, left)
            if isinstance(getattr(items, "items", getattr(items, "value", None)), dict):
                raise CannotCapture("raises", "TypeError: only lists and tuples are multiplied")
            if isinstance(count, Known | Sym) and isinstance(count.value, int):
                owner, items, times = items, self.as_items(items), self.static(count)
                if items.kind is tuple and times == 1:
                    return owner  # Python copies no tuple
                return Items(list if items.kind is list else tuple, self._repeated(items.values, times))
        table = BINARY.get(kind) or COMPARE[kind]
        return compare_sequences(self, kind, table[1], left, right)

    def _repeated(self, values: list[Any], times: Any) -> list[Any]:
        times = self.ask(operator.index, times)
        if len(values) * times > LONGEST:
            raise CannotCapture("budget", f"a list or tuple of {len(values) * times} items")
        return values * times

    def as_items(self, value: Any) -> Items:
        """An `Items` for a sequence value."""
        if isinstance(value, Opaque):
            raise value.error()
        if not self._is_sequence(value):
            raise CannotCapture("unsupported-syntax", f"the items of {describe(value)}")
        return value if isinstance(value, Items) else self.open(value)

    def _as_operand(self, value: Any) -> Any:
        if self._is_sequence(value):
            return self.as_array(value)
        return value

    def _power(self, base: Any, exponent: Any, is_operator: bool = True) -> Any:
        self._refuse_python_scalars(np.power, base, exponent)
        if isinstance(exponent, Sym) and isinstance(exponent.value, int):
            if not exponent.moving or self.is_varying(exponent):  # a product is much faster than a power
                exponent = Known(self.demand(exponent))
        ufunc = None
        whole = base.full if isinstance(base, Masked | Ragged) else base
        if is_operator and _is_int_of_run(exponent) and isinstance(whole, Arr) and whole.dtype == np.bool_:
            # NumPy's square of bools is int8, their other powers are int64.
            raise CannotCapture("data-value", "an array of bools to the power of an int that only the run knows")
        if isinstance(whole, Arr) and isinstance(exponent, Known):
            ufunc = fast_power(whole.spec, exponent.value)
        elif isinstance(whole, Arr) and isinstance(exponent, Sym):
            is_half = exponent.value == 0.5
            self.prologue.check(f"bool({exponent.name} == 0.5) is {bool(is_half)}", "an exponent is 0.5 or is not")
            ufunc = fast_power(whole.spec, exponent.value) if is_half else None
        # `np.power` itself takes these ways for real floats alone: the square of bools is int8, their power int64.
        if ufunc is not None and (is_operator or whole.dtype.kind == "f"):
            return self.apply(TABLE.rows[f"np.{ufunc.__name__}"], [base], {})
        return self.apply(TABLE.rows["np.power"], [base, exponent], {})

    def _refuse_python_scalars(self, ufunc: Any, *values: Any) -> None:
        """Python's own arithmetic on a scalar taken out of an array is not NumPy's."""
        if all(
            isinstance(value, Known | Sym | LoopInt) or (isinstance(value, Arr) and value.kind == "python")
            for value in values
        ):
            raise CannotCapture(
                "data-value", f"Python arithmetic (`{ufunc.__name__}`) on a number taken out of an array"
            )

    def _refuse_repetition(self, kind: type, left: Any, right: Any) -> None:
        """A sequence and a scalar are not NumPy's: `[0] * n` repeats, other operators of Python numbers raise."""
        for sequence, count in ((left, right), (right, left)):
            if self._is_sequence(sequence) and isinstance(count, Arr) and count.kind != "array":
                if kind is ast.Mult or count.kind == "python":
                    raise CannotCapture("data-shape", "a sequence repeated as often as the data says")

    def _refuse_complex_first(self, left: Any, right: Any) -> None:
        """An `np.float64` is a Python float, too, with which a complex number on its left side does Python's work."""
        is_complex = isinstance(left, Known | Sym) and type(left.value) is complex
        is_complex = is_complex or (isinstance(left, Arr) and left.kind == "python" and left.dtype.kind == "c")
        if is_complex and isinstance(right, Arr) and right.kind == "scalar" and right.dtype == np.float64:
            raise CannotCapture("data-value", "Python arithmetic of a complex number and an `np.float64`")

    def settled(self, value: Any) -> Any:
        """A scalar that is part of the key already, as the constant that it is."""
        return Known(value.value) if isinstance(value, Sym) and value.name in self._demanded else value

    def unary(self, kind: type, value: Any) -> Any:
        """`<operator> value`."""
        ufunc, function, text = UNARY[kind]
        if is_traced(value):
            return self.python_unary(kind, value)
        if isinstance(value, Known | Sym):
            result = self.compute(text, function, value)
            return result
        if isinstance(value, Opaque):
            raise value.error()
        if not isinstance(value, Arr | Selected):
            raise CannotCapture("unsupported-syntax", f"an operator on {describe(value)}")
        self._refuse_python_scalars(ufunc, value)
        return self.apply(TABLE.rows[f"np.{ufunc.__name__}"], [value], {})

    def inplace(self, kind: type, target: Any, value: Any) -> Any:
        """`target <operator>= value`; the object that the target's name is bound to afterwards."""
        if not (isinstance(target, Arr) and target.kind == "array"):
            if isinstance(target, Items) and target.kind is list and kind is ast.Add and self._is_sequence(value):
                self.change()
                target.items.extend(self.iterate(value))  # type: ignore[union-attr] -- a list, by its kind
                return target
            if (
                isinstance(target, Items)
                and target.kind is list
                and kind is ast.Mult
                and isinstance(value, Known | Sym)
            ):
                repeated = self._repeated(target.values, self.static(value))
                self.change()
                target.items[:] = repeated  # type: ignore[index] -- a list, by its kind
                return target
            changeable = (list, dict, set)
            if (
                isinstance(target, Rows)
                or (isinstance(target, Known) and isinstance(target.value, changeable))
                or (isinstance(target, Items) and target.kind in changeable)
            ):
                raise CannotCapture("effect", "a list, dict or set is changed in place")
            return self.binary(kind, target, value)
        if kind is ast.MatMult:
            result = self.binary(kind, target, value)
        elif kind is ast.Pow:
            result = self._power(target, self._as_operand(value))
        else:
            ufunc = BINARY[kind][0]
            result = self.apply(TABLE.rows[f"np.{ufunc.__name__}"], [target, self._as_operand(value)], {})
        return self.store(target, result)

    def store(self, target: Arr, result: Any) -> Arr:
        """Write a ufunc's result into `target`, with NumPy's rules for `out=`."""
        if target.kind != "array":
            raise CannotCapture("raises", "TypeError: return arrays must be of ArrayType")
        if not isinstance(result, Arr):
            raise CannotCapture("data-shape", f"{describe(result)} as the result of an operation in place")
        if result.shape != target.shape:
            raise CannotCapture("raises", f"ValueError: shape {result.shape} into an array of shape {target.shape}")
        if not np.can_cast(result.dtype, target.dtype, "same_kind"):
            raise CannotCapture("raises", f"UFuncTypeError: cannot cast {result.dtype} to {target.dtype} in place")
        if result.dtype != target.dtype:
            result = self.apply(TABLE["astype"], [result], {"dtype": target.dtype})
        value = self.read(result)
        self.write(target, value)
        return target

    # ---- copies

    def copy(self, array: Arr, kind: str = "array", order: str = "C") -> Arr:
        """A new array with the present contents: no node, a value never changes."""
        if order not in ("C", "F", "A", "K"):
            raise CannotCapture("raises", f"ValueError: order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
        value = self.read(array)
        fresh = Arr(Storage(value, Spec(array.shape, array.dtype)), (), make_dummy(array.shape, array.dtype), "array")
        if order == "A" and not array.dummy.flags.f_contiguous:
            order = "C"
        if order in ("K", "A") and not array.dummy.flags.c_contiguous:
            self.layout_matters(array)
            set_strides(fresh, ordered_strides(array.dummy, array.shape, array.dtype.itemsize))
        if order == "F" and array.dummy.ndim > 1:
            set_strides(fresh, tuple(reversed(contiguous_strides(array.shape[::-1], array.dtype.itemsize))))
        return fresh

    def astype(self, array: Arr, dtype: Any, copy: bool = True) -> Arr:
        """`array.astype(dtype)`."""
        wanted = self.dtype_of(dtype)
        if wanted == array.dtype and array.kind == "array":
            return self.copy(array, order="K") if copy else array
        made = self.apply(TABLE["astype"], [array], {"dtype": wanted})
        # What an array of no axes holds may be a scalar's value, of which the row makes another scalar.
        return self.copy(made) if array.kind == "array" and made.kind != "array" else made

    # ---- attributes

    def array_attribute(self, array: Arr, name: str) -> Any:
        """`array.name`."""
        dummy = array.dummy
        if array.kind == "python":
            raise CannotCapture("data-value", f"`.{name}` of a Python number taken out of an array")
        self.make_sure(array)
        if name in ("shape", "size", "nbytes") and (count := length_of(self, array)) is not None:
            row = make_dummy(array.shape[1:], array.dtype)
            if name == "shape":
                return Items(tuple, [count, *map(Known, row.shape)])
            return self.operate("Mult", count, Known(row.size if name == "size" else row.nbytes))
        if name in ("shape", "ndim", "size", "dtype", "itemsize", "nbytes"):
            return Known(getattr(dummy, name))
        if name == "T":
            return self.transpose(array) if array.kind == "array" else array
        if name == "mT":
            return self.permuted(array, lambda d: d.mT)
        if name == "real" and array.dtype.kind != "c":
            return array
        if name in ("real", "imag"):
            if array.kind == "array" and array.dtype.kind == "c":
                part = make_dummy(array.shape, getattr(np.zeros(0, array.dtype), name).dtype, dummy.strides)
                return self.step(array, f"np.{name}", {}, part)
            part = self.apply(TABLE[f"np.{name}"], [array], {})
            if array.kind != "array":
                return part
            # The imaginary part of real numbers is read-only.
            return self.step(part, "np.broadcast_to", {"shape": part.shape}, part.dummy)
        if name == "flat":
            return Flat(array, self.builder)
        if name in ("base", "flags", "strides", "data", "ctypes", "__array_interface__"):
            raise CannotCapture("unsupported-syntax", f"the attribute `.{name}` of an array")
        return method_of(np.ndarray if array.kind == "array" else array.dtype.type, array, name)

    def operate(self, name: str, left: Any, right: Any) -> Any:
        """Apply one of Python's operators (the expressions' room provides it)."""
        raise NotImplementedError


def _is_int_of_run(value: Any) -> bool:
    """Whether it is, or may be, a Python int that is not known before the run."""
    if isinstance(value, Arr):
        return value.dtype.kind == "i" and (value.kind == "python" or value.python is not None)
    return isinstance(value, LoopInt) or (isinstance(value, Sym) and type(value.value) is int)


__all__ = ["BINARY", "COMPARE", "UNARY", "Arrays", "SliceParts", "Spec"]
