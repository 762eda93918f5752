"""What branches on array data become: a choice between two values of one spec, and the call that is left to NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp
from autojit.ops.families import row


def _select(condition: Any, one: Any, other: Any) -> Any:
    return one if condition else other


def _select_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    condition, one, other = specs
    if condition.shape or condition.dtype.kind != "b":
        raise TypeError("a condition that is not one bool")
    if one != other:
        raise TypeError("a choice between values of two types")
    return (one,)


def _select_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    return (jnp.where(*xs),)


def _as_scalar(x: Any) -> Any:
    return np.asarray(x)[()]


def _as_scalar_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    if specs[0].shape:
        raise TypeError("a number of several elements")
    return (Spec((), specs[0].dtype, "scalar"),)


def _leave(flag: Any) -> bool:
    if flag:
        raise RuntimeError("this data is left to NumPy")
    return bool(flag)


def _leave_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    if specs[0].shape or specs[0].dtype.kind != "b":
        raise TypeError("a condition that is not one bool")
    return (specs[0],)


def _leave_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    trap(xs[0])
    return (xs[0],)


#: A Python number as the NumPy scalar of its dtype.
AS_SCALAR = row(
    "as_scalar", _as_scalar, "elementwise", ("x",), infer=_as_scalar_infer, lower=lambda node, xs, trap: (xs[0],),
    numpy=(), sharding="elementwise", samples=lambda rng: [((value,), {}) for value in (True, 3, 0.5, 1j)],
    bitwise="fc",
    note="a Python number as the NumPy scalar of its dtype",
)  # fmt: skip

ROWS: tuple[Op, ...] = (
    row(
        "select", _select, "elementwise", ("condition", "x", "y"), infer=_select_infer, lower=_select_lower, numpy=(),
        text=lambda inputs, params: "({1} if {0} else {2})".format(*inputs), sharding="elementwise", bitwise="fc",
        note="a conditional expression on array data, or what a name is bound to after an `if`",
    ),
    AS_SCALAR,
    row(
        "leave_if", _leave, "indexing", ("flag",), infer=_leave_infer, lower=_leave_lower, numpy=(), traps=True,
        note="where Python would raise: the call is left to NumPy",
    ),
)  # fmt: skip
