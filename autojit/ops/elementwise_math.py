"""Rules for roots, exponentials, logarithms, trigonometric and hyperbolic functions of real numbers.

XLA's own functions are taken where they stay within a few units in the last place; the others are built here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.jax_names import jnp, lax
from autojit.ops import elementwise_series as series
from autojit.ops import exact
from autojit.ops.elementwise_bits import in_float32, ldexp

LN2 = float(np.log(2.0))

sqrt = in_float32(lax.sqrt)
cbrt = series.cbrt
exp = in_float32(lax.exp)
expm1 = in_float32(lax.expm1)
log = in_float32(series.log)
log2 = series.log2
log10 = series.log10
sin = in_float32(lax.sin)
cos = in_float32(lax.cos)
tan = in_float32(lax.tan)
arcsin = series.arcsin
arccos = series.arccos
arctan = series.arctan
arctan2 = series.arctan2
tanh = in_float32(lax.tanh)
arcsinh = in_float32(lax.asinh)
arccosh = in_float32(lax.acosh)


def constant(value: float, x: Any) -> Any:
    """A number in the dtype of `x`."""
    return np.asarray(value, x.dtype)


@in_float32
def log1p(x: Any) -> Any:
    """`log(u)` for the rounded `u = 1 + x`, corrected by what was lost in rounding."""
    one = jnp.ones_like(x)
    u = exact.add(one, x)
    lost = exact.subtract(x, exact.subtract(u, one))
    result = exact.add(series.log(u), exact.divide(lost, u))
    return jnp.where((u == 1) | (x == jnp.inf), x, jnp.where(u == 0, jnp.full_like(x, -jnp.inf), result))


@in_float32
def arctanh(x: Any) -> Any:
    """Half of `log1p(2x / (1 - x))`, with the sign put back."""
    size = lax.abs(x)
    inner = log1p(exact.divide(exact.add(size, size), exact.subtract(jnp.ones_like(x), size)))
    return exact.copysign(exact.multiply(inner, constant(0.5, x)), x)


def _half_exp(x: Any) -> Any:
    """`exp(x) / 2` where `exp(x)` may overflow and its half does not."""
    root = lax.exp(exact.multiply(x, constant(0.5, x)))
    return exact.multiply(exact.multiply(root, constant(0.5, x)), root)


@in_float32
def sinh(x: Any) -> Any:
    """From `expm1` for small, from `exp` for large arguments."""
    size = lax.abs(x)
    t = lax.expm1(lax.min(size, constant(30, x)))
    small = exact.add(t, exact.divide(t, exact.add(t, jnp.ones_like(t))))
    result = jnp.where(size < 20, exact.multiply(small, constant(0.5, x)), _half_exp(size))
    return exact.copysign(jnp.where(x == x, result, x), x)


@in_float32
def cosh(x: Any) -> Any:
    """The mean of `exp(x)` and `exp(-x)`."""
    size = lax.abs(x)
    t = _half_exp(size)
    return exact.add(t, exact.divide(constant(0.25, x), t))


@in_float32
def exp2(x: Any) -> Any:
    """Exact for whole numbers: the whole part only moves the exponent."""
    whole = lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    part = jnp.where(lax.is_finite(x), exact.subtract(x, whole), x)
    limited = lax.clamp(constant(-3000, x), jnp.where(x != x, jnp.zeros_like(x), whole), constant(3000, x))
    return ldexp(lax.exp(exact.multiply(part, constant(LN2, x))), limited.astype(jnp.int32))


@in_float32
def logaddexp(x: Any, y: Any) -> Any:
    """`log(exp(x) + exp(y))` without overflow."""
    return _logaddexp(x, y, lax.exp, log1p, constant(LN2, x))


@in_float32
def logaddexp2(x: Any, y: Any) -> Any:
    """The same with base 2."""
    return _logaddexp(x, y, exp2, lambda z: exact.multiply(log1p(z), constant(1 / LN2, z)), constant(1, x))


def _logaddexp(x: Any, y: Any, exp: Callable[..., Any], log1p: Callable[..., Any], log_of_2: Any) -> Any:
    difference = exact.subtract(x, y)
    larger = jnp.where(difference > 0, x, y)
    result = exact.add(larger, log1p(exp(-lax.abs(difference))))
    result = jnp.where(difference != difference, difference, result)
    # Equal infinities have no difference.
    return jnp.where(x == y, exact.add(x, jnp.full_like(x, log_of_2)), result)


@in_float32
def radians(x: Any) -> Any:
    """Degrees to radians."""
    return _scale(x, np.float32(np.pi) / np.float32(180), np.pi / 180)


@in_float32
def degrees(x: Any) -> Any:
    """Radians to degrees."""
    return _scale(x, np.float32(180) / np.float32(np.pi), 180 / np.pi)


def _scale(x: Any, single: Any, double: float) -> Any:
    """NumPy divides the constant in the dtype of the loop."""
    factor = np.asarray(double if x.dtype == jnp.float64 else single, x.dtype)
    return exact.multiply(x, factor)
