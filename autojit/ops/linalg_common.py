"""What all rows of `np.linalg` have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from autojit.errors import CannotCapture
from autojit.ir.op import Infer, Lower, Op
from autojit.ir.spec import Spec
from autojit.ops import exact
from autojit.ops.inference import by_shape, public_name

Trap = Callable[[Any], None]

_HIGHEST = "highest"


def quiet(flag: Any) -> None:
    """A trap that nobody hears, for tracing shapes."""


def matrix_row(
    function: Any,
    rule: Callable[..., Any],
    operands: tuple[str, ...] = ("a",),
    params: tuple[str, ...] = (),
    *,
    square: bool = False,
    **more: Any,
) -> Op:
    """A row; `rule(*xs, trap=..., **params)` gets floats of NumPy's result dtype (or complex)."""
    infer = matrix_infer(function, rule, square)
    return Op(
        name=public_name(function),
        call=function,
        family="linalg",
        operands=operands,
        params=params,
        infer=infer,
        lower=matrix_lower(rule),
        numpy=(function,),
        traps=True,
        **more,
    )


def inexact(dtypes: Iterable[Any]) -> np.dtype:
    """The dtype in which NumPy computes: float64 for integers."""
    dtype = np.result_type(*dtypes)
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def matrix_infer(function: Any, rule: Callable[..., Any], square: bool) -> Infer:
    def traced(*xs: Any, **params: Any) -> Any:
        dtype = inexact(x.dtype for x in xs)
        return rule(*(x.astype(dtype) for x in xs), trap=quiet, **params)

    by_trace = by_shape(public_name(function), function, traced, function)

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        check_matrices(function, specs, square)
        return by_trace(specs, params)

    return infer


def check_matrices(function: Any, specs: Sequence[Spec], square: bool) -> None:
    """Refuse what NumPy refuses, and empty matrices.

    Raises:
        LinAlgError: NumPy's own error.
        TypeError: NumPy has no linear algebra for this dtype.
        CannotCapture: An empty matrix.
    """
    first = specs[0]
    if first.ndim < 2:
        raise np.linalg.LinAlgError(f"{first.ndim}-dimensional array given. Array must be at least two-dimensional")
    if square and first.shape[-1] != first.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if any(0 in spec.shape for spec in specs):
        raise CannotCapture("keyword", f"`{public_name(function)}` of an empty array")


def matrix_lower(rule: Callable[..., Any]) -> Lower:
    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        # NumPy computes in double precision and rounds at the end, also what is single.
        dtype = np.result_type(inexact(spec.dtype for spec in node.specs), np.float64)
        results = rule(*(exact.cast(x, dtype) for x in xs), trap=trap, **node.keywords)
        results = results if isinstance(results, tuple | list) else (results,)
        return tuple(exact.cast(x, value.spec.dtype) for x, value in zip(results, node.outputs, strict=True))

    return lower


def each(make: Callable[[Any], list[Any]], *cases: dict[str, Any]) -> Callable[[Any], list[Any]]:
    """Samples: every matrix that `make(rng)` gives with every choice of parameters."""
    return lambda rng: [((a,), case) for case in (cases or ({},)) for a in make(rng)]
