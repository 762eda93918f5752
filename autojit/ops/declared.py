"""Functions that users have declared to be pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autojit.ir.op import Op

#: By id, which stays theirs while they are kept alive here.
DECLARED: dict[int, Callable[..., Any]] = {}


def is_declared(op: Op) -> bool:
    """Whether an operation is a call of such a function."""
    return any(id(function) in DECLARED for function in op.numpy)


def declare_host_op(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare that a function is pure: it changes none of its arguments and nothing outside.

    It gives the same result for the same arguments: of equal calls one may be made.

    Its results are new: nobody else has them, or will, as with a cache that gives the same array at each call.

    Its calls then run on the host between two compiled clusters instead of ending the region. Works as a decorator.

    Args:
        function: Takes and returns arrays, scalars, or a tuple of them.

    Returns:
        `function` itself.
    """
    DECLARED[id(function)] = function
    return function
