"""Rows for rounding to decimals and for clipping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.graph import Const
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp, lax
from autojit.ops import elementwise_arithmetic as arithmetic
from autojit.ops import exact
from autojit.ops.elementwise_arithmetic import kind
from autojit.ops.elementwise_functions import dummy_infer, function_row
from autojit.ops.families import row, trap_if, wants_trap


@wants_trap
def _round(x: Any, dtype: Any, trap: Callable[[Any], None], decimals: int = 0) -> Any:
    """NumPy's own steps: scale, round half to even, scale back."""
    if kind(x) == "c":
        return lax.complex(*(_round(part, part.dtype, trap, decimals) for part in (lax.real(x), lax.imag(x))))
    if kind(x) in "iu" and decimals >= 0:
        return x
    steps = np.dtype(np.float64) if kind(x) in "iu" else np.dtype(dtype)
    x = exact.cast(x, steps)
    if decimals == 0:
        return arithmetic.rint(x)
    with np.errstate(over="ignore"):
        factor = np.asarray(10.0 ** abs(decimals), steps)
    scale, back = (exact.multiply, exact.divide) if decimals > 0 else (exact.divide, exact.multiply)
    result = back(arithmetic.rint(scale(x, factor)), factor)
    if dtype.kind in "iu":
        trap_if(exact.outside(result, dtype), trap)
    return result


def _fix(x: Any, dtype: Any) -> Any:
    return arithmetic.trunc(exact.cast(x, dtype))


def clip_call(a: Spec, low: Any, high: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What `np.clip(a, low, high)` stands for when a bound is missing or has no effect.

    Args:
        a: The spec of the array.
        low: `None` for no lower bound, a Python int, or anything else for a bound that is kept.
        high: The same for the upper bound.

    Returns:
        The NumPy function, and which bounds are its operands after the array.
    """
    if a.dtype.kind in "iu":
        # NumPy drops Python ints that bound nothing, also those that the dtype cannot hold.
        info = np.iinfo(a.dtype)
        low = None if type(low) is int and low <= info.min else low
        high = None if type(high) is int and high >= info.max else high
    if low is None:
        return (np.positive, ()) if high is None else (np.minimum, (high,))
    return (np.maximum, (low,)) if high is None else (np.clip, (low, high))


def _clip_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    (result,) = dummy_infer(np.clip)(specs, params)
    if result.dtype.kind == "c":
        raise TypeError("`np.clip` of complex numbers is not compiled")
    return (result,)


def _clip_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    spec = node.outputs[0].spec
    bounds = [_bound(node.inputs[place], xs[place], node.specs[0], spec.dtype, place == 1, trap) for place in (1, 2)]
    x, low, high = exact.broadcast(exact.cast(xs[0], spec.dtype), *bounds, shape=spec.shape)
    if kind(x) == "b":
        return ((x | low) & high,)
    is_one = [not one.spec.shape or one.spec.shape[-1] == 1 < spec.shape[-1] for one in node.inputs[1:]]
    if kind(x) == "f" and all(is_one):  # NumPy has a loop for bounds that stay the same along it
        return (arithmetic.between(x, low, high),)
    return (arithmetic.minimum(*exact.fence(arithmetic.maximum(x, low), high)),)


def _bound(operand: Any, x: Any, array: Spec, dtype: np.dtype, lower: bool, trap: Callable[[Any], None]) -> Any:
    """A bound in the result's dtype. A Python int that this cannot hold bounds no integers, or raises."""
    if not (operand.spec.weak and operand.spec.dtype.kind == "i"):
        return exact.cast(x, dtype)
    value = operand.value if isinstance(operand, Const) else x
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        least, most = int(info.min), min(int(info.max), 2**63 - 1)
        is_kept = array.dtype == np.bool_  # NumPy drops what bounds nothing for arrays of integers alone
        if lower or is_kept:
            trap_if(value > most, trap)
        if not lower or is_kept:
            trap_if(value < least, trap)
        x = jnp.clip(x, max(least, -(2**63)), most)
    bound = exact.cast(exact.as_python_float(x, dtype), dtype)
    if lower or array.dtype.kind not in "iu" or array.dtype == dtype or np.iinfo(array.dtype).max >= 2**63:
        return bound
    # What no element of the array exceeds is dropped as well, though the lower bound may be an array that does.
    nothing = np.asarray(np.inf if dtype.kind == "f" else np.iinfo(dtype).max, dtype)
    return jnp.where(value >= np.iinfo(array.dtype).max, nothing, bound)


ROWS: tuple[Op, ...] = (
    function_row(np.round, _round, ("a",), ("decimals",), numpy=(np.round, np.around), methods=("round",)),
    function_row(np.fix, _fix, bitwise="f"),
    row(
        "np.clip",
        np.clip,
        "elementwise",
        ("a", "a_min", "a_max"),
        infer=_clip_infer,
        lower=_clip_lower,
        methods=("clip",),
        traps=True,
        bitwise="f",
        rounds="zeros",
        sharding="elementwise",
        note="with both bounds; with one it is np.maximum or np.minimum",
    ),
)
