"""Rules for arithmetic, comparisons, minima and maxima, and logic. Operands come broadcast, in NumPy's loop dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.jax_names import jnp, lax
from autojit.ops import exact


def kind(x: Any) -> str:
    """The kind of the dtype: one of "biufc"."""
    return np.dtype(x.dtype).kind


def add(x: Any, y: Any) -> Any:
    """The sum; of bools, either."""
    if kind(x) == "b":
        return x | y
    return exact.add(x, y) if kind(x) == "c" else lax.add(x, y)


def subtract(x: Any, y: Any) -> Any:
    """The difference; NumPy has none for bools."""
    return exact.subtract(x, y) if kind(x) == "c" else lax.sub(x, y)


def multiply(x: Any, y: Any) -> Any:
    """The product; of bools, both."""
    if kind(x) == "b":
        return x & y
    return exact.multiply(x, y) if kind(x) == "c" else exact.real_product(x, y)


def divide(x: Any, y: Any) -> Any:
    return exact.divide(x, y)


def huge_divisor(x: Any, y: Any) -> Any:
    """A complex divisor so large that its reciprocal, by which NumPy multiplies, is subnormal for XLA a zero."""
    if kind(y) != "c":
        return False
    limit = 2.0**1020 if y.dtype == np.complex128 else 2.0**124
    return ((abs(y.real) > limit) & (abs(y.real) < np.inf) | (abs(y.imag) > limit) & (abs(y.imag) < np.inf)).any()


def zero_divisor(_: Any, y: Any) -> Any:
    """When an integer division or remainder is left to NumPy."""
    return (y == 0).any() if kind(y) in "iu" else False


def small_divisor(x: Any, y: Any) -> Any:
    """The same, or a float so small that a remainder may be subnormal, which XLA takes for zero."""
    if kind(y) in "iu":
        return zero_divisor(x, y)
    if y.dtype not in (np.float32, np.float64):
        return False
    info = np.finfo(y.dtype)
    least = np.ldexp(info.tiny, info.nmant + 1)
    return ((y != 0) & (y < least) & (y > -least)).any()


def floor_divide(x: Any, y: Any) -> Any:
    return divmod_(x, y)[0]


def remainder(x: Any, y: Any) -> Any:
    return divmod_(x, y)[1]


def divmod_(x: Any, y: Any) -> tuple[Any, Any]:
    if kind(x) in "iu":
        return _divmod_integer(x, y)
    if x.dtype == jnp.float16:
        quotient, rest = _divmod_float(x.astype(jnp.float32), y.astype(jnp.float32))
        return quotient.astype(jnp.float16), rest.astype(jnp.float16)
    return _divmod_float(x, y)


def _divmod_integer(x: Any, y: Any) -> tuple[Any, Any]:
    divisor = _not_zero(y)
    quotient, rest = lax.div(x, divisor), lax.rem(x, divisor)
    zero = jnp.zeros_like(x)
    if kind(x) == "i":
        down = (rest != 0) & ((rest < 0) != (y < 0))
        quotient, rest = jnp.where(down, quotient - 1, quotient), jnp.where(down, rest + y, rest)
        rest = jnp.where(y == -1, zero, rest)
    return jnp.where(y == 0, zero, quotient), jnp.where(y == 0, zero, rest)


def _not_zero(y: Any) -> Any:
    """A divisor with ones for zeros: XLA's compiler itself divides constants, and dies of a zero."""
    return jnp.where(y == 0, jnp.ones_like(y), y)


def _divmod_float(x: Any, y: Any) -> tuple[Any, Any]:
    """Python's rule: the remainder has the divisor's sign, the quotient is snapped to the nearest integer."""
    rest = lax.rem(x, y)
    quotient = exact.divide(x - rest, y)
    turn = (rest != 0) & ((y < 0) != (rest < 0))
    quotient = jnp.where(turn, quotient - 1, quotient)
    floor = lax.floor(quotient)
    floor = jnp.where(exact.subtract(quotient, floor) > 0.5, floor + 1, floor)
    plain = exact.divide(x, y)
    floor = jnp.where(quotient == 0, exact.copysign(jnp.zeros_like(x), plain), floor)
    signed = jnp.where(rest == 0, exact.copysign(jnp.zeros_like(x), y), jnp.where(turn, rest + y, rest))
    zero = y == 0
    return jnp.where(zero, plain, floor), jnp.where(zero, rest, signed)


