"""Python's own arithmetic where a number comes out of an array or a loop: rows of `ops.python_scalars`.

A Python int made from loop indices is a `LoopInt`, whose bounds keep it far from 64 bits; one that is carried through a
loop or read from an array may grow, so its operations trap where they leave 64 bits.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from autojit.capture.lists import EXACT_INT
from autojit.capture.values import Arr, Known, LoopInt, Sym, plain
from autojit.capture.views import Views
from autojit.errors import CannotCapture
from autojit.ops.chapters import TABLE

_ROWS: dict[type, str] = {
    ast.Add: "py_add", ast.Sub: "py_subtract", ast.Mult: "py_multiply", ast.Div: "py_divide",
}  # fmt: skip
_INT_ROWS: dict[type, str] = {
    ast.Add: "py_int_add", ast.Sub: "py_int_subtract", ast.Mult: "py_int_multiply", ast.FloorDiv: "py_floor_divide",
    ast.Mod: "py_modulo", ast.LShift: "py_left_shift", ast.RShift: "py_right_shift", ast.BitAnd: "py_and",
    ast.BitOr: "py_or", ast.BitXor: "py_xor", ast.Div: "py_divide",
}  # fmt: skip
_COMPARE_ROWS: dict[type, str] = {
    ast.Lt: "py_less", ast.LtE: "py_less_equal", ast.Gt: "py_greater", ast.GtE: "py_greater_equal",
    ast.Eq: "py_equal", ast.NotEq: "py_not_equal",
}  # fmt: skip
#: Loop indices and other ints of the run have at most so many bits where they are multiplied without a check.
_BITS = 31
#: Sums and products of ints with so many bits are computed without a check.
_MOST_BITS = 62
_BOOL_ROWS: dict[type, str] = {ast.BitAnd: "py_and", ast.BitOr: "py_or", ast.BitXor: "py_xor"}


class PythonNumbers(Views):
    """Operators between Python numbers of which at least one is a value of the graph.

    Attributes:
        has_factors: Whether a loop index was multiplied by an int that each call brings anew.
        knows_factors: Whether the program may depend on such ints: then slices from `i * stride` on have a fixed
            length.
    """

    has_factors = knows_factors = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: How many bits the indices of loops may have, where that is known.
        self.index_bits: dict[str, int | None] = {}

    def python_number(self, kind: type, left: Any, right: Any) -> Any:
        """`left <operator> right` for Python numbers."""
        if kind in _COMPARE_ROWS:
            return self._compare_numbers(kind, left, right)
        if kind is ast.Pow:
            return self._power_of_number(left, right)
        if kind is ast.Mult:
            left, right = self._factor(left, right), self._factor(right, left)
        kinds = {_kind(value) for value in (left, right)}
        if kinds == {"b"} and kind in _BOOL_ROWS:
            return self._number(_BOOL_ROWS[kind], left, right)
        if kinds <= {"i", "f"} and "f" in kinds and kind in _ROWS:
            return self._number(_ROWS[kind], left, right)
        if kinds != {"i"} or kind not in _INT_ROWS:
            raise CannotCapture("data-value", "Python arithmetic on a number taken out of an array")
        low, high = _int_bounds(kind, left, right)
        if kind not in (ast.Add, ast.Sub, ast.Mult) or not self._stays_small(kind, left, right):
            made = self._number(_INT_ROWS[kind], left, right)
            if low is None or kind is ast.Div:
                return made
            return LoopInt(self.read(made), low, high)
        (value,) = self.builder.add(TABLE[_ROWS[kind]], [self.operand(left), self.operand(right)], {}, self.line)
        return LoopInt(value, low, high, affine_of(kind, left, right))

    def _power_of_number(self, base: Any, exponent: Any) -> Any:
        times = exponent.value if isinstance(exponent, Known) else None
        if _kind(base) == "i" and type(times) is int and 1 <= times <= 3:
            result = base
            for _ in range(times - 1):
                result = self.python_number(ast.Mult, result, base)
            return result
        if {_kind(base), _kind(exponent)} in ({"f"}, {"i", "f"}):
            return self.apply(TABLE["math.pow"], [base, exponent], {})  # where that raises, `**` raises or is complex
        raise CannotCapture("data-value", "Python arithmetic on a number taken out of an array")

    def _factor(self, value: Any, other: Any) -> Any:
        is_factor = isinstance(value, Sym) and type(value.value) is int and not value.moving
        if not is_factor or not isinstance(other, LoopInt):
            return value
        self.has_factors = True
        return Known(self.demand(value)) if self.knows_factors else value

    def _stays_small(self, kind: type, left: Any, right: Any) -> bool:
        """Whether a sum or product of ints, one of them made from loop indices, stays far from 64 bits.

        Numbers that the run brings are taken for less than 2**31; the prologue makes sure.
        """
        low, high = _int_bounds(kind, left, right)
        if low is not None and high is not None:
            return low >= -(2**_MOST_BITS) and high <= 2**_MOST_BITS
        first, second = self.bits(left), self.bits(right)
        brought = [value for value in (left, right, *self.range_bounds) if isinstance(value, Sym)]
        if first is None or second is None or None in map(self.bits, brought):
            return False
        if (first + second if kind is ast.Mult else max(first, second) + 1) > _MOST_BITS:
            return False
        for value in brought:
            self.prologue.check(f"-{2**_BITS} < {value.name} < {2**_BITS}", "an int is far from 64 bits")
        return True

    def bits(self, value: Any) -> int | None:
        """How many bits an int may have; `None` where that is not known."""
        if isinstance(value, Known | Sym):
            size = int(value.value).bit_length()
            return size if isinstance(value, Known) else _BITS if size <= _BITS else None
        low, high = bounds_of(value)
        if low is not None and high is not None:
            return max(low.bit_length(), high.bit_length())
        if not isinstance(value, LoopInt) or value.affine is None:
            return None
        terms, constant = value.affine
        sizes = [constant.bit_length()]
        for index, coefficient in terms:
            size = self.index_bits.get(index, _BITS)
            if size is None:
                return None
            sizes.append(size + coefficient.bit_length() - 1)
        return max(sizes) + len(terms)

    def note_index(self, index: str, *bounds: Any) -> None:
        """Note how many bits the index of a loop may have, the bounds of whose range the run brings."""
        sizes = [self.bits(bound) for bound in bounds]
        self.index_bits[index] = None if None in sizes else max(size for size in sizes if size is not None)

    def either(self, kind: type, left: Any, right: Any) -> tuple[Any, Any, dict[str, Any] | None]:
        """The operands of an operator of which one may be a Python number or a NumPy scalar of the same value.

        Where it makes no difference to the result's value it is taken as a NumPy scalar, and the third result tells
        when the result is a Python number itself, and how large: the attributes of `Arr`. Elsewhere it is left as it
        is, to be made sure of when it is read.
        """
        values = (left, right)
        unsure = [value for value in values if isinstance(value, Arr) and value.python is not None]
        if len(unsure) != 1:
            return left, right, None
        flag, dtype = unsure[0].python, unsure[0].dtype
        other = right if unsure[0] is left else left
        if isinstance(other, Arr) and other.kind != "python":
            is_same = np.result_type(other.dtype, dtype) == other.dtype
            if is_same and (kind in _COMPARE_ROWS or other.dtype.kind in "fc"):
                return plain(left), plain(right), None
        elif is_python_number(other) and _kind(other) != "b":
            is_small = _kind(other) == "f" or _are_exact(bounds_of(other))
            is_exact = (dtype == np.float64 and is_small) or (dtype == np.int64 and _kind(other) == "i")
            ints = 1 if kind in _COMPARE_ROWS else _ints_after(kind, unsure[0].ints, other)
            if is_exact and (kind in _COMPARE_ROWS or (dtype == np.float64 and ints is not None)):
                return plain(left), plain(right), {"python": flag, "ints": ints}
        return left, right, None

    def _number(self, name: str, *values: Any) -> Arr:
        """The result of one of Python's operations on values of the graph."""
        operands = [self.operand(value) for value in values]
        if any(operand.spec.kind != "python" for operand in operands):
            raise CannotCapture("data-value", "a number that is Python's or NumPy's, as the data decides")
        (value,) = self.builder.add(TABLE[name], operands, {}, self.line)
        return self.fresh(value)

    def _compare_numbers(self, kind: type, left: Any, right: Any) -> Any:
        """A comparison: known where the bounds of loop indices decide it."""
        (a, b), (c, d) = bounds_of(left), bounds_of(right)
        if None not in (a, b, c, d):
            known = {
                ast.Lt: (b < c, a >= d), ast.LtE: (b <= c, a > d), ast.Gt: (a > d, b <= c), ast.GtE: (a >= d, b < c),
                ast.Eq: (a == b == c == d, b < c or a > d), ast.NotEq: (b < c or a > d, a == b == c == d),
            }[kind]  # fmt: skip
            if any(known):
                return Known(known[0])
        return self._number(_COMPARE_ROWS[kind], left, right)

    def python_unary(self, kind: type, value: Any) -> Any:
        """`<operator> value` for a Python number that is a value of the graph."""
        if kind is ast.UAdd and _kind(value) in "if":
            return value
        if isinstance(value, LoopInt) and kind is ast.USub:
            return self.python_number(ast.Mult, value, Known(-1))
        if kind is ast.USub and _kind(value) == "i":
            return self._number("py_int_subtract", Known(0), value)
        if kind is ast.USub and _kind(value) == "f":
            return self._number("py_negative", value)
        if kind is ast.Invert and _kind(value) == "i":
            return self._number("py_invert", value)
        raise CannotCapture("data-value", "Python arithmetic on a number taken out of an array")

    def python_absolute(self, value: Any) -> Any:
        """`abs(value)` for a Python number that is a value of the graph."""
        if _kind(value) not in "if":
            raise CannotCapture("data-value", "`abs` of a number taken out of an array")
        return self._number("py_absolute", value)


