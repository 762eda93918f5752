"""Linear equations, inverses and determinants, by LU factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.jax_names import jnp, lax
from autojit.ops.linalg_common import each, matrix_row

Trap = Callable[[Any], None]

_HIGHEST = "highest"


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


def inv(a: Any, trap: Trap) -> Any:
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


def square_samples(rng: Any) -> list[Any]:
    a = rng.standard_normal((4, 4))
    stack = rng.standard_normal((2, 3, 3)) + 3 * np.eye(3)
    return [a, stack, a.astype(np.float32), a + 1j * a.T, np.array([[2, 1], [1, 3]]), a[:1, :1]]


def _solve_samples(rng: Any) -> list[Any]:
    a, b = rng.standard_normal((4, 4)), rng.standard_normal((4, 2))
    stack = rng.standard_normal((3, 4, 4)) + 4 * np.eye(4)
    return [((a, b), {}), ((a, b[:, 0]), {}), ((stack, b), {}), ((stack, b[:, 0]), {}),
            ((a.astype(np.float32), b.astype(np.float32)), {}), ((a, b * 1j), {}),
            ((np.array([[2, 1], [1, 3]]), np.array([1, 2])), {})]  # fmt: skip


ROWS = (
    matrix_row(np.linalg.solve, _solve, ("a", "b"), square=True, samples=_solve_samples),
    matrix_row(np.linalg.inv, inv, square=True, samples=each(square_samples)),
    matrix_row(np.linalg.det, _det, square=True, samples=each(square_samples)),
    matrix_row(np.linalg.slogdet, _slogdet, square=True, samples=each(square_samples)),
)
