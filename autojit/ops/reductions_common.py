"""What all reductions share: axes, specs from NumPy, and the row constructor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.ops import exact
from autojit.ops.asking import asked_of_small
from autojit.ops.families import check_dtypes, row, trap_if

#: `rule(x, axes, node) -> result`, with the reduced axes dropped. `axes` are sorted and not negative. Rules marked with
#: `wants_trap` take `trap` too.
Rule = Callable[..., Any]

#: The elements that NumPy casts at once.
_BUFFER = 8192


def normal_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that an `axis` argument names, sorted and not negative; all of them for `None`.

    Raises:
        ValueError: They are out of bounds, or named twice.
        TypeError: They are not integers.
    """
    if axis is None:
        return tuple(range(ndim))
    return tuple(sorted(normalize_axis_tuple(axis, ndim))) if ndim else ()


def check_half(spec: Spec, dtype: np.dtype) -> None:
    """Refuse what NumPy rounds in the middle of a sum or product.

    It adds float16 up in float32 along its innermost loop, and rounds the sum after each: which axis that is depends
    on how the operand lies in memory. A cast is made by buffers, and the sum is rounded after each of these.

    Args:
        spec: The operand.
        dtype: The dtype of the sum.

    Raises:
        TypeError: The sum is of float16, and the operand has two axes, or more elements of another dtype than a buffer.
    """
    if dtype != np.float16:
        return
    if sum(length > 1 for length in spec.shape) > 1 or (spec.dtype != dtype and spec.size > _BUFFER):
        raise TypeError("sums of float16 are not compiled but for arrays of one axis: NumPy rounds in between")


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """The shape after a reduction."""
    if keepdims:
        return tuple(1 if axis in axes else length for axis, length in enumerate(shape))
    return tuple(length for axis, length in enumerate(shape) if axis not in axes)


def run_dummy(call: Callable[..., Any], specs: Sequence[Spec], params: dict[str, Any]) -> Spec:
    """The spec of a call on ones of length 0 or 1: dtype, kind and NumPy's own errors; the shape is not meant.

    Raises:
        TypeError: The call leaves the compiled dtypes, or NumPy raises it.
    """
    check_dtypes(specs)
    with np.errstate(all="ignore"):  # asked on ones without elements, of the dtype alone
        spec, warned = asked_of_small(call, specs, params, runtime=False)
    if warned:
        raise TypeError(f"NumPy warns, so this is not compiled: {warned[0]}")
    kinds = specs[0].dtype.kind, np.dtype(params.get("dtype") or specs[0].dtype).kind
    if kinds[0] == "c" and kinds[1] != "c":
        raise TypeError("this cast is not compiled: NumPy warns that it discards the imaginary part")
    if kinds[0] == "f" and kinds[1] in "iu":
        raise TypeError("this cast is not compiled: NumPy's integers for NaN and infinity are not XLA's")
    check_dtypes([spec])
    return spec


def reduction_infer(
    call: Callable[..., Any], axis: Any = None, kinds: str = "", dtypes: str = "", *, adds: bool = False, fits: Any = ""
) -> Callable[..., tuple[Spec, ...]]:
    """Specs of a reduction of its first operand.

    Args:
        call: The NumPy function.
        axis: The default axis.
        kinds: The kinds of the operand's dtype that have a lowering; "" for all.
        dtypes: The same for the `dtype` argument.
        adds: Whether it adds up or multiplies in the dtype of its result.
        fits: How the operand can be cast to the `dtype` argument, by the words of `np.can_cast`; "" for any way.
    """

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        if specs[0].kind == "python":
            raise TypeError("a reduction of a Python scalar is not compiled")
        spec = run_dummy(call, specs, params)
        if kinds and specs[0].dtype.kind not in kinds:
            raise TypeError(f"this reduction of dtype `{specs[0].dtype}` is not compiled")
        if dtypes and params.get("dtype") is not None and np.dtype(params["dtype"]).kind not in dtypes:
            raise TypeError(f"this reduction with `dtype={params['dtype']}` is not compiled")
        if fits and not np.can_cast(specs[0].dtype, params.get("dtype") or specs[0].dtype, fits):
            raise TypeError(f"this reduction of dtype `{specs[0].dtype}` is not compiled with another `dtype=`")
        if adds or params.get("dtype") is not None:  # a mean of float16 is added up in float32 unless it is told
            check_half(specs[0], spec.dtype)
        axes = normal_axes(params.get("axis", axis), specs[0].ndim)
        return (Spec(reduced_shape(specs[0].shape, axes, bool(params.get("keepdims"))), spec.dtype, spec.kind),)

    return infer


def reduction_lower(rule: Rule, axis: Any = None, check: Rule | None = None) -> Callable[..., Any]:
    """Find the axes, apply the rule, put back the axes that `keepdims` keeps."""

    def lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
        axes = normal_axes(node.keywords.get("axis", axis), xs[0].ndim)
        if check is not None:
            trap_if(check(xs[0], axes, node), trap)
        more = {"trap": trap} if getattr(rule, "wants_trap", False) else {}
        result = rule(xs[0], axes, node, **more)
        spec = node.outputs[0].spec
        return (exact.cast(result, spec.dtype).reshape(spec.shape),)

    return lower


def reduction(
    function: Callable[..., Any],
    rule: Rule,
    *,
    params: tuple[str, ...] = ("axis", "keepdims"),
    name: str | None = None,
    axis: Any = None,
    kinds: str = "",
    dtypes: str = "",
    adds: bool = False,
    fits: Any = "",
    check: Rule | None = None,
    **more: Any,
) -> Op:
    """A row for a reduction of one operand.

    Args:
        function: The NumPy function.
        rule: The lowering.
        params: The static parameters.
        name: The row's name; made from the function's when `None`.
        axis: The default axis: `None` for all axes.
        kinds: The kinds of the operand's dtype that `rule` takes; "" for all.
        dtypes: The same for the `dtype` argument.
        adds: Whether it adds up or multiplies in the dtype of its result.
        fits: How the operand can be cast to the `dtype` argument, by the words of `np.can_cast`; "" for any way.
        check: Tells of the operand where the data must be left to NumPy; `None` for nowhere.
        more: Other fields of the row.
    """
    return row(
        name or f"np.{function.__name__}",
        function,
        "reduction",
        ("a",),
        params=params,
        infer=reduction_infer(function, axis, kinds, dtypes, adds=adds, fits=fits),
        lower=reduction_lower(rule, axis, check),
        traps=check is not None or getattr(rule, "wants_trap", False),
        sharding="reduction",
        fuses=True,
        **more,
    )
