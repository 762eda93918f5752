"""The chapter of reductions: sums, means, extremes, running sums, and the methods of ufuncs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.ops import elementwise
from autojit.ops import reductions_extremes as extremes
from autojit.ops import reductions_moments as moments
from autojit.ops.families import row
from autojit.ops.reductions_common import normal_axes, reduction
from autojit.ops.reductions_scan import DIFF, scan_row

_PLAIN = ("axis", "keepdims")
_TYPED = ("axis", "dtype", "keepdims")
_MOMENT = ("axis", "dtype", "ddof", "keepdims", "correction")


def _extreme_of_rest(largest: bool) -> Callable[..., Any]:
    """`nanmax`, `nanmin`: NaN is left out, and comes back where nothing else is there."""

    def rule(x: Any, axes: tuple[int, ...], node: Any) -> Any:
        find = extremes.maximum if largest else extremes.minimum
        if not np.issubdtype(x.dtype, np.floating):
            return find(x, axes)
        missing = jnp.isnan(x)
        worst = -np.inf if largest else np.inf
        result = find(jnp.where(missing, jnp.full_like(x, worst), x), axes)
        return jnp.where(jnp.all(missing, axis=axes), jnp.full_like(result, jnp.nan), result)

    return rule


def _ptp(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    return extremes.maximum(x, axes) - extremes.minimum(x, axes)


def _position(largest: bool) -> Callable[..., Any]:
    def rule(x: Any, axes: tuple[int, ...], node: Any) -> Any:
        axis = None if node.keywords.get("axis") is None or x.ndim == 0 else axes[0]
        return extremes.position(x, axis, largest)

    return rule


def _trace_rule(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    keywords = node.keywords
    diagonal = jnp.diagonal(x, keywords.get("offset", 0), keywords.get("axis1", 0), keywords.get("axis2", 1))
    return moments.sum_of(diagonal, (diagonal.ndim - 1,), node.outputs[0].spec.dtype)


ROWS: tuple[Op, ...] = (
    reduction(np.sum, moments.sum_, params=_TYPED, methods=("sum",)),
    reduction(np.prod, moments.prod, params=_TYPED, methods=("prod",)),
    reduction(np.mean, moments.mean, params=_TYPED, methods=("mean",)),
    reduction(np.std, moments.std, params=_MOMENT, methods=("std",)),
    reduction(np.var, moments.var, params=_MOMENT, methods=("var",)),
    reduction(np.max, extremes.maximum, name="np.max", methods=("max",), numpy=(np.max, np.amax)),
    reduction(np.min, extremes.minimum, name="np.min", methods=("min",), numpy=(np.min, np.amin)),
    reduction(np.ptp, _ptp),
    reduction(np.argmax, _position(True), methods=("argmax",)),
    reduction(np.argmin, _position(False), methods=("argmin",)),
    reduction(np.any, moments.any_, methods=("any",)),
    reduction(np.all, moments.all_, methods=("all",)),
    reduction(np.count_nonzero, moments.count_nonzero),
    reduction(np.nansum, moments.nansum, params=_TYPED),
    reduction(np.nanprod, moments.nanprod, params=_TYPED),
    reduction(np.nanmean, moments.nanmean, params=_TYPED),
    reduction(np.nanvar, moments.nanvar, params=_MOMENT),
    reduction(np.nanstd, moments.nanstd, params=_MOMENT),
    reduction(np.nanmax, _extreme_of_rest(True)),
    reduction(np.nanmin, _extreme_of_rest(False)),
    scan_row("np.cumsum", np.cumsum, False, ("axis", "dtype"), methods=("cumsum",)),
    scan_row("np.cumprod", np.cumprod, True, ("axis", "dtype"), methods=("cumprod",)),
    DIFF,
)
