"""Rules for sums, products, means, variances, and the forms that skip NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.jax_names import jnp, lax
from autojit.ops import exact, stages
from autojit.ops.elementwise_arithmetic import isnan, kind, truth
from autojit.ops.modes import Mode

#: Vectors of at least so many elements, and too few for stages, are added up by short rows.
_SHORT = 128
_ROW = 24


def count_of(x: Any, axes: tuple[int, ...]) -> int:
    """How many elements make one result."""
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    return count


#: Adds the elements of large arrays row by row, for programs in which XLA adds one element after the other.
by_rows = Mode("by_rows")

#: In programs with loops, of fewer elements than that each result is made by one plain reduction.
_PLAIN = 80
#: The least number of elements of arrays that are added up row by row in loops, and lengths of rows, the best first.
_LONG = 32768
_ROWS = (256, 250, 200, 240, 192, 160, 128, 125, 100, 96, 80, 64, 60, 50, 48, 40)


def _sums_of_rows(x: Any) -> tuple[Any, tuple[int, ...]]:
    """What is left to be added, and its axes."""
    row = next((n for n in _ROWS if x.size % n == 0), 0) if x.size >= _LONG else 0
    if not row:
        return x, tuple(range(x.ndim))
    # The barrier keeps XLA from making one sum of the two.
    return lax.optimization_barrier(jnp.sum(x.reshape(-1, row), axis=1)), (0,)


def _wide(dtype: Any) -> Any:
    """The dtype to accumulate in: NumPy adds float16 in float32."""
    return jnp.float32 if dtype == jnp.float16 else dtype


def sum_of(x: Any, axes: tuple[int, ...], dtype: Any) -> Any:
    """The sum, in `dtype`; the elements are cast first.

    A sum is never a negative zero. XLA makes some, where it takes the sign out of a sum of negated numbers, a product
    for a sum of equal ones, and the term itself for a sum of one.
    """
    narrow = _counted_in(x, axes, dtype)
    if narrow is not None:
        return exact.fence(_sum_of(x.astype(narrow), axes, narrow).astype(dtype))[0]
    return exact.plus_zero(_sum_of(exact.cast(x, dtype), axes, dtype))


def _counted_in(x: Any, axes: tuple[int, ...], dtype: Any) -> Any:
    """int32 or int64, where integers can be added up in it as well and it is narrower; else `None`.

    Every sum on the way is an integer that both hold, or hold but for multiples of 2**64: the result is the same.
    """
    if kind(x) not in "biu" or np.dtype(dtype).kind not in "iuf":
        return None
    limits = np.iinfo(x.dtype) if kind(x) != "b" else None
    most = count_of(x, axes) * (1 if limits is None else max(limits.max, -limits.min))
    held = 2 ** (np.finfo(dtype).nmant + 1) if np.dtype(dtype).kind == "f" else 2 ** (8 * np.dtype(dtype).itemsize - 1)
    if most > held - 1:
        return None
    found = np.dtype(np.int32 if most < 2**31 else np.int64)
    return found if np.dtype(dtype).kind == "f" or found.itemsize < np.dtype(dtype).itemsize else None


def _sum_of(x: Any, axes: tuple[int, ...], dtype: Any) -> Any:
    if by_rows.is_set() and kind(x) in "fc" and len(axes) == x.ndim:
        x, axes = _sums_of_rows(x.astype(_wide(dtype)))
    if kind(x) == "b":
        return stages.any_true(x, axes)
    if all(x.shape[axis] == 1 for axis in axes):
        return jnp.squeeze(x, axes).astype(dtype)
    x = x.astype(_wide(dtype))
    if _in_stages(x, axes):
        return stages.total(x, axes).astype(dtype)
    if x.ndim == 1 and kind(x) == "f" and x.shape[0] >= _SHORT:
        return sum_by_rows(x).astype(dtype)
    return jnp.sum(x, axis=axes, dtype=x.dtype).astype(dtype)


def _in_stages(x: Any, axes: tuple[int, ...]) -> bool:
    """Whether a sum or product is made in stages.

    Programs with loops are compiled without trees and YNN, so that a plain reduction is fused with what makes its
    operand. Over leading axes it makes vectors of results, and starting one kernel takes less time than several.
    """
    is_plain = by_rows.is_set() and x.ndim - 1 not in axes and count_of(x, axes) < _PLAIN
    return not is_plain and stages.are_useful(x, axes)


def sum_by_rows(x: Any) -> Any:
    """The sum of a vector by short rows, so that additions need not wait for each other.

    XLA:CPU cuts a plain reduction into windows of an array that it has to make first. It leaves one with two operands
    alone, as long as both results are used: the second one finds NaN, with which the sum is NaN anyway.
    """
    rows = -(-x.shape[0] // _ROW)
    if x.shape[0] % _ROW:
        x = lax.pad(x, np.zeros((), x.dtype), [(0, rows * _ROW - x.shape[0], 0)])
    x = x.reshape(rows, _ROW)

    def combine(p: tuple[Any, Any], q: tuple[Any, Any]) -> tuple[Any, Any]:
        return p[0] + q[0], p[1] | q[1]

    totals, found = lax.reduce((x, x != x), (np.zeros((), x.dtype), np.array(False)), combine, (1,))
    return jnp.sum(jnp.where(found, jnp.full_like(totals, jnp.nan), totals))


def product_of(x: Any, axes: tuple[int, ...], dtype: Any) -> Any:
    """The product, in `dtype`; the elements are cast first."""
    x = exact.cast(x, dtype)
    if kind(x) == "b":
        return stages.all_true(x, axes)
    if not axes:
        return exact.multiply(jnp.ones_like(x), x)
    x = x.astype(_wide(dtype))
    if kind(x) == "c" and count_of(x, axes) == 1:
        return jnp.squeeze(exact.multiply(jnp.ones_like(x), x), axes).astype(dtype)
    multiply = stages.product if _in_stages(x, axes) else _product
    return exact.wrapping(lambda x: multiply(x, axes), x).astype(dtype)


def _product(x: Any, axes: tuple[int, ...]) -> Any:
    return jnp.prod(x, axis=axes, dtype=x.dtype)


def over_count(total: Any, count: Any) -> Any:
    """`total / count` rounded as NumPy does: in float64, then to the dtype of the total."""
    if kind(total) == "c":
        return exact.divide(total.astype(jnp.complex128), jnp.asarray(count, jnp.complex128)).astype(total.dtype)
    quotient = exact.divide(total.astype(jnp.float64), jnp.asarray(count, jnp.float64))
    return exact.cast(quotient, total.dtype)


def sum_(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    return sum_of(x, axes, node.outputs[0].spec.dtype)


def prod(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    return product_of(x, axes, node.outputs[0].spec.dtype)


def mean(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    dtype = _moment_dtype(x, node.keywords.get("dtype"))
    if x.dtype == jnp.float16 and node.keywords.get("dtype") is None:
        dtype = np.dtype(np.float32)
    return over_count(sum_of(x, axes, dtype), count_of(x, axes))


def _moment_dtype(x: Any, wanted: Any = None) -> np.dtype:
    """The dtype in which a mean or variance is computed: float64 for integers and bools."""
    if wanted is not None:
        return np.dtype(wanted)
    return np.dtype(x.dtype) if kind(x) in "fc" else np.dtype(np.float64)


def var(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    """NumPy's two passes: the mean, then the sum of the squared distances."""
    keywords = node.keywords
    ddof = keywords.get("correction", keywords.get("ddof", 0))
    dtype = _moment_dtype(x, keywords.get("dtype"))
    count = count_of(x, axes)
    center = jnp.expand_dims(over_count(sum_of(x, axes, dtype), count), axes)
    squares = squared(exact.subtract(exact.cast(x, dtype), center))
    total = sum_of(squares, axes, squares.dtype)
    return over_count(total, max(count - ddof, 0))


