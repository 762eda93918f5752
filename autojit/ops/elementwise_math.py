"""Rules for roots, exponentials, logarithms, trigonometric and hyperbolic functions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from autojit.ops import exact
from autojit.ops.elementwise_bits import frexp, in_float32, ldexp

_LN2 = np.log(2.0)


def _real(rule: Any) -> Any:
    return in_float32(rule)


sqrt = _real(lax.sqrt)
cbrt = _real(lax.cbrt)
exp = _real(lax.exp)
expm1 = _real(lax.expm1)
log = _real(lax.log)
log1p = _real(lax.log1p)
sin = _real(lax.sin)
cos = _real(lax.cos)
tan = _real(lax.tan)
arcsin = _real(lax.asin)
arccos = _real(lax.acos)
arctan = _real(lax.atan)
arctan2 = _real(lax.atan2)
sinh = _real(lax.sinh)
cosh = _real(lax.cosh)
tanh = _real(lax.tanh)
arcsinh = _real(lax.asinh)
arccosh = _real(lax.acosh)
arctanh = _real(lax.atanh)
power = _real(lax.pow)


@in_float32
def exp2(x: Any) -> Any:
    """Exact for whole numbers: the whole part only moves the exponent."""
    whole = lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    part = jnp.where(lax.is_finite(x), exact.subtract(x, whole), x)
    limited = lax.clamp(np.array(-3000, x.dtype), jnp.where(x != x, 0, whole), np.array(3000, x.dtype))
    return ldexp(lax.exp(exact.multiply(part, np.array(_LN2, x.dtype))), limited.astype(jnp.int32))


@in_float32
def log2(x: Any) -> Any:
    """Exact for powers of two: the exponent is added, only the fraction has a logarithm."""
    fraction, exponent = frexp(x)
    low = fraction < np.array(np.sqrt(0.5), x.dtype)
    fraction = jnp.where(low, fraction * 2, fraction)
    whole = jnp.where(low, exponent - 1, exponent).astype(x.dtype)
    return exact.add(whole, exact.multiply(lax.log(fraction), np.array(1 / _LN2, x.dtype)))


@in_float32
def log10(x: Any) -> Any:
    """Exact for powers of ten that are floats."""
    result = exact.divide(lax.log(x), np.array(np.log(10.0), x.dtype))
    powers = [10.0**n for n in range(23 if x.dtype == jnp.float64 else 11)]
    whole = lax.round(result, lax.RoundingMethod.TO_NEAREST_EVEN)
    index = lax.clamp(np.array(0, x.dtype), jnp.where(x != x, 0, whole), np.array(len(powers) - 1, x.dtype))
    return jnp.where(x == jnp.asarray(powers, x.dtype)[index.astype(jnp.int32)], whole, result)


@in_float32
def logaddexp(x: Any, y: Any) -> Any:
    return _logaddexp(x, y, lax.exp, lax.log1p, np.array(_LN2, x.dtype))


@in_float32
def logaddexp2(x: Any, y: Any) -> Any:
    def log2_1p(z: Any) -> Any:
        return exact.multiply(lax.log1p(z), np.array(1 / _LN2, x.dtype))

    return _logaddexp(x, y, exp2, log2_1p, np.array(1, x.dtype))


def _logaddexp(x: Any, y: Any, exp: Any, log1p: Any, log_of_2: Any) -> Any:
    difference = exact.subtract(x, y)
    larger = jnp.where(difference > 0, x, y)
    result = exact.add(larger, log1p(exp(-lax.abs(difference))))
    result = jnp.where(difference != difference, difference, result)
    # Equal infinities have no difference.
    return jnp.where(x == y, exact.add(x, log_of_2), result)


def radians(x: Any) -> Any:
    return exact.multiply(x, _constant(np.pi / 180, x))


def degrees(x: Any) -> Any:
    return exact.multiply(x, _constant(180 / np.pi, x))


def _constant(value: float, x: Any) -> Any:
    """NumPy divides in the dtype of the loop, float32 for float16."""
    single = np.float32(np.pi) / np.float32(180) if value < 1 else np.float32(180) / np.float32(np.pi)
    return jnp.asarray(value if x.dtype == jnp.float64 else single, x.dtype)
