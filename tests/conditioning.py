"""How much of a result is rounding: what it changes by when the inputs change in their last bits.

Where a sum cancels, all that is left of it may be rounding, and no tolerance relative to the result is met by two orders of
additions. An answer that is as near to NumPy's as NumPy's is to itself for inputs a bit or two away is as good as that one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

#: So many changed inputs are tried, each number by so many units in the last place at most.
TRIES, UNITS = 24, 2
#: An answer may be so many times as far from NumPy's as the farthest of those.
FACTOR = 4.0


def leaves(value: Any) -> list[Any]:
    """The numbers and arrays in a nested value, in order; of anything else its type."""
    if isinstance(value, dict):
        return [part for key, item in value.items() for part in (repr(key), *leaves(item))]
    if isinstance(value, list | tuple):
        return [type(value), *(part for item in value for part in leaves(item))]
    is_number = isinstance(value, np.ndarray | np.generic | float | complex | int | str | None)
    return [value if is_number else type(value)]


def is_rounding(program: Callable[..., Any], inputs: Callable[[], tuple[Any, ...]], got: Any, rtol: float) -> bool:
    """Whether an answer differs from NumPy's by no more than the inputs' last bits may change it.

    Args:
        program: The plain function.
        inputs: Makes its arguments, each time the same ones.
        got: The answer.
        rtol: What differs by less, relative to itself, is equal.
    """
    rng = np.random.default_rng(0)
    expected, mine = leaves(program(*inputs())), leaves(got)
    others = [leaves(program(*changed(inputs(), rng))) for _ in range(TRIES)]
    if any(len(each) != len(expected) for each in (mine, *others)):
        return False
    return all(_is_near(one, wanted, [each[n] for each in others], rtol) for n, (one, wanted) in enumerate(zip(mine, expected)))


def _is_near(got: Any, expected: Any, others: list[Any], rtol: float) -> bool:
    if type(got) is not type(expected):
        return False
    is_array = isinstance(expected, np.ndarray)
    if is_array and (got.dtype, got.flags.writeable) != (expected.dtype, expected.flags.writeable):
        return False
    if not isinstance(expected, np.ndarray | np.generic | float | complex) or np.asarray(expected).dtype.kind not in "fc":
        return np.array_equal(got, expected) if is_array else bool(got == expected)
    if np.shape(got) != np.shape(expected) or any(np.shape(each) != np.shape(expected) for each in others):
        return False
    with np.errstate(all="ignore"):
        away = np.max([np.abs(np.subtract(each, expected)) for each in others], axis=0)
        return bool(np.all((np.abs(np.subtract(got, expected)) <= rtol * np.abs(expected) + FACTOR * away) | (got == expected)))


def changed(value: Any, rng: np.random.Generator) -> Any:
    """A copy of nested arguments with other last bits in all floats."""
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(changed(item, rng) for item in value)
    if isinstance(value, dict):
        return {key: changed(item, rng) for key, item in value.items()}
    if isinstance(value, float) or (isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc"):
        eps = np.finfo(np.asarray(value).dtype).eps
        made = value * (1 + eps * rng.integers(-UNITS, UNITS + 1, np.shape(value)))
        return made.astype(value.dtype) if isinstance(value, np.ndarray) else type(value)(made)
    return copy.deepcopy(value)
