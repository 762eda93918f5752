"""Functions that change shapes, join arrays and move elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp, lax
from autojit.ops import text_helpers
from autojit.ops.casting import cast, check_assignable
from autojit.ops.indexing import check_value
from autojit.ops.inference import by_call, moving
from autojit.ops.joining import concatenate
from autojit.ops.writing import drop_leading

Trap = Callable[[Any], None]


# ---- views


def _reshape_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    shape = params["shape"]
    wanted = Spec(tuple(shape), specs[0].dtype)
    if wanted.size != specs[0].size:
        raise ValueError(f"cannot reshape array of size {specs[0].size} into shape {_print(shape)}")
    return (wanted,)


def _print(shape: tuple[int, ...]) -> str:
    return str(tuple(shape)).replace(" ", "")


def _matrix(rng: Any) -> Any:
    return rng.standard_normal((3, 4))


RESHAPE = Op(
    name="np.reshape",
    call=np.reshape,
    family="shaping",
    operands=("a",),
    params=("shape",),
    infer=_reshape_infer,
    lower=lambda node, xs, trap: (lax.reshape(xs[0], node.keywords["shape"]),),
    numpy=(np.reshape,),
    samples=lambda rng: [((_matrix(rng),), {"shape": (2, 6)}), ((np.float32(2),), {"shape": (1, 1)})],
)

#: Windows of more elements are gathered, not joined of slices.
_FEW = 16


def _windows(x: Any, window_shape: tuple[int, ...], axis: Any = None) -> Any:
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    ndim = x.ndim
    for width, place in zip(window_shape, axes, strict=True):
        place %= ndim
        count = x.shape[place] - width + 1
        if width <= _FEW:
            parts = [lax.slice_in_dim(x, start, start + count, axis=place) for start in range(width)]
            x = (
                jnp.stack(parts, axis=-1)
                if parts
                else jnp.zeros((*x.shape[:place], count, *x.shape[place + 1 :], 0), x.dtype)
            )
        else:
            starts = lax.broadcasted_iota(jnp.int32, (count, width), 0) + lax.broadcasted_iota(
                jnp.int32, (count, width), 1
            )
            x = jnp.moveaxis(jnp.take(x, starts, axis=place, mode="clip"), place + 1, -1)
    return x


VIEWS = (
    moving(
        np.transpose,
        jnp.transpose,
        ("a",),
        ("axes",),
        numpy=(np.transpose, np.permute_dims),
        views=True,
        samples=lambda rng: [((_matrix(rng),), {}), ((rng.random((2, 3, 4)),), {"axes": (2, 0, 1)})],
    ),
    RESHAPE,
    moving(
        np.broadcast_to,
        jnp.broadcast_to,
        ("array",),
        ("shape",),
        views=True,
        samples=lambda rng: [((_matrix(rng),), {"shape": (2, 3, 4)}), ((2.5,), {"shape": ()}), ((1,), {"shape": (3,)})],
    ),
    moving(
        np.lib.stride_tricks.sliding_window_view,
        _windows,
        ("x",),
        ("window_shape", "axis"),
        views=True,
        samples=lambda rng: [
            ((rng.random(9),), {"window_shape": (3,)}),
            ((rng.random(30),), {"window_shape": (20,)}),
            ((_matrix(rng),), {"window_shape": (2, 3)}),
            ((rng.random((3, 4, 5)),), {"window_shape": (2,), "axis": 1}),
            ((rng.random(9),), {"window_shape": (2, 3), "axis": (0, 0)}),
        ],
        note="a read-only view; in a program, a copy",
    ),
    moving(
        np.diagonal,
        jnp.diagonal,
        ("a",),
        ("offset", "axis1", "axis2"),
        methods=("diagonal",),
        views=True,
        samples=lambda rng: [
            ((_matrix(rng),), {}),
            ((_matrix(rng),), {"offset": -1}),
            ((rng.random((2, 3, 4)),), {"offset": 1, "axis1": 2, "axis2": 0}),
            ((_matrix(rng),), {"offset": 7}),
        ],
    ),
)


# ---- writes through views


def _part_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the real part."""
    return {"complex64": np.dtype(np.float32), "complex128": np.dtype(np.float64)}.get(dtype.name, dtype)


