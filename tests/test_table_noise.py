"""The noise that says how far the results of a random program may be from NumPy's."""

from __future__ import annotations

import numpy as np

from tests.table_noise import Noise

CHAIN = """import math, numpy as np

def program(x):
    return np.hypot.outer(np.degrees(x), x)
"""


def test_errors_of_one_place_each_do_not_cancel_in_all_runs() -> None:
    x = np.arange(1.0, 400.0)
    first, second = (Noise(CHAIN, seed).program(x) for seed in (0, 1))
    exact = np.hypot.outer(np.degrees(x), x)
    assert (first > exact).all() and (second < exact).all()


AVERAGE = """import math, numpy as np

def program(x):
    return np.average(x, weights=x)
"""


def test_weights_of_an_average_that_cancel_leave_nothing_certain() -> None:
    weights = np.array([1, 1, 1, -1, -1, -1]) * 2**62  # as integers the sum of their sizes overflows
    weights[-1] += 2**20
    first, second = (Noise(AVERAGE, seed).program(weights) for seed in (0, 1))
    assert abs(first - second) > 1e-4 * abs(np.average(weights, weights=weights))
