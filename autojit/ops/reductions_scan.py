"""Rows for running sums and products and for differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.families import row, trap_if
from autojit.ops.reductions_common import run_dummy
from autojit.ops.reductions_moments import without_nan
from autojit.ops.reductions_products import depends_on_order

#: Up to this length the steps are written out one by one.
_SHORT = 8


def running(combine: Callable[[Any, Any], Any], x: Any, axis: int) -> Any:
    """The running combination along an axis, in `2 * log2(length)` steps of whole arrays.

    Pairs are combined, their running combination is found in the same way, and the elements between follow.
    """
    length = x.shape[axis]

    def part(array: Any, start: int, stop: int, step: int = 1) -> Any:
        return lax.slice_in_dim(array, start, stop, step, axis)

    if length <= _SHORT:
        parts = [part(x, 0, 1)] if length else [x]
        for place in range(1, length):
            parts.append(combine(parts[-1], part(x, place, place + 1)))
        return lax.concatenate(parts, axis)
    half = length // 2
    odd = running(combine, combine(part(x, 0, 2 * half - 1, 2), part(x, 1, 2 * half, 2)), axis)
    even = lax.concatenate([part(x, 0, 1), combine(part(odd, 0, half - 1), part(x, 2, 2 * half - 1, 2))], axis)
    shape = (*x.shape[:axis], 2 * half, *x.shape[axis + 1 :])
    result = jnp.stack([even, odd], axis + 1).reshape(shape)
    if length == 2 * half:
        return result
    return lax.concatenate([result, combine(part(odd, half - 1, half), part(x, length - 1, length))], axis)


def _infer(call: Callable[..., Any], axis: Any) -> Callable[..., tuple[Spec, ...]]:
    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        spec = run_dummy(call, specs, params)
        if spec.dtype == np.float16:
            raise TypeError(f"`np.{call.__name__}` of float16 is not compiled: NumPy rounds after each step")
        shape = specs[0].shape
        wanted = params.get("axis", axis)
        if wanted is None or not shape:
            # A flat result; np.cumulative_sum refuses it for more than one axis.
            shape, wanted = (specs[0].size,), 0
        if params.get("include_initial"):
            wanted %= len(shape)
            shape = tuple(length + (place == wanted) for place, length in enumerate(shape))
        return (Spec(shape, spec.dtype, spec.kind),)

    return infer


def _may_overflow(x: Any, count: int) -> Any:
    """Whether a sum of `count` finite numbers may be infinite: NumPy's stays so, and a part of it may be so alone."""
    limit = np.finfo(np.dtype(x.dtype)).max / (2.0 * max(count, 1))
    far = [jnp.any((lax.abs(part) > limit) & (lax.abs(part) < np.inf)) for part in exact.parts(x)]
    return jnp.any(jnp.stack(far))


def _lower(product: bool, axis: Any, skip_nan: bool) -> Callable[..., Any]:
    def combine(x: Any, y: Any) -> Any:
        if x.dtype == jnp.bool_:
            return x & y if product else x | y
        return exact.multiply(x, y) if product else exact.add(x, y)

    def lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
        x, spec = xs[0], node.outputs[0].spec
        wanted = node.keywords.get("axis", axis)
        if wanted is None or x.ndim == 0:
            x, wanted = x.reshape(-1), 0
        wanted %= x.ndim
        x = without_nan(x, int(product)) if skip_nan else x
        if product:
            trap_if(depends_on_order(x, (wanted,), spec.dtype), trap)
        x = exact.cast(x, spec.dtype)
        if not product and exact.is_inexact(x):
            trap_if(_may_overflow(x, x.shape[wanted]), trap)
        x = running(combine, x, wanted)
        if node.keywords.get("include_initial"):
            first = jnp.full((*x.shape[:wanted], 1, *x.shape[wanted + 1 :]), int(product), spec.dtype)
            x = lax.concatenate([first, x], wanted)
        return (x.reshape(spec.shape),)

    return lower


def scan_row(
    call: Callable[..., Any],
    product: bool = False,
    params: tuple[str, ...] = ("axis", "dtype"),
    axis: Any = None,
    skip_nan: bool = False,
    operand: str = "a",
    **more: Any,
) -> Op:
    """A row for a running sum, or product.

    Args:
        call: The NumPy function.
        product: Whether it multiplies.
        params: The static parameters.
        axis: The default axis; `None` runs over the flat array.
        skip_nan: Whether NaN counts as nothing.
        operand: The name of the operand.
        more: Other fields of the row.
    """
    return row(
        more.pop("name", f"np.{call.__name__}"),
        call,
        "reduction",
        (operand,),
        params=params,
        infer=_infer(call, axis),
        lower=_lower(product, axis, skip_nan),
        traps=True,
        sharding="scan",
        **more,
    )


def _diff_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    (spec,) = specs
    if params.get("n", 1) == 0:
        raise TypeError("`np.diff` of no differences, which is the argument itself, is not compiled")
    result = run_dummy(np.diff, specs, params)
    axis = params.get("axis", -1) % spec.ndim
    length = max(spec.shape[axis] - params.get("n", 1), 0)
    return (Spec((*spec.shape[:axis], length, *spec.shape[axis + 1 :]), result.dtype, result.kind),)


def _diff_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    x = xs[0]
    axis = node.keywords.get("axis", -1) % max(x.ndim, 1)
    for _ in range(node.keywords.get("n", 1)):
        if x.shape[axis] == 0:
            break
        high = lax.slice_in_dim(x, 1, None, axis=axis)
        low = lax.slice_in_dim(x, 0, x.shape[axis] - 1, axis=axis)
        x = high != low if x.dtype == bool else exact.subtract(high, low)
    return (x,)


ROWS: tuple[Op, ...] = (
    scan_row(np.cumsum, methods=("cumsum",)),
    scan_row(np.cumprod, True, methods=("cumprod",)),
    scan_row(np.nancumsum, skip_nan=True),
    scan_row(np.nancumprod, True, skip_nan=True),
    scan_row(np.cumulative_sum, params=("axis", "dtype", "include_initial"), operand="x"),
    scan_row(np.cumulative_prod, True, params=("axis", "dtype", "include_initial"), operand="x"),
    row(
        "np.diff",
        np.diff,
        "reduction",
        ("a",),
        params=("n", "axis"),
        infer=_diff_infer,
        lower=_diff_lower,
        sharding="stencil",
    ),
)
