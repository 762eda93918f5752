"""Operations where they are executed otherwise than alone: in vectorized loops, on slices that move, on selected elements."""

import math

import numpy as np
import pytest

from tests.helpers import check

Y, X = np.linspace(0, 1, 40) / 40, np.linspace(0, 0.1, 40)
A = np.linspace(0, 1, 1600).reshape(40, 40) / 1600
U = np.arange(1.0, 8)
M = np.array([1, 0, 1, 0, 1, 1, 0], bool)


def elements(part):
    def function(y, x):
        for i in range(39):
            y[i] = part(y, x, i)
        return y

    return function


@pytest.mark.parametrize(
    "part",
    [
        lambda y, x, i: y[::-1][i + 1 :].sum(),
        lambda y, x, i: (y[::-1] * x)[i + 1 :].sum(),
        lambda y, x, i: np.flip(y)[i + 1 :].sum(),
        lambda y, x, i: y[39:0:-1][i:].sum(),
        lambda y, x, i: np.where(np.arange(40) > i, y[::-1], 0).sum(),
        lambda y, x, i: np.dot(y[::-1][i + 1 :], x[i + 1 :]),
        lambda y, x, i: np.clip(x, y, y[::-1])[i + 1 :].max(),
        lambda y, x, i: y[::-1][: 39 - i].sum(),
        lambda y, x, i: y[i + 1 :].sum() + x[::-1][i:].sum(),
        lambda y, x, i: np.multiply.outer(y, x)[:, i + 1 :].sum(),
        lambda y, x, i: np.interp(x[::-1], x, y)[i + 1 :].sum(),
        lambda y, x, i: np.select([x > 0.05, x > 0.02], [y, y * 2], 1.0)[i + 1 :].sum(),
    ],
)
def test_iterations_that_depend_on_each_other(part):
    check(elements(part), Y, X, rtol=1e-9)


def test_rows_backwards():
    def rows(a):
        for i in range(39):
            a[i] = (a[::-1] + 1)[i + 1 :].sum(0)
        return a

    def columns(a):
        for i in range(39):
            a[:, i] = a[::-1, ::-1][:, i + 1 :].sum(1)
        return a

    def first_row(a):
        for i in range(39):
            a[0, i] = (a[0, ::-1] * 2)[i + 1 :].sum() + np.add.outer(a[0], X)[:, i + 1 :].max()
        return a

    def descending(y):
        for i in range(38, -1, -1):
            y[i] = y[::-1][:i].sum()
        return y

    check(rows, A, rtol=1e-9)
    check(columns, A, rtol=1e-9)
    check(first_row, A, rtol=1e-9)
    check(descending, Y, rtol=1e-9)


@pytest.mark.parametrize(
    "function",
    [
        lambda u, m: np.add.outer(u[m], u[m]).sum(),
        lambda u, m: np.greater.outer(u[m], u[m]).size,
        lambda u, m: np.add.outer(u[m], 1.5).sum(),
        lambda u, m: np.add.outer(u[m], u).sum(),
        lambda u, m: np.interp((u + 0.3)[m], u[m], (u**2)[m]).sum(),
        lambda u, m: np.interp((u + 0.3)[m], u, u**2).sum(),
        lambda u, m: np.select([u[m] > 4, u[m] > 2], [u[m], u[m] * 2], 0.5).sum(),
        lambda u, m: np.average(u[m]),
        lambda u, m: np.average(np.outer(u, u)[m], axis=1).sum(),
    ],
)
def test_selected_elements(function):
    for mask in (M, ~M, np.zeros(7, bool), np.ones(7, bool)):
        check(function, U, mask)


@pytest.mark.parametrize(
    "part",
    [
        lambda u, i: np.add.outer(u[:i], u[:i]).sum(),
        lambda u, i: np.add.outer(u[:i], u).sum(),
        lambda u, i: np.interp(2.5, u[: i + 1], u[: i + 1] * 2),
    ],
)
def test_slices_that_move(part):
    def function(u):
        s = 0.0
        for i in range(7):
            s += part(u, i)
        return s

    check(function, U)


@pytest.mark.parametrize(
    "part",
    [
        lambda x: np.argmax(x, axis=0), lambda x: np.argmin(x, axis=-1), lambda x: x.cumsum(0)[0],
        lambda x: np.nancumprod(x, axis=0)[0],
    ],
)  # fmt: skip
def test_searches_and_running_sums_of_numbers(part):
    def function(a, o):
        for i in range(300):
            o[i] = part(a[i])
        return o

    check(function, np.linspace(0, 1, 300), np.zeros(300))


def test_names_that_are_pythons_or_numpys():
    def chosen(s, t):
        first, s = s, np.array(2)
        for i in range(6):
            r = math.cosh(s)
            s = first if t[i] > 0 else r
        return s

    def made(s):
        for _ in range(6):
            r = s.item() + 1
            s = np.array(r)
        return s

    with np.errstate(all="ignore"):  # `cosh` overflows
        for first in (np.float64(1.5), 1.5, np.array(1.5)):
            check(chosen, first, np.array([1.0, 1, -1, 1, 1, -1]))
        for first in (np.array(1.5), np.float64(1.5), np.float32(1.5), np.array(2)):
            check(made, first)
