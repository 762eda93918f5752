"""Sorting networks: short axes are sorted by comparing whole rows, element by element, which XLA makes vector code of.

XLA:CPU sorts one row after the other by a function that it calls for each pair of elements. In ms, with AVX-512:

| | NumPy | XLA's sort | a network |
| --- | ---: | ---: | ---: |
| `np.median(x, axis=-1)`, 50,000 x 9 | 6.2 | 18.9 | 1.4 |
| the same of all windows of 3 x 3, 500 x 500 | 37 | 106 | 6.6 |
| `np.median(x, axis=-1)`, 20,000 x 16 | 5.1 | | 1.3 |
| `np.quantile(x, 0.25, axis=-1)`, 50,000 x 7 | 4.8 | 13.1 | 1.3 |
| `np.sort(x)`, 50,000 x 9 | 2.2 | 17.8 | 3.3 |

A network takes subnormal numbers for zeros, as comparisons of floats do: of an order that is seen it is not for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autojit.jax_names import jnp, lax
from autojit.ops import exact

#: Longer axes are sorted by XLA ...
_LONGEST = 16
#: ... and those of fewer rows.
_FEWEST = 64


def fits(length: int, size: int, dtype: np.dtype) -> bool:
    """Whether an array of a size is to be sorted by a network along an axis of a length."""
    return 1 < length <= _LONGEST and size >= _FEWEST * length and dtype.kind != "c"


def sort(x: Any, axis: int) -> Any:
    """The array sorted along an axis, NaN last; equal elements keep their order or do not."""
    if not fits(x.shape[axis], x.size, np.dtype(x.dtype)):
        return lax.sort(x, dimension=axis, is_stable=False)
    rows = [lax.index_in_dim(x, place, axis, keepdims=False) for place in range(x.shape[axis])]
    return jnp.stack(_sorted(rows), axis)


def _sorted(rows: Sequence[Any]) -> list[Any]:
    made = list(rows)
    for one, other in pairs(len(made)):
        made[one], made[other] = _in_order(made[one], made[other])
    return made


def _in_order(one: Any, other: Any) -> tuple[Any, Any]:
    """The lesser and the greater of two elements."""
    if not exact.is_inexact(one):
        return jnp.minimum(one, other), jnp.maximum(one, other)
    swaps = ~(one <= other) & (other == other)
    return jnp.where(swaps, other, one), jnp.where(swaps, one, other)


def pairs(length: int) -> Iterator[tuple[int, int]]:
    """Which elements are compared, one pair after the other: Batcher's merge of odd and even places.

    Source: K. E. Batcher, Sorting networks and their applications, 1968; for any length, as Knuth has it in The Art of
    Computer Programming, volume 3, 5.2.2, Algorithm M.

    >>> list(pairs(3))
    [(0, 2), (0, 1), (1, 2)]
    """
    top = 1 << max(0, (length - 1).bit_length() - 1)
    run = top
    while run:
        # Places that agree in the bit `run` are compared with those so far behind them.
        bound, rest, step = top, 0, run
        while True:
            for place in range(length - step):
                if place & run == rest:
                    yield place, place + step
            if bound == run:
                break
            step, bound, rest = bound - run, bound >> 1, run
        run >>= 1
