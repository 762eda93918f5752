"""Negative zeros: sums begin with zero and lose them; a product of two numbers and a running sum keep them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autojit as aj
from tests.exact_judge import same_bits
from tests.helpers import clone

SUMS = {
    "all": lambda a: np.sum(-a),
    "rows": lambda a: np.sum(-a, axis=0),
    "method": lambda a: (-a).sum(axis=1, keepdims=True),
    "reduce": lambda a: np.add.reduce(-a),
    "twice": lambda a: np.sum(np.sum(-a, axis=0)),
    "mean": lambda a: np.mean(-a, axis=0),
    "average": lambda a: np.average(-a, axis=0),
    "einsum": lambda a: (np.einsum("ij->i", -a), np.einsum("ij->", -a), np.einsum("ij,ij->i", -a, a)),
    "negated": lambda a: -np.sum(-a, axis=0),
    "joined": lambda a: np.sum(np.concatenate([-a, -a]), axis=0),
    "transposed": lambda a: np.sum(-a.T, axis=0),
    "products": lambda a: (-a @ np.ones(4), np.dot(-a[0], np.ones(4)), np.vdot(-a, a)),
    "nan": lambda a: (np.nansum(-a, axis=1), np.nanmean(-a, axis=0)),
    "selected": lambda a: np.sum(np.select([a > 0], [-a], -a), axis=0),
    "chosen": lambda a: (np.sum(np.where(a > 0, -a, -a), axis=0), np.sum(np.clip(-a, -9, 9)), np.sum(np.tril(-a))),
    "rounded": lambda a: (np.sum(np.trunc(-a), axis=0), np.sum((-a) ** 1, axis=0), np.sum(np.nan_to_num(-a), axis=0)),
    "parts": lambda a: (np.sum((-(a + 1j * a)).imag, axis=0), np.conj(a + 1j * a).imag.sum()),
    "conjugates": lambda a: np.sum(np.conj(a + 1j * a), axis=0),
}


def prefixes(A, a, out):
    for i in range(len(a)):
        out[i] = np.dot(A[0, :i], a[:i])


def suffixes(A, a, out):
    for i in range(len(a)):
        out[i] = np.inner(A[0, i:], a[i:])


def windows(A, a, out):
    for i in range(len(a)):
        for j in range(i):
            out[i] = np.dot(A[0, j:i], a[j:i])


def corners(A, a, out):
    for i in range(1, len(a)):
        out[:i] = np.dot(A[:i, :i], a[:i])


def corners_by_corners(A, a, out):
    for i in range(1, len(a)):
        out[i] = np.dot(A[:i, :i], A[:i, :i])[0, 0]


def columns_by_rows(A, a, out):
    for i in range(1, len(a)):
        out[:i] = np.dot(A[:i, :1], A[:1, :i])[0]


def of_a_row(A, a, out):
    for i in range(len(a)):
        out[:1] = np.dot(A[:1, :i], a[:i])


def sums_of_prefixes(A, a, out):
    """These begin with zero, of one number too."""
    for i in range(len(a)):
        out[i] = (A[0, :i] @ a[:i]) + np.vdot(A[1, :i], a[:i]) + np.einsum("i,i->", A[2, :i], a[:i])


def running(A, a, out):
    for i in range(len(a)):
        out[i:] = np.cumsum(a[i:])


def equal_bits(function: Any, *args: Any) -> Any:
    """Compare all bits, of results and of arguments."""
    decorated = aj.autocluster(policy="eager")(function)
    for _ in range(2):
        mine, theirs = clone(args), clone(args)
        same_bits(decorated(*mine), function(*theirs), "result")
        same_bits(mine, theirs, "argument")
    return decorated


def zeros_and_ones(rng: np.random.Generator, dtype: Any, *shape: int) -> np.ndarray:
    array = rng.choice([-1.0, 0.0, -0.0, 1.0], shape).astype(dtype)
    if array.dtype.kind == "c":
        array.imag = rng.choice([-1.0, 0.0, -0.0, 1.0], shape)
    return array


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_negated_numbers(name):
    """XLA takes a sum of negated numbers for the negated sum, which is a negative zero where the sum is zero."""
    rng = np.random.default_rng(5)
    f = aj.autocluster(policy="eager")(SUMS[name])
    arrays = [rng.integers(-2, 3, (4, 4)).astype(float) for _ in range(10)]
    for a in (*arrays, np.zeros((4, 4)), np.full((4, 4), -0.0)):
        same_bits(f(a.copy()), SUMS[name](a.copy()))
    assert f.cache_info().hits


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize(
    "program",
    [
        prefixes, suffixes, windows, corners, corners_by_corners, columns_by_rows, of_a_row, sums_of_prefixes, running,
    ],
)  # fmt: skip
def test_products_of_moving_length(program, dtype):
    """`np.dot` of one number by one is their product."""
    rng = np.random.default_rng(6)
    for _ in range(8):
        f = equal_bits(program, *(zeros_and_ones(rng, dtype, *shape) for shape in ((5, 5), (5,), (5,))))
        assert f.cache_info().hits


@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_products_of_selected_numbers(dtype):
    """The data decides whether one number is selected."""

    def f(a, b, m):
        return np.dot(a[m], b[m]), np.inner(a[m], b[m]), a[m] @ b[m], np.vdot(a[m], b[m])

    rng = np.random.default_rng(7)
    for count in (0, 1, 1, 1, 2, 5):
        m = np.arange(5) < count
        equal_bits(f, zeros_and_ones(rng, dtype, 5), zeros_and_ones(rng, dtype, 5), m)
