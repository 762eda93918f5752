"""Rows for np.power and np.float_power, and what NumPy's `**` operator stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.graph import Const
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.elementwise_arithmetic import kind
from autojit.ops.elementwise_bits import in_float32, integer_power
from autojit.ops.elementwise_complex import RULES, of_large, unfinished
from autojit.ops.families import cast_operands, known_operands, loop_dtypes, row, trap_if, ufunc_infer

#: Exponents up to here are multiplied out for floats: at most two roundings, and many times as fast as `pow`.
_FLOAT_LIMIT = 4
#: NumPy multiplies complex powers out up to here.
_COMPLEX_LIMIT = 99
#: Above here, and for negative exponents, it begins with a product by one, which makes -0.0 of sums 0.0, and NaN of
#: infinities.
_COMPLEX_PLAIN = 3


def fast_power(base: Spec, exponent: object) -> np.ufunc | None:
    """The ufunc behind `base ** exponent` where it is not np.power.

    NumPy looks for the exact Python ints -1 and 2 and the Python float 0.5, and only when the base is an array.

    Args:
        base: The spec of the base.
        exponent: The exponent as it stands in the program.
    """
    if base.kind != "array":
        return None
    if type(exponent) is int and exponent == 2:
        return np.square
    if base.dtype.kind in "fc":
        if type(exponent) is int and exponent == -1:
            return np.reciprocal
        if type(exponent) is float and exponent == 0.5:
            return np.sqrt
    return None


def _lower(function: np.ufunc) -> Callable[..., Any]:
    def lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
        dtypes = loop_dtypes(function, node.specs, node.keywords.get("dtype"))
        xs = cast_operands(node, xs, dtypes, trap)
        base, exponent = known_operands(node, xs)
        if kind(exponent) == "i":
            # NumPy raises: integers to negative integer powers are not allowed.
            trap_if((exponent < 0).any(), trap)
        trap_if(unfinished(*known_operands(node, xs)), trap)
        trap_if(of_large(exponent), trap)  # its product with a logarithm may overflow
        known = exponent if isinstance(node.inputs[1], Const) and exponent.ndim == 0 else None
        if not _is_multiplied_out(known):
            trap_if(of_large(base), trap)  # its absolute value may be infinite, and so the logarithm
        x, y = exact.broadcast(*xs, shape=node.outputs[0].spec.shape)
        if kind(x) == "c" and known is None and node.specs[1].weak and node.specs[1].dtype.kind == "i":
            # NumPy's `**` takes the square, whose zeros keep their signs.
            trap_if(((y == 2) & (x == 0) & (exact.signbit(lax.real(x)) | exact.signbit(lax.imag(x)))).any(), trap)
        if kind(x) == "f" and not _is_other_than_half(node.inputs[1]):
            # NumPy's loops take the square root for an exponent that stands still; these bases tell the two apart.
            trap_if(((y == 0.5) & ((x == -jnp.inf) | ((x == 0) & exact.signbit(x)))).any(), trap)
        return (_power(x, y, known),)

    return lower


def _is_multiplied_out(exponent: Any) -> bool:
    """Whether powers of complex numbers with this exponent, known or `None`, are products."""
    return exponent is not None and complex(exponent) in range(-_COMPLEX_LIMIT, _COMPLEX_LIMIT + 1)


def _is_other_than_half(exponent: Any) -> bool:
    return isinstance(exponent, Const) and not np.any(np.asarray(exponent.value) == 0.5)


def _power(x: Any, y: Any, known: Any) -> Any:
    if kind(x) in "iu":
        return integer_power(x, y) if known is None else product(x, max(int(known), 0))
    if kind(x) == "f":
        if known is not None and float(known) in range(1, _FLOAT_LIMIT + 1):
            return in_float32(lambda z: product(z, int(known)))(x)
        return in_float32(lax.pow)(x, y)
    if _is_multiplied_out(known):
        return _complex_product(x, int(known.real))
    return RULES["power"](x, y) if known is not None else _complex_power(x, y)


def _complex_power(x: Any, y: Any) -> Any:
    """Powers whose exponents the run brings: NumPy multiplies out whole ones."""
    real = lax.real(y)
    whole = (lax.imag(y) == 0) & (jnp.abs(real) <= _COMPLEX_LIMIT) & (jnp.trunc(real) == real)
    count = jnp.where(whole, jnp.abs(real), 0).astype(jnp.int32)
    is_first = (real >= 1) & (real <= _COMPLEX_PLAIN)
    result, power = jnp.ones_like(x), x
    for bit in range(_COMPLEX_LIMIT.bit_length()):
        takes = (count >> bit) & 1 == 1
        result = jnp.where(takes, jnp.where(is_first, power, _times(result, power)), result)
        is_first = is_first & ~takes
        power = _times(power, power)
    result = jnp.where(real < 0, _inverse(result, x), jnp.where(real > 0, _of_zero(result, x), result))
    return jnp.where(whole, result, RULES["power"](x, y))


def product(x: Any, exponent: int, result: Any = None, times: Callable[[Any, Any], Any] = exact.multiply) -> Any:
    """`x ** exponent` by squaring, times `result`, for an exponent known when the program is built."""
    while exponent:
        if exponent & 1:
            result = x if result is None else times(result, x)
        exponent >>= 1
        if exponent:
            x = times(x, x)
    return jnp.ones_like(x) if result is None else result


def _complex_product(x: Any, exponent: int) -> Any:
    if exponent == 0:
        return jnp.ones_like(x)
    first = None if 1 <= exponent <= _COMPLEX_PLAIN else jnp.ones_like(x)
    result = product(x, abs(exponent), first, _times)
    return _inverse(result, x) if exponent < 0 else _of_zero(result, x)


def _times(x: Any, y: Any) -> Any:
    """The product of complex numbers with all of its roundings: where one overflows, they decide which part is NaN."""
    a, b, c, d = lax.real(x), lax.imag(x), lax.real(y), lax.imag(y)
    ac, bd, ad, bc = (exact.uncontracted(lax.mul(*pair)) for pair in ((a, c), (b, d), (a, d), (b, c)))
    return lax.complex(lax.sub(ac, bd), lax.add(ad, bc))


def _of_zero(power: Any, base: Any) -> Any:
    """The power, and 0 without a sign for zeros of any sign."""
    return jnp.where(base == 0, jnp.zeros_like(power), power)


def _inverse(power: Any, base: Any) -> Any:
    result = exact.divide(jnp.ones_like(power), power)
    return jnp.where(base == 0, jnp.full_like(power, complex(jnp.nan, jnp.nan)), result)


def _row(function: np.ufunc, note: str = "") -> Op:
    return row(
        f"np.{function.__name__}",
        function,
        "elementwise",
        ("x1", "x2"),
        params=("dtype",),
        infer=ufunc_infer(function),
        lower=_lower(function),
        traps=True,
        sharding="elementwise",
        note=note,
    )


ROWS: tuple[Op, ...] = (
    _row(np.power, "a negative exponent of integers goes to NumPy, which raises"),
    _row(np.float_power),
)