def _set_part(part: str, rule: Callable[[Any, Any], Any]) -> Op:
    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        base, value = specs
        part_dtype = _part_dtype(base.dtype)
        if base.dtype.kind != "c" and part == "imag":
            raise TypeError("cannot set imaginary part of a non-complex array")
        check_assignable(value, part_dtype)
        check_value(value.shape, base.shape)
        return (Spec(base.shape, base.dtype),)

    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        base, value = xs
        part_dtype = _part_dtype(np.dtype(base.dtype))
        value = cast(value, part_dtype, trap, checked=node.specs[1].kind != "array", weak=node.specs[1].weak)
        value = jnp.broadcast_to(drop_leading(value, base.ndim), base.shape)
        return (rule(base, value) if np.dtype(base.dtype).kind == "c" else value,)

    return Op(
        name=f"set_{part}",
        call=getattr(text_helpers, f"set_{part}"),
        family="indexing",
        operands=("base", "value"),
        infer=infer,
        lower=lower,
        traps=True,
        samples=lambda rng: [((_matrix(rng) + 1j, _matrix(rng)[0]), {}), ((_matrix(rng) + 2j, 3), {})],
        note=f"`x.{part} = value`",
    )


def _set_diagonal_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    base, value = specs
    (diagonal,) = by_call(np.diagonal)([base], params)
    check_assignable(value, base.dtype)
    check_value(value.shape, diagonal.shape)
    return (Spec(base.shape, base.dtype),)


