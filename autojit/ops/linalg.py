"""`np.linalg`: what is determined up to rounding compiles.

Eigenvectors and singular vectors are determined only up to a sign. In float32 the LAPACK of jax chooses other signs
than NumPy's for some matrices, so these functions run on the host; eigenvalues and singular values compile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from autojit.errors import CannotCapture
from autojit.ir.op import Infer, Lower, Op
from autojit.ir.spec import Spec, result_spec
from autojit.ops import exact
from autojit.ops.contraction import lower_product
from autojit.ops.families import small_dummy
from autojit.ops.inference import by_shape, public_name, specs_of

Trap = Callable[[Any], None]

_HIGHEST = lax.Precision.HIGHEST

#: The named tuples that functions with several results return, by row.
RESULT_TYPES: dict[str, Any] = {
    "np.linalg.qr": type(np.linalg.qr(np.eye(1))),
    "np.linalg.svd": type(np.linalg.svd(np.eye(1))),
    "np.linalg.eigh": type(np.linalg.eigh(np.eye(1))),
    "np.linalg.eig": type(np.linalg.eig(np.eye(1))),
    "np.linalg.slogdet": type(np.linalg.slogdet(np.eye(1))),
}


def _quiet(flag: Any) -> None:
    """A trap that nobody hears, for tracing shapes."""


def _row(
    function: Any,
    rule: Callable[..., Any],
    operands: tuple[str, ...] = ("a",),
    params: tuple[str, ...] = (),
    *,
    square: bool = False,
    **more: Any,
) -> Op:
    """A row; `rule(*xs, trap=..., **params)` gets floats of NumPy's result dtype (or complex)."""
    infer = _infer(function, rule, square)
    return Op(
        name=public_name(function),
        call=function,
        family="linalg",
        operands=operands,
        params=params,
        infer=infer,
        lower=_lower(rule),
        numpy=(function,),
        traps=True,
        **more,
    )


def _inexact(dtypes: Iterable[Any]) -> np.dtype:
    """The dtype in which NumPy computes: float64 for integers."""
    dtype = np.result_type(*dtypes)
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def _infer(function: Any, rule: Callable[..., Any], square: bool) -> Infer:
    def traced(*xs: Any, **params: Any) -> Any:
        dtype = _inexact(x.dtype for x in xs)
        return rule(*(x.astype(dtype) for x in xs), trap=_quiet, **params)

    by_trace = by_shape(function, traced, function)

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        check_matrices(function, specs, square)
        return by_trace(specs, params)

    return infer


def check_matrices(function: Any, specs: Sequence[Spec], square: bool) -> None:
    """Refuse what NumPy refuses, and empty matrices.

    Raises:
        LinAlgError: NumPy's own error.
        TypeError: NumPy has no linear algebra for this dtype.
        CannotCapture: An empty matrix.
    """
    first = specs[0]
    if first.ndim < 2:
        raise np.linalg.LinAlgError(f"{first.ndim}-dimensional array given. Array must be at least two-dimensional")
    if square and first.shape[-1] != first.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if any(0 in spec.shape for spec in specs):
        raise CannotCapture("keyword", f"`{public_name(function)}` of an empty array")


def _lower(rule: Callable[..., Any]) -> Lower:
    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        dtype = _inexact(spec.dtype for spec in node.specs)
        results = rule(*(exact.cast(x, dtype) for x in xs), trap=trap, **node.keywords)
        results = results if isinstance(results, tuple | list) else (results,)
        return tuple(exact.cast(x, value.spec.dtype) for x, value in zip(results, node.outputs, strict=True))

    return lower


# ---- LU


def factor(a: Any, trap: Trap) -> tuple[Any, Any, Any]:
    """`(lu, pivots, permutation)`; traps where the matrix is singular to rounding, so that NumPy decides."""
    lu, pivots, permutation = lax.linalg.lu(a)
    size = jnp.abs(jnp.diagonal(lu, axis1=-2, axis2=-1))
    limit = 8 * a.shape[-1] * np.finfo(a.dtype).eps
    small = jnp.min(size, axis=-1) <= limit * jnp.max(size, axis=-1)
    trap(jnp.any(small | ~jnp.isfinite(jnp.max(size, axis=-1))))
    return lu, pivots, permutation