def fmod(x: Any, y: Any) -> Any:
    if kind(x) == "f":
        return lax.rem(x, y)
    rest = jnp.where(y == 0, jnp.zeros_like(x), lax.rem(x, _not_zero(y)))
    return jnp.where(y == -1, jnp.zeros_like(x), rest) if kind(x) == "i" else rest


def negative(x: Any) -> Any:
    return lax.neg(x)


def positive(x: Any) -> Any:
    return x


def absolute(x: Any) -> Any:
    if kind(x) in "bu":
        return x
    return hypot(lax.real(x), lax.imag(x)) if kind(x) == "c" else exact.magnitude(x)


def hypot(x: Any, y: Any) -> Any:
    """The length of a vector; infinite if one side is, whatever the other is. No intermediate overflows."""
    if x.dtype != jnp.float64:
        return hypot(x.astype(jnp.float64), y.astype(jnp.float64)).astype(x.dtype)
    size = lax.max(lax.abs(x), lax.abs(y))
    down, up = size > 2.0**500, size < 2.0**-400
    scale = jnp.where(down, 2.0**-600, jnp.where(up, 2.0**600, 1.0))
    back = jnp.where(down, 2.0**600, jnp.where(up, 2.0**-600, 1.0))
    x, y = exact.multiply(x, scale), exact.multiply(y, scale)
    length = exact.multiply(lax.sqrt(exact.add(exact.multiply(x, x), exact.multiply(y, y))), back)
    return jnp.where((lax.abs(x) == jnp.inf) | (lax.abs(y) == jnp.inf), jnp.full_like(x, jnp.inf), length)


def sign(x: Any) -> Any:
    if kind(x) == "c":
        return _complex_sign(x)
    one, zero = jnp.ones_like(x), jnp.zeros_like(x)
    if kind(x) == "u":
        return jnp.where(x > 0, one, zero)
    return jnp.where(x > 0, one, jnp.where(x < 0, -one, jnp.where(x == 0, zero, x)))


def _complex_sign(x: Any) -> Any:
    """`x / abs(x)`; one infinite part alone gives the direction, and the imaginary one where `abs(x)` overflows."""
    a, b, size = lax.real(x), lax.imag(x), absolute(x)
    zero, lost = jnp.zeros_like(a), isnan(size) | (isinf(a) & isinf(b))
    part_a = jnp.where(isinf(size), jnp.where(isinf(a), lax.sign(a), zero), exact.divide(a, size))
    part_b = jnp.where(isinf(size), jnp.where(isinf(a), zero, lax.sign(b)), exact.divide(b, size))
    nothing = jnp.full_like(a, jnp.nan)
    part_a, part_b = (jnp.where(lost, nothing, jnp.where(size == 0, zero, part)) for part in (part_a, part_b))
    return lax.complex(part_a, part_b)


def square(x: Any) -> Any:
    return multiply(x, x)


def reciprocal(x: Any) -> Any:
    if kind(x) in "iu":
        return lax.div(jnp.ones_like(x), jnp.where(x == 0, jnp.ones_like(x), x))
    return _complex_reciprocal(x) if kind(x) == "c" else exact.divide(jnp.ones_like(x), x)


def _complex_reciprocal(x: Any) -> Any:
    """In the order of NumPy's loop."""
    a, b = lax.real(x), lax.imag(x)
    wide = lax.abs(b) <= lax.abs(a)
    large, small, one = jnp.where(wide, a, b), jnp.where(wide, b, a), jnp.ones_like(a)
    ratio = exact.divide(small, large)
    whole = exact.add(large, exact.multiply(small, ratio))
    real = exact.divide(jnp.where(wide, one, ratio), whole)
    return lax.complex(real, -exact.divide(jnp.where(wide, ratio, one), whole))


def zero_operand(x: Any) -> Any:
    """When an integer reciprocal is left to NumPy."""
    return (x == 0).any() if kind(x) in "iu" else False


def conjugate(x: Any) -> Any:
    return lax.conj(x) if kind(x) == "c" else x


