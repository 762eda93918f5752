"""Where a product of many numbers depends on the order in which they are multiplied."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.elementwise_arithmetic import isnan, kind
from autojit.ops.reductions_moments import count_of, sum_of, without_nan


def depends_on_order(x: Any, axes: tuple[int, ...], dtype: Any) -> Any:
    """Whether a product on the way may overflow or underflow.

    NumPy multiplies one number after the other, a compiled program multiplies parts and these with each other. A zero
    makes NumPy's product zero, whatever follows; the product of the part that follows may be infinite, and zero times
    infinity is no number.

    Args:
        x: The numbers.
        axes: The axes along which they are multiplied.
        dtype: The dtype of the result.
    """
    dtype = np.dtype(np.float32 if dtype == np.float16 else dtype)
    count = count_of(x, axes)
    if dtype.kind not in "fc" or (count <= 2 and dtype.kind == "f"):  # NumPy multiplies the first by one, too
        return False
    x = exact.cast(x, dtype)
    if kind(x) == "c":
        # No part of a product, nor a term of it, is larger than the product of the absolute values.
        a, b = lax.real(x), lax.imag(x)
        # A NaN among the numbers makes both parts NaN, an infinity one or both.
        sizes, left_out = lax.sqrt(a * a + b * b), (x == 0) | isnan(x)
    else:
        # What comes of a zero, an infinity or a NaN among other numbers does not depend on the order.
        sizes, left_out = x, (x == 0) | ~jnp.isfinite(x)
    logarithms = jnp.where(left_out, 0, _logarithms(sizes)).astype(jnp.int64)
    limits = np.finfo(dtype)
    most = (min(limits.maxexp, -limits.minexp) - 2) * math.log(2) * 2.0 ** _fraction(limits) - count
    return sum_of(lax.abs(logarithms), axes, logarithms.dtype) > int(most)


def _fraction(limits: np.finfo) -> int:
    """The bits behind the point of the logarithms."""
    return min(int(limits.nmant), 20) if limits.bits == 64 else int(limits.nmant)


def _logarithms(x: Any) -> Any:
    """The logarithms of the absolute values to base 2, with a fixed point: the bits of a float are nearly that.

    The exponent and the mantissa behind it are up to 0.086 below the logarithm; the logarithm is at most 1/log(2)
    times as far from zero.
    """
    limits = np.finfo(np.dtype(x.dtype))
    pattern = exact.bits(x)
    shift = int(limits.nmant) - _fraction(limits)
    without_sign = pattern & np.dtype(pattern.dtype).type(2 ** (limits.bits - 1) - 1)
    return (without_sign >> shift).astype(jnp.int32) - np.int32((limits.maxexp - 1) << _fraction(limits))


def of_product(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    """The same for the operand of a reduction; NaN counts where it stands."""
    return depends_on_order(x, axes, node.outputs[0].spec.dtype)


def of_nanproduct(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    """The same where NaN counts as one."""
    return of_product(without_nan(x, 1), axes, node)