def _solve_many(a: Any, b: Any, trap: Trap) -> Any:
    """The solution for a matrix of right hand sides; the batch axes broadcast."""
    lu, _, permutation = factor(a, trap)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    lu = jnp.broadcast_to(lu, (*batch, *lu.shape[-2:]))
    b = jnp.broadcast_to(b, (*batch, *b.shape[-2:]))
    rows = jnp.broadcast_to(permutation[..., None], (*batch, b.shape[-2], 1))
    b = jnp.take_along_axis(b, rows, axis=-2, mode="promise_in_bounds")
    b = lax.linalg.triangular_solve(lu, b, left_side=True, lower=True, unit_diagonal=True)
    return lax.linalg.triangular_solve(lu, b, left_side=True, lower=False)


def _solve(a: Any, b: Any, trap: Trap) -> Any:
    if b.ndim == 1:
        return _solve_many(a, b[:, None], trap)[..., 0]
    return _solve_many(a, b, trap)


def _inv(a: Any, trap: Trap) -> Any:
    return _solve_many(a, jnp.eye(a.shape[-1], dtype=a.dtype), trap)


def _slogdet(a: Any, trap: Trap) -> Any:
    lu, pivots, _ = factor(a, trap)
    diagonal = jnp.diagonal(lu, axis1=-2, axis2=-1)
    swaps = jnp.sum(pivots != jnp.arange(pivots.shape[-1], dtype=pivots.dtype), axis=-1) % 2
    size = jnp.abs(diagonal)
    sign = jnp.prod(diagonal / size, axis=-1) * jnp.where(swaps == 1, -1, 1).astype(a.dtype)
    return sign, jnp.sum(jnp.log(size), axis=-1)


def _det(a: Any, trap: Trap) -> Any:
    sign, log = _slogdet(a, trap)
    # NumPy takes this way, too, so that the rounding is alike.
    return sign * jnp.exp(log).astype(a.dtype)


# ---- decompositions


def _cholesky(a: Any, trap: Trap, upper: bool = False) -> Any:
    a = jnp.swapaxes(a, -1, -2).conj() if upper else a
    found = lax.linalg.cholesky(a, symmetrize_input=False)
    trap(jnp.any(~jnp.isfinite(jnp.diagonal(found, axis1=-2, axis2=-1))))
    return jnp.swapaxes(found, -1, -2).conj() if upper else found


def _qr(a: Any, trap: Trap, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"mode '{mode}' is not compiled")
    trap(jnp.any(~jnp.isfinite(a)))
    return jnp.linalg.qr(a, mode=mode)


def _eigvalsh(a: Any, trap: Trap, UPLO: str = "L") -> Any:
    trap(jnp.any(~jnp.isfinite(a)))
    # LAPACK reads the lower triangle only.
    lower = a if UPLO.upper() == "L" else jnp.swapaxes(a, -1, -2).conj()
    return lax.linalg.eigh(lower, symmetrize_input=False)[1]


def _svdvals(x: Any, trap: Trap) -> Any:
    trap(jnp.any(~jnp.isfinite(x)))
    return lax.linalg.svd(x, compute_uv=False)


def _pinv(a: Any, trap: Trap, rcond: Any = None, hermitian: bool = False) -> Any:
    if hermitian:
        raise ValueError("`hermitian` is not compiled")
    trap(jnp.any(~jnp.isfinite(a)))
    u, s, vt = lax.linalg.svd(a.conj(), full_matrices=False)
    cutoff = (1e-15 if rcond is None else rcond) * jnp.max(s, axis=-1, keepdims=True)
    s = jnp.where(s > cutoff, 1 / s, 0).astype(a.dtype)
    scaled = s[..., None] * jnp.swapaxes(u, -1, -2)
    return jnp.matmul(jnp.swapaxes(vt, -1, -2), scaled, precision=_HIGHEST)


