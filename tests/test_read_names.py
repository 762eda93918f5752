"""Which names a statement reads, binds and deletes, and what is one object in Python: read, mended."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check, check_call


def fills_at_an_index(x, rows):
    a, i = np.zeros(3), 1
    y = x * 2.0
    total = y.sum()
    print(end="")
    kept = [a[i] for a[i] in rows]
    return total, kept, a


def unpacks_at_an_index(x, rows):
    a, k = np.zeros(3), 2
    y = x * 2.0
    print(end="")
    return [v + a[k] for a[k], v in zip(rows, y)], a


def keeps_in_many_items(x, rows):
    a, i = np.zeros(300), 7
    a[0] = 5.0
    kept = [a[i] * 2 for a[i] in range(200)]
    return kept, a, i


@pytest.mark.parametrize("function", [fills_at_an_index, unpacks_at_an_index, keeps_in_many_items])
def test_the_index_of_a_comprehension_s_target_is_read(function):
    check(function, np.arange(4.0), [1.0, 2.0, 3.0, 4.0])
