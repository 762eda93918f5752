"""Findings of reading the chapters of the op table: what jax takes and NumPy does not, and products in another order."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj

BIG, SMALL = np.full(3, 1e200), np.full(3, 1e-200)


def run(function, *args):
    try:
        with np.errstate(all="ignore"):
            return function(*args)
    except Exception as error:
        return error


def same(function, *args):
    wanted, fast = run(function, *args), aj.autocluster(function, policy="eager")
    for _ in range(2):
        found = run(fast, *args)
        assert type(found) is type(wanted)
        if isinstance(wanted, Exception):
            assert str(found) == str(wanted)
        else:
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-13)


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: np.average(x, 0, True), np.arange(4.0)),
        (lambda x: np.average(x, None, False), np.arange(4.0)),
        (lambda x: np.roll(x, [[1, 2]]), np.arange(6)),
        (lambda x: np.roll(x, [[1], [2]], (0, 1)), np.arange(6).reshape(2, 3)),
        (lambda x: np.repeat(x, [[1, 2, 3]]), np.array([7, 8, 9])),
        (lambda x: np.einsum("ii", x), np.arange(1.0, 4.0).reshape(3, 1)),
        (lambda x: np.einsum("ii->i", x), np.arange(1.0, 4.0).reshape(1, 3)),
        (lambda x: np.einsum("...ii->...", x), np.arange(1.0, 7.0).reshape(2, 3, 1)),
        (lambda x: np.einsum("i...i->...", x), np.arange(1.0, 7.0).reshape(3, 2, 1)),
        (lambda x: np.einsum("ii,i->", x, x[:, 0]), np.arange(1.0, 4.0).reshape(3, 1)),
    ],
)
def test_what_numpy_does_not_take(function, x):
    same(function, x)


@pytest.mark.parametrize("x", [np.arange(9.0).reshape(3, 3), np.arange(1.0).reshape(1, 1)])
def test_what_it_takes(x):
    same(lambda x: np.einsum("ii", x), x)
    same(lambda x: np.einsum("...ii->...", x[None]), x)
    same(lambda x: np.average(x, 0, x), x + 1)
    same(lambda x: np.roll(x, (1, 2), (0, 1)), x)
    same(lambda x: np.repeat(x, [2], 0), x)


@pytest.mark.parametrize(
    ("subscripts", "a", "b", "c"),
    [
        ("ij,j,j->ij", np.full((2, 3), 1e-200), BIG, BIG),
        ("ij,j,j->ij", np.zeros((2, 3)), BIG, BIG),
        ("ij,j,j->i", np.full((2, 3), 1e200), SMALL, SMALL),
        ("ij,j,j->i", np.full((2, 3), 1e200 + 1e200j), SMALL, SMALL),
        ("ij,j,j->i", np.full((2, 3), 1e30, np.float32), *2 * [np.full(3, 1e-30, np.float32)]),
        ("ij,j,j->", np.arange(6.0).reshape(2, 3), np.arange(3.0), np.arange(3.0) - 5),
    ],
)
def test_products_of_three_operands(subscripts, a, b, c):
    same(lambda a, b, c: np.einsum(subscripts, a, b, c), a, b, c.copy())


@pytest.mark.parametrize(
    ("subscripts", "p", "q"),
    [
        ("ij,ij->j", np.array([[1.0, 1.0], [-2.0, 3.0]]), np.array([[np.inf, 2.0]])),
        ("ij,jk->ik", np.array([[np.inf]]), np.array([[1.0], [-2.0]])),
        ("ij,jk->ik", np.array([[np.inf, 1.0]]), np.array([[1.0], [-2.0]])),
        ("...j,...j->...", np.array([[1.0, -2.0]]), np.array([[np.inf]])),
    ],
)
def test_an_axis_of_length_one_is_added_up_before(subscripts, p, q):
    same(lambda p, q: np.einsum(subscripts, p, q), p, q)
