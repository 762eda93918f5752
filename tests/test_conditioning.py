"""What the soak takes for rounding, and what it does not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conditioning import is_rounding
from tests.programs.words import late_closures


def arguments():
    return (np.random.default_rng(826619258).normal(size=13),)


def test_a_sum_that_cancels():
    (x,) = arguments()
    exact = 0.0007858584095896126  # of the rational numbers
    assert abs((x * 3).sum() - exact) > 1e-12 * exact  # NumPy's own is as far away
    late, held = late_closures(x)
    late[0] = held[3] = (3, np.float64(exact))
    assert is_rounding(late_closures, arguments, ([(3, np.float64(exact))] * 4, held), 1e-12)
    assert not is_rounding(late_closures, arguments, ([(3, np.float64(exact + 1e-12))] * 4, held), 1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda late, held: (late, held[:3]),
        lambda late, held: ([(2, total) for _, total in late], held),
        lambda late, held: ([(3, float(total)) for _, total in late], held),
        lambda late, held: (late, [(k, np.array([total])) for k, total in held]),
        lambda late, held: (late, [(k, -total) for k, total in held]),
        lambda late, held: (late, [(k, np.float64(np.nan)) for k, total in held]),
        lambda late, held: (tuple(late), held),
    ],
)
def test_other_differences(wrong):
    answer = late_closures(*arguments())
    assert is_rounding(late_closures, arguments, answer, 1e-12)
    assert not is_rounding(late_closures, arguments, wrong(*answer), 1e-12)


def test_what_is_well_conditioned():
    def program(x):
        return np.exp(-x), (x > 0).sum()

    def given():
        return (np.linspace(1, 40, 9),)

    small, count = program(*given())
    assert is_rounding(program, given, (small * (1 + 1e-15), count), 1e-15)
    assert not is_rounding(program, given, (small * (1 + 1e-9), count), 1e-12)
    assert not is_rounding(program, given, (small, count + 1), 1e-12)
