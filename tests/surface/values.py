"""The arrays and numbers that the sample calls are made with, by the letters that stand for them."""

from __future__ import annotations

from typing import Any

import numpy as np


def values() -> dict[str, Any]:
    """New values of all letters."""
    a = np.array([[0.5, -1.25, 2.0, 3.5], [-0.75, 1.5, 0.25, -2.5], [1.0, 4.0, -3.0, 0.125]])
    v = np.array([0.75, -1.5, 2.25, 0.5, -3.0, 1.25])
    i = np.array([3, -1, 4, 1, -5, 9])
    m = np.array([[4.0, 1.0, -0.5], [1.0, 3.0, 0.75], [-0.5, 0.75, 5.0]])
    return {
        "a": a,
        "b": np.array([[0.125, 0.5, 0.75, 0.25], [0.875, 0.375, 0.625, 0.5], [0.25, 0.75, 0.5, 0.125]]),
        "c": np.arange(24.0).reshape(2, 3, 4) % 7 - 2,
        "d": np.asfortranarray(a * 2 + 1),
        "e": np.array([1.0, np.nan, -0.0, np.inf, -np.inf, 0.0]),
        "g": np.array([[2, 7, 1, 8], [2, 8, 1, 8], [2, 8, 4, 5]]),
        "h": (a / 2).astype(np.float32),
        "i": i,
        "j": np.array([2, 0, 1, 3, 2, 1]),
        "k": np.array([1, 2, 3, 2, 1, 2], np.uint8),
        "m": m,
        "n": 3,
        "o": np.array(2.5),
        "p": np.array([True, False, True, True, False, True]),
        "q": a > 0.3,
        "s": np.array([-3.0, -1.5, 0.5, 0.75, 1.25, 2.25]),
        "t": a[:, ::-2],
        "u": np.abs(v) + 1,
        "v": v,
        "w": np.array([1 + 2j, -0.5j, 2.5, -1 - 1j, 0.25 + 3j, 1j]),
        "x": 1.75,
        "z": m + 1j * np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [0.0, 1.0, -2.0]]),
        "rng": np.random.default_rng(7),
    }
