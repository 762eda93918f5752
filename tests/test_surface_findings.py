"""Programs on which the sample calls of all public names once found a difference, or something near it."""

import numpy as np
import pytest

from tests.helpers import check


@pytest.mark.parametrize("order", ["F", "A"])
def test_fortran_order_of_an_array_of_one_axis(order):
    check(lambda v: v.reshape((2, 3), order=order) + 1, np.arange(6.0), whole=True)
    check(lambda v: np.reshape(v, (3, -1), order), np.arange(6.0), whole=True)


def test_failed_interpretation_leaves_nothing_behind():
    """NumPy's source of `np.intersect1d` indexes arrays before it meets what only the run can decide."""
    made = check(lambda a, b: np.intersect1d(a, b, return_indices=True), np.array([3, -1, 4]), np.array([2, 3, 0]))
    assert made.cache_info().traps == 0


def test_views_of_operands_stay_native():
    def part(z):
        real = np.real_if_close(z)
        real[0] = 5.0
        return real

    check(part, np.arange(3) + 0j)
