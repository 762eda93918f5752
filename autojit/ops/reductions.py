"""The chapter of reductions: sums, means, extremes, running sums, and the methods of ufuncs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp
from autojit.ops import elementwise, exact
from autojit.ops import reductions_extremes as extremes
from autojit.ops import reductions_moments as moments
from autojit.ops import reductions_scan as scan
from autojit.ops import reductions_selected as selected
from autojit.ops.families import row, trap_if, wants_trap
from autojit.ops.reductions_common import check_half, normal_axes, reduced_shape, reduction, run_dummy
from autojit.ops.reductions_products import of_nanproduct, of_product
from autojit.ops.ufunc_methods import methods_of, outer_row

#: Kinds of the `dtype` argument of means: NumPy divides in float64 and truncates for the others.
_INEXACT = "fc"
_TYPED = ("axis", "dtype", "keepdims")
_MOMENT = ("axis", "dtype", "ddof", "keepdims", "correction")
_NAN_MOMENT = ("axis", "ddof", "keepdims", "correction")


def _extreme_of_rest(largest: bool) -> Callable[..., Any]:
    """`nanmax`, `nanmin`: NaN is left out, and comes back where nothing else is there."""

    def rule(x: Any, axes: tuple[int, ...], node: Any) -> Any:
        return extremes.of_rest(x, axes, largest)

    return rule


def _ptp(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    return exact.subtract(extremes.maximum(x, axes), extremes.minimum(x, axes))


def _position(largest: bool) -> Callable[..., Any]:
    @wants_trap
    def rule(x: Any, axes: tuple[int, ...], node: Any, trap: Callable[[Any], None]) -> Any:
        axis = None if node.keywords.get("axis") is None or x.ndim == 0 else axes[0]
        return extremes.position(x, axis, largest, trap)

    return rule


# ---------------------------------------------------------------- trace and average


def _trace_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    spec = run_dummy(np.trace, specs, params)
    axes = normal_axes((params.get("axis1", 0), params.get("axis2", 1)), specs[0].ndim)
    if specs[0].ndim > 2:
        check_half(specs[0], spec.dtype)
    return (Spec(reduced_shape(specs[0].shape, axes, False), spec.dtype, spec.kind),)


def _trace_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    keywords = node.keywords
    diagonal = jnp.diagonal(xs[0], keywords.get("offset", 0), keywords.get("axis1", 0), keywords.get("axis2", 1))
    return (moments.sum_of(diagonal, (diagonal.ndim - 1,), node.outputs[0].spec.dtype),)


def _average(a: Any, weights: Any = True, **params: Any) -> Any:
    """`True` stands for no weights, since a node's operands are arrays and scalars."""
    return np.average(a, weights=None if weights is True else weights, **params)


def _in_order(params: dict[str, Any], ndim: int) -> list[int]:
    """The axes in the order in which the argument names them."""
    given = params.get("axis")
    if given is None:
        return list(range(ndim))
    return [one % ndim for one in (given if isinstance(given, tuple) else (given,))]


def _average_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    a, weights = specs
    axes = normal_axes(params.get("axis"), a.ndim)
    if a.size == 0 or not (weights == Spec((), np.dtype(bool), "python") or weights.kind == "array"):
        raise TypeError("this `np.average` is not compiled")
    spec = run_dummy(_average, specs, params)
    if weights.kind == "array":
        check_half(a, spec.dtype)
    if weights.kind == "array" and weights.shape not in (a.shape, tuple(a.shape[n] for n in _in_order(params, a.ndim))):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    return (Spec(reduced_shape(a.shape, axes, bool(params.get("keepdims"))), spec.dtype, spec.kind),)


def _average_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    x, weights = xs
    spec = node.outputs[0].spec
    axes = normal_axes(node.keywords.get("axis"), x.ndim)
    if node.specs[1].kind == "python":
        return (exact.cast(moments.mean(x, axes, node), spec.dtype).reshape(spec.shape),)
    wide = np.float64 if np.dtype(x.dtype).kind in "biu" else x.dtype
    dtype = np.result_type(x.dtype, weights.dtype, wide)
    if weights.shape != x.shape:
        # The weights' axes are those of the axis argument, in its order.
        weights = jnp.transpose(weights, np.argsort(_in_order(node.keywords, x.ndim)).tolist())
        weights = weights.reshape([x.shape[n] if n in axes else 1 for n in range(x.ndim)])
    weights = jnp.broadcast_to(exact.cast(weights, dtype), x.shape)
    total = moments.sum_of(weights, axes, dtype)
    trap_if(_may_be_zero(total, weights, axes), trap)
    products = exact.multiply(exact.cast(x, dtype), weights)
    return (exact.divide(moments.sum_of(products, axes, dtype), total).reshape(spec.shape),)


def _may_be_zero(total: Any, weights: Any, axes: tuple[int, ...]) -> Any:
    """Whether weights sum to zero in some order of addition: then NumPy may raise."""
    sizes = _sizes(weights)
    count = math.prod(weights.shape[axis] for axis in axes)
    whole, size = moments.sum_of(sizes, axes, sizes.dtype), _sizes(total)
    # What has one sign cannot cancel, however many are added up.
    cancels = (size != whole) & (size <= whole * (count * float(np.finfo(sizes.dtype).eps)))
    return (total == 0) | cancels


