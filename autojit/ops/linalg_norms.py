"""Norms, powers and chains of matrices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.errors import CannotCapture
from autojit.ir.op import Op
from autojit.ir.spec import Spec, result_spec
from autojit.jax_names import jnp
from autojit.ops import exact
from autojit.ops import reductions_extremes as extremes
from autojit.ops.contraction import lower_product, matmul_rule, trap_on_non_finite
from autojit.ops.elementwise_arithmetic import absolute
from autojit.ops.families import small_dummy
from autojit.ops.inference import by_shape, specs_of
from autojit.ops.linalg_common import check_matrices, quiet
from autojit.ops.linalg_solving import inv
from autojit.ops.reductions_moments import sum_of

Trap = Callable[[Any], None]

_HIGHEST = "highest"


def _norm_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    (x,) = specs
    if isinstance(params.get("ord"), tuple):
        raise CannotCapture("keyword", "an `ord` of `np.linalg.norm` that is no number")
    if x.dtype == np.float16:
        raise CannotCapture("argument-type", "`np.linalg.norm` of float16, which NumPy rounds at each step")
    found = np.linalg.norm(small_dummy(x), **params)
    if 0 in x.shape:
        raise CannotCapture("keyword", "`np.linalg.norm` of an empty array")
    lengths = _kept(x.shape, params.get("axis"), params.get("keepdims", False))
    return (result_spec(tuple(lengths), np.asarray(found).dtype),)


def _kept(shape: tuple[int, ...], axis: Any, keepdims: bool) -> list[int]:
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    summed = {place % len(shape) for place in axes} if shape else set()
    return [1 if place in summed else n for place, n in enumerate(shape) if keepdims or place not in summed]


def _norm(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    (x,) = xs
    dtype = np.dtype(x.dtype)
    x = x if dtype.kind in "fc" else x.astype(jnp.float64)
    keywords = dict(node.keywords)
    order, axis = keywords.get("ord"), keywords.get("axis")
    if isinstance(order, str) or order in (2, -2):
        trap(jnp.any(~jnp.isfinite(x)))
    if axis is None and (order is None or (order == 2 and x.ndim == 1)):
        # NumPy flattens first, so all axes are summed at once whatever their number.
        parts = x.reshape(-1)
        total = jnp.sum(jnp.real(parts * jnp.conj(parts)))
        result = jnp.sqrt(total).reshape(node.outputs[0].spec.shape)
    elif order in (np.inf, -np.inf, 1) or (order == -1 and len(_axes_of(x, axis)) == 2):
        result = _of_sizes(absolute(x), order, _axes_of(x, axis)).reshape(node.outputs[0].spec.shape)
    elif len(_axes_of(x, axis)) == 1 and order not in (None, 0, 2):
        result = jnp.linalg.norm(absolute(x), **keywords)
    else:
        # Singular values are computed in double precision.
        wide = order == "nuc" or (order in (2, -2) and len(_axes_of(x, axis)) == 2)
        result = jnp.linalg.norm(x.astype(jnp.promote_types(x.dtype, jnp.float64)) if wide else x, **keywords)
    return (exact.cast(result, node.outputs[0].spec.dtype),)


def _axes_of(x: Any, axis: Any) -> tuple[int, ...]:
    """The axis of a vector, or those of the rows and the columns of a matrix."""
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return tuple(place % x.ndim for place in axes)


def _of_sizes(sizes: Any, order: Any, axes: tuple[int, ...]) -> Any:
    """Norms that are sums or extremes of absolute values. XLA's own extremes may lose NaN."""
    if len(axes) == 2:
        row, column = axes if abs(order) == 1 else axes[::-1]
        sizes = sum_of(sizes, (row,), sizes.dtype)
        axes = (column - (column > row),)
    elif order == 1:
        return sum_of(sizes, axes, sizes.dtype)
    return extremes.maximum(sizes, axes) if order > 0 else extremes.minimum(sizes, axes)


NORM = Op(
    name="np.linalg.norm",
    call=np.linalg.norm,
    family="linalg",
    operands=("x",),
    params=("ord", "axis", "keepdims"),
    infer=_norm_infer,
    lower=_norm,
    numpy=(np.linalg.norm,),
    traps=True,
    samples=lambda rng: [
        *(
            ((rng.standard_normal((3, 4)),), {"ord": order})
            for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
        ),
        *(((rng.standard_normal(5),), {"ord": order}) for order in (None, 0, 1, 2, 3, 0.5, -1, np.inf, -np.inf)),
        *(((rng.standard_normal((3, 4)),), {"axis": axis}) for axis in (0, 1, -1, (0, 1))),
        ((rng.standard_normal((3, 4)),), {"axis": 1, "keepdims": True}),
        ((rng.standard_normal((2, 3, 4)),), {}),
        ((np.arange(4),), {}),
        ((np.arange(4, dtype=np.float32),), {"ord": 3}),
        ((rng.standard_normal(4) * 1j,), {}),
        ((rng.standard_normal((2, 3, 4)),), {"axis": (1, 2), "ord": 2, "keepdims": True}),
    ],
)


