"""The elementwise chapter: a row for every NumPy ufunc that works element by element."""

from __future__ import annotations

import numpy as np

from autojit.ir.op import Op
from autojit.ops import elementwise_arithmetic as a
from autojit.ops import elementwise_bits as b
from autojit.ops import elementwise_casts as casts
from autojit.ops import elementwise_complex as c
from autojit.ops import elementwise_functions as functions
from autojit.ops import elementwise_math as m
from autojit.ops import elementwise_power as power
from autojit.ops import elementwise_rounding as rounding
from autojit.ops.elementwise_power import fast_power
from autojit.ops.families import elementwise

__all__ = ["ROWS", "fast_power"]

_REAL = "complex numbers stay in NumPy"

ROWS: tuple[Op, ...] = (
    elementwise(np.add, a.add, bitwise="fc", rounds="sum"),
    elementwise(np.subtract, a.subtract, bitwise="fc", rounds="difference"),
    elementwise(np.multiply, a.multiply, bitwise="f", rounds="product"),
    elementwise(np.divide, a.divide, check=a.huge_divisor, bitwise="f", rounds="quotient"),
    elementwise(np.floor_divide, a.floor_divide, check=a.small_divisor),
    elementwise(np.remainder, a.remainder, check=a.small_divisor),
    elementwise(np.divmod, a.divmod_, check=a.small_divisor),
    elementwise(np.fmod, a.fmod, check=a.zero_divisor),
    elementwise(np.negative, a.negative, bitwise="fc"),
    elementwise(np.positive, a.positive, bitwise="fc"),
    elementwise(np.absolute, a.absolute, bitwise="f"),
    elementwise(np.fabs, a.absolute, bitwise="f"),
    elementwise(np.sign, a.sign, check=c.too_long, bitwise="f"),
    elementwise(np.square, a.square, bitwise="f", rounds="square"),
    elementwise(np.reciprocal, a.reciprocal, check=a.zero_operand, bitwise="f", rounds="inverse"),
    elementwise(np.conjugate, a.conjugate, methods=("conj", "conjugate"), bitwise="fc"),
    elementwise(np.rint, a.rint, bitwise="fc"),
    elementwise(np.floor, a.floor, bitwise="fc"),
    elementwise(np.ceil, a.ceil, bitwise="fc"),
    elementwise(np.trunc, a.trunc, bitwise="fc"),
    elementwise(np.hypot, a.hypot),
    elementwise(np.equal, a.equal, bitwise="fc"),
    elementwise(np.not_equal, a.not_equal, bitwise="fc"),
    elementwise(np.less, a.less, bitwise="fc"),
    elementwise(np.less_equal, a.less_equal, bitwise="fc"),
    elementwise(np.greater, a.greater, bitwise="fc"),
    elementwise(np.greater_equal, a.greater_equal, bitwise="fc"),
    elementwise(np.maximum, a.maximum, bitwise="f", rounds="zeros"),
    elementwise(np.minimum, a.minimum, bitwise="f", rounds="zeros"),
    elementwise(np.fmax, a.fmax),
    elementwise(np.fmin, a.fmin),
    elementwise(np.logical_and, a.logical_and, bitwise="fc"),
    elementwise(np.logical_or, a.logical_or, bitwise="fc"),
    elementwise(np.logical_xor, a.logical_xor, bitwise="fc"),
    elementwise(np.logical_not, a.logical_not, bitwise="fc"),
    elementwise(np.isnan, a.isnan, bitwise="fc"),
    elementwise(np.isfinite, a.isfinite, bitwise="fc"),
    elementwise(np.isinf, a.isinf, bitwise="fc"),
    elementwise(np.heaviside, a.heaviside, bitwise="f"),
    elementwise(np.bitwise_and, b.bitwise_and),
    elementwise(np.bitwise_or, b.bitwise_or),
    elementwise(np.bitwise_xor, b.bitwise_xor),
    elementwise(np.invert, b.invert),
    elementwise(np.left_shift, b.left_shift),
    elementwise(np.right_shift, b.right_shift),
    elementwise(np.bitwise_count, b.bitwise_count),
    elementwise(np.gcd, b.gcd),
    elementwise(np.lcm, b.lcm),
    elementwise(np.signbit, b.signbit, bitwise="f"),
    elementwise(np.copysign, b.copysign, bitwise="f"),
    elementwise(np.frexp, b.frexp),
    elementwise(np.ldexp, b.ldexp),
    elementwise(np.modf, b.modf),
    elementwise(np.nextafter, b.nextafter),
    elementwise(np.spacing, b.spacing),
    elementwise(np.sqrt, c.both("sqrt"), check=c.unfinished, bitwise="f"),
    elementwise(np.cbrt, m.cbrt),
    elementwise(np.exp, c.both("exp"), check=c.unfinished),
    elementwise(np.exp2, c.both("exp2"), check=c.unfinished),
    elementwise(np.expm1, m.expm1, only="f", note=_REAL),
    elementwise(np.log, c.both("log"), check=c.of_large),
    elementwise(np.log2, c.both("log2"), check=c.of_large),
    elementwise(np.log10, c.both("log10"), check=c.of_large),
    elementwise(np.log1p, m.log1p, only="f", note=_REAL),
    elementwise(np.logaddexp, m.logaddexp),
    elementwise(np.logaddexp2, m.logaddexp2),
    elementwise(np.sin, c.both("sin"), check=c.of_high),
    elementwise(np.cos, c.both("cos"), check=c.of_high),
    elementwise(np.tan, c.both("tan"), check=c.unfinished),
    elementwise(np.arcsin, m.arcsin, only="f", note=_REAL),
    elementwise(np.arccos, m.arccos, only="f", note=_REAL),
    elementwise(np.arctan, c.both("arctan"), check=c.near_pole(0.0, 1.0)),
    elementwise(np.arctan2, m.arctan2),
    elementwise(np.sinh, c.both("sinh"), check=c.of_long),
    elementwise(np.cosh, c.both("cosh"), check=c.of_long),
    elementwise(np.tanh, c.both("tanh"), check=c.unfinished),
    elementwise(np.arcsinh, c.both("arcsinh"), check=c.unfinished),
    elementwise(np.arccosh, m.arccosh, only="f", note=_REAL),
    elementwise(np.arctanh, c.both("arctanh"), check=c.near_pole(1.0, 0.0)),
    elementwise(np.radians, m.radians),
    elementwise(np.deg2rad, m.radians),
    elementwise(np.degrees, m.degrees),
    elementwise(np.rad2deg, m.degrees),
    *power.ROWS,
    *functions.ROWS,
    *rounding.ROWS,
    *casts.ROWS,
)
