"""Pure functions that run in NumPy, between two clusters."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.errors import CannotCapture, Trapped
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.ir.warned import unheard
from autojit.ops.declared import DECLARED
from autojit.ops.families import small_dummy
from autojit.ops.inference import compiled, public_name, specs_of
from autojit.ops.quantiles import quantile_infer, quantile_samples
from autojit.ops.trust import is_trusted

#: Packages whose functions are pure: arrays in, arrays out.
PURE_PACKAGES = (
    "scipy.special",
    "scipy.linalg",
    "scipy.fft",
    "scipy.fftpack",
    "scipy.signal",
    "scipy.ndimage",
    "scipy.interpolate",
    "scipy.spatial.distance",
)

#: Arguments by which the functions of these packages write into arrays that the caller gave.
_WRITES = ("out", "output", "overwrite_", "inplace")
#: ... by which they are given a source of random numbers ...
_RANDOM = ("rng", "seed", "random_state")
#: ... and how the names begin of those that set or read what holds for the process.
_OF_STATE = ("set_", "seterr", "geterr", "get_workers", "register_", "skip_backend")
#: Functions that draw from NumPy's global generator in their middle, print, or keep what a later call reads.
_NOT_PURE = frozenset("logm fractional_matrix_power signm funm splprep splrep".split())

_ROWS: dict[int, Op] = {}


def host_function(function: Any) -> Op | None:
    """The host row of a pure function that has no row of its own, or `None` when it is not known to be pure."""
    known = _ROWS.get(id(function))
    if known is not None:
        return known
    if not callable(function) or not (id(function) in DECLARED or is_pure(function)):
        return None
    # The table keeps the function alive, so its id stays its own.
    row = Op(
        name=_name(function),
        call=guarded(function),
        family="host",
        operands=("*args",),
        numpy=(function,),
        note="declared to be pure" if id(function) in DECLARED else "",
    )
    _ROWS[id(function)] = row
    return row


def _name(function: Any) -> str:
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, np.ufunc):
        module = "scipy.special"
    name = getattr(function, "__name__", "function")
    name = name if name.isidentifier() else "function"
    return f"{module}.{name}" if module.replace(".", "_").isidentifier() else name


def is_pure(function: Any) -> bool:
    """Whether a function is one of an array package's own functions, which are pure."""
    if isinstance(function, type):
        return False
    if isinstance(function, np.ufunc):
        # `np.frompyfunc` wraps any Python function, on objects only.
        return any("O" not in loop for loop in function.types)
    if isinstance(function, types.FunctionType) and not is_trusted(function):
        return False  # the user's, with SciPy's name: SciPy's own may be wrapped by another package of it
    module = getattr(function, "__module__", None) or ""
    if not any(module == package or module.startswith(f"{package}.") for package in PURE_PACKAGES):
        return False
    if _has_state(function):
        return False
    # An object that is called, as an interpolator is, and a method have data of their own, of which nobody knows when
    # they change: what is no plain function must be one of its module's names.
    name = getattr(function, "__name__", "")
    return isinstance(function, types.FunctionType) or vars(sys.modules.get(module, sys)).get(name) is function


def _has_state(function: Any) -> bool:
    """Whether a function draws random numbers, or sets or reads what holds for the process."""
    name, module = getattr(function, "__name__", ""), getattr(function, "__module__", None) or ""
    if name.startswith(_OF_STATE) or name in _NOT_PURE or module.startswith("scipy.linalg.interpolative"):
        return True
    return any(name in _RANDOM for name in _parameters(function))


