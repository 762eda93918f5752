"""Slices whose length moves with a loop: read, computed with, reduced and multiplied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers import check
from tests.quiet import quiet

RNG = np.random.default_rng(5)


def rand(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


# ---- programs


def test_triangular_solver() -> None:
    def solve(a, x, b):
        for i in range(x.shape[0]):
            x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]

    # What is not read may be NaN or infinite.
    for outside in (np.nan, np.inf, 0.0):
        check(solve, rand(9, 9) + 5 * np.eye(9), np.full(9, outside), rand(9), whole=True, rtol=1e-10)
    upper = rand(9, 9) + 5 * np.eye(9)
    upper[np.triu_indices(9, 1)] = np.nan
    check(solve, upper, np.zeros(9), rand(9), whole=True, rtol=1e-10)

    def backwards(a, x, y):
        for i in range(a.shape[0] - 1, -1, -1):
            x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
        return x

    check(backwards, rand(9, 9) + 5 * np.eye(9), np.full(9, np.nan), rand(9), whole=True, rtol=1e-10)


def test_factorizations() -> None:
    def cholesky(a):
        a[0, 0] = np.sqrt(a[0, 0])
        for i in range(1, a.shape[0]):
            for j in range(i):
                a[i, j] -= np.dot(a[i, :j], a[j, :j])
                a[i, j] /= a[j, j]
            a[i, i] -= np.dot(a[i, :i], a[i, :i])
            a[i, i] = np.sqrt(a[i, i])

    def lu(a):
        for i in range(a.shape[0]):
            for j in range(i):
                a[i, j] -= a[i, :j] @ a[:j, j]
                a[i, j] /= a[j, j]
            for j in range(i, a.shape[0]):
                a[i, j] -= a[i, :i] @ a[:i, j]

    def outer_products(a):
        for k in range(a.shape[0] - 1):
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])

    def without_names(a):
        for k in range(a.shape[0]):
            a[k, k] = np.sqrt(a[k, k] - np.sum(a[k, :k] ** 2))
            a[k + 1 :, k] = (a[k + 1 :, k] - a[k + 1 :, :k] @ a[k, :k]) / a[k, k]

    x = rand(9, 9)
    spd = x @ x.T + 9 * np.eye(9)
    for function in (cholesky, lu, outer_products, without_names):
        check(function, spd, whole=True, rtol=1e-10)
        check(function, np.asfortranarray(spd), whole=True, rtol=1e-10)
        check(function, spd.astype(np.float32), whole=True, rtol=1e-4)


def test_levinson() -> None:
    def durbin(r):
        y = np.empty_like(r)
        alpha, beta = -r[0], 1.0
        y[0] = -r[0]
        for k in range(1, r.shape[0]):
            beta *= 1.0 - alpha * alpha
            alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
            y[:k] += alpha * np.flip(y[:k])
            y[k] = alpha
        return y

    check(durbin, 0.3 * rand(9), whole=True, rtol=1e-10)


def test_triangles_of_products() -> None:
    def syrk(alpha, beta, c, a):
        for i in range(a.shape[0]):
            c[i, : i + 1] *= beta
            for k in range(a.shape[1]):
                c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]

    def symm(alpha, beta, c, a, b):
        temp = np.empty((c.shape[1],), dtype=c.dtype)
        c *= beta
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[:i, j] += alpha * b[i, j] * a[i, :i]
                temp[j] = b[:i, j] @ a[i, :i]
            c[i, :] += alpha * b[i, :] * a[i, i] + alpha * temp

    def trmm(alpha, a, b):
        for i in range(b.shape[0]):
            for j in range(b.shape[1]):
                b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
        b *= alpha

    check(syrk, 1.5, 1.2, rand(8, 8), rand(8, 6), whole=True)
    check(symm, 1.5, 1.2, rand(8, 7), rand(8, 8), rand(8, 7), whole=True)
    check(trmm, 1.5, rand(8, 8), rand(8, 7), whole=True)


@pytest.mark.parametrize("m", [9, 7])
def test_chained_assignment_with_a_runtime_bound(m: int) -> None:
    def covariance(m, float_n, data):
        data -= np.mean(data, axis=0)
        cov = np.zeros((data.shape[1], data.shape[1]))
        for i in range(m):
            cov[i:m, i] = cov[i, i:m] = data[:, i] @ data[:, i:m] / (float_n - 1.0)
        return cov

    check(covariance, m, 11.0, rand(11, 9), whole=True)


# ---- reductions


def reductions() -> list[Callable[..., Any]]:
    def sums(x, out):
        for i in range(x.shape[0]):
            out[i] = x[:i].sum()
            out[i] += np.sum(x[i:]) + np.add.reduce(x[1:i])

    def products(x, out):
        for i in range(x.shape[0]):
            out[i] = x[:i].prod() + np.prod(x[i:])

    def largest(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i:].max() + np.max(x[: i + 1]) + np.maximum.reduce(x[i:])

    def smallest(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i:].min() + np.amin(x[: i + 1])

    def spread(x, out):
        for i in range(x.shape[0]):
            out[i] = np.ptp(x[i:])

    def places(x, out):
        for i in range(x.shape[0]):
            out[i] = np.argmax(x[i:]) + 10 * x[: i + 1].argmin() + 100 * np.argmin(x[i:])

    def means(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i:].mean() + np.mean(x[: i + 1]) + np.average(x[i:])

    def deviations(x, out):
        for i in range(x.shape[0]):
            out[i] = np.std(x[i:]) + np.var(x[: i + 1])

    def truth(x, out):
        for i in range(x.shape[0]):
            out[i] = np.any(x[:i]) + 2 * x[i:].all() + 4 * np.count_nonzero(x[i:])

    def lengths(x, out):
        for i in range(x.shape[0]):
            out[i] = len(x[:i]) + x[i:].size * 100 + x[1:i].shape[0] / 7

    def running(x, out):
        for i in range(x.shape[0]):
            out[i:] = np.cumsum(x[i:])
            out[:i] += x[:i].cumsum()[::-1]

    return [value for value in locals().values() if callable(value)]


@pytest.mark.parametrize("function", reductions(), ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint8", "bool"])
def test_reductions(function: Callable[..., Any], dtype: str) -> None:
    x = (rand(9) * 3).astype(dtype)
    is_refused = dtype == "bool" and function.__name__ == "spread"  # NumPy has no subtraction of bools
    quiet(function, x, np.zeros(9), rtol=2e-5 if dtype == "float32" else None, whole=None if is_refused else True)


def test_norms_and_nan() -> None:
    def norm(x, out):
        for i in range(x.shape[0]):
            out[i] = np.linalg.norm(x[:i]) + np.linalg.norm(x[i:], 1)

    def skipping(x, out):
        for i in range(x.shape[0]):
            out[i] = np.nansum(x[:i]) + np.nanmean(x[i:]) + np.nanmax(x[: i + 1]) + np.nanstd(x[i:])

    def sums(x, out):
        for i in range(x.shape[0]):
            out[i] = x[:i].sum() + x[i:].max() + x[i:].argmax()

    x = rand(9)
    quiet(norm, x, np.zeros(9), whole=True)
    x[[2, 5]] = np.nan
    quiet(skipping, x, np.zeros(9), whole=True)
    quiet(sums, x, np.zeros(9), whole=True)
    quiet(sums, np.full(9, -np.inf), np.zeros(9), whole=True)


def test_mean_of_nothing() -> None:
    def means(x, out):
        for i in range(x.shape[0]):
            out[i] = x[:i].mean()

    quiet(means, rand(9), np.zeros(9), whole=True)


def test_extremes_of_nothing() -> None:
    def largest(x, out):
        for i in range(x.shape[0] + 1):
            out[i] = x[i:].max()

    def first(x, out):
        for i in range(x.shape[0]):
            out[i] = np.argmin(x[:i])

    def element(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i:][2]

    check(largest, rand(9), np.zeros(10))
    check(first, rand(9), np.zeros(9))
    check(element, rand(9), np.zeros(9))


def test_several_axes() -> None:
    def rows(a, out):
        n = a.shape[0]
        for i in range(1, n):
            out[i] = a[:i, i:].sum()
            out[:i] += a[:i, :i].sum(axis=1)
            out[i:] -= a[:, i:].max(axis=0)
            out[i] += a[i:, :i].mean(axis=0, keepdims=True).sum()
            out[:i] += np.linalg.norm(a[:i, 1:], axis=1)
            out[i] += a[:i].mean() + a[:, :i].std() + np.any(a[i:] > 1, axis=1).sum()
        return out

    def blocks(a, b):
        for i in range(a.shape[0]):
            a[:i, i:] = b[:i, i:] * 2
            a[i:, :i].T[...] += 1
            a[i:, i:] *= b[i:, i]
            b[: i + 1] -= a[i]
            b.T[i:, :i] = a[i:, :i]

    a = rand(8, 8)
    check(rows, a, np.zeros(8), whole=True)
    check(blocks, a, rand(8, 8), whole=True)
    check(blocks, np.asfortranarray(a), rand(8, 8).T, whole=True)
    check(blocks, rand(16, 16)[::2, ::-2], rand(8, 8), whole=True)


# ---- products


def test_products() -> None:
    def dots(a, x, y, out):
        for i in range(a.shape[0]):
            out[i] = np.dot(x[:i], y[:i]) + np.inner(x[i:], y[i:]) + np.vdot(x[:i], y[:i]) + x[:i].dot(y[:i])
            out[i] += x[i:] @ y[: x.shape[0] - i]
            out[:i] += a[:i, :i] @ x[:i]
            out[i:] += x[:i] @ a[:i, i:]
            out[i] += np.einsum("i,ij,j->", x[:i], a[:i, i:], y[i:])

    def matrices(a, b):
        for i in range(a.shape[0]):
            b[:i, :i] = a[:i, i:] @ a[i:, :i]
            b[i:, :] += np.dot(a[i:, :i], b[:i, :])
            b[:i, i:] -= np.outer(b[:i, i], a[i, i:])

    a, b, x, y = rand(8, 8), rand(8, 8), rand(8), rand(8)
    check(dots, a, x, y, np.zeros(8), whole=True)
    check(matrices, a, b, whole=True, rtol=1e-9)
    check(dots, a.astype(np.float32), x.astype(np.float32), y, np.zeros(8), whole=True, rtol=2e-5)
    whole = [(value * 4).astype(np.int64) for value in (a, x, y)]
    check(dots, *whole, np.zeros(8, np.int64), whole=True)
    check(dots, *(value.astype(np.int8) for value in whole), np.zeros(8, np.int8), whole=True)
    check(dots, a + 1j * b, x * 1j, y + 2j * x, np.zeros(8, complex), whole=True)
    check(dots, a > 0, x > 0, y > 0, np.zeros(8, bool))
    a[6:, :] = np.nan
    check(dots, a, x, y, np.zeros(8), whole=True)
