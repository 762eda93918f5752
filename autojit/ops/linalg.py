"""`np.linalg`: what is determined up to rounding compiles.

Eigenvectors and singular vectors are determined only up to a sign. In float32 the LAPACK of jax chooses other signs
than NumPy's for some matrices, so these functions run on the host; eigenvalues and singular values compile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.op import Infer, Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops import linalg_norms as norms
from autojit.ops import linalg_solving as solving
from autojit.ops.families import small_dummy
from autojit.ops.inference import public_name, specs_of
from autojit.ops.linalg_common import check_matrices, each, matrix_row
from autojit.ops.linalg_solving import inv, square_samples

Trap = Callable[[Any], None]

_HIGHEST = "highest"

#: The named tuples that functions with several results return, by row.
RESULT_TYPES: dict[str, Any] = {
    "np.linalg.qr": type(np.linalg.qr(np.eye(1))),
    "np.linalg.svd": type(np.linalg.svd(np.eye(1))),
    "np.linalg.eigh": type(np.linalg.eigh(np.eye(1))),
    "np.linalg.eig": type(np.linalg.eig(np.eye(1))),
    "np.linalg.slogdet": type(np.linalg.slogdet(np.eye(1))),
}


def _cholesky(a: Any, trap: Trap, upper: bool = False) -> Any:
    a = jnp.swapaxes(a, -1, -2).conj() if upper else a
    found = lax.linalg.cholesky(a, symmetrize_input=False)
    # Where a pivot is of the size of what rounding leaves, NumPy says whether the matrix is positive definite.
    pivots, sizes = (jnp.diagonal(x, axis1=-2, axis2=-1) for x in (found, a))
    limit = 8 * a.shape[-1] * np.finfo(a.dtype).eps * jnp.max(jnp.abs(sizes), axis=-1, initial=0)
    trap(jnp.any(~jnp.isfinite(pivots)) | jnp.any(lax.square(jnp.abs(pivots)) <= limit[..., None]))
    # The conjugate of a real number has a negative zero.
    return exact.plus_zero(jnp.swapaxes(found, -1, -2).conj()) if upper else found


def _qr(a: Any, trap: Trap, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"mode '{mode}' is not compiled")
    trap(jnp.any(~jnp.isfinite(a)))
    found: Any = jnp.linalg.qr(a, mode=mode)
    # What rounding leaves of a column decides where the next ones point.
    sizes = jnp.abs(jnp.diagonal(found if mode == "r" else found[1], axis1=-2, axis2=-1))
    limit = 8 * max(a.shape[-2:]) * np.finfo(a.dtype).eps * jnp.max(sizes, axis=-1, initial=0)
    trap(jnp.any(sizes <= limit[..., None]))
    return found


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
    # Of which side a small value falls, rounding decides.
    noise = 64 * np.finfo(s.dtype).eps * jnp.max(s, axis=-1, keepdims=True)
    trap(jnp.any((s < cutoff + noise) & (s > cutoff - noise)))
    s = jnp.where(s > cutoff, 1 / s, 0).astype(a.dtype)
    scaled = s[..., None] * jnp.swapaxes(u, -1, -2)
    return jnp.matmul(jnp.swapaxes(vt, -1, -2), scaled, precision=_HIGHEST)


def _cond(x: Any, trap: Trap, p: Any = None) -> Any:
    if p in (None, 2, -2):
        s = _svdvals(x, trap)
        trap(jnp.any(s[..., -1] <= 8 * s.shape[-1] * np.finfo(s.dtype).eps * s[..., 0]))
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    inverse = inv(x, trap)
    return jnp.linalg.norm(x, p, (-2, -1)) * jnp.linalg.norm(inverse, p, (-2, -1))


def _positive(rng: Any) -> list[Any]:
    a = rng.standard_normal((4, 4))
    return [a @ a.T + np.eye(4), np.array([[2, 1], [1, 3]]), (a @ a.T).astype(np.float32) + np.eye(4, dtype=np.float32)]


def _any_matrix(rng: Any) -> list[Any]:
    return [rng.standard_normal((5, 3)), rng.standard_normal((2, 3, 4)), rng.standard_normal((4, 4)).astype(np.float32)]


COMPILED = (
    matrix_row(
        np.linalg.cholesky, _cholesky, ("a",), ("upper",), square=True, samples=each(_positive, {}, {"upper": True})
    ),
    matrix_row(
        np.linalg.qr, _qr, ("a",), ("mode",), samples=each(_any_matrix, {}, {"mode": "complete"}, {"mode": "r"})
    ),
    matrix_row(
        np.linalg.eigvalsh, _eigvalsh, ("a",), ("UPLO",), square=True, samples=each(_positive, {}, {"UPLO": "U"})
    ),
    matrix_row(np.linalg.svdvals, _svdvals, ("x",), samples=each(_any_matrix)),
    matrix_row(np.linalg.pinv, _pinv, ("a",), ("rcond", "hermitian"), samples=each(_any_matrix)),
    matrix_row(
        np.linalg.cond,
        _cond,
        ("x",),
        ("p",),
        samples=lambda rng: [((a,), {"p": p}) for p in (None, 1, -2, np.inf, "fro") for a in square_samples(rng)[:2]],
    ),
)


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
    _host(
        np.linalg.svd,
        ("a",),
        ("full_matrices", "compute_uv", "hermitian"),
        _svd_infer,
        samples=each(_any_matrix, {}, {"full_matrices": False}, {"compute_uv": False}),
        note="the signs of singular vectors are LAPACK's choice",
    ),
    _host(
        np.linalg.eigh,
        ("a",),
        ("UPLO",),
        _eig_infer(np.linalg.eigh),
        samples=each(_positive),
        note="the signs of eigenvectors are LAPACK's choice",
    ),
    _host(np.linalg.eig, ("a",), (), None, note="real or complex: the data decides"),
    _host(np.linalg.eigvals, ("a",), (), None, note="real or complex: the data decides"),
    _host(np.linalg.lstsq, ("a", "b"), ("rcond",), None, note="the data decides the shape of the residuals"),
    _host(np.linalg.matrix_rank, ("A",), ("tol", "hermitian", "rtol"), None),
)

ROWS = (*solving.ROWS, *COMPILED, *norms.ROWS, *HOST)