def _cond(x: Any, trap: Trap, p: Any = None) -> Any:
    if p in (None, 2, -2):
        s = _svdvals(x, trap)
        trap(jnp.any(s[..., -1] <= 8 * s.shape[-1] * np.finfo(s.dtype).eps * s[..., 0]))
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    inverse = _inv(x, trap)
    return jnp.linalg.norm(x, p, (-2, -1)) * jnp.linalg.norm(inverse, p, (-2, -1))


# ---- samples


def _square(rng: Any) -> list[Any]:
    a = rng.standard_normal((4, 4))
    stack = rng.standard_normal((2, 3, 3)) + 3 * np.eye(3)
    return [a, stack, a.astype(np.float32), a + 1j * a.T, np.array([[2, 1], [1, 3]]), a[:1, :1]]


def _positive(rng: Any) -> list[Any]:
    a = rng.standard_normal((4, 4))
    return [a @ a.T + np.eye(4), np.array([[2, 1], [1, 3]]), (a @ a.T).astype(np.float32) + np.eye(4, dtype=np.float32)]


def _any_matrix(rng: Any) -> list[Any]:
    return [rng.standard_normal((5, 3)), rng.standard_normal((2, 3, 4)), rng.standard_normal((4, 4)).astype(np.float32)]


def _each(make: Callable[[Any], list[Any]], *cases: dict[str, Any]) -> Callable[[Any], list[Any]]:
    return lambda rng: [((a,), case) for case in (cases or ({},)) for a in make(rng)]


def _solve_samples(rng: Any) -> list[Any]:
    a, b = rng.standard_normal((4, 4)), rng.standard_normal((4, 2))
    stack = rng.standard_normal((3, 4, 4)) + 4 * np.eye(4)
    return [((a, b), {}), ((a, b[:, 0]), {}), ((stack, b), {}), ((stack, b[:, 0]), {}),
            ((a.astype(np.float32), b.astype(np.float32)), {}), ((a, b * 1j), {}),
            ((np.array([[2, 1], [1, 3]]), np.array([1, 2])), {})]  # fmt: skip


COMPILED = (
    _row(np.linalg.solve, _solve, ("a", "b"), square=True, samples=_solve_samples),
    _row(np.linalg.inv, _inv, square=True, samples=_each(_square)),
    _row(np.linalg.det, _det, square=True, samples=_each(_square)),
    _row(np.linalg.slogdet, _slogdet, square=True, samples=_each(_square)),
    _row(np.linalg.cholesky, _cholesky, ("a",), ("upper",), square=True, samples=_each(_positive, {}, {"upper": True})),
    _row(np.linalg.qr, _qr, ("a",), ("mode",), samples=_each(_any_matrix, {}, {"mode": "complete"}, {"mode": "r"})),
    _row(np.linalg.eigvalsh, _eigvalsh, ("a",), ("UPLO",), square=True, samples=_each(_positive, {}, {"UPLO": "U"})),
    _row(np.linalg.svdvals, _svdvals, ("x",), samples=_each(_any_matrix)),
    _row(np.linalg.pinv, _pinv, ("a",), ("rcond", "hermitian"), samples=_each(_any_matrix)),
    _row(
        np.linalg.cond,
        _cond,
        ("x",),
        ("p",),
        samples=lambda rng: [((a,), {"p": p}) for p in (None, 1, -2, np.inf, "fro") for a in _square(rng)[:2]],
    ),
)


# ---- norms and powers


def _norm_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    (x,) = specs
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
    if order is None and axis is None:
        # NumPy flattens first, so all axes are summed at once whatever their number.
        parts = x.reshape(-1)
        total = jnp.sum(jnp.real(parts * jnp.conj(parts)))
        result = jnp.sqrt(total).reshape(node.outputs[0].spec.shape)
    else:
        result = jnp.linalg.norm(x, **keywords)
    return (exact.cast(result, node.outputs[0].spec.dtype),)


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


