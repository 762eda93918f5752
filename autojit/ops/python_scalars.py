"""Python's own arithmetic on numbers that come out of arrays or loops: Python numbers in, a Python number out.

A Python int has no end; its stand-in has 64 bits. The rows `py_int_*` trap where a result does not fit, so that Python
repeats the work. Those without `int` are also for floats and for loop indices, whose bounds keep them far from the end.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import PYTHON_DTYPES, Spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.families import row, small_dummy

_LEAST = np.iinfo(np.int64).min
#: Ints up to here are floats too.
_EXACT = 2**53

Trap = Callable[[Any], None]


def _infer(call: Callable[..., Any]) -> Callable[..., tuple[Spec, ...]]:
    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        if any(spec.kind != "python" for spec in specs):
            raise TypeError("Python arithmetic on an array")
        return (Spec((), PYTHON_DTYPES[type(call(*(small_dummy(spec) for spec in specs)))], "python"),)

    return infer


def _lower(rule: Callable[..., Any]) -> Callable[..., Any]:
    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        dtype = node.outputs[0].spec.dtype
        return (rule(*(x.astype(dtype) for x in xs)),)

    return lower


def trap_large(values: Sequence[Any], trap: Trap) -> None:
    """Leave ints that no float can hold to Python, which rounds a quotient of ints once."""
    for value in values:
        if value.dtype == np.int64:
            trap(jnp.any((value > _EXACT) | (value < -_EXACT)))


def _divide(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    trap_large(xs, trap)
    x, y = (value.astype(np.float64) for value in xs)
    trap(y == 0)  # Python raises ZeroDivisionError
    return (exact.divide(x, y),)


def _add(x: Any, y: Any, trap: Trap) -> Any:
    total = x + y
    trap(((x ^ total) & (y ^ total)) < 0)
    return total


def _subtract(x: Any, y: Any, trap: Trap) -> Any:
    rest = x - y
    trap(((x ^ y) & (x ^ rest)) < 0)
    return rest


def _multiply(x: Any, y: Any, trap: Trap) -> Any:
    # The float product is right to a relative 2**-52: far enough from the end, so is the other.
    trap(jnp.abs(x.astype(np.float64) * y.astype(np.float64)) > 2.0**62)
    return x * y


def _floor_divide(x: Any, y: Any, trap: Trap) -> Any:
    trap((y == 0) | ((x == _LEAST) & (y == -1)))
    y = jnp.where(y == 0, 1, y)
    quotient = lax.div(x, y)
    return quotient - (((x ^ y) < 0) & (quotient * y != x))


def _modulo(x: Any, y: Any, trap: Trap) -> Any:
    trap((y == 0) | ((x == _LEAST) & (y == -1)))
    y = jnp.where(y == 0, 1, y)
    rest = lax.rem(x, y)
    return jnp.where((rest != 0) & ((rest ^ y) < 0), rest + y, rest)


def _left_shift(x: Any, y: Any, trap: Trap) -> Any:
    trap((y < 0) | (y > 62))
    y = jnp.clip(y, 0, 62)
    shifted = x << y
    trap((shifted >> y) != x)
    return shifted


def _right_shift(x: Any, y: Any, trap: Trap) -> Any:
    trap(y < 0)
    return x >> jnp.clip(y, 0, 63)


def _absolute(x: Any, trap: Trap) -> Any:
    if x.dtype == np.int64:
        trap(x == _LEAST)
    return jnp.abs(x)


def _invert(x: Any, trap: Trap) -> Any:
    return ~x


def _ints(rule: Callable[..., Any]) -> Callable[..., Any]:
    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        dtype = node.outputs[0].spec.dtype
        return (rule(*(x.astype(dtype) for x in xs), trap),)

    return lower


def _comparison(rule: Callable[..., Any]) -> Callable[..., Any]:
    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        dtypes = {x.dtype for x in xs}
        if len(dtypes) > 1 and np.dtype(np.float64) in dtypes:
            # Python compares an int with a float exactly.
            for x in xs:
                if x.dtype == np.int64:
                    trap((x > _EXACT) | (x < -_EXACT))
        dtype = np.result_type(*dtypes)
        return (rule(*(x.astype(dtype) for x in xs)),)

    return lower


def _only(kinds: str, call: Callable[..., Any]) -> Callable[..., tuple[Spec, ...]]:
    """The usual specs, for operands of these kinds."""

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        if any(spec.dtype.kind not in kinds for spec in specs):
            raise TypeError("Python arithmetic on numbers of other types")
        return _infer(call)(specs, params)

    return infer


def _samples(kinds: str, operands: int) -> Callable[[Any], list[Any]] | None:
    """Calls with numbers of these kinds."""
    if "f" in kinds or not kinds:
        return None
    ints = [(3, 4), (-7, 2), (7, 5), (-8, 3), (0, 5), (2**40, 3)]
    bools = [(True, False), (False, False), (True, True)]
    pairs = (ints if "i" in kinds else []) + (bools if "b" in kinds else [])
    return lambda rng: [(pair[:operands], {}) for pair in pairs]


def _row(
    name: str,
    symbol: str,
    call: Callable[..., Any],
    lower: Callable[..., Any],
    traps: bool = False,
    kinds: str = "",
    bitwise: str | None = None,
    rounds: str = "",
) -> Op:
    operands = ("x1", "x2") if symbol.count("{}") == 2 else ("x",)
    return row(
        name, call, "elementwise", operands, infer=_only(kinds, call) if kinds else _infer(call), lower=lower,
        numpy=(), traps=traps, text=lambda inputs, params: symbol.format(*inputs), sharding="elementwise",
        samples=_samples(kinds, len(operands)), bitwise=bitwise, rounds=rounds,
    )  # fmt: skip


def _compare_row(name: str, symbol: str, call: Callable[..., Any], rule: Callable[..., Any]) -> Op:
    return _row(name, f"({{}} {symbol} {{}})", call, _comparison(rule), traps=True, kinds="bif", bitwise="f")


ROWS: tuple[Op, ...] = (
    _row("py_add", "({} + {})", operator.add, _lower(exact.add), bitwise="fc", rounds="sum"),
    _row("py_subtract", "({} - {})", operator.sub, _lower(exact.subtract), bitwise="fc", rounds="difference"),
    _row("py_multiply", "({} * {})", operator.mul, _lower(exact.multiply), bitwise="f", rounds="product"),
    _row("py_divide", "({} / {})", operator.truediv, _divide, traps=True, bitwise="f", rounds="quotient"),
    _row("py_negative", "(-{})", operator.neg, _lower(jnp.negative), bitwise="fc"),
    _row("py_int_add", "({} + {})", operator.add, _ints(_add), traps=True, kinds="i"),
    _row("py_int_subtract", "({} - {})", operator.sub, _ints(_subtract), traps=True, kinds="i"),
    _row("py_int_multiply", "({} * {})", operator.mul, _ints(_multiply), traps=True, kinds="i"),
    _row("py_floor_divide", "({} // {})", operator.floordiv, _ints(_floor_divide), traps=True, kinds="i"),
    _row("py_modulo", "({} % {})", operator.mod, _ints(_modulo), traps=True, kinds="i"),
    _row("py_left_shift", "({} << {})", operator.lshift, _ints(_left_shift), traps=True, kinds="i"),
    _row("py_right_shift", "({} >> {})", operator.rshift, _ints(_right_shift), traps=True, kinds="i"),
    _row("py_and", "({} & {})", operator.and_, _lower(jnp.bitwise_and), kinds="bi"),
    _row("py_or", "({} | {})", operator.or_, _lower(jnp.bitwise_or), kinds="bi"),
    _row("py_xor", "({} ^ {})", operator.xor, _lower(jnp.bitwise_xor), kinds="bi"),
    _row("py_invert", "(~{})", operator.invert, _ints(_invert), kinds="i"),
    _row("py_absolute", "abs({})", abs, _ints(_absolute), traps=True, kinds="if", bitwise="f"),
    _row("py_not", "(not {})", operator.not_, _lower(jnp.logical_not), kinds="b"),
    _compare_row("py_less", "<", operator.lt, jnp.less),
    _compare_row("py_less_equal", "<=", operator.le, jnp.less_equal),
    _compare_row("py_greater", ">", operator.gt, jnp.greater),
    _compare_row("py_greater_equal", ">=", operator.ge, jnp.greater_equal),
    _compare_row("py_equal", "==", operator.eq, jnp.equal),
    _compare_row("py_not_equal", "!=", operator.ne, jnp.not_equal),
)
