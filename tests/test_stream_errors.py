"""Random numbers where something goes wrong, or is not as in NumPy: what raises, warns, or stays in NumPy."""

import warnings
from unittest import mock

import numpy as np
import pytest

from autojit.runtime.streams import same_states, save
from tests.helpers import assert_same, outcome
from tests.streams import EAGER, X, compare


def test_another_function_in_the_place_of_numpys():
    def f(n):
        return np.random.normal(size=n) * 2

    fast = EAGER(f)
    fast(3)
    with mock.patch("numpy.random.normal", lambda size: np.full(size, 21.0)):
        assert np.all(fast(3) == 42) and np.all(fast(3) == 42)
    np.random.seed(1)
    expected = f(3)
    np.random.seed(1)
    assert_same(fast(3), expected, 1e-12)


def test_warnings_are_numpys():
    def f(rng):
        return rng.multivariate_normal([0, 0], [[1, 2], [2, 1.0]]) * 2

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")  # "always", which `pytest.warns` sets, leaves everything to NumPy
        EAGER(f)(np.random.default_rng(1))
    assert [each.category for each in found] == [RuntimeWarning] and found[0].filename == __file__


def test_traps_give_the_state_back():
    def f(rng, x, i):
        y = rng.normal(size=3) + x[i]
        return y * rng.random()

    fast = EAGER(f)
    for i in (1, 9, 2, -7):
        one, other = np.random.default_rng(3), np.random.default_rng(3)
        got, expected = outcome(fast, (one, X, i), {}), outcome(f, (other, X, i), {})
        assert type(got.error) is type(expected.error) and str(got.error) == str(expected.error)
        assert same_states(save(one), save(other))


def test_data_that_raises_after_draws():
    def f(rng, x):
        y = rng.normal(size=3) * 2
        z = y + x[int(x[0])]
        return z + rng.random()

    for first in (2.0, 80.0):
        compare(f, np.random.default_rng(1), np.array([first, 2.0, 3.0]), compiled=first < 5)


@pytest.mark.parametrize("scale", [-1.0, float("nan")])
def test_draws_that_raise(scale):
    def f(rng, x, scale):
        y = x * 2 + rng.random(6)
        x[:] = 7
        return y + rng.normal(0, scale, 6)

    fast = EAGER(f)
    for each in (1.0, scale, 1.0):
        one, other, mine, theirs = np.random.default_rng(3), np.random.default_rng(3), X.copy(), X.copy()
        got, expected = outcome(fast, (one, mine, each), {}), outcome(f, (other, theirs, each), {})
        assert type(got.error) is type(expected.error) and str(got.error) == str(expected.error)
        assert same_states(save(one), save(other))
        assert_same(mine, theirs, 0.0)


def test_what_changes_more_than_the_stream_stays_in_numpy():
    def f(rng, x):
        y = x * 2
        rng.shuffle(y)
        return y + 1

    one, other = np.random.default_rng(3), np.random.default_rng(3)
    assert_same(EAGER(f)(one, X), f(other, X), 0.0)

    def g(rng, x):
        out = np.empty(6)
        rng.random(out=out)
        return out + x

    assert_same(EAGER(g)(one, X), g(other, X), 0.0)
    assert same_states(save(one), save(other))


def test_subclasses_and_foreign_methods_stay_in_numpy():
    class Loud(np.random.Generator):
        def normal(self, *args, **kwargs):
            return np.full(3, 42.0)

    def f(rng):
        return rng.normal(size=3) + 1

    assert np.all(EAGER(f)(Loud(np.random.PCG64(1))) == 43)


def test_too_many_numbers_for_one_draw():
    def f(rng, n, m):
        total = np.zeros(n)
        for _ in range(m):
            total += rng.random(n)
        return total

    one, other = np.random.default_rng(3), np.random.default_rng(3)
    fast = EAGER(f)
    assert_same(fast(one, 300_000, 60), f(other, 300_000, 60), 1e-12)
    assert same_states(save(one), save(other))
