"""Functions that copy elements to other places: `np.tile`, `np.roll`, `np.pad`, `np.take` and their relatives."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autojit.errors import CannotCapture
from autojit.ir.op import Op
from autojit.ir.spec import Spec, result_spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.families import small_dummy
from autojit.ops.inference import compiled, moving, specs_of
from autojit.ops.joining import concatenate, overlay
from autojit.ops.reading import bounded

Trap = Callable[[Any], None]


def _matrix(rng: Any) -> Any:
    return rng.standard_normal((3, 4))


def _band(function: Any, keeps: Callable[[Any, int], Any]) -> Op:
    """`np.tril` and `np.triu`: zeros on one side of a diagonal."""

    def rule(m: Any, k: int = 0) -> Any:
        k = operator.index(k)
        if m.ndim < 2:
            m = jnp.broadcast_to(m, (m.shape[0], m.shape[0]))
        rows, columns = (lax.broadcasted_iota(jnp.int64, m.shape, m.ndim - n) for n in (2, 1))
        return jnp.where(keeps(columns - rows, k), m, jnp.zeros((), m.dtype))

    return moving(
        function,
        rule,
        ("m",),
        ("k",),
        samples=lambda rng: [
            ((_matrix(rng),), {}),
            ((_matrix(rng),), {"k": 1}),
            ((rng.random((2, 3, 3)),), {"k": -1}),
            ((np.arange(3),), {}),
        ],
    )


def _diag(v: Any, k: int = 0) -> Any:
    if v.ndim == 2:
        return jnp.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    size = v.shape[0] + abs(k)
    rows, columns = (lax.broadcasted_iota(jnp.int64, (size, size), axis) for axis in (0, 1))
    spread = jnp.pad(v, (max(-k, 0), size - v.shape[0] - max(-k, 0)))
    return jnp.where(columns - rows == k, spread[:, None], jnp.zeros((), v.dtype))


def _diagflat(v: Any, k: int = 0) -> Any:
    return _diag(v.reshape(-1), k)


def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """`np.roll` by joining two slices."""
    if axis is None:
        return _roll(a.reshape(-1), shift, 0).reshape(a.shape)
    pairs = np.broadcast(shift, normalize_axis_tuple(axis, a.ndim, allow_duplicate=True))
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    for step, place in pairs:
        place = int(place)
        length = a.shape[place]
        step = int(step) % length if length else 0
        if step:
            first = lax.slice_in_dim(a, length - step, length, axis=place)
            a = overlay([first, lax.slice_in_dim(a, 0, length - step, axis=place)], place)
    return a


def _repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    counts = np.asarray(repeats)
    if counts.ndim > 1:
        raise ValueError("object too deep for desired array")
    if not np.can_cast(counts.dtype, np.int64) or np.any(counts < 0):
        raise ValueError("counts must be integers that are not negative")
    return jnp.repeat(a, counts.astype(np.int64), axis=axis)


def _append(arr: Any, values: Any, axis: int | None = None) -> Any:
    if axis is None:
        return jnp.concatenate([arr.reshape(-1), values.reshape(-1)])
    return concatenate([arr, values], axis)


# ---- np.pad

_PAD_MODES = ("constant", "edge", "reflect", "symmetric", "wrap", "empty")


_UNSET = object()


def _pad_pairs(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    widths = np.asarray(pad_width)
    if widths.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type; not compiled")
    return [(int(a), int(b)) for a, b in np.broadcast_to(widths, (ndim, 2))]


def _pad(array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = _UNSET) -> Any:
    if mode not in _PAD_MODES:
        raise ValueError(f"mode '{mode}' is not compiled")
    if constant_values is _UNSET:
        constant_values = 0
    elif mode != "constant":
        raise ValueError(f"`constant_values` in mode '{mode}' is not compiled")
    pairs = _pad_pairs(pad_width, array.ndim)
    if min((n for pair in pairs for n in pair), default=0) < 0:
        raise ValueError("index can't contain negative values")
    if mode in ("constant", "empty"):
        fill = np.broadcast_to(np.asarray(constant_values), (array.ndim, 2)).astype(array.dtype)
        np.array(np.asarray(constant_values).tolist(), array.dtype)  # NumPy refuses what does not fit
        for axis, ((before, after), (low, high)) in enumerate(zip(pairs, fill, strict=True)):
            array = _pad_axis(array, axis, before, after, low, high)
        return array
    for axis, (before, after) in enumerate(pairs):
        # The checker cannot know: a str is a mode.
        source = np.pad(np.arange(array.shape[axis]), (before, after), mode=mode)  # type: ignore[call-overload]
        array = _take_runs(array, source, axis)
    return array


def _pad_axis(array: Any, axis: int, before: int, after: int, low: Any, high: Any) -> Any:
    for count, value, place in ((before, low, 0), (after, high, 1)):
        if count:
            config = [(0, 0, 0)] * array.ndim
            config[axis] = (0, count, 0) if place else (count, 0, 0)
            array = lax.pad(array, jnp.asarray(value), config)
    return array


def _take_runs(array: Any, source: np.ndarray, axis: int) -> Any:
    """`array` taken at constant indices along an axis: joined slices where the indices run up or down."""
    steps = np.diff(source)
    breaks = [0, *(np.flatnonzero(steps[1:] != steps[:-1]) + 2), len(source)] if len(source) > 2 else [0, len(source)]
    if len(breaks) > 12 or np.any(np.abs(steps) > 1):
        return jnp.take(array, source, axis=axis, mode="clip")
    parts = []
    for start, stop in pairwise(breaks):
        run = source[start:stop]
        if not len(run):
            continue
        low, high = int(run.min()), int(run.max()) + 1
        part = lax.slice_in_dim(array, low, high, axis=axis)
        if len(run) > 1 and run[1] == run[0]:
            part = jnp.repeat(part, len(run), axis=axis)
        elif len(run) > 1 and run[1] < run[0]:
            part = lax.rev(part, (axis,))
        parts.append(part)
    return overlay(parts, axis) if parts else array


def _pad_samples(rng: Any) -> list[Any]:
    x = _matrix(rng)
    cases: list[Any] = [((x,), {"pad_width": 2, "mode": mode}) for mode in _PAD_MODES[:-1]]
    cases += [((x,), {"pad_width": ((9, 1), (0, 7)), "mode": mode}) for mode in _PAD_MODES[1:-1]]
    cases += [
        ((x,), {"pad_width": ((1, 0), (0, 2)), "constant_values": 7.5}),
        ((np.arange(3),), {"pad_width": (1, 2), "constant_values": (1.5, 9)}),
        ((x,), {"pad_width": 1, "constant_values": ((1, 2), (3, 4))}),
    ]
    return cases


COPIES = (
    moving(
        np.tile,
        jnp.tile,
        ("A",),
        ("reps",),
        samples=lambda rng: [
            ((_matrix(rng),), {"reps": (2, 1)}),
            ((np.arange(3),), {"reps": 2}),
            ((np.arange(3),), {"reps": (2, 2, 1)}),
            ((2.5,), {"reps": 3}),
            ((_matrix(rng),), {"reps": 0}),
        ],
    ),
    moving(
        np.repeat,
        _repeat,
        ("a",),
        ("repeats", "axis"),
        methods=("repeat",),
        samples=lambda rng: [
            ((_matrix(rng),), {"repeats": 2}),
            ((_matrix(rng),), {"repeats": 3, "axis": 0}),
            ((_matrix(rng),), {"repeats": (2, 0, 1), "axis": 0}),
            ((2,), {"repeats": 4}),
        ],
    ),
    moving(
        np.roll,
        _roll,
        ("a",),
        ("shift", "axis"),
        samples=lambda rng: [
            ((_matrix(rng),), {"shift": 1}),
            ((_matrix(rng),), {"shift": -1, "axis": 0}),
            ((_matrix(rng),), {"shift": (1, 2), "axis": (0, 1)}),
            ((_matrix(rng),), {"shift": 9, "axis": -1}),
            ((np.ones((0, 2)),), {"shift": 1, "axis": 0}),
        ],
    ),
    moving(
        np.append,
        _append,
        ("arr", "values"),
        ("axis",),
        samples=lambda rng: [
            ((_matrix(rng), 5), {}),
            ((np.arange(3), np.float32(1)), {}),
            ((_matrix(rng), np.ones((1, 4))), {"axis": 0}),
        ],
    ),
    moving(
        np.diag,
        _diag,
        ("v",),
        ("k",),
        samples=lambda rng: [
            ((np.arange(3),), {}),
            ((rng.random(3),), {"k": -2}),
            ((rng.random(2),), {"k": 1}),
            ((_matrix(rng),), {"k": 1}),
        ],
        note="of a matrix: a copy of the diagonal",
    ),
    moving(
        np.diagflat,
        _diagflat,
        ("v",),
        ("k",),
        samples=lambda rng: [((rng.random((2, 2)),), {}), ((rng.random(3),), {"k": -1})],
    ),
    _band(np.tril, lambda d, k: d <= k),
    _band(np.triu, lambda d, k: d >= k),
    moving(np.pad, _pad, ("array",), ("pad_width", "mode", "constant_values"), samples=_pad_samples),
)


# ---- taking


def _check_mode(params: dict[str, Any]) -> None:
    """Refuse what is none of the three words; NumPy knows other spellings and numbers."""
    mode = params.get("mode", "raise")
    if not (isinstance(mode, str) and mode in ("raise", "wrap", "clip")):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")


def _take_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    a, indices = specs
    axis = params.get("axis")
    _check_mode(params)
    shape = (a.size,) if axis is None else a.shape
    axis = axis or 0
    if not -len(shape) <= axis < len(shape):
        raise np.exceptions.AxisError(axis, len(shape))
    if not np.can_cast(indices.dtype, np.intp, "same_kind"):
        raise TypeError(
            f"Cannot cast array data from {indices.dtype!r} to {np.dtype(np.intp)!r} according to the rule 'safe'"
        )
    axis %= len(shape)
    if shape[axis] == 0 and indices.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    return (result_spec(shape[:axis] + indices.shape + shape[axis + 1 :], a.dtype),)


def _take(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    a, indices = xs
    axis, mode = node.keywords.get("axis"), node.keywords.get("mode", "raise")
    a = a.reshape(-1) if axis is None else a
    axis = (axis or 0) % a.ndim
    spec = node.outputs[0].spec
    if 0 in spec.shape:
        if mode == "raise" and indices.size:
            bounded(indices, a.shape[axis], trap)  # NumPy looks at the indices even where nothing is taken
        return (jnp.zeros(spec.shape, spec.dtype),)
    places = wrap_indices(indices, a.shape[axis], mode, trap)
    index = (slice(None),) * axis + (places,)
    return (a.at[index].get(mode="promise_in_bounds", wrap_negative_indices=False),)


def wrap_indices(indices: Any, length: int, mode: str, trap: Trap) -> Any:
    """Indices counted from the front, by the mode of `np.take` and `np.choose`."""
    if mode == "raise":
        return bounded(indices, length, trap)
    wide = indices.astype(jnp.int64)
    return jnp.clip(wide, 0, length - 1) if mode == "clip" else jnp.mod(wide, length)


def _take_samples(rng: Any) -> list[Any]:
    x, rows = _matrix(rng), np.array([[2, -1], [0, 1]])
    far = np.array([5, -7, 1])
    return [
        ((x, rows), {}),
        ((x, rows), {"axis": 1}),
        ((x, 2), {"axis": 0}),
        ((x, 2), {}),
        ((x, far), {"axis": 0, "mode": "wrap"}),
        ((x, far), {"axis": 1, "mode": "clip"}),
        ((np.arange(4), np.array([], int)), {}),
    ]


TAKE = Op(
    name="np.take",
    call=np.take,
    family="indexing",
    operands=("a", "indices"),
    params=("axis", "mode"),
    infer=_take_infer,
    lower=_take,
    numpy=(np.take,),
    methods=("take",),
    traps=True,
    samples=_take_samples,
)


def _along_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    arr, indices = specs
    axis = params.get("axis", -1)
    np.take_along_axis(np.zeros((1,) * arr.ndim), np.zeros((0,) * indices.ndim, indices.dtype), axis)
    if axis is None:
        return (Spec(indices.shape, arr.dtype),)
    shape = [n for place, n in enumerate(arr.shape) if place != axis % arr.ndim]
    rest = [n for place, n in enumerate(indices.shape) if place != axis % arr.ndim]
    result = list(np.broadcast_shapes(tuple(shape), tuple(rest)))
    if any(n not in (1, m) for n, m in zip(shape, result, strict=True)) or 0 in arr.shape:
        raise CannotCapture("keyword", "the shapes of `np.take_along_axis`")
    if result != shape and any(n == 1 and m != 1 for n, m in zip(shape, result, strict=True)):
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together")
    result.insert(axis % arr.ndim, indices.shape[axis])
    return (Spec(tuple(result), arr.dtype),)


def _along(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    arr, indices = xs
    axis = node.keywords.get("axis", -1)
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    axis %= arr.ndim
    shape = node.outputs[0].spec.shape
    if 0 in shape:
        return (jnp.zeros(shape, arr.dtype),)
    places = jnp.broadcast_to(bounded(indices, arr.shape[axis], trap), shape)
    return (jnp.take_along_axis(arr, places, axis, mode="promise_in_bounds"),)


TAKE_ALONG = Op(
    name="np.take_along_axis",
    call=np.take_along_axis,
    family="indexing",
    operands=("arr", "indices"),
    params=("axis",),
    infer=_along_infer,
    lower=_along,
    numpy=(np.take_along_axis,),
    traps=True,
    samples=lambda rng: [
        ((_matrix(rng), np.array([[0, -1], [1, 2], [3, 3]])), {"axis": 1}),
        ((_matrix(rng), np.array([[0, 1, 2, 0]])), {"axis": 0}),
        ((_matrix(rng), np.array([[1], [2], [3]])), {}),
        ((rng.random(4), np.array([3, 0])), {"axis": None}),
    ],
)


def _choose(choices: Sequence[Any], indices: Any, mode: str, shape: tuple[int, ...], trap: Trap) -> Any:
    places = _checked_indices(indices, len(choices), mode, trap)
    result = jnp.broadcast_to(choices[0], shape)
    for number, choice in enumerate(choices[1:], 1):
        result = jnp.where(places == number, choice, result)
    return result


def _checked_indices(indices: Any, length: int, mode: str, trap: Trap) -> Any:
    """As `wrap_indices`, but a negative index is an error, as in `np.choose`."""
    if mode == "raise":
        trap(jnp.any((indices < 0) | (indices >= length)))
    return wrap_indices(indices, length, "clip" if mode == "raise" else mode, trap)


def _choose_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    a, *choices = specs
    _check_mode(params)
    if len(choices) > 30:
        raise CannotCapture("keyword", "`np.choose` of more than 30 arrays")
    if a.dtype.kind not in "iub":
        raise CannotCapture("raises", "TypeError: the indices of `np.choose` are not integers")
    shape = np.broadcast_shapes(*(spec.shape for spec in specs))
    # Python's numbers take the dtype of the arrays.
    (found,) = specs_of(np.choose(np.zeros((), a.dtype), [small_dummy(choice) for choice in choices]))
    if found.dtype.kind in "iu" and found.dtype != np.int64 and any(choice.kind == "python" for choice in choices):
        raise CannotCapture("keyword", "`np.choose` of a Python number that an array's dtype may not hold")
    return compiled([result_spec(shape, found.dtype)])


def _choose_lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    spec = node.outputs[0].spec
    choices = [exact.cast(x, spec.dtype) for x in xs[1:]]
    return (_choose(choices, xs[0].astype(jnp.int64), node.keywords.get("mode", "raise"), spec.shape, trap),)


CHOOSE = Op(
    name="np.choose",
    # The checker cannot know: a str is a mode.
    call=lambda a, *choices, mode="raise": np.choose(a, choices, mode=mode),  # type: ignore[arg-type]
    family="indexing",
    operands=("a", "[choices]"),
    params=("mode",),
    infer=_choose_infer,
    lower=_choose_lower,
    numpy=(np.choose,),
    methods=("choose",),
    traps=True,
    samples=lambda rng: [
        ((np.array([0, 2, 1, 0]), rng.random(4), np.arange(4), rng.random(4)), {}),
        ((np.array([[0], [1]]), rng.random(4), 5.0), {}),
        ((np.array([5, -1, 1, 0]), rng.random(4), rng.random(4)), {"mode": "wrap"}),
        ((np.array([5, -1, 1, 0]), rng.random(4), rng.random(4)), {"mode": "clip"}),
    ],
)

ROWS = (*COPIES, TAKE, TAKE_ALONG, CHOOSE)
