"""Memory order: which strides NumPy gives to new arrays. They decide whether a later reshape is a view or a copy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autojit.capture.dummies import make_dummy
from autojit.capture.values import Arr, Known, LoopInt, Sym
from autojit.errors import CannotCapture, comes_from_a_signal
from autojit.ir.graph import Operand
from autojit.ir.index import Index, Place, Slice, Window
from autojit.ir.op import Op
from autojit.ir.warned import unheard

#: Lengths of the small arrays on which NumPy is asked; the order of the axes does not depend on them.
_SHORT = 5
#: Of arrays with no more elements NumPy is asked as they are where it refuses small ones.
_MOST = 1 << 16
#: Functions whose results are in C order whatever they are given.
_IN_C_ORDER = frozenset(("np.repeat", "np.take"))
#: How long it is looked for an element that two results share.
_WORK = 1000


def keep(op: Op, operands: Sequence[Any], params: dict[str, Any], results: Sequence[Arr]) -> None:
    """Give the results of an op the strides that NumPy gives them: of a ufunc by rule, else on small arrays."""
    if op.name == "np.unravel_index":
        _interleave(operands, results)
        return
    dummies = [value.dummy for value in operands if isinstance(value, Arr)]
    if not any(result.kind == "array" and result.dummy.ndim > 1 for result in results):
        return
    is_outer = op.name.endswith(".outer")
    is_ufunc = any(isinstance(function, np.ufunc) for function in op.numpy)
    if is_outer or (is_ufunc and op.family != "contraction"):
        if all(dummy.flags.c_contiguous or dummy.ndim == 0 for dummy in dummies):
            return
        if is_outer:
            left, right = (value.dummy if isinstance(value, Arr) else np.zeros(()) for value in operands)
            dummies = [left[(..., *(None,) * right.ndim)], right]
        for result in results:
            if result.kind == "array":
                set_strides(result, elementwise_strides(dummies, result.shape, result.dtype))
    elif dummies and (op.name.startswith("np.") or op.name == "astype"):
        asked_strides(op, operands, params, results)


def _interleave(operands: Sequence[Any], results: Sequence[Arr]) -> None:
    """The results are the columns of one array, in the order of the operand."""
    dummies = [value.dummy for value in operands if isinstance(value, Arr)]
    for result in results:
        if result.kind == "array" and result.dummy.ndim:
            strides = elementwise_strides(dummies, result.shape, result.dtype) or result.dummy.strides
            set_strides(result, tuple(step * len(results) for step in strides))


def own_strides(result: Any) -> tuple[int, ...] | None:
    """The strides of an array that is not in C order; `None` for all others."""
    if not isinstance(result, np.ndarray) or result.flags.c_contiguous or 0 in result.strides:
        return None
    return result.strides


def not_new(results: Sequence[Any]) -> str:
    """What tells that results on the host are no arrays of their own, to be written one by one; "" for nothing."""
    arrays = [result for result in results if isinstance(result, np.ndarray)]
    if any(array.__array_interface__["data"][1] for array in arrays):  # `flags.writeable` may warn
        return "gave an array that is read-only"
    for place, array in enumerate(arrays):
        try:
            work: Any = _WORK  # the stubs know two numbers alone
            if any(np.shares_memory(array, other, max_work=work) for other in arrays[:place]):
                return "gave arrays that share memory"
        except np.exceptions.TooHardError:
            return "gave arrays that may share memory"
    return ""


def elementwise_strides(
    dummies: Sequence[np.ndarray], shape: tuple[int, ...], dtype: np.dtype
) -> tuple[int, ...] | None:
    """The strides of an elementwise result: NumPy's iterator says which. `None` for C order."""
    inputs = [dummy for dummy in dummies if dummy.ndim]
    try:
        make: Any = np.nditer
        iterator = make(
            [*inputs, None],
            flags=["zerosize_ok", "multi_index"],
            op_flags=[["readonly"]] * len(inputs) + [["writeonly", "allocate"]],
            order="K",
        )
    except (ValueError, TypeError):
        return None
    made = iterator.operands[-1]
    if made.shape != shape:
        return None
    return tuple(step // made.itemsize * dtype.itemsize for step in made.strides)


def asked_strides(op: Op, operands: Sequence[Any], params: dict[str, Any], results: Sequence[Arr]) -> None:
    """Give the results of a function the strides that NumPy gives them."""
    if "shape" in params:
        (result,) = results
        like = operands[0].dummy if op.name.endswith("_like") and isinstance(operands[0], Arr) else None
        if like is not None and like.ndim == result.dummy.ndim and not like.flags.c_contiguous:
            if like.flags.f_contiguous:  # axes of one element have no say
                like = np.empty((2,) * like.ndim, order="F")
            set_strides(result, ordered_strides(like, result.shape, result.dtype.itemsize))
        return
    if op.name == "np.diff":  # several times leave nothing of short axes
        params = {**params, "n": min(params.get("n", 1), 1)}
    # Places lie anywhere on the axis, and a median along a long one goes another way.
    full = params.get("axis") if op.name in ("np.delete", "np.insert", "np.nanmedian") else None
    full = full if isinstance(full, int) else None
    if op.name == "np.insert":
        operands = [operands[0], Known(0)]  # what is inserted has no say, and may not fit
    made: Any = None
    dummies = [operand.dummy for operand in operands if isinstance(operand, Arr)]
    is_short = all(dummy.size <= _MOST for dummy in dummies)
    is_odd = not all(dummy.flags.c_contiguous for dummy in dummies)
    # Weights of nothing but zeros raise.
    for most, content in itertools.product((_SHORT, _MOST) if is_short and is_odd else (_SHORT,), (0, 1)):
        try:
            given = [_small(operand, content, full, most) for operand in operands]
            if content and op.family == "linalg":
                given = list(map(_regular, given))
            made = unheard(lambda: op.call(*given, **params))  # noqa: B023 -- called at once
            break
        except Exception as error:  # the small arrays do not fit to the parameters
            if comes_from_a_signal(error):
                raise
    if made is None and is_odd and op.name not in _IN_C_ORDER and any(result.dummy.ndim > 1 for result in results):
        raise CannotCapture("argument-type", f"the memory order of what `{op.name}` gives")
    for result, small in zip(results, made if isinstance(made, list | tuple) else [made], strict=False):
        if isinstance(small, np.ndarray) and small.ndim == result.dummy.ndim and not small.flags.c_contiguous:
            # Axes of one element have any place in the order.
            set_strides(result, ordered_strides(small, result.shape, result.dtype.itemsize))


def keep_indexed(array: Arr, index: Index, operands: Sequence[Operand], parts: Sequence[Any], result: Arr) -> None:
    """Give the result of an index with arrays the strides that NumPy gives it; `parts` are those of the index."""
    if result.dummy.ndim < 2:
        return
    small: list[Any] = []
    axis = 0
    for number, entry in enumerate(index.entries):
        if entry is None:
            small.append(None)
            continue
        if entry is Ellipsis:
            axis += array.dummy.ndim - sum(other is not None and other is not Ellipsis for other in index.entries)
            small.append(Ellipsis)
            continue
        if isinstance(entry, Place):
            spec = operands[entry.operand].spec
            if spec.dtype == np.bool_:
                return
            part = parts[number] if parts else None
            if isinstance(part, Arr) and spec.ndim > 1:
                small.append(_small(part).astype(int))
            else:
                small.append(np.zeros([min(length, _SHORT) for length in spec.shape], int) if spec.shape else 0)
        elif isinstance(entry, Slice | Window):
            small.append(slice(0, 1) if _length(entry, array.shape[axis]) == 1 else slice(None))
        else:
            small.append(0)
        axis += 1
    try:
        made = _small(array)[tuple(small)]
    except IndexError:  # an axis of no elements
        return
    if made.ndim == result.dummy.ndim and not made.flags.c_contiguous:
        set_strides(result, ordered_strides(made, result.shape, result.dtype.itemsize))


def _length(entry: Slice | Window, full: int) -> int:
    if isinstance(entry, Window):
        return entry.length
    return len(range(*slice(entry.start, entry.stop, entry.step).indices(full)))


def _small(value: Any, content: int = 0, full: int | None = None, most: int = _SHORT) -> Any:
    """An array with axes of no more elements than `most`, except for one of full length, of nothing but one number."""
    if isinstance(value, Known | Sym):
        return value.value
    if isinstance(value, LoopInt):
        return content
    if not isinstance(value, Arr):
        raise TypeError
    dummy = value.dummy
    if value.kind != "array":
        return np.full((), content, dummy.dtype)[()]
    lengths = [min(length, most) for length in dummy.shape]
    if full is not None:
        lengths[full] = dummy.shape[full]
    gap = _gap(dummy)
    strides = tuple(gap * step for step in ordered_strides(dummy, tuple(lengths), dummy.itemsize))
    strides = tuple(step if real else 0 for step, real in zip(strides, dummy.strides, strict=True))
    return np.ndarray(lengths, dummy.dtype, np.full(gap * max(math.prod(lengths), 1), content, dummy.dtype), 0, strides)


def _regular(array: Any) -> Any:
    """Unit matrices where these are square: what is singular has no inverse."""
    if isinstance(array, np.ndarray) and array.ndim > 1 and array.shape[-1] == array.shape[-2]:
        array[...] = np.eye(array.shape[-1], dtype=array.dtype)
    return array


def _gap(dummy: np.ndarray) -> int:
    """How far apart a copy's elements are to lie: some functions ask whether an array is contiguous."""
    return 1 if dummy.flags.forc else 2


def ordered_strides(like: np.ndarray, shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides without gaps for an array whose axes lie in memory in the order that `like` has."""
    order = np.argsort([-abs(step) for step in like.strides], kind="stable")
    strides = [0] * like.ndim
    step = itemsize
    for axis in reversed(order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return tuple(strides)


def arranged(array: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """A view of an array, or a copy with the axes in the order of other strides, and as contiguous."""
    if not array.ndim or array.strides == strides or 0 in strides:
        return array.view()
    dummy = make_dummy(array.shape, array.dtype, strides)
    gap = _gap(dummy)
    steps = tuple(gap * step for step in ordered_strides(dummy, array.shape, array.itemsize))
    held = np.ndarray(array.shape, array.dtype, np.empty(gap * array.size, array.dtype), 0, steps)
    held[...] = array
    return held


def set_strides(array: Arr, strides: tuple[int, ...] | None) -> None:
    """Give a new array other strides than those of C order."""
    if strides is not None and strides != array.dummy.strides:
        array.dummy = make_dummy(array.shape, array.dtype, strides)
        array.storage.strides = strides


def protected(argument: Any, strides: tuple[int, ...] | None) -> Any:
    """A read-only view of an array, or a copy that lies in memory as the array would in NumPy."""
    if isinstance(argument, np.ndarray):
        argument = arranged(argument, strides) if strides is not None else argument.view()
        argument.flags.writeable = False
    return argument