def _power(a: Any, n: int, trap: Trap = quiet) -> Any:
    if n < 0:
        dtype = a.dtype if exact.is_inexact(a) else jnp.float64
        a, n = inv(a.astype(jnp.promote_types(dtype, jnp.float64)), trap).astype(dtype), -n
    times = _BY_DTYPE.get(np.dtype(a.dtype), _times)
    if n == 0:
        return jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    if n == 3:
        return times(times(a, a), a)
    square, result = None, None
    while n:
        square = a if square is None else times(square, square)
        n, bit = divmod(n, 2)
        if bit:
            result = square if result is None else times(result, square)
    return result


def _times(a: Any, b: Any) -> Any:
    return exact.wrapping(matmul_rule, a, b)


def _any_of_both(a: Any, b: Any) -> Any:
    return _times(a.astype(jnp.int32), b.astype(jnp.int32)) != 0


def _times_rounded(a: Any, b: Any) -> Any:
    """NumPy adds float16 up in float32, and rounds each product of two matrices."""
    return _times(a.astype(jnp.float32), b.astype(jnp.float32)).astype(jnp.float16)


_BY_DTYPE = {np.dtype(bool): _any_of_both, np.dtype(np.float16): _times_rounded}


def _power_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    check_matrices(np.linalg.matrix_power, specs, True)
    (found,) = specs_of(np.linalg.matrix_power(small_dummy(specs[0]), **params))
    return (Spec(specs[0].shape, found.dtype),)


def _power_lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    result = _power(xs[0], node.keywords["n"], trap)
    # On the way to it any sum may have overflown: infinite or not a number, by its order.
    trap_on_non_finite([result], trap)
    return (exact.cast(result, node.outputs[0].spec.dtype),)


POWER = Op(
    name="np.linalg.matrix_power",
    call=np.linalg.matrix_power,
    family="linalg",
    operands=("a",),
    params=("n",),
    infer=_power_infer,
    lower=_power_lower,
    numpy=(np.linalg.matrix_power,),
    traps=True,
    samples=lambda rng: [
        *(((rng.standard_normal((3, 3)),), {"n": n}) for n in (0, 1, 2, 3, 7, -1, -2)),
        ((np.array([[1, 2], [3, 4]]),), {"n": 40}),
        ((np.array([[1, 2], [3, 4]]),), {"n": -3}),
        ((rng.standard_normal((2, 3, 3)),), {"n": 5}),
    ],
)

_multi_dot_specs = by_shape(
    "np.linalg.multi_dot",
    lambda *arrays: np.linalg.multi_dot(arrays),
    lambda *arrays: jnp.linalg.multi_dot(arrays, precision=_HIGHEST),
    lambda *arrays: np.linalg.multi_dot(arrays),
)


def _multi_dot(*arrays: Any) -> Any:
    """The product with the fewest multiplications, and of several those that NumPy forms: the first cut of a chain."""
    shapes = [(1, *x.shape) if x.ndim == 1 else x.shape for x in arrays[:-1]] + [(*arrays[-1].shape, 1)[:2]]
    lengths = [*(rows for rows, _ in shapes), shapes[-1][1]]

    @functools.cache
    def cheapest(start: int, end: int) -> tuple[int, int]:
        if end - start == 1:
            return 0, start
        return min(
            (cheapest(start, cut)[0] + cheapest(cut, end)[0] + lengths[start] * lengths[cut] * lengths[end], cut)
            for cut in range(start + 1, end)
        )

    def product(start: int, end: int) -> Any:
        if end - start == 1:
            return arrays[start]
        _, cut = cheapest(start, end)
        left, right = product(start, cut), product(cut, end)
        if left.size == right.size == 1:  # BLAS multiplies two numbers, and adds them to nothing
            return jnp.matmul(left, right, precision=_HIGHEST)
        return matmul_rule(left, right)

    return product(0, len(arrays))


def _multi_dot_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    if len({spec.dtype for spec in specs}) > 1 or specs[0].dtype in (np.bool_, np.float16):
        # Each product has a dtype of its own, and which are formed is NumPy's choice.
        raise CannotCapture("argument-type", "`np.linalg.multi_dot` of several dtypes, or of bool or float16")
    return _multi_dot_specs(specs, params)


def _multi_dot_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    lengths = [*xs[0].shape[:-1], *(x.shape[0] for x in xs[1:]), *xs[-1].shape[1:]]
    # A vector is a row in front and a column at the end. Between two axes of one element a product is a single number.
    if lengths.count(1) + (xs[0].ndim == 1) + (xs[-1].ndim == 1) > 1:
        trap_on_non_finite(xs, trap)
    return _lower_multi_dot(node, xs, trap)


_lower_multi_dot = lower_product(_multi_dot)

MULTI_DOT = Op(
    name="np.linalg.multi_dot",
    call=lambda *arrays: np.linalg.multi_dot(arrays),
    family="contraction",
    operands=("[arrays]",),
    infer=_multi_dot_infer,
    lower=_multi_dot_lower,
    numpy=(np.linalg.multi_dot,),
    traps=True,
    samples=lambda rng: [
        ((rng.random((2, 9)), rng.random((9, 3)), rng.random((3, 4))), {}),
        ((rng.random(9), rng.random((9, 3)), rng.random((3, 4)), rng.random(4)), {}),
    ],
)


ROWS = (NORM, POWER, MULTI_DOT)
