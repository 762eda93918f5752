"""Rules on bit patterns: shifts, counts, divisors, and the anatomy of floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.elementwise_arithmetic import kind

#: Whether `np.nextafter` of two equal halves is the first one, as it was before NumPy 2.5, where they are zeros.
_KEEPS_FIRST_HALF = not np.signbit(np.nextafter(np.float16(0.0), np.float16(-0.0)))
#: Explicit mantissa bits and exponent bias of the float dtypes.
_LAYOUT = {2: (10, 15), 4: (23, 127), 8: (52, 1023)}


def bitwise_and(x: Any, y: Any) -> Any:
    return x & y


def bitwise_or(x: Any, y: Any) -> Any:
    return x | y


def bitwise_xor(x: Any, y: Any) -> Any:
    return x ^ y


def invert(x: Any) -> Any:
    return ~x


def _width(x: Any) -> int:
    return 8 * np.dtype(x.dtype).itemsize


def _unsigned(x: Any) -> Any:
    return x.astype(f"uint{_width(x)}")


def left_shift(x: Any, y: Any) -> Any:
    inside = _unsigned(y) < _width(x)
    return jnp.where(inside, lax.shift_left(x, jnp.where(inside, y, 0)), jnp.zeros_like(x))


def right_shift(x: Any, y: Any) -> Any:
    shift = lax.shift_right_arithmetic if kind(x) == "i" else lax.shift_right_logical
    inside = _unsigned(y) < _width(x)
    fill = jnp.where(x < 0, -jnp.ones_like(x), jnp.zeros_like(x)) if kind(x) == "i" else jnp.zeros_like(x)
    return jnp.where(inside, shift(x, jnp.where(inside, y, 0)), fill)


def bitwise_count(x: Any) -> Any:
    # In 64 bits: of counts in 32 that are cast to 64, XLA makes invalid code for `&` and `|` with a uint8 (jaxlib
    # 0.10.2).
    return lax.population_count(_magnitude(x).astype(jnp.uint64))


def _magnitude(x: Any) -> Any:
    """The absolute value as an unsigned integer; the lowest integer has one too."""
    return _unsigned(exact.magnitude(x) if kind(x) == "i" else x)


def gcd(x: Any, y: Any) -> Any:
    return _euclid(_magnitude(x), _magnitude(y)).astype(x.dtype)


def lcm(x: Any, y: Any) -> Any:
    a, b = _magnitude(x), _magnitude(y)
    divisor = _euclid(a, b)
    one = jnp.ones_like(a)
    return jnp.where(divisor == 0, 0, lax.div(a, lax.max(divisor, one)) * b).astype(x.dtype)


def _euclid(a: Any, b: Any) -> Any:
    def step(pair: tuple[Any, Any]) -> tuple[Any, Any]:
        a, b = pair
        rest = lax.rem(a, jnp.where(b == 0, jnp.ones_like(b), b))
        return jnp.where(b == 0, a, b), jnp.where(b == 0, b, rest)

    return lax.while_loop(lambda pair: jnp.any(pair[1] != 0), step, (a, b))[0]


def integer_power(x: Any, y: Any) -> Any:
    """`x ** y` for integers that wrap; negative exponents are somebody else's business."""

    def step(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        result, base, exponent = state
        result = jnp.where((exponent & 1) != 0, result * base, result)
        return result, base * base, lax.shift_right_logical(exponent, jnp.ones_like(exponent))

    start = (jnp.ones_like(x), x, y)
    return lax.while_loop(lambda state: jnp.any(state[2] > 0), step, start)[0]


def signbit(x: Any) -> Any:
    return exact.signbit(x)


def copysign(x: Any, y: Any) -> Any:
    return exact.copysign(x, y)


def frexp(x: Any) -> tuple[Any, Any]:
    """Fraction in [0.5, 1) and exponent; zero, NaN and infinities come back as they are."""
    if x.dtype == jnp.float16:  # to float32 its subnormal numbers are like all others
        fraction, exponent = frexp(x.astype(jnp.float32))
        return fraction.astype(x.dtype), exponent
    mantissa, bias = _LAYOUT[np.dtype(x.dtype).itemsize]
    pattern = exact.bits(x)
    field = ((pattern >> mantissa) & (2 * bias + 1)).astype(jnp.int32)
    keep = pattern & np.dtype(pattern.dtype).type(~((2 * bias + 1) << mantissa) & ((1 << _width(x)) - 1))
    fraction = exact.from_bits(keep | np.dtype(pattern.dtype).type((bias - 1) << mantissa), x.dtype)
    plain = (x == 0) | ~lax.is_finite(x)
    return jnp.where(plain, x, fraction), jnp.where(plain, 0, field - (bias - 1))


def ldexp(x: Any, exponent: Any) -> Any:
    """`x * 2 ** exponent`, in three steps so that no power of two overflows."""
    if x.dtype == jnp.float16:
        return exact.cast(ldexp(x.astype(jnp.float64), exponent), jnp.float16)
    exponent = lax.clamp(np.array(-6000, exponent.dtype), exponent, np.array(6000, exponent.dtype)).astype(jnp.int64)
    _, bias = _LAYOUT[np.dtype(x.dtype).itemsize]
    limit = bias - 1
    for _ in range(3):
        step = lax.clamp(jnp.int64(-limit), exponent, jnp.int64(limit))
        x = exact.multiply(x, power_of_two(step, x.dtype))
        exponent = exponent - step
    far = (exponent != 0) & lax.is_finite(x) & (x != 0)
    return jnp.where(far, jnp.where(exponent < 0, x * 0, x * jnp.inf), x)


def power_of_two(exponent: Any, dtype: Any) -> Any:
    """`2.0 ** exponent` for integers inside the range of normal floats."""
    mantissa, bias = _LAYOUT[np.dtype(dtype).itemsize]
    pattern = f"uint{8 * np.dtype(dtype).itemsize}"
    return exact.from_bits((exponent + bias).astype(pattern) << mantissa, dtype)


def modf(x: Any) -> tuple[Any, Any]:
    whole = exact.truncate(x)
    rest = jnp.where(jnp.isinf(x), jnp.zeros_like(x), exact.subtract(x, whole))
    return exact.copysign(rest, x), whole


def nextafter(x: Any, y: Any) -> Any:
    """The neighbour of `x` toward `y`, on bit patterns: no subnormal is lost."""
    dtype = x.dtype
    order = np.dtype(f"int{_width(x)}")
    lowest = np.array(np.iinfo(order).min, order)
    a, b = lax.bitcast_convert_type(x, order), lax.bitcast_convert_type(y, order)
    # Two's complement order of the floats, with both zeros at 0.
    a, b = jnp.where(a < 0, lowest - a, a), jnp.where(b < 0, lowest - b, b)
    moved = jnp.where(a < b, a + 1, a - 1)
    moved = jnp.where((moved == 0) & (a < 0), lowest, jnp.where(moved < 0, lowest - moved, moved))
    same = x if dtype == jnp.float16 and _KEEPS_FIRST_HALF else y
    result = jnp.where(a == b, same, lax.bitcast_convert_type(moved, dtype))
    return jnp.where((x != x) | (y != y), jnp.full_like(x, jnp.nan), result)


def spacing(x: Any) -> Any:
    """The distance to the next float away from zero, on bit patterns, so that no subnormal is lost."""
    mantissa, _ = _LAYOUT[np.dtype(x.dtype).itemsize]
    sign = lax.abs(x) if x.dtype == jnp.float16 else jnp.where(x == 0, jnp.zeros_like(x), x)
    pattern = exact.bits(lax.abs(x))
    field = (pattern >> mantissa).astype(jnp.int64)
    if x.dtype == jnp.float16:
        # NumPy's float16 spacing is positive, and half as wide below a negative power of two.
        power = exact.signbit(x) & ((pattern & ((1 << mantissa) - 1)) == 0) & (x != 0)
        field = jnp.where(power, field - 1, field)
    field = lax.max(field, jnp.ones_like(field))
    normal = field > mantissa
    shift = jnp.where(normal, 0, field - 1).astype(pattern.dtype)
    exponent = jnp.where(normal, field - mantissa, 0).astype(pattern.dtype) << mantissa
    unit = jnp.where(normal, exponent, jnp.ones_like(pattern) << shift)
    size = exact.copysign(exact.from_bits(unit, x.dtype), sign)
    largest = np.finfo(x.dtype).max
    reach = x == largest if x.dtype == jnp.float16 else lax.abs(x) == largest
    size = jnp.where(reach, exact.copysign(jnp.full_like(x, jnp.inf), sign), size)
    return jnp.where(lax.is_finite(x), size, jnp.full_like(x, jnp.nan))


def in_float32(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Compute float16 loops in float32, as NumPy does."""

    def extended(*xs: Any) -> Any:
        if xs[0].dtype != jnp.float16:
            return rule(*xs)
        return rule(*(x.astype(jnp.float32) for x in xs)).astype(jnp.float16)

    return extended
