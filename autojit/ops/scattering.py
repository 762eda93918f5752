"""`ufunc.at` as a value: an array with elements combined at indices that may repeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp
from autojit.ops.families import row
from autojit.ops.reading import bounded

_METHODS = {"add": "add", "subtract": "subtract", "multiply": "multiply", "maximum": "max", "minimum": "min"}


def combined(function: np.ufunc) -> Callable[..., Any]:
    """`function.at` of a copy."""

    def call(x: Any, indices: Any, *values: Any) -> Any:
        result = np.array(x)
        function.at(result, indices, *values)
        return result

    return call


def _infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    x, indices, values = specs
    if x.ndim != 1 or indices.dtype.kind not in "iu" or indices.ndim == 0 or x.dtype.kind not in "iuf":
        raise TypeError("only an array of one axis at an array of integers is compiled")
    if values.shape not in ((), indices.shape):
        raise TypeError("values of another shape than the indices")
    if values.kind == "python" and values.dtype.kind != "b":
        if x.dtype != np.float64 and x.dtype != values.dtype:  # NumPy makes an array of it, and computes in its dtype
            raise TypeError("a number of another type")
        if values.dtype.kind == "c":
            raise TypeError("complex values")
    elif values.dtype != x.dtype:
        raise TypeError("values of another type")
    return (Spec(x.shape, x.dtype),)


def _lower(function: np.ufunc) -> Callable[..., Any]:
    method = _METHODS[function.__name__]

    def lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
        x, indices, values = xs
        places = bounded(indices, x.shape[0], trap)
        if not x.shape[0]:
            return (x,)
        values = jnp.broadcast_to(values.astype(x.dtype), places.shape)
        at = x.at[places]
        if method in ("max", "min") and np.dtype(x.dtype).kind == "f":
            trap(jnp.any(jnp.isnan(x)) | jnp.any(jnp.isnan(values)))
        return (getattr(at, method)(values, mode="promise_in_bounds", wrap_negative_indices=False),)

    return lower


ROWS: tuple[Op, ...] = tuple(
    row(
        f"{function.__name__}_at", combined(function), "indexing", ("x", "indices", "values"), infer=_infer,
        lower=_lower(function), numpy=(), traps=True, bitwise="",
        samples=lambda rng: [
            ((rng.random(7), rng.integers(0, 7, 20), rng.random(20)), {}),
            ((rng.integers(0, 9, 7), rng.integers(-7, 7, (3, 4)), rng.integers(0, 3, (3, 4))), {}),
            ((rng.random(7), np.array([], np.int64), 2.0), {}),
            ((rng.random(5).astype(np.float32), np.array([0, 0, 4]), np.float32(0.5)), {}),
        ],
        note="arrays of one axis",
    )
    for function in (np.add, np.subtract, np.multiply, np.maximum, np.minimum)
)  # fmt: skip
