"""Sorting and searching."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.errors import CannotCapture
from autojit.ir.op import Op
from autojit.ir.spec import Spec, result_spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact

Trap = Callable[[Any], None]

_INDEX = np.dtype(np.intp)
_STABLE = ("stable", "mergesort")


def _sort_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    (a,) = specs
    axis = params.get("axis", -1)
    np.sort(np.empty((0,) * max(a.ndim, 0)) if axis is not None else np.empty(0), **params)
    if a.dtype.kind == "c":
        raise CannotCapture("argument-type", "sorting complex numbers is not compiled")
    return (Spec((a.size,) if axis is None else a.shape, a.dtype),)


def _argsort_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    (result,) = _sort_infer(specs, params)
    return (Spec(result.shape, _INDEX),)


def _along(node: Any, x: Any) -> tuple[Any, int]:
    axis = node.keywords.get("axis", -1)
    return (x.reshape(-1), 0) if axis is None else (x, axis % x.ndim)


def _sort(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    x, axis = _along(node, xs[0])
    if exact.is_inexact(x):
        # Equal values can be told apart only by the sign of zero.
        trap(jnp.any((x == 0) & exact.signbit(x)))
    return (lax.sort(x, dimension=axis, is_stable=False),)


def _argsort(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    x, axis = _along(node, xs[0])
    places = lax.broadcasted_iota(jnp.int64, x.shape, axis)
    found, places = lax.sort((x, places), dimension=axis, num_keys=1, is_stable=True)
    is_stable = node.keywords.get("kind") in _STABLE or node.keywords.get("stable")
    if not is_stable and x.shape[axis] > 1:
        # NumPy's quicksort leaves equal elements in an order of its own.
        before = lax.slice_in_dim(found, 0, x.shape[axis] - 1, axis=axis)
        after = lax.slice_in_dim(found, 1, x.shape[axis], axis=axis)
        trap(jnp.any((before == after) | (after != after) & (before != before)))
    return (places,)


def _sort_samples(rng: Any) -> list[Any]:
    x = rng.standard_normal((3, 5))
    with_nan = np.array([3.0, np.nan, -np.inf, 1, np.inf])
    return [
        ((x,), {}),
        ((x,), {"axis": 0}),
        ((x,), {"axis": None}),
        ((x,), {"kind": "stable"}),
        ((with_nan,), {}),
        ((rng.permutation(50).astype(np.int8),), {}),
        ((np.array([True, False]),), {"stable": True}),
        ((rng.standard_normal((0, 3)),), {}),
        ((rng.integers(0, 3, 40),), {"stable": True}),
    ]


SORT = Op(
    name="np.sort",
    call=np.sort,
    family="shaping",
    operands=("a",),
    params=("axis", "kind", "stable"),
    infer=_sort_infer,
    lower=_sort,
    numpy=(np.sort,),
    bitwise="",
    traps=True,
    samples=_sort_samples,
    note="arrays with negative zeros are left to NumPy",
)

ARGSORT = Op(
    name="np.argsort",
    call=np.argsort,
    family="shaping",
    operands=("a",),
    params=("axis", "kind", "stable"),
    infer=_argsort_infer,
    lower=_argsort,
    numpy=(np.argsort,),
    bitwise="",
    methods=("argsort",),
    traps=True,
    samples=_sort_samples,
    note="arrays with equal elements are left to NumPy, unless the sort is stable",
)


# ---- searching


def search(a: Any, v: Any, side: str, trap: Trap) -> Any:
    """`np.searchsorted` of values of one dtype in a sorted array; traps when it is not sorted."""
    after, before = a[1:], a[:-1]
    trap(jnp.any((after < before) | (before != before) & (after == after)))
    shape = v.shape
    if a.shape[0] == 0:
        return jnp.zeros(shape, _INDEX)
    low = jnp.zeros(shape, _INDEX)
    high = jnp.full(shape, a.shape[0], _INDEX)
    for _ in range(int(a.shape[0]).bit_length()):
        middle = (low + high) // 2
        here = a.at[middle].get(mode="clip")
        # NaN stands behind everything else.
        goes_left = _less(here, v) if side == "left" else ~_less(v, here)
        searching = low < high
        low = jnp.where(searching & goes_left, middle + 1, low)
        high = jnp.where(searching & ~goes_left, middle, high)
    return low


def _less(x: Any, y: Any) -> Any:
    return (x < y) | ((x == x) & (y != y)) if exact.is_inexact(x) else x < y


def _search_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    a, v = specs
    np.searchsorted(np.empty((0,) * a.ndim), 0.0, **params)
    _refuse_complex(specs)
    return (result_spec(v.shape, _INDEX),)


def _refuse_complex(specs: Sequence[Spec]) -> None:
    if any(spec.dtype.kind == "c" for spec in specs):
        raise CannotCapture("argument-type", "searching among complex numbers is not compiled")


def _search(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    dtype = np.result_type(*(spec.dtype for spec in node.specs))
    a, v = (exact.cast(x, dtype) for x in xs)
    side = "left" if node.keywords.get("side", "left").startswith(("l", "L")) else "right"
    return (search(a, v, side, trap),)


SEARCHSORTED = Op(
    name="np.searchsorted",
    call=np.searchsorted,
    family="indexing",
    operands=("a", "v"),
    params=("side",),
    infer=_search_infer,
    lower=_search,
    numpy=(np.searchsorted,),
    methods=("searchsorted",),
    traps=True,
    samples=lambda rng: (
        [
            ((np.array([1.0, 2, 2, 5]), np.array([[0.0, 2, 5], [6, np.nan, -np.inf]])), {"side": side})
            for side in ("left", "right")
        ]
        + [
            ((np.array([1, 2, np.nan]), np.array([1.5, np.nan, 9])), {}),
            ((np.arange(10), 3.5), {}),
            ((np.arange(10, dtype=np.float32), 3), {"side": "right"}),
            ((np.empty(0), np.ones(2)), {}),
            ((np.sort(rng.random(1000)), rng.random(100)), {}),
        ]
    ),
)


def _digitize_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    x, bins = specs
    np.digitize(np.empty(0), np.empty((0,) * bins.ndim))
    _refuse_complex(specs)
    return (result_spec(x.shape, _INDEX),)


def _digitize(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    dtype = np.result_type(*(spec.dtype for spec in node.specs))
    x, bins = (exact.cast(value, dtype) for value in xs)
    edges = exact.cast(xs[1], np.dtype(np.float64))  # NumPy rounds whole numbers before it looks whether they rise
    rises = jnp.all(edges[1:] >= edges[:-1])
    trap(~rises & ~jnp.all(edges[1:] <= edges[:-1]))
    side = "left" if node.keywords.get("right", False) else "right"
    place = search(jnp.where(rises, bins, bins[::-1]), x, side, trap)
    return (jnp.where(rises, place, bins.shape[0] - place),)


DIGITIZE = Op(
    name="np.digitize",
    call=np.digitize,
    family="indexing",
    operands=("x", "bins"),
    params=("right",),
    infer=_digitize_infer,
    lower=_digitize,
    numpy=(np.digitize,),
    traps=True,
    samples=lambda rng: [
        ((np.array([0.5, 1, 2, 7, -1]), bins), {"right": right})
        for bins in (np.array([1.0, 2, 5]), np.array([5.0, 2, 1]))
        for right in (False, True)
    ],
)


# ---- interpolation


def _interp_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    x, xp, fp = specs
    if x.dtype.kind == "c" or xp.dtype.kind == "c":
        raise TypeError("Cannot cast array data from complex to float")
    np.interp(0.0, [0.0], np.zeros(1, fp.dtype), left=params.get("left"), right=params.get("right"))
    if xp.ndim != 1 or fp.ndim != 1 or xp.shape != fp.shape or not xp.size:
        np.interp(0.0, np.zeros(xp.shape), np.zeros(fp.shape))
    return (result_spec(x.shape, np.dtype(np.complex128 if fp.dtype.kind == "c" else np.float64)),)


def _interp(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    x, xp = (exact.cast(value, np.dtype(np.float64)) for value in xs[:2])
    fp = exact.cast(xs[2], node.outputs[0].spec.dtype)
    left, right = node.keywords.get("left"), node.keywords.get("right")
    low = fp[0] if left is None else jnp.asarray(left, fp.dtype)
    high = fp[-1] if right is None else jnp.asarray(right, fp.dtype)
    trap(jnp.any(~jnp.isfinite(fp)) | jnp.any(~jnp.isfinite(xp)))
    place = search(xp, x, "right", trap) - 1
    inner = jnp.clip(place, 0, max(xp.shape[0] - 2, 0))
    if xp.shape[0] == 1:
        found = jnp.broadcast_to(fp[0], x.shape)
    else:
        x0, x1, y0, y1 = (part.at[inner + step].get(mode="clip") for part in (xp, fp) for step in (0, 1))
        # The quotient of a slope is rounded before it is used, as in NumPy's loop.
        width = exact.subtract(x1, x0).astype(fp.dtype)
        slope = exact.divide(exact.subtract(y1, y0), jnp.where(width == 0, 1, width))
        found = exact.add(exact.uncontracted(exact.multiply(slope, exact.subtract(x, x0).astype(fp.dtype))), y0)
        found = jnp.where(x == x0, y0, found)
        # Where something on the way overflows, NumPy tries again from the right.
        trap(jnp.any((found != found) & (x > xp[0]) & (x < xp[-1])))
    found = jnp.where(x >= xp[-1], fp[-1], found)
    found = jnp.where(x < xp[0], low, jnp.where(x > xp[-1], high, found))
    if xp.shape[0] == 1:  # NumPy compares alone, which NaN passes
        return (found,)
    return (jnp.where(x != x, jnp.full_like(found, jnp.nan) if fp.dtype.kind == "f" else x.astype(fp.dtype), found),)


INTERP = Op(
    name="np.interp",
    call=np.interp,
    family="elementwise",
    operands=("x", "xp", "fp"),
    params=("left", "right"),
    infer=_interp_infer,
    lower=_interp,
    numpy=(np.interp,),
    traps=True,
    samples=lambda rng: (
        [
            ((np.array([0.5, 1, 1.25, 3, 9, -1, np.nan]), np.array([1.0, 2, 3]), np.array([10.0, 5, 7])), params)
            for params in ({}, {"left": -1.0, "right": 99})
        ]
        + [
            ((2.5, np.array([1, 2, 3]), np.array([10, 5, 7])), {}),
            ((rng.random((2, 3)), np.array([0.5]), np.array([3.0])), {}),
        ]
    ),
)

ROWS = (SORT, ARGSORT, SEARCHSORTED, DIGITIZE, INTERP)
