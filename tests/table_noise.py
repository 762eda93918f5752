"""Runs a program in NumPy with the rounding errors that a compiled program may have, row by row.

`tests/ops/tolerances.py` says of each row how far its results may be from NumPy's. Here every result is moved as far as
that, in random directions; what moves with it in the program's results is how far these may differ. A row that is
exact moves nothing, and sums and products of small whole numbers and quarters are exact in any order.
"""

from __future__ import annotations

import ast
import functools
import operator
import types
from typing import Any

import numpy as np

from autojit.ops.chapters import TABLE
from tests.ops.tolerances import BOUNDS, Bound, _allowed, _unit, bound_of, flushed_below

#: A product may be contracted with a sum that follows, so it is as good as not rounded.
_PRODUCT = Bound("contracted with a sum that follows", single=1, double=1, complex=3)
_PRODUCTS = tuple(f"np.{name}" for name in
                  "multiply square multiply.outer outer radians degrees deg2rad rad2deg".split())  # fmt: skip
_MOMENTS = (BOUNDS["np.var"], BOUNDS["np.std"])
_SCATTERED = Bound("the elements are added in another order", single=4, double=4, complex=4, scale="sum")
#: Where nothing but the order of sums and products, or their contraction, is inexact.
_ORDERED = ("order", "contracted")
#: Multiples of 1/grain below the limit: sums and products of a few are without rounding.
_GRAIN = {"float64": (2.0**20, 2.0**30), "float32": (2.0**6, 2.0**15), "float16": (2.0**2, 2.0**7)}
#: Numbers that operands often are: multiples of a quarter below this.
_GRAINY = 2.0**10
#: By how much rows make larger what may have been subnormal.
_SCALED = {"np.angle": 180 / np.pi}
#: How far above the subnormal numbers a sum of complex products is in which one of them counts.
_COMPLEX = 2.0**10
_MOVES_DATA = ("shaping", "indexing", "creation")
_BINARY = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv, "Mod": operator.mod,
    "FloorDiv": operator.floordiv, "Pow": operator.pow, "MatMult": operator.matmul, "BitAnd": operator.and_,
    "BitOr": operator.or_, "BitXor": operator.xor, "LShift": operator.lshift, "RShift": operator.rshift,
}  # fmt: skip
_BUILTINS: dict[Any, Any] = {abs: np.absolute, pow: np.power, divmod: np.divmod}
_ROWS = {"Mult": "np.multiply", "Div": "np.divide", "Pow": "np.power", "MatMult": "np.matmul"}


class _Insert(ast.NodeTransformer):
    """Puts the noise behind calls, operators and in-place statements."""

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        return ast.Call(ast.Name("__call__", ast.Load()), [node.func, *node.args], node.keywords)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        name = ast.Constant(type(node.op).__name__)
        return ast.Call(ast.Name("__binary__", ast.Load()), [name, node.left, node.right], [])

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target, name = ast.unparse(node.target), type(node.op).__name__
        if name not in _ROWS:
            return node
        value = ast.unparse(self.visit(node.value))
        after = ast.parse(f"__value__ = {value}").body + [node]
        node.value = ast.Name("__value__", ast.Load())
        return after + ast.parse(f"{target} = __after__({name!r}, {target}, __value__)").body


@functools.lru_cache(1)
def _with_noise(source: str) -> types.CodeType:
    tree = ast.fix_missing_locations(_Insert().visit(ast.parse(source)))
    return compile(tree, "<with noise>", "exec", dont_inherit=True)