def _set_diagonal(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    base, value = xs
    value = cast(value, np.dtype(base.dtype), trap, checked=node.specs[1].kind != "array", weak=node.specs[1].weak)
    offset, axis1, axis2 = (node.keywords.get(name, default) for name, default in _DIAGONAL)
    (diagonal,) = by_call(np.diagonal)([node.specs[0]], node.keywords)
    value = jnp.broadcast_to(drop_leading(value, diagonal.ndim), diagonal.shape)
    axis1, axis2 = axis1 % base.ndim, axis2 % base.ndim
    rows = lax.broadcasted_iota(jnp.int64, base.shape, axis1)
    columns = lax.broadcasted_iota(jnp.int64, base.shape, axis2)
    # Element k of the diagonal stands in row `k - min(offset, 0)`: spread the values over the rows, then select.
    before, length = max(-offset, 0), base.shape[axis1]
    pads = [(0, 0, 0)] * (value.ndim - 1) + [(before, length - before - value.shape[-1], 0)]
    rest = [n for axis, n in enumerate(base.shape) if axis not in (axis1, axis2)]
    if 0 in base.shape or not value.shape[-1]:
        return (base,)
    spread = jnp.moveaxis(
        lax.pad(value, jnp.zeros((), value.dtype), pads).reshape(*rest, length, 1), (-2, -1), (axis1, axis2)
    )
    return (jnp.where(columns - rows == offset, spread, base),)


_DIAGONAL = (("offset", 0), ("axis1", 0), ("axis2", 1))

SET_DIAGONAL = Op(
    name="set_diagonal",
    call=text_helpers.set_diagonal,
    family="indexing",
    operands=("base", "value"),
    params=("offset", "axis1", "axis2"),
    infer=_set_diagonal_infer,
    lower=_set_diagonal,
    traps=True,
    samples=lambda rng: [
        ((_matrix(rng), 5), {}),
        ((_matrix(rng), rng.random(2)), {"offset": -1}),
        ((_matrix(rng), rng.random(2)), {"offset": 2, "axis1": 0, "axis2": 1}),
        ((_matrix(rng), 1.5), {"offset": 9}),
        ((rng.random((2, 3, 4)), rng.random((3, 2))), {"axis1": 2, "axis2": 0}),
        ((rng.random((2, 3, 4)), rng.random((3, 1))), {"axis1": 0, "axis2": 2, "offset": 1}),
    ],
    note="a write through `np.diagonal`",
)


# ---- copies and joins


def _copy_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    return (Spec(specs[0].shape, specs[0].dtype),)


COPY = Op(
    name="np.copy",
    call=np.copy,
    family="shaping",
    operands=("a",),
    infer=_copy_infer,
    lower=lambda node, xs, trap: (xs[0],),
    numpy=(np.copy,),
    methods=("copy",),
    samples=lambda rng: [((_matrix(rng),), {})],
)


def _join(function: Any, rule: Any, params: tuple[str, ...] = (), **more: Any) -> Op:
    def call(*arrays: Any, **static: Any) -> Any:
        return function(arrays, **static)

    def samples(rng: Any) -> list[Any]:
        x = _matrix(rng)
        cases = [((x, x, x.astype(np.float32)), {}), ((np.arange(12).reshape(3, 4), x), {})]
        return cases + [((x, x), {"axis": 1}) for _ in params]

    operands = (more.pop("operand", "[arrays]"),)
    return moving(
        function, lambda *xs, **static: rule(xs, **static), operands, params, call=call, samples=samples, **more
    )


def _stack(xs: Sequence[Any], axis: int = 0) -> Any:
    if len({x.shape for x in xs}) > 1 or not -xs[0].ndim - 1 <= axis <= xs[0].ndim:
        raise TypeError("the shapes do not fit")
    return concatenate([jnp.expand_dims(x, axis) for x in xs], axis)


def _along(axis: int, view: Callable[[Any], Any]) -> Callable[..., Any]:
    """Join what `view` makes of each array: the axis is counted from the front, 0 for vectors."""
    return lambda xs: concatenate([view(x) for x in xs], axis if view(xs[0]).ndim > 1 else 0)


def _column(x: Any) -> Any:
    return x.reshape(-1, 1) if x.ndim < 2 else x


_CONCATENATE = _join(np.concatenate, concatenate, ("axis",), numpy=(np.concatenate, np.concat))


def _concatenate_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    if any(spec.kind == "python" for spec in specs):
        raise TypeError("`np.concatenate` of Python numbers, which take the dtype of the others, is not compiled")
    assert _CONCATENATE.infer is not None
    return _CONCATENATE.infer(specs, params)


JOINS = (
    replace(_CONCATENATE, infer=_concatenate_infer),
    _join(np.stack, _stack, ("axis",)),
    _join(np.hstack, _along(1, jnp.atleast_1d), operand="[tup]"),
    _join(np.vstack, _along(0, jnp.atleast_2d), operand="[tup]"),
    _join(np.dstack, _along(2, jnp.atleast_3d), operand="[tup]"),
    _join(np.column_stack, _along(1, _column), operand="[tup]"),
)


def _pack_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    inner = specs[0].shape if specs else ()
    for spec in specs:
        check_assignable(spec, np.dtype(params["dtype"]))
    return (Spec((*params["shape"], *inner), np.dtype(params["dtype"])),)


def _pack(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    spec = node.outputs[0].spec
    if not xs:
        return (jnp.zeros(spec.shape, spec.dtype),)
    given = zip(xs, node.specs, strict=True)
    cast_xs = [cast(x, spec.dtype, trap, checked=True, weak=item.weak) for x, item in given]
    return (jnp.stack(cast_xs).reshape(spec.shape),)


PACK = Op(
    name="pack",
    call=text_helpers.pack,
    family="creation",
    operands=("*elements",),
    params=("shape", "dtype"),
    infer=_pack_infer,
    lower=_pack,
    traps=True,
    samples=lambda rng: [((1.0, np.float32(2), 3, 4.5), {"shape": (2, 2), "dtype": np.dtype(float)})],
    note="`np.array` of nested sequences",
)

ROWS = (*VIEWS, _set_part("real", lambda x, v: lax.complex(v, lax.imag(x))),
        _set_part("imag", lambda x, v: lax.complex(lax.real(x), v)), SET_DIAGONAL, COPY, *JOINS, PACK)  # fmt: skip
