"""Integers that no array and no `len` takes, among the arguments."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autojit as aj

LARGE = 2**70


def pair(x, n):
    return x, n


def product(x, n):
    return x * n


def rolled(x, n):
    for i in range(n):
        x = x + i
        if x[0] > 5:
            break
    return x


def from_range(x, r):
    for i in r:
        x = x + 1
        if x[0] > 3:
            break
    return x


def counted(x, r):
    return [x * v for _, v in zip(r, range(2), strict=False)]


def length(x, r):
    return x * len(r)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (pair, (3, LARGE, [LARGE])),
        (product, (3, LARGE, -LARGE)),
        (rolled, (3, LARGE, 4)),
        (from_range, (range(3), range(LARGE))),
        (counted, (range(3), range(LARGE), slice(LARGE))),
        (length, (range(3), range(LARGE))),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_large_integers_are_no_trouble(function, arguments) -> None:
    fast = aj.autocluster(policy="eager")(function)
    for argument in (*arguments, *arguments):
        outcomes = []
        for each in (function, fast):
            with warnings.catch_warnings():
                warnings.simplefilter("error", aj.AutojitWarning)  # all others would leave everything to NumPy
                try:
                    outcomes.append(repr(each(np.ones(3), argument)))
                except (OverflowError, TypeError) as error:
                    outcomes.append(repr(error))
        assert outcomes[0] == outcomes[1]
