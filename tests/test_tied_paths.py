"""Paths that tie but for rounding: nothing but the last bits of a logarithm may choose another one than NumPy's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check
from tests.programs import histories
from tests.programs.histories import likeliest, likely
from tests.programs.tables import viterbi

#: Sizes and seeds of calls in which the first and the second likeliest path have the same terms in another order.
FOUND = [(9, 172474942), (12, 772775261), (20, 868316456), (12, 603270840)]


def few_symbols(size, seed):
    """Observations, moves, shows and a start, where symbols come again and again."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, 4 * size), likely(rng, 4, 4), likely(rng, 4, 3), likely(rng, 1, 4)[0]


def from_logarithms(observed, log_moves, log_shows, log_start):
    """`likeliest`, of logarithms that are given; also what it chooses on the way, and from what."""
    table = np.zeros((len(observed), len(log_start)))
    came = np.zeros(table.shape, dtype=int)
    table[0] = log_start + log_shows[:, observed[0]]
    for t in range(1, len(observed)):
        scores = table[t - 1][:, None] + log_moves
        came[t] = scores.argmax(0)
        table[t] = scores.max(0) + log_shows[:, observed[t]]
    path = np.zeros(len(observed), dtype=int)
    path[-1] = table[-1].argmax()
    for t in range(len(observed) - 2, -1, -1):
        path[t] = came[t + 1, path[t + 1]]
    return path, table[-1].max(), came, table


def total(path, observed, log_moves, log_shows, log_start):
    """The score of a path without rounding."""
    terms = [log_start[path[0]], *log_moves[path[:-1], path[1:]], *log_shows[path, observed]]
    return sum(map(Fraction, terms))


def narrowest(observed, moves, shows, start):
    """How far the best score is at least from the second, wherever one is chosen, in parts of the score."""
    table = from_logarithms(observed, np.log(moves), np.log(shows), np.log(start))[3]
    scores = np.sort(table[:-1, :, None] + np.log(moves), axis=1)
    last = np.sort(table[-1])
    return min(((scores[:, -1] - scores[:, -2]) / -scores[:, -1]).min(), (last[-1] - last[-2]) / -last[-1])


@pytest.mark.parametrize(("size", "seed"), FOUND)
def test_the_same_logarithms_give_the_same_path(size, seed):
    observed, moves, shows, start = few_symbols(size, seed)
    assert narrowest(observed, moves, shows, start) < 1e-13
    log = aj.jit_compile(lambda x: np.log(x))
    compiled = [log(each) for each in (moves, shows, start)]
    check(from_logarithms, observed, np.log(moves), np.log(shows), np.log(start), rtol=0.0, whole=True)
    check(from_logarithms, observed, *compiled, rtol=0.0, whole=True)
    check(viterbi, np.log(start), np.log(moves), np.log(shows), observed, rtol=0.0)


@pytest.mark.parametrize(("size", "seed"), FOUND)
def test_another_path_has_the_same_terms(size, seed):
    observed, moves, shows, start = few_symbols(size, seed)
    logarithms = np.log(moves), np.log(shows), np.log(start)
    # Unchecked: a check compares values with a tolerance, and these paths differ wholly where logarithms do in a bit.
    compiled = aj.jit_compile(likeliest, check=False)
    expected, got = likeliest(observed, moves, shows, start), compiled(observed, moves, shows, start)
    assert total(got[0], observed, *logarithms) == total(expected[0], observed, *logarithms)
    np.testing.assert_allclose(got[1], expected[1], rtol=1e-12)
    check(likeliest, observed, moves, shows, start, decorator=aj.autocluster(policy="eager", exact=True), rtol=0.0)


def test_the_first_of_equal_paths_wins():
    args = np.zeros(30, dtype=int), np.full((4, 4), -0.1), np.full((4, 3), -0.3), np.full(4, -0.7)
    decorated = check(from_logarithms, *args, rtol=0.0, whole=True)
    assert not decorated(*args)[0].any()


def test_more_than_rounding_decides_the_program():
    for seed in range(100):
        size = 8 + seed % 13
        assert narrowest(*histories.PROGRAMS[likeliest](np.random.default_rng(seed), size)) > 1e-9