def _power(a: Any, n: int, trap: Trap = _quiet) -> Any:
    if n < 0:
        a, n = _inv(a if exact.is_inexact(a) else a.astype(jnp.float64), trap), -n
    if n == 0:
        return jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    if n == 3:
        return _times(_times(a, a), a)
    square, result = None, None
    while n:
        square = a if square is None else _times(square, square)
        n, bit = divmod(n, 2)
        if bit:
            result = square if result is None else _times(result, square)
    return result


def _times(a: Any, b: Any) -> Any:
    return jnp.matmul(a, b, precision=_HIGHEST)


def _power_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    check_matrices(np.linalg.matrix_power, specs, True)
    (found,) = specs_of(np.linalg.matrix_power(small_dummy(specs[0]), **params))
    return (Spec(specs[0].shape, found.dtype),)


def _power_lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    dtype = node.outputs[0].spec.dtype
    if dtype in (np.bool_, np.float16):
        return lower_product(_power)(node, xs, trap)
    return (exact.cast(_power(xs[0], node.keywords["n"], trap), dtype),)


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

MULTI_DOT = Op(
    name="np.linalg.multi_dot",
    call=lambda *arrays: np.linalg.multi_dot(arrays),
    family="contraction",
    operands=("[arrays]",),
    infer=by_shape(
        lambda *arrays: np.linalg.multi_dot(arrays),
        lambda *arrays: jnp.linalg.multi_dot(arrays, precision=_HIGHEST),
        lambda *arrays: np.linalg.multi_dot(arrays),
    ),
    lower=lower_product(lambda *arrays: jnp.linalg.multi_dot(arrays, precision=_HIGHEST)),
    numpy=(np.linalg.multi_dot,),
    samples=lambda rng: [
        ((rng.random((2, 9)), rng.random((9, 3)), rng.random((3, 4))), {}),
        ((rng.random(9), rng.random((9, 3)), rng.random((3, 4)), rng.random(4)), {}),
    ],
)


# ---- on the host


def _svd_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    check_matrices(np.linalg.svd, specs, params.get("hermitian", False))
    found = specs_of(np.linalg.svd(small_dummy(specs[0]), **params))
    *batch, m, n = specs[0].shape
    k = min(m, n)
    if len(found) == 1:
        return (Spec((*batch, k), found[0].dtype),)
    full = params.get("full_matrices", True)
    shapes = [(*batch, m, m if full else k), (*batch, k), (*batch, n if full else k, n)]
    return tuple(Spec(shape, spec.dtype) for shape, spec in zip(shapes, found, strict=True))


def _eig_infer(function: Any) -> Infer:
    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        check_matrices(function, specs, True)
        found = specs_of(function(small_dummy(specs[0]), **params))
        shapes = [specs[0].shape[:-1], specs[0].shape]
        return tuple(Spec(shape, spec.dtype) for shape, spec in zip(shapes, found, strict=False))

    return infer


def _host(function: Any, operands: tuple[str, ...], params: tuple[str, ...], infer: Infer | None, **more: Any) -> Op:
    return Op(
        name=public_name(function),
        call=function,
        family="host",
        operands=operands,
        params=params,
        infer=infer,
        numpy=(function,),
        **more,
    )


HOST = (
    _host(np.linalg.svd, ("a",), ("full_matrices", "compute_uv", "hermitian"), _svd_infer,
          samples=_each(_any_matrix, {}, {"full_matrices": False}, {"compute_uv": False}),
          note="the signs of singular vectors are LAPACK's choice"),
    _host(np.linalg.eigh, ("a",), ("UPLO",), _eig_infer(np.linalg.eigh), samples=_each(_positive),
          note="the signs of eigenvectors are LAPACK's choice"),
    _host(np.linalg.eig, ("a",), (), None, note="real or complex: the data decides"),
    _host(np.linalg.eigvals, ("a",), (), None, note="real or complex: the data decides"),
    _host(np.linalg.lstsq, ("a", "b"), ("rcond",), None, note="the data decides the shape of the residuals"),
    _host(np.linalg.matrix_rank, ("A",), ("tol", "hermitian", "rtol"), None),
)  # fmt: skip

ROWS = (*COMPILED, NORM, POWER, MULTI_DOT, *HOST)
