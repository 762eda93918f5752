"""NumPy functions that call a function of the user's, written as loops that can be captured.

These are interpreted in the place of the functions, as if the user had written the loops. What they do otherwise than
NumPy they refuse, by raising: then the call is left to NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index


def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.apply_along_axis` for arrays of one to three axes."""
    arr = np.asarray(arr)
    axis = normalize_axis_index(axis, arr.ndim)
    lines = np.moveaxis(arr, axis, -1)
    around = lines.shape[:-1]
    if arr.ndim > 3 or 0 in around:
        raise NotImplementedError("`np.apply_along_axis` along more than two axes, or along none")
    first = lines
    for _ in around:
        first = first[0]
    first = np.asarray(func1d(first, *args, **kwargs))
    if type(first) is not np.ndarray:
        raise NotImplementedError("`np.apply_along_axis` of a function that returns no array")
    found = np.zeros(around + first.shape, first.dtype)
    if arr.ndim == 1:
        if first.ndim > 1:
            raise NotImplementedError("`np.apply_along_axis`, whose result may be in the order of the function's")
        found[...] = first
    if arr.ndim == 2:
        found[0] = first
        for i in range(1, around[0]):
            found[i] = np.asarray(func1d(lines[i], *args, **kwargs))
    if arr.ndim == 3:
        found[0, 0] = first
        for j in range(1, around[1]):
            found[0, j] = np.asarray(func1d(lines[0, j], *args, **kwargs))
        for i in range(1, around[0]):
            for j in range(around[1]):
                found[i, j] = np.asarray(func1d(lines[i, j], *args, **kwargs))
    kept, new = len(around), first.ndim
    return np.transpose(found, (*range(axis), *range(kept, kept + new), *range(axis, kept)))


def vectorized(pyfunc: Any, otypes: Any, *args: Any) -> Any:
    """`np.vectorize(pyfunc, otypes)(*args)` for functions of numbers that return numbers.

    NumPy calls the function with Python numbers; only to find the result's dtype, with the NumPy scalars that the
    first elements are.
    """
    arrays = [np.asarray(arg) for arg in args]
    shape = np.broadcast_shapes(*[array.shape for array in arrays])
    if otypes is None:
        if 0 in shape:
            raise NotImplementedError("`np.vectorize` of nothing")
        known = pyfunc(*[np.ravel(array)[0] for array in arrays])
        several = isinstance(known, tuple)
        dtypes = [np.asarray(one).dtype for one in (known if several else (known,))]
    else:
        dtypes = [np.dtype(char) for char in otypes]
        several = len(dtypes) > 1
    flat = [np.ravel(np.broadcast_to(array, shape)).copy() for array in arrays]  # the function may write to them
    count = flat[0].size
    if not several:
        found = np.empty(count, dtypes[0])
        for i in range(count):
            found[i] = fitting(pyfunc(*[array[i].item() for array in flat]), dtypes[0])
        return np.reshape(found, shape)
    if len(dtypes) == 2:
        one, two = np.empty(count, dtypes[0]), np.empty(count, dtypes[1])
        for i in range(count):
            pair = pyfunc(*[array[i].item() for array in flat])
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise NotImplementedError("several results that are no tuple of as many")
            one[i] = fitting(pair[0], dtypes[0])
            two[i] = fitting(pair[1], dtypes[1])
        return np.reshape(one, shape), np.reshape(two, shape)
    raise NotImplementedError("`np.vectorize` of a function with more than two results")


def fitting(value: Any, dtype: Any) -> Any:
    """A result, which is a number that an array of this dtype takes as NumPy's object arrays would give it."""
    array = np.asarray(value)
    own = array.dtype
    if array.ndim or not np.can_cast(own, dtype, "same_kind") or (own.kind in "iu" and not np.can_cast(own, dtype)):
        raise NotImplementedError("a result of another kind than the first")
    return value


#: The functions and what is interpreted in their place.
STAND_INS = {np.apply_along_axis: apply_along_axis}