def _sizes(x: Any) -> Any:
    return jnp.abs(x.real) + jnp.abs(x.imag) if x.dtype.kind == "c" else jnp.abs(x)


def _average_text(inputs: list[str], params: dict[str, Any]) -> str:
    words = [inputs[0]] + ([] if inputs[1] == "True" else [f"weights={inputs[1]}"])
    return f"np.average({', '.join(words + [f'{name}={value!r}' for name, value in params.items()])})"


ROWS: tuple[Op, ...] = (
    reduction(np.sum, moments.sum_, params=_TYPED, methods=("sum",), adds=True),
    reduction(np.prod, moments.prod, params=_TYPED, methods=("prod",), adds=True, check=of_product),
    reduction(np.mean, moments.mean, params=_TYPED, dtypes=_INEXACT, methods=("mean",)),
    # With a complex `dtype` NumPy takes complex squares, and divides complex numbers.
    # ... and with a narrow one it takes the distances of the elements as they are.
    reduction(np.std, moments.std, params=_MOMENT, dtypes="f", methods=("std",), adds=True, fits="safe"),
    reduction(np.var, moments.var, params=_MOMENT, dtypes="f", methods=("var",), adds=True, fits="safe"),
    reduction(
        np.max,
        extremes.maximum,
        name="np.max",
        methods=("max",),
        numpy=(np.max, np.amax),
        bitwise="f",
        rounds="extreme",
    ),
    reduction(
        np.min,
        extremes.minimum,
        name="np.min",
        methods=("min",),
        numpy=(np.min, np.amin),
        bitwise="f",
        rounds="extreme",
    ),
    reduction(np.ptp, _ptp),
    reduction(np.argmax, _position(True), methods=("argmax",), kinds="biuf", bitwise="f"),
    reduction(np.argmin, _position(False), methods=("argmin",), kinds="biuf", bitwise="f"),
    reduction(np.any, moments.any_, methods=("any",), bitwise="fc"),
    reduction(np.all, moments.all_, methods=("all",), bitwise="fc"),
    reduction(np.count_nonzero, moments.count_nonzero, bitwise="fc"),
    reduction(np.nansum, moments.nansum, params=_TYPED, adds=True),
    reduction(np.nanprod, moments.nanprod, params=_TYPED, adds=True, check=of_nanproduct),
    reduction(np.nanmean, moments.nanmean, params=_TYPED, dtypes=_INEXACT, adds=True),
    # NumPy takes the distances, and their squares, in the dtype of the elements.
    reduction(np.nanvar, moments.nanvar, params=_NAN_MOMENT, adds=True, fits="equiv"),
    reduction(np.nanstd, moments.nanstd, params=_NAN_MOMENT, adds=True, fits="equiv"),
    reduction(np.nanmax, _extreme_of_rest(True), kinds="biuf", bitwise="f", rounds="extreme"),
    reduction(np.nanmin, _extreme_of_rest(False), kinds="biuf", bitwise="f", rounds="extreme"),
    *scan.ROWS,
    *selected.ROWS,
    row(
        "np.trace",
        np.trace,
        "reduction",
        ("a",),
        params=("offset", "axis1", "axis2", "dtype"),
        infer=_trace_infer,
        lower=_trace_lower,
        methods=("trace",),
    ),
    row(
        "np.average",
        _average,
        "reduction",
        ("a", "weights"),
        params=("axis", "keepdims"),
        defaults={"weights": True},
        infer=_average_infer,
        lower=_average_lower,
        numpy=(np.average,),
        traps=True,
        fuses=True,
        text=_average_text,
    ),
)

_REDUCE = ("axis", "dtype", "keepdims")
_METHOD_ROWS: tuple[Op, ...] = (
    reduction(np.add.reduce, moments.sum_, name="np.add.reduce", params=_REDUCE, axis=0, adds=True, numpy=()),
    reduction(
        np.multiply.reduce,
        moments.prod,
        name="np.multiply.reduce",
        params=_REDUCE,
        axis=0,
        adds=True,
        check=of_product,
        numpy=(),
    ),
    *(
        reduction(
            function.reduce, rule, name=f"np.{function.__name__}.reduce", axis=0, numpy=(), bitwise="f", rounds=rounds
        )
        for function, rule, rounds in (
            (np.maximum, extremes.maximum, "extreme"),
            (np.minimum, extremes.minimum, "extreme"),
            (np.logical_and, moments.all_, ""),
            (np.logical_or, moments.any_, ""),
        )
    ),
    scan.scan_row(np.add.accumulate, name="np.add.accumulate", axis=0, operand="array", numpy=()),
    scan.scan_row(np.multiply.accumulate, True, name="np.multiply.accumulate", axis=0, operand="array", numpy=()),
    *(
        outer_row(one)
        for one in elementwise.ROWS
        if isinstance(one.call, np.ufunc) and one.call.nin == 2 and one.lower is not None
    ),
)

#: Rows for `np.f.reduce`, `np.f.accumulate` and `np.f.outer`, by the names of the ufunc and the method. NumPy makes a
#: new bound method at each access, so these rows stand in no table of callables.
UFUNC_METHODS: dict[tuple[str, str], Op] = methods_of(_METHOD_ROWS)
ROWS += _METHOD_ROWS