class Noise:
    """A program's function with noise.

    Args:
        source: The module's text.
        seed: Of the directions; an odd one goes the opposite way of the even one before it.
        flush: Whether subnormal results become zero.
        still: Whether numbers are NumPy's, so that only what is not promised (signs of zeros, of NaN) differs.
    """

    def __init__(self, source: str, seed: int, flush: bool = False, still: bool = False) -> None:
        # Two seeds in a row move everything in opposite directions: one of them makes a zero positive that both may be.
        self.rng = np.random.default_rng(seed // 2)
        self.still = still
        self.flush = flush
        self.sign = -1.0 if seed % 2 else 1.0
        self.snaps = seed % 4 > 1
        self.is_aligned = seed < 2
        #: In which dtype that call computes, where it is not the operands' common one: small integers in float16.
        self.computes: Any = None
        #: By how much a quotient of sums makes their errors larger, in the call that is judged now.
        self.condition: Any = 1.0
        namespace: dict[str, Any] = {"__name__": "random_program"}
        namespace.update({"__call__": self.call, "__binary__": self.binary, "__after__": self.after})
        exec(_with_noise(source), namespace)
        self.program = namespace["program"]

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        owner = getattr(function, "__self__", None)
        # `out=` may be an operand: how far the result may be is told by what the operand was before.
        before = {id(part): part.copy() for part in _flat((owner, *args)) if isinstance(part, np.ndarray)}
        result = function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        if name == "at" and isinstance(owner, np.ufunc):
            row_name = f"np.{owner.__name__}"
            self.move(args[0], "at" if bound_of(row_name).zeros else row_name, [*before.values(), *args])
            return result
        row = TABLE.find(_BUILTINS.get(function, function))
        operands: tuple[Any, ...] = args
        if isinstance(owner, np.ndarray | np.generic):
            row = TABLE.method(name)
            operands = (owner, *args)
        elif isinstance(owner, np.ufunc):
            row = TABLE.rows.get(f"np.{owner.__name__}.{name}")
        if row is None or row.family in _MOVES_DATA:
            return result
        out = kwargs.get("out")
        if isinstance(result, np.ndarray) and any(part is result for part in args):
            out = result  # given by position
        operands = (*operands, *(value for name, value in kwargs.items() if name != "out"))
        flat = [part for part in _flat(operands) if isinstance(part, np.ndarray | np.generic | int | float | complex)]
        if isinstance(result, list | tuple) and out is None:
            return self._again(result, [self.move(part, row.name, flat) for part in result])
        self.condition = _condition(function, args, kwargs, result)
        self.computes = _loop_of(function, args, kwargs)
        fresh = out is not None or not any(
            isinstance(part, np.ndarray) and np.may_share_memory(part, result) for part in flat
        )
        return self.move(result, row.name, [before.get(id(part), part) for part in flat]) if fresh else result

    def _again(self, result: Any, parts: list[Any]) -> Any:
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)

    def binary(self, name: str, left: Any, right: Any) -> Any:
        self.computes = None
        result = _BINARY[name](left, right)
        return self.move(result, _ROWS.get(name, ""), (left, right))

    def after(self, name: str, target: Any, value: Any) -> Any:
        self.computes = None
        return self.move(target, _ROWS[name], (target, value))

    def move(self, value: Any, name: str, operands: Any) -> Any:
        """A value moved as far as its row allows: arrays in their place."""
        array = np.asarray(value)
        if array.dtype.kind not in "fc" or not isinstance(value, np.ndarray | np.generic | float | complex):
            return value
        bound = bound_of(name)
        if name in _PRODUCTS:
            bound = _PRODUCT
        elif name == "at":
            bound = _SCATTERED
        if not isinstance(value, np.ndarray):
            array = array.copy()
        with np.errstate(all="ignore"):
            numbers = [operand for operand in operands if np.asarray(operand).dtype.kind in "biufc"]
            self._array(array, bound, numbers, _SCALED.get(name, _COMPLEX if array.dtype.kind == "c" else 1))
        if isinstance(value, np.ndarray):
            return value
        return array[()] if isinstance(value, np.generic) else array.item()

    def _array(self, array: np.ndarray, bound: Bound, operands: list[Any], scale: float = 1) -> None:
        if not array.flags.writeable or not array.size:
            return
        parts = [array.real, array.imag] if array.dtype.kind == "c" else [array]
        allowed = _allowed(bound, array)
        if array.dtype.kind == "c":  # real results, too, may be written to complex memory
            allowed = max(allowed, _allowed(bound, array.real))
        ordered = any(word in bound.reason for word in _ORDERED)
        if bound in _MOMENTS and not all(_has_grained_mean(operand, array) for operand in operands):
            ordered = False
        if bound is BOUNDS["np.divide"] or bound is BOUNDS["np.reciprocal"]:
            ordered = False  # of complex numbers: a product with a reciprocal
        if bound is BOUNDS["np.interp"]:
            ordered = False  # a quotient of differences is multiplied and added to
        if bound.scale == "product":
            ordered = all(map(_short, operands))
        if allowed and not self.still and not (ordered and all(map(grained, operands)) and grained(array)):
            unit = _unit(bound, tuple(operands), array)
            if bound is BOUNDS["np.average"]:
                unit = (unit + np.abs(array) * np.finfo(array.dtype).eps) * self.condition
            unit = unit * allowed * _widened(array, operands, self.computes)
            for part in parts:
                # Of different sizes, so that two errors do not cancel; but where each is a last place, they may. In two
                # runs all go one way.
                direction = self.sign * np.where(self.is_aligned, 1.0, self.rng.choice([-1.0, 1.0], part.shape))
                error = direction * self.rng.uniform(0.8, 1.0, part.shape) * unit
                moved = np.where(np.isfinite(part), part + error.astype(part.dtype), part)
                # What may be zero, or a small whole number or quarter, is one now and then: equality is not a matter
                # of distance.
                near = np.where(np.abs(part) < _GRAINY, np.rint(part * 4) / 4, part).astype(part.dtype)
                part[...] = np.where(np.abs(part - near) <= unit, np.copysign(near, part), moved) if self.snaps else moved
            if array.dtype.kind == "c":
                self._infinite(array)
        if bound.scale in ("sum", "squares") and _may_overflow(bound, array, operands):
            for part in parts:
                wild = ~np.isfinite(part)
                part[wild] = self.rng.choice([np.nan, np.inf, -np.inf], int(wild.sum()))
        unsigned = not bound.zeros or (array.dtype.kind == "c" and not bound.complex_zeros)
        if unsigned and any(_mixed_zeros(operand, array.dtype) for operand in operands):
            for part in parts:
                part[...] = np.where(part == 0, np.copysign(part, self.sign), part)
        for part in parts:
            # The sign of a NaN that is computed is not promised.
            part[...] = np.where(np.isnan(part), np.copysign(part, self.sign), part)
            if self.flush:
                part[np.abs(part) < flushed_below(part.dtype) * scale] *= 0

    def _infinite(self, array: np.ndarray) -> None:
        """Which part of a complex number is infinite is not said by any standard that both follow."""
        wild = ~np.isfinite(array)
        kinds = np.array(
            [complex(np.nan, np.nan), complex(np.inf, np.nan), complex(np.nan, np.inf), complex(np.inf, 0)]
        )
        array[wild] = kinds[self.rng.integers(0, 4, int(wild.sum()))]


