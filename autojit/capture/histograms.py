"""`np.histogram` with equal bins in terms of other NumPy functions: the arithmetic of NumPy's fast path."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from autojit.capture.values import Arr, Items, Known
from autojit.ops.chapters import TABLE

#: The elements of a block of NumPy's.
_BLOCK = 65536


def histogram(
    self: Any,
    a: Any,
    bins: Any = Known(10),
    range: Any = Known(None),
    density: Any = Known(None),
    weights: Any = Known(None),
) -> Any:
    """`np.histogram(a, bins, range, density, weights)`."""
    given = {"bins": bins, "range": range, "density": density, "weights": weights}
    number = self.static(bins) if not isinstance(bins, Arr | Items) else None
    is_plain = isinstance(density, Known) and not density.value and isinstance(range, Known) and range.value is None
    is_weighted = isinstance(weights, Arr)
    if (
        not is_plain
        or type(number) is not int
        or number < 1
        or not isinstance(a, Arr)
        or a.dtype.kind != "f"
        or a.dtype.itemsize < 4
        or not a.spec.size
        or (is_weighted and (weights.shape != a.shape or weights.dtype.kind not in "iuf"))
        # NumPy adds integers up in blocks.
        or (is_weighted and weights.dtype.kind != "f" and a.spec.size > _BLOCK)
        or not (is_weighted or (isinstance(weights, Known) and weights.value is None))
    ):
        known = {
            name: value
            for name, value in given.items()
            if name == "bins" or not (isinstance(value, Known) and value.value is None)
        }
        return self.call_row(TABLE["np.histogram"], [a], known, np.histogram)

    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        return self.call_numpy(function, list(args), kwargs)

    flat = call(np.ravel, a)
    first, last = call(np.min, flat), call(np.max, flat)
    width = self.binary(ast.Sub, last, first)
    # NumPy widens an empty range, and raises for one that is not finite.
    is_fine = call(np.logical_and, self.binary(ast.Gt, width, Known(0)), call(np.isfinite, width))
    self.trap_if(self.read(self.unary(ast.Invert, is_fine)))
    edges = call(np.linspace, first, last, Known(number + 1), dtype=Known(a.dtype))
    # NumPy raises where the bins are narrower than the numbers can tell.
    lower, upper = (self.getitem(edges, Known(part)) for part in (slice(None, -1), slice(1, None)))
    self.trap_if(self.read(call(np.any, self.binary(ast.GtE, lower, upper))))
    scaled = self.binary(ast.Mult, self.binary(ast.Div, self.binary(ast.Sub, flat, first), width), Known(number))
    bin_of = call(np.minimum, self.astype(scaled, np.intp), Known(number - 1))
    # The product may be off by one step next to an edge.
    below = self.binary(ast.Lt, flat, self.getitem(edges, bin_of))
    below = call(np.logical_and, below, self.binary(ast.Gt, bin_of, Known(0)))  # XLA may have computed `flat` anew
    bin_of = self.binary(ast.Sub, bin_of, below)
    above = self.binary(ast.GtE, flat, self.getitem(edges, self.binary(ast.Add, bin_of, Known(1))))
    inner = self.binary(ast.NotEq, bin_of, Known(number - 1))
    bin_of = self.binary(ast.Add, bin_of, call(np.logical_and, above, inner))
    add_at = TABLE["add_at"]
    if not is_weighted:
        zeros = call(np.zeros, Known(number), Known(np.intp))
        return Items(tuple, [self.apply(add_at, [zeros, bin_of, Known(1)], {}), edges])
    values = self.astype(call(np.ravel, weights), np.float64, copy=False)
    total = self.apply(add_at, [call(np.zeros, Known(number)), bin_of, values], {})
    return Items(tuple, [self.astype(total, weights.dtype, copy=False), edges])
