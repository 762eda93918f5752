"""Insertion, deletion, choice by conditions, and the arithmetic of flat indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autojit.errors import CannotCapture
from autojit.ir.op import Op
from autojit.ir.spec import Spec, result_spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.casting import cast, check_assignable
from autojit.ops.families import small_dummy
from autojit.ops.inference import compiled, moving, printed, specs_of
from autojit.ops.joining import join

Trap = Callable[[Any], None]

#: More runs of neighbours than these are gathered: each one that is not is an operation for XLA to compile.
_RUNS = 8


def _matrix(rng: Any) -> Any:
    return rng.standard_normal((3, 4))


# ---- np.delete


def _kept(length: int, obj: Any) -> np.ndarray:
    return np.delete(np.arange(length), list(obj) if isinstance(obj, tuple) else obj)


def _delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    arr, axis = (arr.reshape(-1), 0) if axis is None else (arr, normalize_axis_index(axis, arr.ndim))
    kept = _kept(arr.shape[axis], obj)
    cuts = np.flatnonzero(np.diff(kept) != 1) + 1
    runs = [run for run in np.split(kept, cuts) if len(run)]
    if len(runs) > _RUNS:
        return jnp.take(arr, kept, axis=axis, mode="clip")
    parts = [lax.slice_in_dim(arr, int(run[0]), int(run[-1]) + 1, axis=axis) for run in runs]
    return join(parts, axis) if parts else lax.slice_in_dim(arr, 0, 0, axis=axis)


DELETE = moving(
    np.delete,
    _delete,
    ("arr",),
    ("obj", "axis"),
    samples=lambda rng: [
        ((_matrix(rng),), {"obj": 1}),
        ((_matrix(rng),), {"obj": -1, "axis": 0}),
        ((_matrix(rng),), {"obj": (0, 2, 2), "axis": 1}),
        ((np.arange(9),), {"obj": (8, 0)}),
    ],
    note="the places are static",
)


# ---- np.insert


def _insert_call(arr: Any, values: Any, obj: Any, axis: Any = None) -> np.ndarray:
    return np.insert(arr, list(obj) if isinstance(obj, tuple) else obj, values, axis)


def _insert_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    arr, values = specs
    if arr.kind != "array" or not arr.ndim:
        raise CannotCapture("keyword", "`np.insert` into a scalar")
    check_assignable(values, arr.dtype)
    # The shape does not depend on the dtype, and bytes are cheap.
    dummies = [np.zeros(spec.shape, np.int8) for spec in specs]
    return (Spec(_insert_call(*dummies, **params).shape, arr.dtype),)


def _insert(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    arr, values = xs
    spec = node.outputs[0].spec
    values = cast(values, spec.dtype, trap, weak=node.specs[1].weak)
    axis, obj = node.keywords.get("axis"), node.keywords["obj"]
    arr, axis = (arr.reshape(-1), 0) if axis is None else (arr, axis % arr.ndim)
    # NumPy tells where the new elements go: they are the places of -1.
    count = spec.shape[axis] - arr.shape[axis]
    if not count:
        return (arr,)
    indices = np.arange(arr.shape[axis])
    at = obj
    if isinstance(obj, slice):  # places like those of a list
        obj = range(*obj.indices(arr.shape[axis]))
    if isinstance(obj, range):
        obj = tuple(obj)
    # One place, even of a list, takes any number of values.
    is_one = not isinstance(obj, tuple) or len(obj) == 1
    source = _insert_call(indices, np.full(count, -1) if is_one else -1, at)
    values = values.reshape((1,) * (arr.ndim - values.ndim) + values.shape)
    if not isinstance(obj, tuple):
        values = jnp.moveaxis(values, 0, axis)
    shape = (*arr.shape[:axis], count, *arr.shape[axis + 1 :])
    values = jnp.broadcast_to(values, shape)
    if isinstance(obj, tuple) and not is_one:
        # The values go to the sorted places, equal ones in the given order.
        places = np.asarray(obj)
        places = np.where(places < 0, places + arr.shape[axis], places)
        values = jnp.take(values, np.argsort(places, kind="stable"), axis=axis)
    is_new = source == -1
    source[is_new] = np.arange(count)
    runs = np.split(np.arange(len(source)), np.flatnonzero((np.diff(source) != 1) | np.diff(is_new)) + 1)
    if len(runs) > _RUNS:
        places = np.where(is_new, source + arr.shape[axis], source)
        return (jnp.take(join([arr, values], axis), places, axis=axis, mode="clip"),)
    parts = []
    for run in runs:
        first = int(source[run[0]])
        parts.append(lax.slice_in_dim(values if is_new[run[0]] else arr, first, first + len(run), axis=axis))
    return (join(parts, axis),)


def _insert_text(inputs: list[str], params: dict[str, Any]) -> str:
    obj = params["obj"]
    place = f"[{', '.join(map(repr, obj))}]" if isinstance(obj, tuple) else repr(obj)
    axis = f", axis={params['axis']!r}" if "axis" in params else ""
    return f"np.insert({inputs[0]}, {place}, {inputs[1]}{axis})"


INSERT = Op(
    name="np.insert",
    call=_insert_call,
    family="shaping",
    operands=("arr", "values"),
    params=("obj", "axis"),
    infer=_insert_infer,
    lower=_insert,
    numpy=(np.insert,),
    traps=True,
    text=_insert_text,
    samples=lambda rng: [
        ((np.arange(5), 9.7), {"obj": 2}),
        ((_matrix(rng), 5), {"obj": 1}),
        ((_matrix(rng), 5.0), {"obj": -1, "axis": 0}),
        ((_matrix(rng), rng.random(3)), {"obj": 1, "axis": 1}),
        ((_matrix(rng), rng.random((2, 4))), {"obj": 3, "axis": 0}),
        ((np.arange(5), np.array([7, 8, 9])), {"obj": 0}),
        ((np.arange(5), np.array([7, 8, 9])), {"obj": (4, 0, 0)}),
        ((_matrix(rng), 1.5), {"obj": (2, 0), "axis": 1}),
        ((np.arange(5), np.array([7, 8, 9])), {"obj": (-1, 5, 4)}),
    ],
    note="the places are static",
)


# ---- np.select


def _select_call(*arrays: Any) -> np.ndarray:
    count = (len(arrays) - 1) // 2
    return np.select(list(arrays[:count]), list(arrays[count:-1]), arrays[-1])


def _select_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    if len(specs) % 2 == 0 or len(specs) < 3:
        raise ValueError("list of cases must be same length as list of conditions")
    (found,) = specs_of(_select_call(*map(small_dummy, specs)))
    shape = np.broadcast_shapes(*(spec.shape for spec in specs))
    return compiled([Spec(shape, found.dtype)])


def _select(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    spec = node.outputs[0].spec
    count = (len(xs) - 1) // 2
    result = jnp.broadcast_to(exact.cast(xs[-1], spec.dtype), spec.shape)
    for condition, choice in zip(xs[:count][::-1], xs[count:-1][::-1], strict=True):
        result = jnp.where(condition, exact.cast(choice, spec.dtype), result)
    return (result,)


def _select_text(inputs: list[str], params: dict[str, Any]) -> str:
    count = (len(inputs) - 1) // 2
    return f"np.select([{', '.join(inputs[:count])}], [{', '.join(inputs[count:-1])}], {inputs[-1]})"


SELECT = Op(
    name="np.select",
    call=_select_call,
    family="elementwise",
    sharding="elementwise",
    operands=("[condlist]", "[choicelist]", "default"),
    infer=_select_infer,
    lower=_select,
    numpy=(np.select,),
    defaults={"default": 0},
    text=_select_text,
    samples=lambda rng: (
        [((x > 0.5, x > 0.2, x, x * 2, 0), {}) for x in (rng.random(6), rng.random((2, 3)).astype(np.float32))]
        + [((rng.random(4) > 0.5, np.arange(4), 2.5), {}), ((rng.random((3, 1)) > 0.5, np.arange(4), -1), {})]
    ),
)


# ---- flat indices


def _unravel_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    (indices,) = specs
    shape = params["shape"]
    if not isinstance(shape, tuple) or len(shape) < 2:
        raise CannotCapture("keyword", "`np.unravel_index` for one axis")
    np.unravel_index(np.zeros((0,) * max(indices.ndim, 1), indices.dtype), shape)
    return (result_spec(indices.shape, np.dtype(np.intp)),) * len(shape)


def _unravel(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    shape = node.keywords["shape"]
    flat = xs[0].astype(jnp.int64)
    trap(jnp.any((flat < 0) | (flat >= int(np.prod(shape)))))
    found = []
    for length in shape[::-1]:
        found.append(lax.rem(flat, jnp.full_like(flat, max(length, 1))))
        flat = lax.div(flat, jnp.full_like(flat, max(length, 1)))
    return tuple(found[::-1])


UNRAVEL = Op(
    name="np.unravel_index",
    call=np.unravel_index,
    family="indexing",
    operands=("indices",),
    params=("shape",),
    infer=_unravel_infer,
    lower=_unravel,
    numpy=(np.unravel_index,),
    traps=True,
    samples=lambda rng: [((7,), {"shape": (3, 4)}), ((np.array([[0, 11], [23, 5]]),), {"shape": (2, 3, 4)})],
)


def _ravel_call(*multi_index: Any, dims: Any, mode: str = "raise") -> Any:
    return np.ravel_multi_index(multi_index, dims, mode=mode)  # type: ignore[call-overload] -- a str is a mode


def _ravel_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    if params.get("mode", "raise") != "raise" or not isinstance(params["dims"], tuple):
        raise CannotCapture("keyword", "`mode=` of `np.ravel_multi_index`")
    if any(spec.dtype.kind not in "iu" for spec in specs):
        raise TypeError("only int indices permitted")
    _ravel_call(*(np.zeros(0, spec.dtype) for spec in specs), **params)
    return (result_spec(np.broadcast_shapes(*(spec.shape for spec in specs)), np.dtype(np.intp)),)


def _ravel(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    flat = jnp.zeros(node.outputs[0].spec.shape, jnp.int64)
    for x, length in zip(xs, node.keywords["dims"], strict=True):
        trap(jnp.any((x < 0) | (x >= length)))
        flat = flat * length + x.astype(jnp.int64)
    return (flat,)


RAVEL = Op(
    name="np.ravel_multi_index",
    call=_ravel_call,
    family="indexing",
    operands=("[multi_index]",),
    params=("dims", "mode"),
    infer=_ravel_infer,
    lower=_ravel,
    numpy=(np.ravel_multi_index,),
    traps=True,
    text=lambda inputs, params: f"np.ravel_multi_index(({', '.join(inputs)},), {printed(params['dims'])})",
    samples=lambda rng: [((np.array([1, 2]), np.array([3, 0])), {"dims": (3, 4)}), ((1, 2), {"dims": (3, 4)})],
)

ROWS = (DELETE, INSERT, SELECT, UNRAVEL, RAVEL)
