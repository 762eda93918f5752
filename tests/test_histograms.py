"""`np.histogram` and `ufunc.at` in a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers import check

RNG = np.random.default_rng(0)


def counts(a: Any, bins: Any, weights: Any = None) -> Any:
    return np.histogram(a, bins, weights=weights)


@pytest.mark.parametrize(
    ("a", "bins"),
    [
        (RNG.random(1000), 10), (np.linspace(0, 1, 11), 10), (np.linspace(0, 1, 101), 10), (np.arange(30.0), 7),
        (np.linspace(-3.3, 7.7, 1001), 97), (RNG.random(1000).astype("f4"), 10), (RNG.random((10, 10)), 1),
        (np.linspace(0, 1, 101, dtype="f4"), 10),
    ],
)  # fmt: skip
def test_equal_bins(a: np.ndarray, bins: int) -> None:
    check(counts, a, bins, whole=True)
    check(counts, a, bins, RNG.random(a.shape), whole=True)
    check(counts, a, bins, RNG.integers(0, 5, a.shape), whole=True)


@pytest.mark.parametrize(
    ("a", "bins"),
    [
        (np.ones(5), 4), (np.array([1.0, np.nan]), 4), (np.array([1.0, np.inf]), 4), (np.array([]), 4),
        (RNG.integers(0, 9, 50), 5), (RNG.random(9), [0.0, 0.1, 0.5]), (RNG.random(9), 0), (RNG.random(9), True),
    ],
)  # fmt: skip
def test_what_numpy_treats_otherwise(a: np.ndarray, bins: Any) -> None:
    check(counts, a, bins)


def test_range_and_density() -> None:
    def both(a):
        return np.histogram(a, 5, (0.0, 0.5)), np.histogram(a, density=True)

    check(both, RNG.random(50))


def test_at() -> None:
    def at(a, indices, values):
        np.add.at(a, indices, values)
        np.maximum.at(a, indices, values)
        return a

    check(at, np.zeros(5), np.array([0, 0, 4, -1]), np.array([1.0, 2, 3, 4]), whole=True)
    check(at, np.zeros(5), np.array([0, 0, 4, -1]), np.array([1.0, np.nan, 3, 4]))
    check(at, np.zeros(5), np.array([0, 0, 5, -1]), np.array([1.0, 2, 3, 4]))
    check(at, np.zeros(5, int), np.array([0, 0, 4, -1]), 1, whole=True)
    check(at, np.zeros(5, np.int8), np.array([0, 0, 4, -1]), 300)
    check(at, np.zeros((5, 2)), np.array([0, 0, 4, -1]), 1.0)
