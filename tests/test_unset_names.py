"""Names that may have no value: reading one raises in Python, also where nothing is done with it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import check


def traded(a, n):
    x = a
    if a[0] > 3:
        c = np
    c, x, a = (x, a, c)


def behind_a_loop(a, n):
    for _ in range(n):
        c = a * 2
    b = c  # noqa: F841 -- that it is read is the point
    return a


def behind_a_while(a, n):
    k = 0
    while k < n:
        c = a * 2
        k += 1
    (c,)
    return a + 1


def in_some_iterations(a, n):
    for i in range(n):
        if a[i] > 3:
            c = i
    [c]
    return a + 1


def over_an_array(a, n):
    for v in a[:n]:
        c = v
    {0: c}
    return a + 1


def in_the_loop(a, n):
    for _ in range(n):
        if a[0] > 3:
            c = a * 2
        b = c  # noqa: F841 -- as above
    return a + 1


def in_branches(a, n):
    if a[0] > 3:
        c = a
    elif a[0] > 100:
        c = a + 1
    if a[0] > 2:
        d = c  # noqa: F841 -- as above
    return a * 2


@pytest.mark.parametrize(
    "function", [traded, behind_a_loop, behind_a_while, in_some_iterations, over_an_array, in_the_loop, in_branches]
)
def test_names_that_are_read_and_not_used(function):
    for n in (0, 1, 5):
        check(function, np.array([1.0, 2, 3, 4, 5, 6]), n)
        check(function, np.array([5.0, 2, 3, 9, 5, 6]), n)
