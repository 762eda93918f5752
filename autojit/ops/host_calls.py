"""Calls of pure NumPy functions that run on the host where they cannot be compiled.

Most of these functions have a row, or are interpreted, for the usual arguments; what is here takes the rest.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import takewhile, zip_longest
from typing import Any

import numpy as np

from autojit.errors import Trapped
from autojit.ir.op import Op
from autojit.ops.host import guarded
from autojit.ops.inference import public_name
from autojit.ops.scattering import combined

#: The parameters that take arrays or numbers, which the run may give other values; "*" stands for all remaining
#: positional ones. All other arguments are static.
_OPERANDS: dict[str, tuple[Callable[..., Any], ...]] = {
    "a": (
        np.median, np.nanmedian, np.nanargmax, np.nanargmin, np.real_if_close, np.sort, np.argsort, np.sort_complex,
        np.linalg.pinv,
    ),
    "a q weights": (np.percentile, np.quantile, np.nanpercentile, np.nanquantile),
    "a where initial": (np.sum, np.prod, np.max, np.min, np.all, np.any),
    "a where mean": (np.mean, np.std, np.var, np.nanmean, np.nanstd, np.nanvar),
    "a weights": (np.average,),
    "a bins weights": (np.histogram, np.histogram_bin_edges),
    "x y weights": (np.histogram2d,),
    "x weights": (np.bincount,),
    "m y fweights aweights": (np.cov,),
    "x y": (np.corrcoef,),
    "a v sorter": (np.searchsorted,),
    "x xp fp left right": (np.interp,),
    "x y w": (np.polyfit,),
    "p": (np.polyint, np.polyder, np.roots, np.unwrap),
    "seq_of_zeros": (np.poly,),
    "a1 a2": (np.polymul, np.polyadd, np.polysub, np.array_equiv),
    "u v": (np.polydiv,),
    "a b": (np.isclose, np.allclose, np.linalg.tensorsolve, np.dot),
    "x": (np.unique_values, *(getattr(np.emath, name) for name in "sqrt log log2 log10 arccos arcsin arctanh".split())),
    "indices": (np.unravel_index,),
    "n x": (np.emath.logn,),
    "x p": (np.emath.power,),
    "ary to_end to_begin": (np.ediff1d,),
    "ar1 ar2": (np.intersect1d,),
    "f *": (np.gradient,),
    "array": (np.pad,),
    "arr obj": (np.delete,),
    "arr obj values": (np.insert,),
    "a repeats": (np.repeat,),
}  # fmt: skip

HOST_CALLS: dict[Any, tuple[str, ...]] = {
    function: tuple(names.split()) for names, functions in _OPERANDS.items() for function in functions
}

#: Why a call with these keywords is no function of its operands: it writes to one of them.
WRITING = ("out", "overwrite_input")

_rows: dict[tuple[Any, ...], Op] = {}


def host_call(function: Any, given: tuple[str, ...]) -> Op:
    """The row for a call with these operands.

    Args:
        function: A key of `HOST_CALLS`.
        given: The names of the parameters that are operands, in the order of the signature; those of "*" have a star.
    """
    key = function, given
    if key not in _rows:
        name = public_name(function).replace("np.", "numpy.", 1)
        _rows[key] = Op(name=name, call=fresh(function, given), family="host", operands=given, note="on the host")
    return _rows[key]


#: The parameters of the methods of ufuncs, in NumPy's order; and those of them that are operands.
METHOD_PARAMETERS = {
    "reduce": ("array", "axis", "dtype", "out", "keepdims", "initial", "where"),
    "accumulate": ("array", "axis", "dtype", "out"),
    "reduceat": ("array", "indices", "axis", "dtype", "out"),
    "outer": ("A", "B", "dtype"),
    "at": ("a", "indices", "b"),
}
METHOD_OPERANDS = frozenset("array initial where indices A B a b".split())


def host_method(function: np.ufunc, method: str, given: tuple[str, ...]) -> Op:
    """The row for a call of a ufunc's method with these operands; that of `at` gives the changed array."""
    key = function, method, given
    if key not in _rows:
        call = combined(function) if method == "at" else _of_method(function, method, given)
        name = f"numpy.{function.__name__}.{method}"
        _rows[key] = Op(name=name, call=call, family="host", operands=given, note="on the host")
    return _rows[key]


def _of_method(function: np.ufunc, method: str, given: tuple[str, ...]) -> Callable[..., Any]:
    positional = sum(name not in ("initial", "where") for name in given)

    def call(*operands: Any, **params: Any) -> Any:
        named = dict(zip(given[positional:], operands[positional:], strict=True))
        return getattr(function, method)(*operands[:positional], **named, **params)

    return call


def fresh(function: Callable[..., Any], given: tuple[str, ...]) -> Callable[..., Any]:
    """`function` of operands by name, whose results must be new arrays: a view would not follow its operand."""
    call_by_name = guarded(function)
    parameters = list(inspect.signature(function).parameters)
    # Some of the first parameters have no name for the caller, and those of "*" follow them.
    pairs = zip_longest(given, parameters[: len(given)])
    leading = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] or pair[0].startswith("*"), pairs))

    def call(*operands: Any, **params: Any) -> Any:
        named = dict(zip(given[leading:], operands[leading:], strict=True))
        result = call_by_name(*operands[:leading], **named, **params)
        for part in result if isinstance(result, tuple) else (result,):
            if isinstance(part, np.ndarray) and any(np.may_share_memory(part, operand) for operand in operands):
                raise Trapped(f"`{public_name(function)}` gives a view")
        return result

    return call