def squared(x: Any) -> Any:
    """The squared absolute values, real."""
    if kind(x) != "c":
        return exact.multiply(x, x)
    a, b = lax.real(x), lax.imag(x)
    return exact.add(exact.multiply(a, a), exact.multiply(b, b))


def std(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    return square_root(var(x, axes, node))


def square_root(x: Any) -> Any:
    """The square root, of float16 in float32."""
    return lax.sqrt(*exact.fence(x.astype(_wide(x.dtype)))).astype(x.dtype)


def any_(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    return stages.any_true(truth(x), axes)


def all_(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    return stages.all_true(truth(x), axes)


def count_nonzero(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    return count_true(truth(x), axes)


def count_true(x: Any, axes: tuple[int, ...]) -> Any:
    """How many are true, as int64."""
    return sum_of(x, axes, np.dtype(np.int64))


def without_nan(x: Any, fill: float) -> Any:
    """NaN replaced by `fill`."""
    return jnp.where(isnan(x), jnp.full_like(x, fill), x) if exact.is_inexact(x) else x


def nansum(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    return sum_(without_nan(x, 0), axes, node)


def nanprod(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    return prod(without_nan(x, 1), axes, node)


def _present(x: Any, axes: tuple[int, ...]) -> Any:
    if not exact.is_inexact(x):
        return jnp.asarray(count_of(x, axes))
    return count_of(x, axes) - count_true(isnan(x), axes)


def nanmean(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    if not exact.is_inexact(x):
        return mean(x, axes, node)
    dtype = node.outputs[0].spec.dtype
    return over_count(sum_of(without_nan(x, 0), axes, dtype), _present(x, axes))


def nanvar(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    if not exact.is_inexact(x):
        return var(x, axes, node)
    keywords = node.keywords
    ddof = keywords.get("correction", keywords.get("ddof", 0))
    dtype = _moment_dtype(x, keywords.get("dtype"))
    count = _present(x, axes)
    filled = exact.cast(without_nan(x, 0), dtype)
    center = jnp.expand_dims(over_count(sum_of(filled, axes, dtype), count), axes)
    distance = exact.subtract(filled, center)
    squares = squared(jnp.where(isnan(x), jnp.zeros_like(distance), distance))
    freedom = count - ddof
    result = over_count(sum_of(squares, axes, squares.dtype), freedom)
    return jnp.where(freedom <= 0, jnp.full_like(result, jnp.nan), result)


def nanstd(x: Any, axes: tuple[int, ...], node: Any) -> Any:
    return square_root(nanvar(x, axes, node))
