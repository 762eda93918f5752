"""Rules for running sums and products and for differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.ops import elementwise_arithmetic as elementwise
from autojit.ops import exact
from autojit.ops.families import row
from autojit.ops.reductions_common import run_dummy


def _infer(call: Callable[..., Any], axis: Any) -> Callable[..., tuple[Spec, ...]]:
    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        spec = run_dummy(call, specs, params)
        shape = specs[0].shape
        wanted = params.get("axis", axis)
        if wanted is None:
            # A flat result; np.cumulative_sum refuses it for more than one axis.
            shape, wanted = (specs[0].size,), 0
        if params.get("include_initial"):
            wanted %= len(shape)
            shape = tuple(length + (place == wanted) for place, length in enumerate(shape))
        return (Spec(shape, spec.dtype, spec.kind),)

    return infer


def _lower(combine: Callable[[Any, Any], Any], start: int, axis: Any) -> Callable[..., Any]:
    def lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
        x, spec = xs[0], node.outputs[0].spec
        wanted = node.keywords.get("axis", axis)
        if wanted is None or x.ndim == 0:
            x, wanted = x.reshape(-1), 0
        wanted %= x.ndim
        wide = jnp.float32 if spec.dtype == np.float16 else spec.dtype
        x = exact.cast(x, spec.dtype).astype(wide)
        if x.size:
            x = lax.associative_scan(combine, x, axis=wanted)
        if node.keywords.get("include_initial"):
            first = jnp.full((*x.shape[:wanted], 1, *x.shape[wanted + 1 :]), start, wide)
            x = lax.concatenate([first, x], wanted)
        return (x.astype(spec.dtype).reshape(spec.shape),)

    return lower


def scan_row(
    name: str, call: Callable[..., Any], product: bool, params: tuple[str, ...], axis: Any = None, **more: Any
) -> Op:
    """A row for a running sum, or product."""

    def combine(x: Any, y: Any) -> Any:
        return elementwise.multiply(x, y) if product else elementwise.add(x, y)

    return row(
        name,
        call,
        "reduction",
        ("a",),
        params=params,
        infer=_infer(call, axis),
        lower=_lower(combine, int(product), axis),
        sharding="scan",
        **more,
    )


def _diff_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    (spec,) = specs
    result = run_dummy(np.diff, specs, params)
    axis = params.get("axis", -1) % spec.ndim
    length = max(spec.shape[axis] - params.get("n", 1), 0)
    return (Spec((*spec.shape[:axis], length, *spec.shape[axis + 1 :]), result.dtype, result.kind),)


def _diff_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    x = xs[0]
    axis = node.keywords.get("axis", -1) % x.ndim
    for _ in range(node.keywords.get("n", 1)):
        if x.shape[axis] == 0:
            break
        high = lax.slice_in_dim(x, 1, None, axis=axis)
        low = lax.slice_in_dim(x, 0, x.shape[axis] - 1, axis=axis)
        x = high != low if x.dtype == bool else exact.subtract(high, low)
    return (x,)


DIFF = row(
    "np.diff",
    np.diff,
    "reduction",
    ("a",),
    params=("n", "axis"),
    infer=_diff_infer,
    lower=_diff_lower,
    sharding="stencil",
)