def _flat(operands: Any) -> list[Any]:
    """Operands, those of lists one by one."""
    return [part for one in operands for part in (one if isinstance(one, list | tuple) else [one])]


def _condition(function: Any, args: Any, kwargs: dict[str, Any], result: Any) -> Any:
    """How much larger the weights of an average are than their sum; else 1."""
    if function is not np.average or kwargs.get("weights") is None or isinstance(result, tuple):
        return 1.0
    weights, found = kwargs["weights"], function(*args, **{**kwargs, "returned": True})[1]
    sizes = np.abs(np.asarray(weights).astype(np.clongdouble))  # sums of integers overflow
    return np.maximum(1.0, np.sum(sizes) / np.abs(found)).astype(float)


def _may_overflow(bound: Bound, array: np.ndarray, operands: list[Any]) -> bool:
    """Whether a part of a sum may: what becomes of it then depends on the order."""
    sizes = [np.abs(np.asarray(operand)).astype(np.longdouble).ravel() for operand in operands]
    largest = max((np.max(size[np.isfinite(size)], initial=0) for size in sizes), default=0)
    term = largest * largest if bound.scale == "squares" else largest
    return bool(term * max((size.size for size in sizes), default=0) > np.finfo(array.dtype).max)


def _loop_of(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The dtype in which a ufunc computes its first result from integers; None for other calls."""
    if not isinstance(function, np.ufunc) or kwargs.keys() & {"dtype", "signature"}:
        return None
    kinds = [type(one) if type(one) in (int, float, complex) else np.asarray(one).dtype for one in args[: function.nin]]
    try:
        found = function.resolve_dtypes((*kinds, *[None] * function.nout))[function.nin]
    except (TypeError, ValueError):
        return None
    return found if found.kind in "fc" and not any(np.dtype(kind).kind in "fc" for kind in kinds) else None


def _widened(array: np.ndarray, operands: list[Any], computes: Any) -> float:
    """How many units of the result one unit of the operands' precision is: `out=` may be wider."""
    try:
        computed = computes or np.result_type(*operands)
    except (TypeError, ValueError, OverflowError):
        return 1.0
    if computed.kind not in "fc":
        return 1.0
    return max(1.0, float(np.finfo(computed).eps / np.finfo(array.dtype).eps))


def grained(value: Any) -> bool:
    """Whether all are small multiples of a power of two."""
    array = np.asarray(value)
    if array.dtype.kind == "c":
        return grained(array.real) and grained(array.imag)
    if array.dtype.kind != "f":
        return bool(np.all(np.abs(array.astype(float)) < 2.0**20)) if array.dtype.kind in "iu" else True
    grain, limit = _GRAIN.get(array.dtype.name, (1.0, 1.0))
    return bool(np.all((array * grain == np.rint(array * grain)) & (np.abs(array) < limit)))


def _has_grained_mean(operand: Any, result: np.ndarray) -> bool:
    """Whether the means on the way to a variance are exact: those of complex numbers are products with a reciprocal."""
    array = np.asarray(operand)
    count = array.size // max(result.size, 1)
    return array.dtype.kind != "c" and (count & (count - 1) == 0 or bool(np.all(array == array.flat[0])))


def _short(value: Any) -> bool:
    """Whether the product of all elements has a place for every bit, if they are quarters."""
    array = np.asarray(value)
    with np.errstate(all="ignore"):
        return bool(np.sum(np.log2(np.abs(array.astype(complex)) * 4 + 1)) < 50)


def _mixed_zeros(value: Any, dtype: np.dtype) -> bool:
    """Whether zeros may have both signs in the computation, which makes zeros of what is small in a wider dtype."""
    array = np.asarray(value)
    if array.dtype.kind == "c":
        return True
    if array.dtype.kind == dtype.kind == "f":
        array = array.astype(dtype)
    return array.dtype.kind == "f" and bool(np.any((array == 0) & np.signbit(array)))
