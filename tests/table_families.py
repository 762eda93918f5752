"""How the families of the op table are called in a random program: ufuncs, reductions, and the options they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.ops.chapters import TABLE

Form = Callable[[Any], str]
_OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%", "power": "**",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>", "less": "<",
    "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
}  # fmt: skip


def kinds_of(ufunc: np.ufunc, operand: int) -> str:
    """The kinds of dtypes that a ufunc takes."""
    found = {np.dtype(types[operand]).kind for types in ufunc.types if types[operand] not in "OMm"}
    for kind, wider in (("b", "iuf"), ("i", "f"), ("u", "if")):
        if found & set(wider):
            found.add(kind)
    return "".join(sorted(found & set("biufc")))


def option_dtype(g: Any, share: float = 0.06, kinds: str = "ifc") -> str:
    """Now and then `dtype=`."""
    if g.random.random() > share:
        return ""
    name = g.dtype(kinds)
    return f", dtype={g.random.choice([repr(name), 'np.dtype(' + repr(name) + ')'])}"


def axis_of(g: Any, x: str, many: bool = True, none: float = 0.3) -> str:
    """Now and then `axis=`, for an expression."""
    ndim = np.ndim(g.value(x))
    if not ndim or g.random.random() < none:
        return g.random.choice(["", "", ", axis=None"]) if none else ", axis=0"
    axis = g.random.randrange(-ndim, ndim)
    if many and ndim > 1 and g.random.random() < 0.25:
        other = g.random.randrange(ndim)
        if other != axis % ndim:
            return f", axis=({axis}, {other})"
    return f", axis={axis}"


def pick_axis(g: Any, x: str) -> int:
    """An axis of an expression that has some."""
    return g.random.randrange(-np.ndim(g.value(x)), np.ndim(g.value(x)))


def where_option(g: Any, x: str, share: float = 0.12) -> str:
    """Now and then `where=`."""
    return f", where={g.like(x, 'b', 0)}" if g.random.random() < share else ""


# ---- families


def unary(name: str) -> Form:
    """A ufunc of one operand."""
    ufunc = getattr(np, name.removeprefix("np."))

    def form(g: Any) -> str:
        x = g.array(kinds_of(ufunc, 0), scalars=True) if g.random.random() < 0.95 else g.number(kinds_of(ufunc, 0))
        symbol = {"np.negative": "-", "np.positive": "+", "np.invert": "~"}.get(name)
        if symbol and g.random.random() < 0.6:
            return f"({symbol}{x})"
        if name == "np.absolute" and g.random.random() < 0.4:
            return f"abs({x})"
        if name == "np.conjugate" and g.random.random() < 0.4:
            return f"{x}.conj()"
        return f"{name}({x}{option_dtype(g)})"

    return form


def binary(name: str) -> Form:
    """A ufunc of two operands."""
    ufunc = getattr(np, name.removeprefix("np."))

    def form(g: Any) -> str:
        x = g.array(kinds_of(ufunc, 0), scalars=True)
        y = g.like(x, kinds_of(ufunc, 1))
        if g.random.random() < 0.25 and name != "np.ldexp":
            x, y = y, x
        symbol = _OPERATORS.get(name.removeprefix("np."))
        if symbol and g.random.random() < 0.6:
            return f"({x} {symbol} {y})"
        return f"{name}({x}, {y}{option_dtype(g)})"

    return form


def outer(name: str) -> Form:
    """The outer method of a ufunc."""
    ufunc = getattr(np, name.removeprefix("np.").removesuffix(".outer"))

    def form(g: Any) -> str:
        x, y = (g.array(kinds_of(ufunc, n), (0, 2), lambda a: a.size < 13, scalars=True) for n in (0, 1))
        return f"{name}({x}, {y})" if g.random.random() < 0.9 else f"{name}({x}, {g.number()})"

    return form


def reduction(name: str) -> Form:
    """A reduction of one operand, as a function or a method."""
    row = TABLE[name]
    short = name.removeprefix("np.")
    last = name.rsplit(".", 1)[-1]
    scan = "cum" in name or "accumulate" in name

    def form(g: Any) -> str:
        x = g.array("biufc", (0, 4), scalars=True)
        parts = []
        if "axis" in row.params:
            parts.append(axis_of(g, x, many=not scan and "arg" not in name))
        if "keepdims" in row.params and g.random.random() < 0.25:
            parts.append(", keepdims=True")
        if "dtype" in row.params:
            parts.append(option_dtype(g, 0.12))
        if "ddof" in row.params and g.random.random() < 0.3:
            parts.append(g.random.choice([", ddof=1", ", correction=1", ", ddof=0.5"]))
        if "include_initial" in row.params and g.random.random() < 0.3:
            parts.append(", include_initial=True")
        if last in ("sum", "prod", "max", "min", "mean", "any", "all", "reduce", "nansum", "std", "var"):
            parts.append(where_option(g, x, 0.2))
            if last in ("sum", "prod", "max", "min", "reduce") and g.random.random() < 0.2:
                parts.append(f", initial={g.number('i')}")
        if short in row.methods and g.random.random() < 0.5 and isinstance(g.value(x), np.ndarray):
            return f"{x}.{short}({''.join(parts)[2:]})"
        return f"{name}({x}{''.join(parts)})"

    return form
