"""Functions that make arrays from shapes and scalars."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from autojit.errors import CannotCapture
from autojit.ir.graph import Const
from autojit.ir.op import Op
from autojit.ir.spec import Spec, result_spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.casting import cast, check_assignable
from autojit.ops.families import small_dummy
from autojit.ops.inference import compiled, keyword_text, printed, public_name, specs_of

Trap = Callable[[Any], None]

#: Arrays of constants of at most this many elements stand in the program as NumPy computed them.
LITERAL_SIZE = 65536
#: Arrays of more elements exist nowhere: NumPy raises at once.
_ENORMOUS = 2**42


def _shape(shape: Any) -> tuple[int, ...]:
    found = np.broadcast_to(np.int8(0), shape).shape
    if math.prod(found) > _ENORMOUS:
        raise MemoryError(f"Unable to allocate an array of shape {found}")
    return found


def _filled_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    dtype = params.get("dtype")
    dtype = np.dtype(float if dtype is None else dtype)
    return compiled([Spec(_shape(params["shape"]), dtype)])


def _filled(function: Any, value: int, note: str = "") -> Op:
    return Op(
        name=public_name(function),
        call=function,
        family="creation",
        operands=(),
        params=("shape", "dtype"),
        infer=_filled_infer,
        lower=lambda node, xs, trap: (jnp.full(node.outputs[0].spec.shape, value, node.outputs[0].spec.dtype),),
        numpy=(function,),
        samples=lambda rng: (
            []
            if function is np.empty
            else [
                ((), {"shape": (2, 3)}),
                ((), {"shape": 4, "dtype": np.int8}),
                ((), {"shape": (), "dtype": np.dtype("c8")}),
                ((), {"shape": (0, 2), "dtype": bool}),
                ((), {"shape": (3,), "dtype": "float32"}),
            ]
        ),
        note=note,
    )


def _like_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    dtype, shape = params.get("dtype"), params.get("shape")
    return compiled(
        [Spec(specs[0].shape if shape is None else _shape(shape), np.dtype(specs[0].dtype if dtype is None else dtype))]
    )


def _like(function: Any, value: int, operand: str) -> Op:
    return Op(
        name=public_name(function),
        call=function,
        family="creation",
        operands=(operand,),
        params=("dtype", "shape"),
        infer=_like_infer,
        lower=lambda node, xs, trap: (jnp.full(node.outputs[0].spec.shape, value, node.outputs[0].spec.dtype),),
        numpy=(function,),
        samples=lambda rng: (
            []
            if function is np.empty_like
            else [
                ((rng.random((2, 3)),), {}),
                ((rng.random(3),), {"dtype": np.int32, "shape": (2,)}),
                ((2.5,), {}),
            ]
        ),
    )


def _full_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    fill = specs[-1]
    first = specs[0] if len(specs) == 2 else fill
    dtype, shape = params.get("dtype"), params.get("shape")
    wanted = np.dtype(first.dtype if dtype is None else dtype)
    check_assignable(fill, wanted)
    shape = specs[0].shape if shape is None else _shape(shape)
    if np.broadcast_shapes(fill.shape, shape) != shape:
        raise ValueError(f"could not broadcast input array from shape {fill.shape} into shape {shape}")
    return compiled([Spec(shape, wanted)])


def _full(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    spec = node.outputs[0].spec
    value = cast(xs[-1], spec.dtype, trap, checked=node.specs[-1].kind != "array", weak=node.specs[-1].weak)
    return (jnp.broadcast_to(value, spec.shape),)


FULL = (
    Op(
        "np.full",
        lambda fill_value, shape, dtype=None: np.full(shape, fill_value, dtype),
        "creation",
        ("fill_value",),
        ("shape", "dtype"),
        _full_infer,
        _full,
        (np.full,),
        traps=True,
        text=keyword_text("np.full", ("fill_value",)),
        samples=lambda rng: [
            ((2.5,), {"shape": (2, 2)}),
            ((7,), {"shape": 3, "dtype": np.int8}),
            ((rng.random(3),), {"shape": (2, 3), "dtype": np.float32}),
        ],
    ),
    Op(
        "np.full_like",
        np.full_like,
        "creation",
        ("a", "fill_value"),
        ("dtype", "shape"),
        _full_infer,
        _full,
        (np.full_like,),
        traps=True,
        samples=lambda rng: [
            ((rng.random((2, 3)), 1), {}),
            ((np.arange(3), 2.5), {}),
            ((np.arange(3), 2.5), {"dtype": float}),
        ],
    ),
)


# ---- diagonals


def _eye(function: Any, rule: Callable[..., Any], params: tuple[str, ...], cases: list[dict[str, Any]]) -> Op:
    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        shape = tuple(index(params[key]) for key in ("N", "M", "n") if params.get(key) is not None)
        index(params.get("k", 0))
        shape = shape * 2 if len(shape) == 1 else shape
        dtype = params.get("dtype")
        lengths = tuple(max(n, 0) for n in shape) if function is np.tri else _shape(shape)
        return compiled([Spec(lengths, np.dtype(float if dtype is None else dtype))])

    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        spec = node.outputs[0].spec
        rows, columns = (lax.broadcasted_iota(jnp.int64, spec.shape, axis) for axis in (0, 1))
        return (exact.cast(rule(columns - rows, int(node.keywords.get("k", 0))), spec.dtype),)

    return Op(
        name=public_name(function),
        call=function,
        family="creation",
        operands=(),
        params=params,
        infer=infer,
        lower=lower,
        numpy=(function,),
        samples=lambda rng: [((), case) for case in cases],
    )


DIAGONALS = (
    _eye(
        np.eye,
        lambda d, k: d == k,
        ("N", "M", "k", "dtype"),
        [{"N": 3}, {"N": 3, "M": 4, "k": -1}, {"N": 2, "dtype": np.int8}, {"N": 2, "k": 5}],
    ),
    _eye(np.identity, lambda d, k: d == k, ("n", "dtype"), [{"n": 3}, {"n": 0, "dtype": bool}]),
    _eye(np.tri, lambda d, k: d <= k, ("N", "M", "k", "dtype"), [{"N": 3}, {"N": 3, "M": 5, "k": 1, "dtype": int}]),
)


# ---- sequences


def literal(node: Any) -> Any:
    """The result as NumPy computes it, when all operands are constants and it is small; else `None`."""
    sizes = [value.spec.size for value in node.outputs]
    if max(sizes) > LITERAL_SIZE or not all(isinstance(operand, Const) for operand in node.inputs):
        return None
    result = node.op.call(*(operand.value for operand in node.inputs), **node.keywords)
    return tuple(jnp.asarray(part) for part in (result if len(sizes) > 1 else (result,)))


def _arange(start_or_stop: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    bounds = (start_or_stop,) if stop is None else (start_or_stop, stop)
    return np.arange(*bounds, **({} if step is None else {"step": step}), dtype=dtype)


def _arange_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    result = _arange(**params)
    # XLA takes -0, 1, 2, ... for 0, 1, 2, ...: only the first element can be a negative zero.
    if result.size and not result[0] and np.signbit(result.real[0]):
        raise CannotCapture("inexact", "`np.arange` from -0.0")
    return compiled(specs_of(result))


def _arange_lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    found = literal(node)
    if found is not None:
        return found
    spec = node.outputs[0].spec
    # NumPy takes the step from its first two elements.
    first, second = _arange(**{**node.keywords, "dtype": spec.dtype})[:2]
    wide = np.dtype(np.float32) if spec.dtype == np.float16 else spec.dtype  # as NumPy counts
    first, second = first.astype(wide), second.astype(wide)
    count = lax.iota(jnp.int64, spec.size).astype(wide)
    return ((exact.uncontracted(count * (second - first)) + first).astype(spec.dtype),)


def _arange_text(inputs: list[str], params: dict[str, Any]) -> str:
    # With one bound, the first argument is the stop, and a step must be named.
    two = params.get("stop") is not None
    parts = [
        printed(value) if name in ("start_or_stop", "stop") or (name == "step" and two) else f"{name}={printed(value)}"
        for name, value in params.items()
        if value is not None
    ]
    return f"np.arange({', '.join(parts)})"


ARANGE = Op(
    name="np.arange",
    call=_arange,
    family="creation",
    operands=(),
    params=("start_or_stop", "stop", "step", "dtype"),
    infer=_arange_infer,
    lower=_arange_lower,
    numpy=(np.arange,),
    bitwise="",
    text=_arange_text,
    samples=lambda rng: [
        ((), {"start_or_stop": 5}),
        ((), {"start_or_stop": 0.1, "stop": 3.7, "step": 0.3}),
        ((), {"start_or_stop": 0}),
        ((), {"start_or_stop": 9, "stop": 2, "step": -2}),
        ((), {"start_or_stop": 4, "dtype": np.float32}),
        ((), {"start_or_stop": 100_000}),
        ((), {"start_or_stop": 5, "stop": 200_000, "step": 2, "dtype": np.float64}),
    ],
    note="the bounds are static",
)


def _linspace_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    num = operator.index(params.get("num", 50))
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    dtype = params.get("dtype")
    dtype = _inexact(specs) if dtype is None else np.dtype(dtype)
    shape = np.broadcast_shapes(*(spec.shape for spec in specs))
    axis = np.lib.array_utils.normalize_axis_index(params.get("axis", 0), len(shape) + 1)
    check_assignable(Spec((), _inexact(specs)), dtype)
    outputs = [Spec((*shape[:axis], num, *shape[axis:]), dtype)]
    if params.get("retstep"):
        # Without intervals the step is Python's NaN.
        has_step = num > (1 if params.get("endpoint", True) else 0)
        outputs.append(result_spec(shape, _inexact(specs)) if has_step else Spec((), np.dtype(float), "python"))
    return compiled(outputs)


def _inexact(specs: Sequence[Spec]) -> np.dtype:
    return np.linspace(*map(small_dummy, specs), num=0).dtype


def _linspace(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    found = literal(node)
    if found is not None:
        return found
    params, spec = node.keywords, node.outputs[0].spec
    dtype = _inexact(node.specs)
    num, endpoint = params.get("num", 50), params.get("endpoint", True)
    start, stop = (exact.cast(x, dtype) for x in xs)
    shape = np.broadcast_shapes(start.shape, stop.shape)
    start, stop = jnp.broadcast_to(start, shape), jnp.broadcast_to(stop, shape)
    parts = num - 1 if endpoint else num
    delta = exact.subtract(stop, start)
    step = jnp.float64(jnp.nan)
    count = lax.broadcasted_iota(jnp.int64, (num, *shape), 0).astype(dtype)
    if parts > 0:
        step = exact.divide(delta, jnp.asarray(parts, dtype))
        whole = exact.multiply(count, step)
        # A step that underflows to zero is not lost: NumPy multiplies in the other order.
        fine = exact.multiply(exact.divide(count, jnp.asarray(parts, dtype)), delta)
        y = jnp.where(jnp.any(step == 0), fine, whole)
    else:
        y = exact.multiply(count, delta)
    y = exact.add(exact.uncontracted(y), start)
    if endpoint and num > 1:
        last = lax.broadcasted_iota(jnp.int32, y.shape, 0) == num - 1
        y = jnp.where(last, stop, y)
    y = jnp.moveaxis(y, 0, params.get("axis", 0))
    if spec.dtype.kind in "iu":
        y = jnp.floor(y)
    return (cast(y, spec.dtype, trap), *([step] if params.get("retstep") else []))


LINSPACE = Op(
    name="np.linspace",
    call=np.linspace,
    family="creation",
    operands=("start", "stop"),
    params=("num", "endpoint", "retstep", "dtype", "axis"),
    infer=_linspace_infer,
    lower=_linspace,
    numpy=(np.linspace,),
    bitwise="",
    traps=True,
    samples=lambda rng: [
        ((0.1, 3.3), {}),
        ((0, 5), {"num": 7}),
        ((1.5, -2.0), {"num": 9, "endpoint": False}),
        ((0.3, 7), {"num": 1}),
        ((1, 9), {"num": 5, "dtype": int}),
        ((np.array([1.0, 2]), 5), {"num": 4, "axis": 1}),
        ((2.0, 2.0), {"num": 3}),
        ((np.float32(0.1), 3), {"num": 5}),
        ((0, 1), {"num": 0}),
        ((0.1, 0.9), {"num": 1001}),
        ((0.1, 0.9), {"num": 11, "retstep": True}),
        ((np.array([0.1, 2]), 1), {"num": 1, "retstep": True}),
    ],
)


ROWS = (
    _filled(np.zeros, 0),
    _filled(np.ones, 1),
    _filled(np.empty, 0, note="the unspecified contents are zeros"),
    _like(np.zeros_like, 0, "a"),
    _like(np.ones_like, 1, "a"),
    _like(np.empty_like, 0, "prototype"),
    *FULL,
    *DIAGONALS,
    ARANGE,
    LINSPACE,
)
