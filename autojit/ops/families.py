"""Constructors for the rows of the op table: what all ops of a family have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from autojit.ir.op import Family, Infer, Lower, Op
from autojit.ir.spec import COMPILED_DTYPES, Spec, result_spec

_PYTHON_TYPES = {"i": int, "f": float, "c": complex}


def promotion_dtype(spec: Spec) -> Any:
    """What `ufunc.resolve_dtypes` wants for an operand: its dtype, or a Python type for a weak scalar."""
    return _PYTHON_TYPES[spec.dtype.kind] if spec.weak else spec.dtype


def loop_dtypes(function: np.ufunc, specs: Sequence[Spec], dtype: Any = None) -> tuple[np.dtype, ...]:
    """The dtypes in which NumPy computes: one per input, then one per output.

    Raises:
        TypeError: NumPy has no loop for these dtypes (NumPy's own error).
    """
    signature = None if dtype is None else (None,) * function.nin + (np.dtype(dtype),) * function.nout
    wanted = tuple(promotion_dtype(spec) for spec in specs) + (None,) * function.nout
    return function.resolve_dtypes(wanted, signature=signature)


def ufunc_infer(function: np.ufunc) -> Infer:
    """Specs of an elementwise call, by NumPy's own promotion and broadcasting."""

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        dtypes = loop_dtypes(function, specs, params.get("dtype"))
        shape = np.broadcast_shapes(*(spec.shape for spec in specs))
        return tuple(result_spec(shape, dtype) for dtype in dtypes[function.nin :])

    return infer


def ufunc_lower(function: np.ufunc, rule: Callable[..., Any]) -> Lower:
    """Cast the operands to NumPy's loop dtypes, apply `rule(*xs, trap)`, cast to the output dtypes.

    `rule` is called with operands of the loop dtypes, not yet broadcast. jnp never promotes here.
    """

    def lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
        dtypes = loop_dtypes(function, node.specs, node.keywords.get("dtype"))
        cast = [_cast(x, dtype) for x, dtype in zip(xs, dtypes, strict=False)]
        results = rule(*cast, trap=trap) if getattr(rule, "wants_trap", False) else rule(*cast)
        if function.nout == 1:
            results = (results,)
        shape = node.outputs[0].spec.shape
        return tuple(
            jnp.broadcast_to(result.astype(dtype), shape)
            for result, dtype in zip(results, dtypes[function.nin :], strict=True)
        )

    return lower


def _cast(x: Any, dtype: np.dtype) -> Any:
    return x if x.dtype == dtype else x.astype(dtype)


def wants_trap(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Mark an elementwise rule that takes `trap=`."""
    rule.wants_trap = True  # type: ignore[attr-defined]
    return rule


def elementwise(function: np.ufunc, rule: Callable[..., Any] | None, *, traps: bool = False, note: str = "") -> Op:
    """A row for a NumPy ufunc. `rule` maps jax values of NumPy's loop dtypes to the jax result."""
    names = ("x1", "x2", "x3", "x4")[: function.nin] if function.nin > 1 else ("x",)
    return Op(
        name=f"np.{function.__name__}",
        call=function,
        family="elementwise" if rule else "host",
        operands=names,
        params=("dtype",),
        infer=ufunc_infer(function),
        lower=None if rule is None else ufunc_lower(function, rule),
        numpy=(function,),
        traps=traps or getattr(rule, "wants_trap", False),
        sharding="elementwise",
        note=note,
    )


def check_dtypes(specs: Sequence[Spec]) -> None:
    """Reject dtypes that never enter a cluster.

    Raises:
        TypeError: One of `specs` has such a dtype.
    """
    for spec in specs:
        if spec.dtype not in COMPILED_DTYPES:
            raise TypeError(f"dtype `{spec.dtype}` is not compiled")


def small_dummy(spec: Spec) -> Any:
    """An array of ones with the same number of axes, each of length 0 or 1, or a scalar of the same kind."""
    if spec.kind == "python":
        return {"b": True, "i": 1, "f": 1.0, "c": 1j}[spec.dtype.kind]
    array = np.ones(tuple(min(length, 1) for length in spec.shape), spec.dtype)
    return array[()] if spec.kind == "scalar" else array


def flat_dummy(spec: Spec) -> Any:
    """An array of ones of the full shape that owns one element (all strides are zero)."""
    if spec.kind != "array":
        return small_dummy(spec)
    return np.broadcast_to(np.ones((), spec.dtype), spec.shape)


def row(
    name: str,
    call: Callable[..., Any],
    family: Family,
    operands: tuple[str, ...],
    *,
    infer: Infer | None = None,
    lower: Lower | None = None,
    **more: Any,
) -> Op:
    """A row for any other function; `numpy` defaults to the callable itself."""
    more.setdefault("numpy", (call,))
    return Op(name=name, call=call, family=family, operands=operands, infer=infer, lower=lower, **more)
