"""The public names of NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib import stride_tricks

#: What every object has, and operators that another method stands for: `a + b` calls `__add__` and `__radd__`.
_OF_OBJECTS = frozenset(dir(object))
_COMPARISONS = frozenset("__eq__ __ge__ __gt__ __le__ __lt__ __ne__ __repr__ __str__ __format__".split())
#: How Python from 3.12 on shows what `memoryview` asks for, and what NumPy 2.5 uses itself.
_HIDDEN = frozenset(["__buffer__", "_set_dtype", "_set_shape"])
METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")

#: What the tables are about, in their order.
NAMESPACES = (
    "np", "np.linalg", "np.fft", "np.emath", "np.lib.stride_tricks", "np.ndarray", "ufunc methods", "np.random", "np.random.Generator",
)  # fmt: skip


def public_names() -> dict[str, tuple[str, Any]]:
    """All names, with the namespace and the object."""
    return {name: (space, thing) for space, name, thing in _names()}


def _names() -> Iterator[tuple[str, str, Any]]:
    for space, module in (("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft), ("np.random", np.random)):
        for name in sorted(module.__all__):
            yield space, f"{space}.{name}", getattr(module, name)
    for name in sorted(np.emath.__all__):
        yield "np.emath", f"np.emath.{name}", getattr(np.emath, name)
    for name in sorted(vars(stride_tricks)):
        thing = getattr(stride_tricks, name)
        if callable(thing) and not name.startswith("_"):
            yield "np.lib.stride_tricks", f"np.lib.stride_tricks.{name}", thing
    for name in sorted(dir(np.ndarray)):
        reflected = name.startswith("__r") and f"__{name[3:]}" in dir(np.ndarray)
        own = name in _COMPARISONS or name not in _OF_OBJECTS
        if own and not reflected and name not in _HIDDEN:
            yield "np.ndarray", f"np.ndarray.{name}", getattr(np.ndarray, name)
    for name in sorted(dir(np.random.Generator)):
        if not name.startswith("_"):
            yield "np.random.Generator", f"np.random.Generator.{name}", getattr(np.random.Generator, name)
    for name in sorted(np.__all__):
        ufunc = getattr(np, name)
        if isinstance(ufunc, np.ufunc) and ufunc.__name__ == name:
            for method in methods_of(ufunc):
                yield "ufunc methods", f"np.{name}.{method}", getattr(ufunc, method)


def methods_of(ufunc: np.ufunc) -> tuple[str, ...]:
    """The methods of a ufunc that do not always raise."""
    if ufunc.signature is not None or ufunc.nout != 1 or ufunc is np.isnat:
        return ()
    if ufunc.nin == 1:
        return ("at",)
    return METHODS if _is_binary_operation(ufunc) else ("outer", "at")


def _is_binary_operation(ufunc: np.ufunc) -> bool:
    """Whether a result can be an operand again, so that `reduce` has a loop."""
    try:
        for dtype in ("d", "l", "?"):
            if dtype * 2 + "->" + dtype in ufunc.types:
                return True
    except TypeError:
        return False
    return "OO->O" in ufunc.types