def by_parts(rule: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Extend a rule for floats to complex numbers, part by part, and to integers, which it leaves alone."""

    def extended(x: Any) -> Any:
        if kind(x) in "biu":
            return x
        return lax.complex(rule(lax.real(x)), rule(lax.imag(x))) if kind(x) == "c" else rule(x)

    return extended


def _rint(x: Any) -> Any:
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


rint, floor, ceil, trunc = by_parts(_rint), by_parts(lax.floor), by_parts(lax.ceil), by_parts(exact.truncate)


def compare(op: Callable[[Any, Any], Any], strict: Callable[[Any, Any], Any] | None = None) -> Callable[..., Any]:
    """A comparison. NumPy orders complex numbers by the real, then the imaginary part.

    Args:
        op: The comparison itself.
        strict: For orderings, the same one without equality; `None` for equality and inequality.
    """

    def rule(x: Any, y: Any) -> Any:
        if kind(x) == "i" and kind(y) == "u":
            return jnp.where(x < 0, op(np.int64(-1), np.int64(0)), op(x.astype(y.dtype), y))
        if kind(x) == "u" and kind(y) == "i":
            return jnp.where(y < 0, op(np.int64(0), np.int64(-1)), op(x, y.astype(x.dtype)))
        if kind(x) != "c" or strict is None:
            return op(x, y)
        a, b, c, d = lax.real(x), lax.imag(x), lax.real(y), lax.imag(y)
        return (strict(a, c) & ~jnp.isnan(b) & ~jnp.isnan(d)) | ((a == c) & op(b, d))

    return rule


equal = compare(lambda x, y: x == y)
not_equal = compare(lambda x, y: x != y)
less = compare(lambda x, y: x < y, lambda x, y: x < y)
less_equal = compare(lambda x, y: x <= y, lambda x, y: x < y)
greater = compare(lambda x, y: x > y, lambda x, y: x > y)
greater_equal = compare(lambda x, y: x >= y, lambda x, y: x > y)


def isnan(x: Any) -> Any:
    return x != x if exact.is_inexact(x) else jnp.zeros(x.shape, bool)


def maximum(x: Any, y: Any) -> Any:
    """The larger one; NaN wins, which XLA:CPU's `max` drops inside of large fused reductions.

    Of two zeros it is NumPy's: the second one, of complex numbers and float16 the first.
    """
    if not exact.is_inexact(x):
        return lax.max(x, y)
    return jnp.where(isnan(x) | (greater_equal if _keeps_first(x) else greater)(x, y), x, y)


def minimum(x: Any, y: Any) -> Any:
    """The smaller one, as `maximum` has it."""
    if not exact.is_inexact(x):
        return lax.min(x, y)
    return jnp.where(isnan(x) | (less_equal if _keeps_first(x) else less)(x, y), x, y)


def _keeps_first(x: Any) -> bool:
    """Whether of two numbers that are equal NumPy gives the first one; its vector code gives the second."""
    return kind(x) == "c" or x.dtype == jnp.float16


def between(x: Any, low: Any, high: Any) -> Any:
    """`np.clip` of floats with one bound each for all: what is equal to a bound stays as it is, and NaN wins."""
    raised = jnp.where((x < low) | isnan(low), low, x)
    return jnp.where((raised > high) | isnan(high), high, raised)


def fmax(x: Any, y: Any) -> Any:
    return jnp.where(isnan(y) | greater_equal(x, y), x, y)


def fmin(x: Any, y: Any) -> Any:
    return jnp.where(isnan(y) | less_equal(x, y), x, y)


def truth(x: Any) -> Any:
    """Whether the elements are not zero; NaN is true."""
    return x if kind(x) == "b" else x != 0


def logical_and(x: Any, y: Any) -> Any:
    return truth(x) & truth(y)


def logical_or(x: Any, y: Any) -> Any:
    return truth(x) | truth(y)


def logical_xor(x: Any, y: Any) -> Any:
    return truth(x) ^ truth(y)


def logical_not(x: Any) -> Any:
    return ~truth(x)


def isfinite(x: Any) -> Any:
    if kind(x) == "c":
        return isfinite(lax.real(x)) & isfinite(lax.imag(x))
    return lax.is_finite(x) if kind(x) == "f" else jnp.ones(x.shape, bool)


def isinf(x: Any) -> Any:
    if kind(x) == "c":
        return isinf(lax.real(x)) | isinf(lax.imag(x))
    return lax.abs(x) == jnp.inf if kind(x) == "f" else jnp.zeros(x.shape, bool)


def heaviside(x: Any, y: Any) -> Any:
    one, zero = jnp.ones_like(x), jnp.zeros_like(x)
    return jnp.where(isnan(x), x, jnp.where(x == 0, y, jnp.where(x < 0, zero, one)))
