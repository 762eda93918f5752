"""Float arithmetic that XLA must not rewrite, and the casts and bit tricks that the rules share.

XLA's algebraic simplifier treats floats as if they were reals: it turns `x / c` into `x * (1 / c)`, `x / y / z` into
`x / (y * z)`, `(x + 1e16) - 1e16` into `x`. An optimization barrier on the *broadcast operands* of an operation hides
them from the simplifier; the CPU compiler drops the barrier before it fuses, so nothing is materialized.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.jax_names import jnp, lax

_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
#: One NaN of each size in bytes.
_NAN = {2: 0x7E5A, 4: 0x7FC5A5A5, 8: 0x7FF85A5AA5A5C3C3}


def is_inexact(x: Any) -> bool:
    """Whether `x` holds floats or complex numbers."""
    return np.dtype(x.dtype).kind in "fc"


def fence(*xs: Any) -> tuple[Any, ...]:
    """The same values, hidden from XLA's algebraic simplifier where they are floats or complex."""
    return tuple(_fenced(x) if is_inexact(x) else x for x in xs)


def _fenced(x: Any) -> Any:
    if _is_complex(x):
        return lax.complex(lax.optimization_barrier(lax.real(x)), lax.optimization_barrier(lax.imag(x)))
    return lax.optimization_barrier(x)


def broadcast(*xs: Any, shape: tuple[int, ...] | None = None) -> tuple[Any, ...]:
    """The operands at their common shape, fenced."""
    if shape is None:
        shape = np.broadcast_shapes(*(np.shape(x) for x in xs))
    return fence(*(x if x.shape == shape else jnp.broadcast_to(x, shape) for x in xs))


def divide(x: Any, y: Any) -> Any:
    """`x / y`, correctly rounded, for operands of one float or complex dtype; they broadcast."""
    x, y = broadcast(x, y)
    return _divide_complex(x, y) if _is_complex(x) else lax.div(x, y)


def multiply(x: Any, y: Any) -> Any:
    """`x * y` for operands of one dtype; they broadcast."""
    x, y = broadcast(x, y)
    if not _is_complex(x):
        return real_product(x, y)
    a, b, c, d = lax.real(x), lax.imag(x), lax.real(y), lax.imag(y)
    return lax.complex(lax.sub(lax.mul(a, c), lax.mul(b, d)), lax.add(lax.mul(a, d), lax.mul(b, c)))


def real_product(x: Any, y: Any) -> Any:
    """`x * y` for real operands of one dtype and shape.

    Products of float16 are never contracted. Most processors compute them in float32 and cannot, those with AVX512-FP16
    would: with eleven bits the difference is seen.
    """
    return rounded_product(wrapping(lax.mul, x, y))


def rounded_product(product: Any) -> Any:
    """A product that is rounded before the next addition, if it is of float16."""
    return uncontracted(product) if product.dtype == np.float16 else product


def uncontracted(product: Any) -> Any:
    """A float product that XLA cannot contract with the next addition.

    The last bit of one particular NaN is turned, which leaves it a NaN. That a product is no NaN at all LLVM may know,
    as of what was an integer; that it is not this one it cannot.
    """
    if np.dtype(product.dtype).kind != "f":
        return product
    pattern = bits(product)
    kind = np.dtype(pattern.dtype)
    all_but_sign = kind.type((1 << (8 * kind.itemsize - 1)) - 1)
    is_it = (pattern & all_but_sign) == kind.type(_NAN[kind.itemsize])
    return from_bits(pattern ^ is_it.astype(kind), product.dtype)


def wrapping(rule: Callable[..., Any], *xs: Any) -> Any:
    """`rule(*xs)`, of signed integers of one dtype in unsigned arithmetic, which has the same bits.

    XLA takes a square and an absolute value for numbers that are not negative. A square that wraps around may be.
    """
    dtype = xs[0].dtype
    if np.dtype(dtype).kind != "i":
        return rule(*xs)
    return from_bits(rule(*map(bits, xs)), dtype)


def magnitude(x: Any) -> Any:
    """The absolute values of real numbers; the lowest integer is its own, which XLA does not know."""
    if np.dtype(x.dtype).kind != "i":
        return lax.abs(x)
    mask = lax.shift_right_arithmetic(x, jnp.full_like(x, 8 * np.dtype(x.dtype).itemsize - 1))
    return lax.sub(lax.bitwise_xor(x, mask), mask)


def subtract(x: Any, y: Any) -> Any:
    """`x - y` for operands of one dtype; they broadcast."""
    return _by_parts(lax.sub, *broadcast(x, y))


def add(x: Any, y: Any) -> Any:
    """`x + y` for operands of one dtype; they broadcast."""
    return _by_parts(lax.add, *broadcast(x, y))


def plus_zero(x: Any) -> Any:
    """A sum: where XLA makes a negative zero of it, NumPy has a zero."""
    return add(x, jnp.zeros_like(x)) if is_inexact(x) else x


def parts(x: Any) -> tuple[Any, ...]:
    """The real and the imaginary part of complex numbers; other numbers themselves."""
    return (lax.real(x), lax.imag(x)) if _is_complex(x) else (x,)


def _is_complex(x: Any) -> bool:
    return np.dtype(x.dtype).kind == "c"