def _ints_after(kind: type, ints: float, other: Any) -> float | None:
    """What `Arr.ints` is of a sum or product; `None` where a float64 does not have what the ints would give.

    A product of ints has no negative zero, and beyond 2**53 floats have not all of them.

    Args:
        kind: The operator.
        ints: That of the operand that may be a Python number.
        other: The Python number.
    """
    if kind not in (ast.Add, ast.Sub, ast.Mult):
        return None
    if ints < 0 or _kind(other) == "f":
        return -1
    low, high = bounds_of(other)
    if None in (low, high) or (kind is ast.Mult and low < 1):
        return None
    most = max(abs(low), abs(high))
    ints = ints * most if kind is ast.Mult else ints + most
    return ints if ints <= EXACT_INT else None


def is_traced(value: Any) -> bool:
    """Whether a Python number is a value of the graph."""
    return isinstance(value, LoopInt) or (isinstance(value, Arr) and value.kind == "python")


def is_python_number(value: Any) -> bool:
    """Whether Python sees a Python bool, int or float."""
    if isinstance(value, Known | Sym):
        return type(value.value) in (bool, int, float)
    return isinstance(value, LoopInt) or (
        isinstance(value, Arr) and value.kind == "python" and value.dtype.kind in "bif"
    )


def _kind(value: Any) -> str:
    if isinstance(value, LoopInt):
        return "i"
    return value.dtype.kind if isinstance(value, Arr) else np.dtype(type(value.value)).kind


