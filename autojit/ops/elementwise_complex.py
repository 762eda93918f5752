"""Rules for functions of complex numbers. complex64 is computed in double precision.

NumPy has a table of results for infinite and NaN parts of each function; such data is left to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.jax_names import jnp, lax
from autojit.ops import elementwise_math as real_math
from autojit.ops import exact
from autojit.ops.elementwise_arithmetic import hypot, kind

#: The largest number whose exponential is finite, but for a factor of two.
_MOST = 709.0
#: Products and sums of two such numbers are finite.
_LARGE = 2.0**1000
#: Rules for complex operands, by the name of the rule for real ones.
RULES: dict[str, Callable[..., Any]] = {}


def _rule(function: Callable[..., Any]) -> Callable[..., Any]:
    def wide(*xs: Any) -> Any:
        if xs[0].dtype == jnp.complex128:
            return function(*xs)
        return function(*(x.astype(jnp.complex128) for x in xs)).astype(jnp.complex64)

    RULES[function.__name__] = wide
    return wide


def both(name: str) -> Callable[..., Any]:
    """The rule `name` for real and for complex operands."""
    of_real, of_complex = getattr(real_math, name), RULES[name]

    def rule(*xs: Any) -> Any:
        return of_complex(*xs) if kind(xs[0]) == "c" else of_real(*xs)

    return rule


def unfinished(*xs: Any) -> Any:
    """When complex operands are left to NumPy: a part is infinite or NaN."""
    return _unless(lambda x, of: of.isfinite(x), *xs)


def far(real: float = np.inf, imag: float = np.inf) -> Callable[..., Any]:
    """When complex operands are left to NumPy: a part is this large, so that a factor or a sum on the way overflows."""

    def check(*xs: Any) -> Any:
        return _unless(lambda x, of: (of.abs(of.real(x)) < real) & (of.abs(of.imag(x)) < imag), *xs)

    return check


def too_long(x: Any) -> Any:
    """When complex operands are left to NumPy: their parts are finite, and their absolute value may not be."""

    def fine(x: Any, of: Any) -> Any:
        return ~of.isfinite(x) | ((of.abs(of.real(x)) < _LARGE) & (of.abs(of.imag(x)) < _LARGE))

    return _unless(fine, x)


def near_pole(real: float, imag: float) -> Callable[..., Any]:
    """When complex operands are left to NumPy: they are not finite, or so near to a pole that a square underflows."""

    def at(part: Any, place: float, of: Any) -> Any:
        size = of.abs(part)
        return size == 1 if place else size <= 2.0**-300  # which is zero in float32

    def check(*xs: Any) -> Any:
        return _unless(lambda x, of: of.isfinite(x) & ~(at(of.real(x), real, of) & at(of.imag(x), imag, of)), *xs)

    return check


def _unless(fine: Callable[[Any, Any], Any], *xs: Any) -> Any:
    """Whether the elements of a complex operand are not all `fine(x, numpy or jax.numpy)`."""
    if kind(xs[0]) != "c":
        return False
    if all(isinstance(x, np.ndarray) for x in xs):
        return not all(fine(x, np).all() for x in xs)
    return ~jnp.all(jnp.stack([jnp.all(fine(jnp.asarray(x), jnp)) for x in xs]))


of_large = far(_LARGE, _LARGE)
of_long = far(real=_MOST)
of_high = far(imag=_MOST)


def _scaled(x: Any, factor: float) -> Any:
    return lax.complex(exact.multiply(lax.real(x), factor), exact.multiply(lax.imag(x), factor))


@_rule
def sqrt(x: Any) -> Any:
    """The root with a real part that is not negative; the imaginary part keeps its sign, on zero too."""
    a, b = lax.real(x), lax.imag(x)
    size = lax.max(lax.abs(a), lax.abs(b))
    # Powers of four, so that the root of the scale is exact.
    scale = jnp.where(size > 2.0**1000, 2.0**-4, jnp.where(size < 2.0**-900, 2.0**120, 1.0))
    back = jnp.where(size > 2.0**1000, 2.0**2, jnp.where(size < 2.0**-900, 2.0**-60, 1.0))
    a, b = exact.multiply(a, scale), exact.multiply(b, scale)
    half = jnp.full_like(a, 0.5)
    t = lax.sqrt(exact.multiply(exact.add(lax.abs(a), hypot(a, b)), half))
    other = jnp.where(t == 0, jnp.zeros_like(t), exact.divide(exact.multiply(lax.abs(b), half), t))
    right = ~(a < 0)
    real, imag = jnp.where(right, t, other), exact.copysign(jnp.where(right, other, t), b)
    return lax.complex(exact.multiply(real, back), exact.multiply(imag, back))


@_rule
def exp(x: Any) -> Any:
    a, b = lax.real(x), lax.imag(x)
    root = lax.exp(exact.multiply(a, jnp.full_like(a, 0.5)))
    real = exact.multiply(exact.multiply(root, lax.cos(b)), root)
    imag = exact.multiply(exact.multiply(root, lax.sin(b)), root)
    return lax.complex(real, jnp.where(b == 0, b, imag))


@_rule
def log(x: Any) -> Any:
    a, b = lax.real(x), lax.imag(x)
    size = hypot(a, b)
    low, high = lax.min(lax.abs(a), lax.abs(b)), lax.max(lax.abs(a), lax.abs(b))
    one = jnp.ones_like(a)
    excess = exact.add(exact.multiply(exact.subtract(high, one), exact.add(high, one)), exact.multiply(low, low))
    near = exact.multiply(real_math.log1p(excess), jnp.full_like(a, 0.5))
    return lax.complex(jnp.where((size > 0.5) & (size < 2), near, real_math.log(size)), real_math.arctan2(b, a))


@_rule
def log2(x: Any) -> Any:
    return _scaled(RULES["log"](x), 1 / np.log(2.0))


@_rule
def log10(x: Any) -> Any:
    return _scaled(RULES["log"](x), 1 / np.log(10.0))


@_rule
def exp2(x: Any) -> Any:
    return RULES["exp"](_scaled(x, np.log(2.0)))


@_rule
def sinh(x: Any) -> Any:
    a, b = lax.real(x), lax.imag(x)
    return lax.complex(exact.multiply(real_math.sinh(a), lax.cos(b)), exact.multiply(real_math.cosh(a), lax.sin(b)))


@_rule
def cosh(x: Any) -> Any:
    a, b = lax.real(x), lax.imag(x)
    return lax.complex(exact.multiply(real_math.cosh(a), lax.cos(b)), exact.multiply(real_math.sinh(a), lax.sin(b)))


@_rule
def sin(x: Any) -> Any:
    a, b = lax.real(x), lax.imag(x)
    return lax.complex(exact.multiply(lax.sin(a), real_math.cosh(b)), exact.multiply(lax.cos(a), real_math.sinh(b)))


@_rule
def cos(x: Any) -> Any:
    a, b = lax.real(x), lax.imag(x)
    return lax.complex(exact.multiply(lax.cos(a), real_math.cosh(b)), -exact.multiply(lax.sin(a), real_math.sinh(b)))


@_rule
def tanh(x: Any) -> Any:
    """Kahan's formula, which keeps its accuracy near the poles."""
    a, b = lax.real(x), lax.imag(x)
    one = jnp.ones_like(a)
    far = lax.abs(a) > 22
    near = jnp.where(far, one, a)
    tangent, sine = lax.tan(b), real_math.sinh(near)
    square, slope = exact.multiply(sine, sine), exact.add(one, exact.multiply(tangent, tangent))
    below = exact.add(one, exact.multiply(slope, square))
    above = exact.multiply(exact.multiply(slope, lax.sqrt(exact.add(one, square))), sine)
    small = exact.multiply(exact.multiply(lax.sin(b), lax.cos(b)), 4 * lax.exp(-2 * lax.abs(a)))
    real = jnp.where(far, exact.copysign(one, a), exact.divide(above, below))
    return lax.complex(real, jnp.where(far, small, exact.divide(tangent, below)))


@_rule
def tan(x: Any) -> Any:
    turned = RULES["tanh"](lax.complex(-lax.imag(x), lax.real(x)))
    return lax.complex(lax.imag(turned), -lax.real(turned))


@_rule
def power(x: Any, y: Any) -> Any:
    """`exp(y * log(x))`; powers of zero are zero, one or NaN."""
    result = RULES["exp"](exact.multiply(y, RULES["log"](x)))
    nothing = jnp.full_like(x, complex(np.nan, np.nan))
    zero = jnp.where(lax.real(y) > 0, jnp.zeros_like(x), nothing)
    return jnp.where(y == 0, jnp.ones_like(x), jnp.where(x == 0, zero, result))


def _of_xla(name: str, function: Callable[..., Any]) -> None:
    def rule(x: Any) -> Any:
        found = function(x)
        # The parts have the signs of the operand's parts; XLA loses those of zeros.
        parts = zip((lax.real(found), lax.imag(found)), (lax.real(x), lax.imag(x)), strict=True)
        return lax.complex(*(exact.copysign(part, given) for part, given in parts))

    rule.__name__ = name
    _rule(rule)


_of_xla("arctan", lax.atan)
_of_xla("arcsinh", lax.asinh)
_of_xla("arctanh", lax.atanh)