def _by_parts(op: Any, x: Any, y: Any) -> Any:
    """The parts of complex numbers one by one: XLA's own complex arithmetic lets LLVM reassociate."""
    if not _is_complex(x):
        return op(x, y)
    return lax.complex(op(lax.real(x), lax.real(y)), op(lax.imag(x), lax.imag(y)))


def _divide_complex(x: Any, y: Any) -> Any:
    """Smith's method, in the order of NumPy's loop."""
    a, b, c, d = lax.real(x), lax.imag(x), lax.real(y), lax.imag(y)
    wide = lax.abs(c) >= lax.abs(d)
    large, small = jnp.where(wide, c, d), jnp.where(wide, d, c)
    ratio = divide(small, large)
    scale = divide(jnp.ones_like(large), add(large, multiply(small, ratio)))
    real = jnp.where(wide, add(a, multiply(b, ratio)), add(multiply(a, ratio), b))
    imag = jnp.where(wide, subtract(b, multiply(a, ratio)), subtract(multiply(b, ratio), a))
    zero = (c == 0) & (d == 0)
    # A division by zero is a multiplication by infinity.
    scale = jnp.where(zero, jnp.full_like(scale, jnp.inf), scale)
    real = multiply(jnp.where(zero, a, real), scale)
    imag = multiply(jnp.where(zero, b, imag), scale)
    return lax.complex(real, imag)


def cast(x: Any, dtype: Any) -> Any:
    """`x.astype(dtype)` as NumPy rounds it; the caller looks after values that an integer cannot hold."""
    dtype = np.dtype(dtype)
    if x.dtype == dtype:
        return x
    kind = np.dtype(x.dtype).kind
    if kind == "c" and dtype.kind not in "cb":
        return cast(lax.real(x), dtype)
    if dtype == np.float16 and x.dtype == np.float64:
        return _half(x)
    if dtype == np.bool_:
        return x != 0
    # Of a product with what was a bool XLA makes a choice, which knows no NaN, no infinity and no negative zero.
    return fence(x.astype(dtype))[0] if kind == "b" else x.astype(dtype)


def _half(x: Any) -> Any:
    """float64 to float16 in one rounding; XLA goes through float32 and rounds twice.

    The step to float32 rounds to odd: an inexact float32 gets its last bit set, which no later tie can hide.
    """
    near = x.astype(jnp.float32)
    back = near.astype(jnp.float64)
    pattern = bits(near)
    toward_zero = jnp.where(lax.abs(back) > lax.abs(x), pattern - 1, pattern)
    odd = jnp.where((back != x) & jnp.isfinite(back), toward_zero | 1, pattern)
    return from_bits(odd, jnp.float32).astype(jnp.float16)


def as_python_float(x: Any, dtype: Any) -> Any:
    """A Python int as the Python float that NumPy makes of it before it rounds it to a narrower one."""
    is_rounded_twice = np.dtype(x.dtype).kind == "i" and dtype.kind in "fc" and dtype not in (np.float64, np.complex128)
    return float_of_int(x) if is_rounded_twice else x


def float_of_int(x: Any) -> Any:
    """An int64 as float64, in two halves: of two conversions one behind the other LLVM makes one."""
    high, low = x >> np.int64(32), x & np.int64(2**32 - 1)
    return high.astype(jnp.float64) * np.float64(2**32) + low.astype(jnp.float64)


def outside(x: Any, dtype: Any) -> Any:
    """Where the real numbers `x` cannot be cast to the integer `dtype` (NaN, infinite or out of range)."""
    info = np.iinfo(dtype)
    if x.dtype == jnp.float16:
        x = x.astype(jnp.float32)
    # Both limits are powers of two (or 0), so every float dtype holds them exactly.
    low, high = float(info.min), float(info.max // 2 + 1) * 2.0
    # What is cut off may lie below the lower one by less than one, where the dtype holds such numbers.
    below = np.dtype(x.dtype).type(low - 1)
    return ~((x > below if below != low else x >= low) & (x < high))


def truncate(x: Any) -> Any:
    """`np.trunc` of floats, signed zeros kept."""
    return jnp.where(signbit(x), lax.ceil(x), lax.floor(x))


def bits(x: Any) -> Any:
    """The bit pattern of floats or integers as unsigned integers."""
    return lax.bitcast_convert_type(x, _BITS[np.dtype(x.dtype).itemsize])


def from_bits(pattern: Any, dtype: Any) -> Any:
    """The numbers with these bit patterns."""
    return lax.bitcast_convert_type(pattern, dtype)


def signbit(x: Any) -> Any:
    """`np.signbit` of floats."""
    return (bits(x) >> (8 * np.dtype(x.dtype).itemsize - 1)) != 0


def copysign(x: Any, y: Any) -> Any:
    """`np.copysign` of floats of one dtype.

    The sign is subtracted, which sets it as well. Of bits that are put together by "or", and chosen from with the same
    `y`, LLVM makes one instruction of AVX-512's, and may exchange two of its operands, without telling it
    (llvm/llvm-project#157929): `np.arctan(np.copysign(a, a))` was wrong everywhere.
    """
    pattern = bits(x)
    sign = np.dtype(pattern.dtype).type(1 << (8 * np.dtype(x.dtype).itemsize - 1))
    return from_bits((pattern & ~sign) - (bits(y) & sign), x.dtype)
