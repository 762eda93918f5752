"""Does a result agree with NumPy's: the same kinds, dtypes, shapes and NaNs, and how far are the numbers apart?"""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

#: The largest error, relative to the largest element of NumPy's result, by the precision of the dtype.
TOLERANCE = {
    np.dtype(np.float16): 1e-2,
    np.dtype(np.float32): 1e-4,
    np.dtype(np.float64): 1e-9,
}


@dataclass(frozen=True, slots=True)
class Agreement:
    """The outcome of a comparison.

    Attributes:
        error: The largest error that was met, relative to the scale of its array; infinite where NaNs differ.
        problem: What does not agree, and where; "" when everything does.
    """

    error: float = 0.0
    problem: str = ""

    def __bool__(self) -> bool:
        return not self.problem

    def __or__(self, other: Agreement) -> Agreement:
        return Agreement(max(self.error, other.error), self.problem or other.problem)


def compare(
    expected: Any, actual: Any, where: str = "result", *, rtol: float | None = None, least: float = 0.0
) -> Agreement:
    """Compare recursively: sequences and dicts by their parts, arrays and scalars by `compare_arrays`.

    Args:
        expected: NumPy's result.
        actual: The other result.
        where: What the problem text calls the result.
        rtol: Replaces `TOLERANCE`; the kinds of Python objects are then not compared (ports return other types).
        least: The least tolerance: that of the least precise numbers that a result is made from.
    """
    if isinstance(expected, np.ndarray | np.generic | bool | int | float | complex):
        if rtol is None and type(expected) is not type(actual):
            return Agreement(np.inf, f"{where}: `{type(actual).__name__}`, NumPy gives `{type(expected).__name__}`")
        return compare_arrays(np.asarray(expected), np.asarray(actual), where, rtol=rtol, least=least)
    if type(expected) is not type(actual):
        return Agreement(np.inf, f"{where}: `{type(actual).__name__}`, NumPy gives `{type(expected).__name__}`")
    if isinstance(expected, tuple | list):
        if len(expected) != len(actual):
            return Agreement(np.inf, f"{where}: {len(actual)} parts, NumPy gives {len(expected)}")
        pairs = {f"{where}[{i}]": pair for i, pair in enumerate(zip(expected, actual, strict=True))}
    elif isinstance(expected, dict):
        if expected.keys() != actual.keys():
            return Agreement(np.inf, f"{where}: the keys differ")
        pairs = {f"{where}[{key!r}]": (value, actual[key]) for key, value in expected.items()}
    elif is_record(expected):
        return compare(vars(expected), vars(actual), where, rtol=rtol, least=least)
    else:
        has_equality = type(expected).__eq__ is not object.__eq__
        same = expected is actual or not has_equality or bool(expected == actual)
        return Agreement() if same else Agreement(np.inf, f"{where}: not equal")
    outcome = Agreement()
    for name, (one, other) in pairs.items():
        outcome |= compare(one, other, name, rtol=rtol, least=least)
    return outcome


def tolerance_of(dtypes: Iterable[np.dtype]) -> float:
    """The tolerance of results that are made from numbers of these dtypes."""
    return max((TOLERANCE.get(np.real(np.zeros((), dtype)).dtype, 0.0) for dtype in dtypes), default=0.0)


def is_record(value: Any) -> bool:
    """Whether an object is what its attributes are."""
    return hasattr(value, "__dict__") and not callable(value) and not isinstance(value, type | types.ModuleType)


def compare_arrays(
    expected: np.ndarray, actual: np.ndarray, where: str, *, rtol: float | None = None, least: float = 0.0
) -> Agreement:
    """Compare shapes, dtypes, NaNs and infinities exactly, and finite floating point numbers within the tolerance."""
    if expected.shape != actual.shape:
        return Agreement(np.inf, f"{where}: shape {actual.shape}, NumPy gives {expected.shape}")
    if rtol is None and expected.dtype != actual.dtype:
        return Agreement(np.inf, f"{where}: dtype {actual.dtype}, NumPy gives {expected.dtype}")
    if expected.dtype.kind not in "fc":
        return _differ(expected != actual, expected, actual, where)
    if expected.dtype.kind == "c":
        # One scale for both parts: the error of a complex number is not that of its smaller part.
        expected, actual = (np.stack([np.real(array), np.imag(array)], axis=-1) for array in (expected, actual))
    special = ~np.isfinite(expected) | ~np.isfinite(actual)
    same = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
    if not same[special].all():
        return _differ(special & ~same, expected, actual, where)
    if special.all():
        return Agreement()
    one, other = (np.where(special, 0, array).astype(np.float64) for array in (expected, actual))
    errors = np.abs(one - other) / (np.abs(one).max() or 1.0)
    error = float(errors.max())
    limit = max(TOLERANCE[expected.dtype], least) if rtol is None else rtol
    if error <= limit:
        return Agreement(error)
    place = _element(np.unravel_index(errors.argmax(), errors.shape), expected, actual)
    return Agreement(error, f"{where}: relative error {error:.1e}, allowed {limit:.0e}, {place}")


def _differ(different: np.ndarray, expected: np.ndarray, actual: np.ndarray, where: str) -> Agreement:
    """The outcome where elements must be equal."""
    count = int(np.count_nonzero(different))
    if not count:
        return Agreement()
    place = _element(np.unravel_index(different.argmax(), different.shape), expected, actual)
    return Agreement(np.inf, f"{where}: {count} of {different.size} elements differ, {place}")


def _element(place: tuple[Any, ...], expected: np.ndarray, actual: np.ndarray) -> str:
    at = f"at [{', '.join(map(str, place))}]: " if place else ""
    return f"{at}{actual[place]}, NumPy gives {expected[place]}"
