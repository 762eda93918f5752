"""Rows for the methods of ufuncs: `np.add.reduce`, `np.multiply.accumulate`, `np.subtract.outer` and the like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import Spec, result_spec
from autojit.ops.families import row

#: No NumPy array has more axes.
MOST_AXES = 64


def outer_row(elementwise: Op) -> Op:
    """`np.f.outer(a, b)`: `f` of all pairs of elements.

    Args:
        elementwise: The row of `np.f`, a ufunc of two operands.
    """
    function = elementwise.call
    assert isinstance(function, np.ufunc)
    lower_pairs = elementwise.lower
    assert lower_pairs is not None and elementwise.infer is not None
    infer_pairs = elementwise.infer

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        outputs = infer_pairs([Spec((), spec.dtype) for spec in specs], params)
        shape = specs[0].shape + specs[1].shape
        if len(shape) > MOST_AXES:
            raise TypeError(f"an array of {len(shape)} axes")
        return tuple(result_spec(shape, spec.dtype) for spec in outputs)

    def lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
        first, second = xs
        # NumPy makes arrays of the operands first, so that Python scalars do not adapt to the other dtype.
        strong = tuple(replace(operand, spec=Spec(operand.spec.shape, operand.spec.dtype)) for operand in node.inputs)
        columns = first.reshape(first.shape + (1,) * second.ndim)
        return lower_pairs(replace(node, inputs=strong), [columns, second], trap)

    name = function.__name__
    return row(
        f"np.{name}.outer",
        function.outer,
        "elementwise",
        ("A", "B"),
        params=("dtype",),
        infer=infer,
        lower=lower,
        numpy=(),
        traps=elementwise.traps,
        sharding="outer",
    )


def methods_of(rows: Iterable[Op]) -> dict[tuple[str, str], Op]:
    """Rows of ufunc methods by the ufunc's and the method's name, taken from the rows' names."""
    found = {}
    for one in rows:
        _, name, method = one.name.split(".")
        found[name, method] = one
    return found
