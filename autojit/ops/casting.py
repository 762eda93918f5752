"""Casts that trap where NumPy's result is undefined, or where an assignment raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.errors import CannotCapture
from autojit.ir.spec import Spec
from autojit.jax_names import jnp
from autojit.ops import exact


def check_assignable(spec: Spec, dtype: np.dtype) -> None:
    """Refuse what NumPy refuses, or warns about, when a value is assigned to elements of `dtype`.

    Raises:
        TypeError: A Python complex assigned to real elements.
        CannotCapture: NumPy would discard an imaginary part, with a warning.
    """
    if spec.dtype.kind != "c" or dtype.kind in "cb":
        return
    if spec.kind == "python":
        np.empty(1, dtype)[0] = 1j
    raise CannotCapture("raises", "casting complex values to real discards the imaginary part, with a warning")


def cast(x: Any, dtype: np.dtype, trap: Callable[[Any], None], *, checked: bool = False, weak: bool = False) -> Any:
    """`x` in another dtype; traps where the result is undefined (NaN, infinite or too large for an integer).

    Args:
        x: A jax value.
        dtype: The wanted dtype.
        trap: Takes the flag.
        checked: Whether integers that do not fit trap, too, as NumPy and Python scalars do in assignments.
        weak: Whether it is a Python number.
    """
    if weak:
        x = exact.as_python_float(x, dtype)
    source = np.dtype(x.dtype)
    if source.kind == "f" and dtype.kind in "iu":
        trap(jnp.any(exact.outside(x, dtype)))
    elif checked and source.kind in "iu" and dtype.kind in "iu" and not np.can_cast(source, dtype):
        have, want = np.iinfo(source), np.iinfo(dtype)
        if want.min > have.min:
            trap(jnp.any(x < want.min))
        if want.max < have.max:
            trap(jnp.any(x > np.asarray(want.max, source)))
    return exact.cast(x, dtype)
