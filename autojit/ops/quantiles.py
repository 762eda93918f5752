"""The median and quantiles, by sorting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.errors import CannotCapture
from autojit.ir.graph import Node
from autojit.ir.op import Infer, Lower, Op
from autojit.ir.spec import Spec, result_spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact, networks
from autojit.ops.families import small_dummy
from autojit.ops.inference import compiled, public_name, specs_of

Trap = Callable[[Any], None]


def reduced_shape(shape: tuple[int, ...], axis: Any, keepdims: bool) -> tuple[int, ...]:
    """The shape of a reduction's result."""
    gone = set(_axes(axis, len(shape)))
    return tuple(1 if place in gone else n for place, n in enumerate(shape) if keepdims or place not in gone)


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return tuple(place % max(ndim, 1) for place in axes)


def quantile_infer(function: Any) -> Infer:
    """Specs of `function(a, *points, axis, keepdims)`, where `points` is empty or one array of quantiles."""

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        a, *rest = specs
        if function is np.quantile and rest[0].dtype.kind in "biu":  # NumPy takes an element, and its dtype
            raise CannotCapture("keyword", "an integer as the quantile of `np.quantile`")
        (found,) = specs_of(function(small_dummy(a), *map(_point, rest), **params))
        if 0 in a.shape or not a.shape or any(point.ndim > 1 for point in rest):
            raise CannotCapture("keyword", f"`{public_name(function)}` of an array of this shape")
        if params.get("method", "linear") != "linear":
            raise CannotCapture("keyword", f"`method={params['method']!r}` of `{public_name(function)}`")
        points = rest[0].shape if rest else ()
        shape = (*points, *reduced_shape(a.shape, params.get("axis"), params.get("keepdims", False)))
        return compiled([result_spec(shape, found.dtype)])

    return infer


def is_fast(node: Node) -> bool:
    """Whether a node is a median or quantile for which a network sorts."""
    if node.op not in ROWS:
        return False
    spec = node.inputs[0].spec
    length = math.prod(spec.shape[axis] for axis in _axes(node.keywords.get("axis"), spec.ndim))
    return networks.fits(length, spec.size, spec.dtype)


def _point(spec: Spec) -> Any:
    return 0.5 if spec.kind == "python" else np.full((1,) * spec.ndim, 0.5, spec.dtype)[()]


def _sorted(x: Any, axis: Any, trap: Trap) -> tuple[Any, Any, Any]:
    """`x` sorted along its first axis, which holds all elements of the axes.

    Returns:
        It; where its largest is NaN; and where there is a negative zero: zeros may come in any order.
    """
    if jnp.iscomplexobj(x):
        for part in (lax.real(x), lax.imag(x)):
            trap(jnp.any((part == 0) & exact.signbit(part)))
        trap(jnp.any(x != x))
        trap(jnp.any(~jnp.isfinite(x)))  # which NumPy divides by one
    axes = _axes(axis, x.ndim)
    x = jnp.moveaxis(x, axes, range(len(axes)))
    x = x.reshape(-1, *x.shape[len(axes) :])
    is_real = exact.is_inexact(x) and not jnp.iscomplexobj(x)
    zeros = jnp.any((x == 0) & exact.signbit(x), axis=0) if is_real else jnp.zeros(x.shape[1:], bool)
    x = networks.sort(x, 0)
    return x, x[-1] != x[-1], zeros


def _median(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    (x,) = xs
    spec = node.outputs[0].spec
    wide = jnp.float32 if spec.dtype == np.float16 else spec.dtype
    ordered, missing, zeros = _sorted(x, node.keywords.get("axis"), trap)
    half = ordered.shape[0] // 2
    middle = ordered[half].astype(wide)
    trap(jnp.any(zeros & (middle == 0)))
    if ordered.shape[0] % 2 == 0:
        trap(jnp.any(zeros & (ordered[half - 1] == 0)))
        middle = (ordered[half - 1].astype(wide) + middle) * 0.5
    found = jnp.where(missing, ordered[-1].astype(wide), middle)
    return (exact.cast(found, spec.dtype).reshape(spec.shape),)


def _quantile_lower(scale: int) -> Lower:
    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        x, q = xs
        spec = node.outputs[0].spec
        q = q.astype(jnp.float64) if not exact.is_inexact(q) else q
        if scale != 1:
            q = exact.divide(q, jnp.asarray(scale, q.dtype))
        trap(jnp.any(~((q >= 0) & (q <= 1))))
        ordered, missing, zeros = _sorted(x, node.keywords.get("axis"), trap)
        place = exact.uncontracted(q * (ordered.shape[0] - 1))
        before = jnp.clip(jnp.floor(place), 0, ordered.shape[0] - 1)
        low = before.astype(jnp.int64)
        high = jnp.minimum(low + 1, ordered.shape[0] - 1)
        rest = (place - before).reshape(q.shape + (1,) * (ordered.ndim - 1))
        left, right = (ordered.at[index].get(mode="promise_in_bounds") for index in (low, high))
        trap(jnp.any(zeros & ((left == 0) | (right == 0))))
        width = (right - left).astype(spec.dtype)
        # Of a Python number NumPy takes the complement before it is rounded to the dtype.
        up = left.astype(spec.dtype) + exact.uncontracted(width * rest.astype(spec.dtype))
        down = right.astype(spec.dtype) - exact.uncontracted(width * (1 - rest).astype(spec.dtype))
        found = jnp.where(rest >= 0.5, down, up)
        if not q.ndim and ordered.ndim == 1 and spec.dtype != x.dtype:
            trap(jnp.any(missing))  # NumPy gives the NaN itself, of the dtype of the elements
        found = jnp.where(missing, ordered[-1].astype(spec.dtype), found)
        return (found.reshape(spec.shape),)

    return lower


def quantile_samples(*points: Any) -> Callable[[Any], list[Any]]:
    """Samples with and without an axis, for each choice of quantiles."""

    def samples(rng: Any) -> list[Any]:
        x = rng.standard_normal((4, 6))
        return [
            ((y, *point), params)
            for point in ([(p,) for p in points] or [()])
            for y, params in (
                (x, {}),
                (x, {"axis": 0}),
                (x, {"axis": 1, "keepdims": True}),
                (np.arange(5), {}),
                (np.array([1.0, np.nan, 2]), {}),
                (x.astype(np.float32), {"axis": (0, 1)}),
            )
        ]

    return samples


def _row(function: Any, lower: Lower, points: tuple[Any, ...], **more: Any) -> Op:
    return Op(
        name=public_name(function),
        call=function,
        family="reduction",
        operands=("a", "q") if points else ("a",),
        params=("axis", "method", "keepdims") if points else ("axis", "keepdims"),
        infer=quantile_infer(function),
        lower=lower,
        numpy=(function,),
        samples=quantile_samples(*points),
        **more,
    )


ROWS = (
    _row(np.median, _median, (), traps=True),
    _row(np.percentile, _quantile_lower(100), (50, 12.5, np.array([10, 90])), traps=True),
    _row(np.quantile, _quantile_lower(1), (0.5, np.float64(0.3), np.array([0.1, 0.9])), traps=True),
)