def _are_exact(bounds: tuple[Any, Any]) -> bool:
    """Whether every int within the bounds is a float64."""
    return None not in bounds and bounds[0] >= -EXACT_INT and bounds[1] <= EXACT_INT


def bounds_of(value: Any) -> tuple[Any, Any]:
    """The least and the greatest value of a Python number, `None` where that is not known."""
    if isinstance(value, Known):
        return value.value, value.value
    return (value.low, value.high) if isinstance(value, LoopInt) else (None, None)


def _int_bounds(kind: type, left: Any, right: Any) -> tuple[int | None, int | None]:
    (a, b), (c, d) = bounds_of(left), bounds_of(right)
    if kind is ast.Mod and c is not None and c == d and c > 0:
        return 0, c - 1
    if kind is ast.BitAnd:
        for low, high in ((a, b), (c, d)):
            if low is not None and low == high and low >= 0:
                return 0, high
    if None in (a, b, c, d):
        return None, None
    if kind is ast.FloorDiv and c is not None and c == d and c > 0:
        return a // c, b // c
    if kind is ast.RShift and c is not None and c == d and 0 <= c < 64:
        return a >> c, b >> c
    if kind is ast.Add:
        return a + c, b + d
    if kind is ast.Sub:
        return a - d, b - c
    if kind is not ast.Mult:
        return None, None
    products = [x * y for x in (a, b) for y in (c, d)]
    return min(products), max(products)


def affine_of(kind: type, left: Any, right: Any) -> Any:
    """An int as a sum of loop indices and run-time scalars with coefficients, where it is one."""

    def form(value: Any) -> Any:
        if isinstance(value, Known) and type(value.value) is int:
            return {}, value.value
        if isinstance(value, LoopInt):
            return None if value.affine is None else (dict(value.affine[0]), value.affine[1])
        if isinstance(value, Sym) and type(value.value) is int:
            if value.affine is not None:
                return dict(value.affine[0]), value.affine[1]
            return {value.name: 1}, 0
        return None

    one, two = form(left), form(right)
    if one is None or two is None:
        return None
    if kind is ast.Mult:
        if one[0] and two[0]:
            return None
        (terms, constant), factor = (two, one[1]) if not one[0] else (one, two[1])
        return _normal({name: c * factor for name, c in terms.items()}, constant * factor)
    sign = 1 if kind is ast.Add else -1
    terms = dict(one[0])
    for name, coefficient in two[0].items():
        terms[name] = terms.get(name, 0) + sign * coefficient
    return _normal(terms, one[1] + sign * two[1])


def _normal(terms: dict[str, int], constant: int) -> Any:
    return tuple(sorted((name, c) for name, c in terms.items() if c)), constant
