"""Pure functions that run in NumPy, between two clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.ir.op import Op

#: Packages whose functions are pure: arrays in, arrays out.
PURE_PACKAGES = (
    "scipy.special",
    "scipy.linalg",
    "scipy.fft",
    "scipy.fftpack",
    "scipy.signal",
    "scipy.ndimage",
    "scipy.interpolate",
    "scipy.stats",
    "scipy.spatial.distance",
    "scipy.integrate",
)

_ROWS: dict[int, Op] = {}
_DECLARED: dict[int, Callable[..., Any]] = {}


def declare_host_op(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare that a function is pure: it changes none of its arguments and nothing outside.

    Its calls then run on the host between two compiled clusters instead of ending the region. Works as a decorator.

    Args:
        function: Takes and returns arrays, scalars, or a tuple of them.

    Returns:
        `function` itself.
    """
    _DECLARED[id(function)] = function
    return function


def host_function(function: Any) -> Op | None:
    """The host row of a pure function that has no row of its own, or `None` when it is not known to be pure."""
    known = _ROWS.get(id(function))
    if known is not None:
        return known
    if not callable(function) or not (id(function) in _DECLARED or is_pure(function)):
        return None
    name = f"{getattr(function, '__module__', '') or ''}.{getattr(function, '__name__', 'function')}".strip(".")
    row = Op(
        name=name,
        call=function,
        family="host",
        operands=("*args",),
        numpy=(function,),
        note="declared to be pure" if id(function) in _DECLARED else "",
    )
    _ROWS[id(function)] = row
    return row


def is_pure(function: Any) -> bool:
    """Whether a function is one of an array package's own functions, which are pure."""
    if isinstance(function, type):
        return False
    if isinstance(function, np.ufunc):
        return True
    module = getattr(function, "__module__", None) or ""
    return any(module == package or module.startswith(f"{package}.") for package in PURE_PACKAGES)


ROWS: tuple[Op, ...] = ()
