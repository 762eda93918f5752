"""The noise that says how far the results of a random program may be from NumPy's."""

from __future__ import annotations

import numpy as np

from tests.table_judge import _RUNS
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


OVER = """import math, numpy as np

def program(x):
    return np.minimum(x, x[2], out=x)
"""


def test_zeros_of_either_sign_are_told_by_the_operands_as_they_were_before_out_was_written_over_them() -> None:
    x = np.array([1.5, 0.5, 0.0, -0.0], np.float32)
    runs = [bool(np.signbit(Noise(OVER, seed, still=True).program(x.copy())[3])) for seed in (0, 1)]
    assert sorted(runs) == [False, True]


AT = """import math, numpy as np

def program(x):
    np.maximum.at(x, [0, 1], -0.0)
    return x
"""


def test_zeros_of_either_sign_may_come_of_maximum_at_too() -> None:
    runs = [bool(np.signbit(Noise(AT, seed, still=True).program(np.array([0.0, 2.0]))[0])) for seed in (0, 1)]
    assert sorted(runs) == [False, True]


OUTER = """import math, numpy as np

def program(x):
    return np.diff(np.outer(x, x))
"""


def test_an_outer_product_may_be_contracted_with_a_difference_that_follows() -> None:
    x = np.array([1.1, 2.3, 3.7], np.float32)
    first, second = (Noise(OUTER, seed).program(x) for seed in (0, 1))
    assert not np.array_equal(first, second)


DIFFERENCE = """import math, numpy as np

def program(x):
    return np.diff(np.cbrt(x))
"""


def test_last_places_that_cancel_do_not_cancel_in_all_runs() -> None:
    x = np.array([3.0, 7.0])
    for first in range(0, 400, _RUNS):  # as many runs as a program has, in other directions each time
        runs = [Noise(DIFFERENCE, first + seed).program(x)[0] for seed in range(2, _RUNS)]
        assert any(run != np.diff(np.cbrt(x))[0] for run in runs)


INTERPOLATION = """import math, numpy as np

def program(x):
    return np.interp(x, np.array([0.0, 1.0, 2.5, 4.0]), np.array([1.75, -1.75, 2.5, 0.25]))
"""


def test_small_numbers_make_no_interpolation_exact() -> None:
    x = np.array([1.75])
    first, second = (Noise(INTERPOLATION, seed).program(x)[0] for seed in (0, 1))
    assert first > 0.375 > second  # the slope is 4.25 / 1.5


FOUND = """import math, numpy as np

def program(x):
    return np.cbrt(x) == 3.0
"""


def test_a_result_may_be_the_whole_number_that_it_is_close_to() -> None:
    x = np.array([np.nextafter(27.0, 0.0)])
    assert {bool(Noise(FOUND, seed).program(x)[0]) for seed in range(_RUNS)} == {False, True}