@functools.cache
def _parameters(function: Any) -> tuple[str, ...]:
    """The names of a function's positional parameters, then the others; none where nobody knows."""
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` for arguments and results that a graph can hold.

    It refuses arguments that are called or written to, tuples of one, and named tuples.
    """
    known = () if id(function) in DECLARED else _parameters(function)
    places = {place: name for place, name in enumerate(known) if name.startswith(_WRITES)}

    @functools.wraps(function)
    def call(*args: Any, **params: Any) -> Any:
        by_place = {name: args[place] for place, name in places.items() if place < len(args)}
        options = {**by_place, **params} if by_place else params
        written = [name for name, value in options.items() if name.startswith(_WRITES) and value not in (None, False)]
        too_many = isinstance(function, np.ufunc) and len(args) > function.nin
        if written or too_many or any(map(callable, (*args, *params.values()))):
            raise Trapped(f"`{_name(function)}` may have effects with these arguments")
        result = function(*args, **params)
        if isinstance(result, tuple) and (type(result) is not tuple or len(result) == 1):
            raise Trapped(f"`{_name(function)}` returns a `{type(result).__name__}` of {len(result)}")
        return result

    return call


# ---- NumPy's own


def _row(function: Any, operands: tuple[str, ...], params: tuple[str, ...] = (), **more: Any) -> Op:
    more.setdefault("numpy", (function,))
    more.setdefault("call", function)
    more.setdefault("name", public_name(function))
    return Op(family="host", operands=operands, params=params, **more)


def _histogram_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    bins = params.get("bins", 10)
    if isinstance(bins, str):
        raise CannotCapture("data-shape", f"`bins={bins!r}`: the data decides the number of bins")
    edges = len(bins) if isinstance(bins, tuple) else int(bins) + 1
    counts, borders = specs_of(unheard(lambda: np.histogram(np.zeros(1, specs[0].dtype), **params)))
    return compiled([Spec((edges - 1,), counts.dtype), Spec((edges,), borders.dtype)])


def _geomspace_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    if any(spec.shape for spec in specs):
        raise CannotCapture("keyword", "`np.geomspace` between arrays")
    (found,) = specs_of(np.geomspace(*map(small_dummy, specs), **params))
    return compiled([found])


_QUANTILE = ("axis", "method", "keepdims")
_SETS = ("assume_unique",)

ROWS: tuple[Op, ...] = (
    _row(np.nanmedian, ("a",), ("axis", "keepdims"), infer=quantile_infer(np.nanmedian), samples=quantile_samples()),
    *(
        _row(function, ("a", "q"), _QUANTILE, infer=quantile_infer(function), samples=quantile_samples(point))
        for function, point in ((np.nanpercentile, 50), (np.nanquantile, 0.5))
    ),
    _row(
        np.histogram,
        ("a",),
        ("bins", "range", "density"),
        infer=_histogram_infer,
        samples=lambda rng: [
            ((rng.random(50),), {}),
            ((rng.random(50).astype(np.float32),), {"bins": 7, "range": (0.0, 1.0)}),
            ((rng.integers(0, 9, 50),), {"bins": (0, 2, 5, 9), "density": True}),
        ],
    ),
    _row(np.bincount, ("x",), ("minlength",), note="the data decides the length"),
    _row(np.unique, ("ar",), ("return_index", "return_inverse", "return_counts", "axis", "equal_nan")),
    _row(np.flatnonzero, ("a",)),
    _row(np.argwhere, ("a",)),
    _row(np.compress, ("condition", "a"), ("axis",)),
    _row(np.ndarray.compress, ("a", "condition"), ("axis",), name="compress", methods=("compress",)),
    _row(np.extract, ("condition", "arr")),
    _row(np.isin, ("element", "test_elements"), ("assume_unique", "invert")),
    _row(np.intersect1d, ("ar1", "ar2"), _SETS),
    _row(np.union1d, ("ar1", "ar2")),
    _row(np.setdiff1d, ("ar1", "ar2"), _SETS),
    _row(np.setxor1d, ("ar1", "ar2"), _SETS),
    _row(np.partition, ("a",), ("kth", "axis")),
    _row(np.argpartition, ("a",), ("kth", "axis"), methods=("argpartition",)),
    _row(
        np.ndarray.byteswap,
        ("a",),
        name="byteswap",
        methods=("byteswap",),
        call=lambda a: a.byteswap(),
    ),
    _row(np.lexsort, ("[keys]",), ("axis",), call=lambda *keys, axis=-1: np.lexsort(keys, axis)),
    _row(np.polyfit, ("x", "y"), ("deg",)),
    _row(np.roots, ("p",)),
    _row(np.packbits, ("a",), ("axis", "bitorder")),
    _row(np.unpackbits, ("a",), ("axis", "count", "bitorder")),
    _row(np.i0, ("x",)),
    _row(np.geomspace, ("start", "stop"), ("num", "endpoint", "dtype", "axis"), infer=_geomspace_infer),
)
