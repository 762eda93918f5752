"""Functions of the module `math`: numbers in, a Python number out; what `math` refuses is left to Python.

`math` raises where a result is NaN and no argument is, and where it is infinite and all arguments are finite. The rules
are those of NumPy's functions for float64.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp, lax
from autojit.ops import elementwise_arithmetic as arithmetic
from autojit.ops import elementwise_bits as bits
from autojit.ops import elementwise_math as rules
from autojit.ops import exact
from autojit.ops.families import row
from autojit.ops.python_scalars import trap_large

Trap = Callable[[Any], None]

_FLOAT, _BOOL = Spec((), np.dtype(np.float64), "python"), Spec((), np.dtype(np.bool_), "python")

#: The functions that may raise, and a first argument for which they do not.
RAISING: dict[str, tuple[Callable[..., Any], int]] = {
    "sqrt": (rules.sqrt, 1), "exp": (rules.exp, 1), "expm1": (rules.expm1, 1), "log": (rules.log, 1),
    "log2": (rules.log2, 1), "log10": (rules.log10, 1), "log1p": (rules.log1p, 1), "sin": (rules.sin, 1),
    "cos": (rules.cos, 1), "tan": (rules.tan, 1), "asin": (rules.arcsin, 1), "acos": (rules.arccos, 1),
    "sinh": (rules.sinh, 1), "cosh": (rules.cosh, 1), "acosh": (rules.arccosh, 1), "atanh": (rules.arctanh, 0),
    "pow": (lax.pow, 1),
}  # fmt: skip
#: Those that never raise for floats.
_SAFE: dict[str, Callable[..., Any]] = {
    "atan": rules.arctan, "tanh": rules.tanh, "asinh": rules.arcsinh, "atan2": rules.arctan2, "hypot": arithmetic.hypot,
    "copysign": bits.copysign, "fabs": arithmetic.absolute, "degrees": rules.degrees, "radians": rules.radians,
}  # fmt: skip
_TESTS: dict[str, Callable[..., Any]] = {
    "isnan": arithmetic.isnan, "isinf": arithmetic.isinf, "isfinite": jnp.isfinite,
}  # fmt: skip
_TWO = frozenset(["pow", "atan2", "hypot", "copysign"])
#: Those that give the bits of `math`'s.
_BITWISE = frozenset(["sqrt", "copysign", "fabs", "degrees", "radians", *_TESTS])


def _infer(result: Spec) -> Callable[..., tuple[Spec, ...]]:
    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        for spec in specs:
            if spec.shape or spec.dtype.kind not in "biuf":
                raise TypeError("only real numbers; this is not compiled")
        return (result,)

    return infer


def _refused(result: Any, xs: Sequence[Any]) -> Any:
    """Where `math` raises for what NumPy's function gives."""
    given_nan, finite = jnp.isnan(xs[0]), jnp.isfinite(xs[0])
    for x in xs[1:]:
        given_nan, finite = given_nan | jnp.isnan(x), finite & jnp.isfinite(x)
    return (jnp.isnan(result) & ~given_nan) | (jnp.isinf(result) & finite)


def _lower(rule: Callable[..., Any], raises: bool) -> Callable[..., Any]:
    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        xs = exact.fence(*(x.astype(np.float64) for x in xs))
        result = rule(*xs)
        if raises:
            trap(_refused(result, xs))
        return (result,)

    return lower


def _samples(name: str) -> Callable[[Any], list[tuple[tuple[Any, ...], dict[str, Any]]]]:
    numbers: list[tuple[Any, ...]] = [(1.25, 0.5), (2, 3), (True, 1.5), (np.float32(1.5), np.int8(2)), (7.0, -0.5)]
    if name in ("asin", "acos", "atanh"):
        numbers = [(0.25,), (0,), (False,), (np.float32(-0.5),), (np.float16(0.75),)]
    return lambda rng: [(pair[: 1 + (name in _TWO)], {}) for pair in numbers]


def _row(name: str, rule: Callable[..., Any]) -> Op:
    call, count = getattr(math, name), 1 + (name in _TWO)
    return row(
        f"math.{name}", call, "elementwise", ("x1", "x2")[:count] if count > 1 else ("x",),
        infer=_infer(_BOOL if name in _TESTS else _FLOAT), lower=_lower(rule, name in RAISING), traps=name in RAISING,
        sharding="elementwise", samples=_samples(name), bitwise="f" if name in _BITWISE else None,
        rounds="product" if name in ("degrees", "radians") else "",
    )  # fmt: skip


# ---- the same for many numbers at once

#: What takes ints as they are.
_OF_INTS = "divide", "float"


def _each(*xs: Any, function: str) -> np.ndarray:
    call = {"divide": operator.truediv, "int": int, "float": float}.get(function) or getattr(math, function)
    # Python rounds a quotient of ints once.
    arrays = np.broadcast_arrays(*(np.asarray(x, None if function in _OF_INTS else np.float64) for x in xs))
    found = [call(*numbers) for numbers in zip(*(array.ravel().tolist() for array in arrays), strict=True)]
    return np.array(found, _dtype_of(function)).reshape(arrays[0].shape)


def _dtype_of(function: str) -> np.dtype:
    return np.dtype(np.int64 if function == "int" else np.bool_ if function in _TESTS else np.float64)


def _each_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    return (Spec(np.broadcast_shapes(*(spec.shape for spec in specs)), _dtype_of(params["function"])),)


def _each_lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    name, shape = node.keywords["function"], node.outputs[0].spec.shape
    if name == "float":
        return (exact.float_of_int(jnp.broadcast_to(xs[0], shape)),)
    if name == "divide":
        trap_large(xs, trap)
    xs = exact.broadcast(*(x.astype(np.float64) for x in xs), shape=shape)
    if name == "int":
        trap(jnp.any(exact.outside(xs[0], np.dtype(np.int64))))
        return (exact.cast(xs[0], np.int64),)
    if name == "divide":
        trap(jnp.any(xs[1] == 0))  # Python raises ZeroDivisionError
        return (exact.divide(*xs),)
    if name not in RAISING:
        return ((_SAFE | _TESTS)[name](*xs),)
    result = RAISING[name][0](*xs)
    trap(jnp.any(_refused(result, xs)))
    return (result,)


ROWS: tuple[Op, ...] = (
    *(_row(name, rule) for name, (rule, _) in RAISING.items()),
    *(_row(name, rule) for name, rule in (_SAFE | _TESTS).items()),
    row(
        "each_number", _each, "elementwise", ("*xs",), params=("function",), infer=_each_infer, lower=_each_lower,
        numpy=(), traps=True, sharding="elementwise",
        samples=lambda rng: [((np.array([0.5, 2.0]), np.array([4.0, 3.0])), {"function": "divide"}),
                             ((np.array([0.5, 2.0]),), {"function": "log"}),
                             ((np.array([0.5, -2.5]),), {"function": "int"}),
                             ((np.array([1, 2**62 + 2**8 + 1]),), {"function": "float"})],
        note="Python's function of every number, for all iterations of a loop at once",
    ),
)  # fmt: skip
