"""Rows for elementwise functions that are not ufuncs: where, parts of complex numbers, tests, replacements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp, lax
from autojit.ops import elementwise_arithmetic as arithmetic
from autojit.ops import elementwise_math as math
from autojit.ops import exact
from autojit.ops.asking import asked_of_small
from autojit.ops.elementwise_arithmetic import kind
from autojit.ops.elementwise_complex import RULES, of_high
from autojit.ops.families import cast_operands, check_dtypes, row, trap_if, wants_trap


def dummy_infer(call: Callable[..., Any]) -> Callable[..., tuple[Spec, ...]]:
    """Specs of an elementwise function: run it on ones of length 0 or 1, and broadcast the shapes.

    Raises:
        TypeError: NumPy raises it, or warns: that call is left to NumPy.
    """

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        check_dtypes(specs)
        shape = np.broadcast_shapes(*(spec.shape for spec in specs))
        spec, warned = asked_of_small(call, specs, params)
        if warned:
            raise TypeError(f"NumPy warns, so this is not compiled: {warned[0]}")
        check_dtypes([spec])
        return (Spec(shape, spec.dtype, spec.kind),)

    return infer


def function_row(
    function: Callable[..., Any],
    rule: Callable[..., Any],
    operands: tuple[str, ...] = ("x",),
    params: tuple[str, ...] = (),
    **more: Any,
) -> Op:
    """A row for a Python function of NumPy.

    Args:
        function: The NumPy function.
        rule: `rule(*xs, dtype, **params)`: maps the operands, fenced, to the result; `dtype` is the result's. A rule
            marked with `wants_trap` takes `trap` too.
        operands: The names of the operands.
        params: The names of the static parameters.
        more: Other fields of the row.
    """

    def lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
        spec = node.outputs[0].spec
        more_keywords = {"trap": trap} if getattr(rule, "wants_trap", False) else {}
        result = rule(*exact.fence(*xs), dtype=spec.dtype, **node.keywords, **more_keywords)
        return (jnp.broadcast_to(exact.cast(result, spec.dtype), spec.shape),)

    more.setdefault("infer", dummy_infer(function))
    more.setdefault("lower", lower)
    more.setdefault("traps", getattr(rule, "wants_trap", False))
    name = more.pop("name", f"np.{function.__name__}")
    return row(name, function, "elementwise", operands, params=params, sharding="elementwise", **more)


def _where(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    spec = node.outputs[0].spec
    condition, *_ = cast_operands(node, xs, (np.dtype(bool), spec.dtype, spec.dtype), trap)
    # No ufunc: a Python int is an int64 on its way, and no double.
    values = [condition, *(exact.cast(value, spec.dtype) for value in xs[1:])]
    condition, x, y = (jnp.broadcast_to(value, spec.shape) for value in values)
    return (jnp.where(condition, x, y),)


def _real(x: Any, dtype: Any) -> Any:
    return lax.real(x) if kind(x) == "c" else x


def _imag(x: Any, dtype: Any) -> Any:
    return lax.imag(x) if kind(x) == "c" else jnp.zeros_like(x)


def _angle(x: Any, dtype: Any, deg: bool = False) -> Any:
    if kind(x) == "c":
        a, b = exact.cast(lax.real(x), dtype), exact.cast(lax.imag(x), dtype)
    else:
        a = exact.cast(x, dtype)
        b = jnp.zeros_like(a)
    result = math.arctan2(b, a)
    return exact.multiply(result, np.asarray(180 / np.pi, dtype)) if deg else result


def _isreal(x: Any, dtype: Any) -> Any:
    return lax.imag(x) == 0 if kind(x) == "c" else jnp.ones(x.shape, bool)


def _iscomplex(x: Any, dtype: Any) -> Any:
    return lax.imag(x) != 0 if kind(x) == "c" else jnp.zeros(x.shape, bool)


def _is_infinity(sign: float) -> Callable[..., Any]:
    def rule(x: Any, dtype: Any) -> Any:
        return x == sign * np.inf if kind(x) == "f" else jnp.zeros(x.shape, bool)

    return rule


def _nan_to_num(x: Any, dtype: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if kind(x) == "c":
        parts = (_nan_to_num(part, None, nan, posinf, neginf) for part in (lax.real(x), lax.imag(x)))
        return lax.complex(*parts)
    if kind(x) != "f":
        return x
    info = np.finfo(x.dtype)
    high, low = info.max if posinf is None else posinf, info.min if neginf is None else neginf
    found = (x != x, nan), (x == np.inf, high), (x == -np.inf, low)  # before any of them is replaced by another
    for where, value in found:
        x = jnp.where(where, np.asarray(value, x.dtype), x)
    return x


def _isclose(x: Any, y: Any, dtype: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """`abs(x - y) <= atol + rtol * abs(y)`, with NumPy's dtypes: only `y` is made inexact."""
    wide = np.result_type(y.dtype, 1.0)
    together = np.result_type(x.dtype, wide)
    size = arithmetic.absolute(exact.cast(y, wide))
    scaled = exact.uncontracted(exact.multiply(size, np.asarray(rtol, size.dtype)))
    limit = exact.add(scaled, np.asarray(atol, size.dtype))
    finite = arithmetic.isfinite(y)
    x, y = exact.broadcast(exact.cast(x, together), exact.cast(y, together))
    gap = arithmetic.absolute(exact.subtract(x, y))
    result = ((gap <= exact.cast(limit, gap.dtype)) & finite) | (x == y)
    return result | (arithmetic.isnan(x) & arithmetic.isnan(y)) if equal_nan else result


def _isclose_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    if any(spec.kind == "python" for spec in specs):
        raise TypeError("`np.isclose` of a Python scalar is not compiled")
    return dummy_infer(np.isclose)(specs, params)


@wants_trap
def _sinc(x: Any, dtype: Any, trap: Callable[[Any], None]) -> Any:
    if kind(x) == "c":  # the sine is taken of pi times the operand
        trap_if(of_high(exact.multiply(x, np.asarray(4, x.dtype))), trap)
    scaled = exact.multiply(exact.cast(x, dtype), np.asarray(np.pi, dtype))
    tiny = np.finfo(dtype).eps if dtype.kind == "f" else 1e-20
    safe = jnp.where(arithmetic.truth(scaled), scaled, np.asarray(tiny, dtype))
    sine = RULES["sin"](safe) if dtype.kind == "c" else math.sin(safe)
    return exact.divide(sine, safe)


ROWS: tuple[Op, ...] = (
    row(
        "np.where",
        np.where,
        "elementwise",
        ("condition", "x", "y"),
        infer=dummy_infer(np.where),
        lower=_where,
        traps=True,
        sharding="elementwise",
        bitwise="fc",
        note="the form with three arguments",
    ),
    function_row(np.real, _real, ("val",), bitwise="fc"),
    function_row(np.imag, _imag, ("val",), bitwise="fc"),
    function_row(np.angle, _angle, ("z",), ("deg",)),
    function_row(np.isreal, _isreal, bitwise="fc"),
    function_row(np.iscomplex, _iscomplex, bitwise="fc"),
    function_row(np.isposinf, _is_infinity(1.0), bitwise="fc"),
    function_row(np.isneginf, _is_infinity(-1.0), bitwise="fc"),
    function_row(np.nan_to_num, _nan_to_num, ("x",), ("nan", "posinf", "neginf")),
    function_row(np.isclose, _isclose, ("a", "b"), ("rtol", "atol", "equal_nan"), infer=_isclose_infer),
    function_row(np.sinc, _sinc),
)
