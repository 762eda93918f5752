"""Constructors for the rows of the op table: what all ops of a family have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.graph import Const
from autojit.ir.op import Family, Infer, Lower, Op
from autojit.ir.spec import COMPILED_DTYPES, Spec, result_spec
from autojit.jax_names import jnp
from autojit.ops import exact

_PYTHON_TYPES = {"i": int, "f": float, "c": complex}


def promotion_dtype(spec: Spec) -> Any:
    """What `ufunc.resolve_dtypes` wants for an operand: its dtype, or a Python type for a weak scalar."""
    return _PYTHON_TYPES[spec.dtype.kind] if spec.weak else spec.dtype


def loop_dtypes(function: np.ufunc, specs: Sequence[Spec], dtype: Any = None) -> tuple[np.dtype, ...]:
    """The dtypes in which NumPy computes: one per input, then one per output.

    Raises:
        TypeError: NumPy has no loop for these dtypes (NumPy's own error).
    """
    wanted = tuple(promotion_dtype(spec) for spec in specs) + (None,) * function.nout
    if dtype is None:
        return function.resolve_dtypes(wanted)
    signature = (None,) * function.nin + (np.dtype(dtype),) * function.nout
    return function.resolve_dtypes(wanted, signature=signature)


def ufunc_infer(function: np.ufunc, only: str = "") -> Infer:
    """Specs of an elementwise call, by NumPy's own promotion and broadcasting.

    A loop whose first dtype is not of one of the kinds in `only` is left to NumPy: TypeError.
    """

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        check_dtypes(specs)
        dtypes = loop_dtypes(function, specs, params.get("dtype"))
        if only and dtypes[0].kind not in only:
            raise TypeError(f"`np.{function.__name__}` of dtype `{dtypes[0]}` is not compiled")
        check_dtypes([Spec((), dtype) for dtype in dtypes])
        shape = np.broadcast_shapes(*(spec.shape for spec in specs))
        return tuple(result_spec(shape, dtype) for dtype in dtypes[function.nin :])

    return infer


def ufunc_lower(function: np.ufunc, rule: Callable[..., Any], check: Callable[..., Any] | None = None) -> Lower:
    """Cast the operands to NumPy's loop dtypes, apply `rule(*xs)`, cast to the output dtypes.

    `rule` is called with operands of the loop dtypes, broadcast to the result's shape and fenced against XLA's
    algebraic simplifier. `check` is called with the operands before broadcasting, constants as NumPy values, and
    tells whether the data must be left to NumPy.
    """

    def lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
        dtypes = loop_dtypes(function, node.specs, node.keywords.get("dtype"))
        xs = cast_operands(node, xs, dtypes, trap)
        if check is not None:
            trap_if(check(*known_operands(node, xs)), trap)
        shape = node.outputs[0].spec.shape
        xs = exact.broadcast(*xs, shape=shape)
        results = rule(*xs, trap=trap) if getattr(rule, "wants_trap", False) else rule(*xs)
        if function.nout == 1:
            results = (results,)
        return tuple(exact.cast(result, dtype) for result, dtype in zip(results, dtypes[function.nin :], strict=True))

    return lower


def cast_operands(node: Any, xs: Sequence[Any], dtypes: Sequence[Any], trap: Callable[[Any], None]) -> list[Any]:
    """The operands in the wanted dtypes. A Python int that does not fit traps: NumPy raises or compares exactly."""
    for operand, x, dtype in zip(node.inputs, xs, dtypes, strict=False):
        if operand.spec.weak and operand.spec.dtype.kind == "i" and dtype.kind in "iu" and dtype != np.int64:
            info = np.iinfo(dtype)
            value = operand.value if isinstance(operand, Const) else x
            # A value that is not constant is an int64 already.
            trap_if((value < int(info.min)) | (value > min(int(info.max), 2**63 - 1)), trap)
    weak = [operand.spec.weak for operand in node.inputs]
    xs = [exact.as_python_float(x, to) if is_weak else x for x, to, is_weak in zip(xs, dtypes, weak, strict=False)]
    return [exact.cast(x, dtype) for x, dtype in zip(xs, dtypes, strict=False)]


def known_operands(node: Any, xs: Sequence[Any]) -> list[Any]:
    """The operands, with the constants among them as NumPy arrays of the dtype they were cast to."""
    return [
        np.asarray(operand.value).astype(x.dtype) if isinstance(operand, Const) else x
        for operand, x in zip(node.inputs, xs, strict=True)
    ]


def trap_if(flag: Any, trap: Callable[[Any], None]) -> None:
    """Trap when `flag` is true anywhere; costs nothing where it is already known to be false."""
    if isinstance(flag, (bool, np.bool_, np.ndarray)):
        if np.any(flag):
            trap(jnp.asarray(True))
    else:
        trap(jnp.any(flag))


def wants_trap(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Mark an elementwise rule that takes `trap=`."""
    rule.wants_trap = True  # type: ignore[attr-defined] -- functions take attributes
    return rule


def elementwise(
    function: np.ufunc,
    rule: Callable[..., Any] | None,
    *,
    check: Callable[..., Any] | None = None,
    traps: bool = False,
    methods: tuple[str, ...] = (),
    only: str = "",
    note: str = "",
    bitwise: str | None = None,
    rounds: str = "",
) -> Op:
    """A row for a NumPy ufunc.

    Args:
        function: The ufunc.
        rule: Maps jax values of NumPy's loop dtypes, broadcast, to the jax result. `None`: the ufunc runs on the host.
        check: Tells from the operands, not broadcast, whether the data must be left to NumPy.
        traps: Whether the rule may trap.
        methods: The names of the array methods that do the same.
        only: The dtype kinds ("biufc") of the loops that `rule` has; "" for all.
        note: One line for the documentation table.
        bitwise: The floating point kinds ("fc") for which the results are NumPy's, bit for bit.
        rounds: How a floating point result is rounded, see `Op`.
    """
    names = ("x1", "x2", "x3", "x4")[: function.nin] if function.nin > 1 else ("x",)
    return Op(
        name=f"np.{function.__name__}",
        call=function,
        family="elementwise" if rule else "host",
        operands=names,
        params=("dtype",),
        infer=ufunc_infer(function, only),
        lower=None if rule is None else ufunc_lower(function, rule, check),
        numpy=(function,),
        methods=methods,
        # Any ufunc of two operands may meet a Python int that its partner's dtype cannot hold.
        traps=traps or check is not None or function.nin > 1 or getattr(rule, "wants_trap", False),
        sharding="elementwise",
        note=note,
        bitwise=bitwise,
        rounds=rounds,
    )


def check_dtypes(specs: Sequence[Spec]) -> None:
    """Reject dtypes that never enter a cluster.

    Raises:
        TypeError: One of `specs` has such a dtype.
    """
    for spec in specs:
        if spec.dtype not in COMPILED_DTYPES:
            raise TypeError(f"dtype `{spec.dtype}` is not compiled")


def small_dummy(spec: Spec) -> Any:
    """An array of ones with the same number of axes, each of length 0 or 1, or a scalar of the same kind."""
    if spec.kind == "python":
        return {"b": True, "i": 1, "f": 1.0, "c": 1j}[spec.dtype.kind]
    array = np.ones(tuple(min(length, 1) for length in spec.shape), spec.dtype)
    return array[()] if spec.kind == "scalar" else array


def flat_dummy(spec: Spec) -> Any:
    """An array of ones of the full shape that owns one element (all strides are zero)."""
    if spec.kind != "array":
        return small_dummy(spec)
    return np.broadcast_to(np.ones((), spec.dtype), spec.shape)


def row(
    name: str,
    call: Callable[..., Any],
    family: Family,
    operands: tuple[str, ...],
    *,
    infer: Infer | None = None,
    lower: Lower | None = None,
    **more: Any,
) -> Op:
    """A row for any other function; `numpy` defaults to the callable itself."""
    more.setdefault("numpy", (call,))
    return Op(name=name, call=call, family=family, operands=operands, infer=infer, lower=lower, **more)
