"""Rows for `astype` and for what turns arrays of one element into Python scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import COMPILED_DTYPES, Spec
from autojit.jax_names import jnp
from autojit.ops import exact
from autojit.ops.elementwise_functions import dummy_infer
from autojit.ops.families import check_dtypes, row, trap_if


def _astype(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


def astype_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    """The spec of `x.astype(dtype)`.

    Raises:
        TypeError: The dtype is not compiled, or NumPy warns because it drops the imaginary part.
    """
    (spec,) = specs
    dtype = np.dtype(params["dtype"])
    check_dtypes([spec])
    if dtype not in COMPILED_DTYPES:
        raise TypeError(f"dtype `{dtype}` is not compiled")
    if spec.dtype.kind == "c" and dtype.kind not in "cb":
        raise TypeError("this cast is not compiled: NumPy warns that it discards the imaginary part")
    if spec.kind == "python":
        raise TypeError("a Python scalar has no `astype`")
    return (Spec(spec.shape, dtype, spec.kind),)


def _astype_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    return (_convert(xs[0], node.outputs[0].spec.dtype, trap),)


def _convert(x: Any, dtype: np.dtype, trap: Callable[[Any], None]) -> Any:
    if np.dtype(x.dtype).kind == "f" and dtype.kind in "iu":
        trap_if(exact.outside(x, dtype), trap)
    return exact.cast(x, dtype)


def _item_infer(call: Callable[..., Any], kinds: str) -> Callable[..., tuple[Spec, ...]]:
    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        (spec,) = specs
        check_dtypes(specs)
        if spec.size != 1:
            call(np.ones(min(spec.size, 2), spec.dtype))  # NumPy's own error
            raise ValueError("only an array of one element is a scalar; this is not compiled")
        if spec.dtype.kind not in kinds:
            raise TypeError(f"a value of dtype `{spec.dtype}` is not compiled here")
        (result,) = dummy_infer(call)([spec], params)
        return (Spec((), result.dtype, result.kind),)

    return infer


def _item_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    x, dtype = xs[0].reshape(()), node.outputs[0].spec.dtype
    if x.dtype == jnp.uint64 and dtype == np.int64:
        # A Python int goes on above 2**63, its int64 stand-in does not.
        trap_if(x > np.uint64(2**63 - 1), trap)
    return (_convert(x, dtype, trap),)


def _item(x: Any) -> Any:
    return x.item()


def _item_row(name: str, call: Callable[..., Any], kinds: str, text: str) -> Op:
    return row(
        name,
        call,
        "elementwise",
        ("x",),
        infer=_item_infer(call, kinds),
        lower=_item_lower,
        numpy=(),
        traps=True,
        text=lambda inputs, params: text.format(inputs[0]),
        sharding="elementwise",
        bitwise="fc",
    )


ROWS: tuple[Op, ...] = (
    row(
        "astype",
        _astype,
        "elementwise",
        ("x",),
        params=("dtype",),
        infer=astype_infer,
        lower=_astype_lower,
        numpy=(),
        methods=("astype",),
        traps=True,
        text=lambda inputs, params: f"{inputs[0]}.astype(np.{np.dtype(params['dtype']).name})",
        sharding="elementwise",
        bitwise="fc",
        rounds="cast",
        note="NaN, infinite and out-of-range values go to NumPy when cast to integers",
    ),
    _item_row("item", _item, "biufc", "{}.item()"),
    _item_row("item_float", float, "biuf", "float({})"),
    _item_row("item_int", int, "biuf", "int({})"),
    _item_row("item_bool", bool, "biufc", "bool({})"),
    _item_row("item_complex", complex, "biufc", "complex({})"),
)
