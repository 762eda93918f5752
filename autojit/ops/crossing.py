"""The vector product: its products are rounded before their difference, so that parallel vectors give zero."""

from __future__ import annotations

from typing import Any

from autojit.jax_names import jnp
from autojit.ops import exact

#: Which elements are multiplied for each of the result's, crosswise.
_PAIRS = (1, 2), (2, 0), (0, 1)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """`np.cross` of vectors of three elements and one dtype."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = jnp.moveaxis(a, axisa, -1), jnp.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("the vectors of a cross product have three elements")
    a, b = exact.broadcast(a, b)

    def product(one: int, other: int) -> Any:
        return exact.uncontracted(exact.multiply(a[..., one], b[..., other]))

    parts = [exact.subtract(product(i, j), product(j, i)) for i, j in _PAIRS]
    return jnp.moveaxis(jnp.stack(parts, axis=-1), -1, axisc)
