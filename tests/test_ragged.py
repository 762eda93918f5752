"""Slices whose length moves with a loop: read, computed with, reduced, multiplied, flipped and assigned."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check

RNG = np.random.default_rng(5)


def rand(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def quiet(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """`check`, without NumPy's own warnings about empty slices and NaN."""
    with warnings.catch_warnings():
        # NumPy's floating point warnings, which compiled code does not repeat.
        warnings.simplefilter("ignore", RuntimeWarning)
        return check(function, *args, **options)


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
    if dtype == "bool" and function.__name__ == "spread":
        pytest.skip("NumPy has no subtraction of bools")
    quiet(function, x, np.zeros(9), rtol=2e-5 if dtype == "float32" else None, whole=True)


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


# ---- views and stores


def test_flips_and_slices_of_slices() -> None:
    def flips(x, y):
        for i in range(x.shape[0]):
            x[:i] += x[:i][::-1]
            y[i:] = np.flip(y[i:]) * 0.5
            y[: i + 1] = x[i::-1]
            x[i:] -= y[::-1][: x.shape[0] - i]
            x[:i:-1] *= 1.5

    def nested(x, out):
        for i in range(2, x.shape[0]):
            out[i] = x[:i][1:].sum() + x[i - 2 :][:2].sum() + x[:i][-1] + x[:i][0] + x[:i][::-1][:2][1]
            x[1:][: i - 1] *= 1.1
            part = x[:i]
            part[1] = 5.0
            part[-1] += 1
            part[1:][:1] -= 0.5
            out[i] += part.sum()

    check(flips, rand(9), rand(9), whole=True)
    check(nested, rand(9), np.zeros(9), whole=True)


def test_bounds_that_count_from_the_end() -> None:
    def negative(x, out):
        n = x.shape[0]
        for i in range(n):
            out[i] = x[-i:].sum() + 2 * x[:-i].sum() + 3 * x[i - 3 : i].sum() + 4 * x[-i - 1 : -1].sum()
            x[i - 1 :: -1] *= 1.01
            x[-n - 2 : i] += 1
            x[i : 2 * n] -= 1
            x[i : i - 3] += 0.25
            x[n - i : i] *= 2

    def over_the_end(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i : i + 3].sum() + x[i - 2 : i + 2].mean() + len(x[i : i + 4])
            x[i : i + 2] = -1

    quiet(negative, rand(9), np.zeros(9), whole=True)
    quiet(over_the_end, rand(9), np.zeros(9), whole=True)


def test_overlaps() -> None:
    def shifts(x):
        for i in range(1, x.shape[0]):
            x[1 : i + 1] = x[:i]
            x[: i - 1] += x[1:i]
            x[i:] = x[: x.shape[0] - i]
        return x

    def same(a):
        for i in range(a.shape[0]):
            a[i, :i] = a[:i, i]
            a[:i, i] = a[i, :i][::-1]
            a[i + 1 :, i] = a[i, i + 1 :] = a[i, : a.shape[0] - 1 - i]
            a[:i] = a[:i]
        return a

    def views_see_writes(x):
        for i in range(1, x.shape[0]):
            part, copied = x[:i], x[:i].copy()
            x[0] += 1
            x[i] = part.sum() + 10 * copied.sum()
        return x

    check(shifts, rand(9), whole=True)
    check(shifts, np.arange(9), whole=True)
    check(same, rand(8, 8), whole=True)
    check(same, rand(8, 8).T, whole=True)
    check(views_see_writes, rand(9), whole=True, rtol=1e-10)


def test_values_that_are_assigned() -> None:
    def assign(x, y):
        for i in range(x.shape[0]):
            x[:i] = i
            x[i:] = 2.5
            x[i:] = y[:1]
            x[:i] = y[:i] > 0
            x[1:i] = True
            x[i:] = y[i] * 2

    def functions(x, y):
        for i in range(x.shape[0]):
            x[:i] = np.where(y[:i] > 0, x[:i], np.maximum(y[:i], 0.5))
            y[i:] = np.abs(y[i:]) ** 2 + np.sqrt(np.abs(x[i:]))
            y[:i].fill(1.5)
            y[:i] **= 2
            x[i:] = -y[i:]

    for dtype in ("float64", "float32", "complex128"):
        quiet(assign, rand(9).astype(dtype), rand(9), whole=True)
    quiet(assign, np.arange(9), rand(9))
    check(functions, rand(9), rand(9), whole=True)


def test_integers() -> None:
    def arithmetic(x, y):
        for i in range(x.shape[0]):
            x[:i] += y[:i] * 2
            x[i:] //= y[i:]
            x[1:i] %= 7
            y[:i] = x[:i] << 1
            x[i:] ^= y[i:]

    def into_integers(x, f):
        for i in range(x.shape[0]):
            x[:i] = f[:i] * 3
            x[i:] = f[i:].astype(np.int32)

    for dtype in (np.int64, np.int32, np.uint8):
        check(arithmetic, np.arange(1, 10).astype(dtype), np.arange(2, 11).astype(dtype), whole=True)
    f = rand(9)
    check(into_integers, np.zeros(9, np.int64), f, whole=True)
    zeros = np.arange(9)
    with warnings.catch_warnings():
        # NumPy's floating point warnings, which compiled code does not repeat.
        warnings.simplefilter("ignore", RuntimeWarning)
        check(arithmetic, np.arange(1, 10), zeros)
        f[4] = np.nan
        check(into_integers, np.zeros(9, np.int64), f)


def test_what_is_outside_raises_nothing() -> None:
    def divide(x, y):
        for i in range(1, x.shape[0]):
            x[:i] = x[:i] // y[:i]
            x[:i] += (1.0 / y[:i]).astype(np.int64)

    y = np.arange(1, 10)
    y[-1] = 0
    decorated = check(divide, np.arange(9), y, whole=True)
    assert decorated.cache_info().traps == 0


def test_lengths_that_do_not_agree() -> None:
    def added(x, y):
        for i in range(x.shape[0]):
            x[i] = (x[:i] + y[1:i]).sum()

    def with_fixed(x, y):
        for i in range(x.shape[0]):
            x[:i] += y

    def stored(x, y):
        for i in range(x.shape[0]):
            x[:i] = y[i:]

    def dotted(x, y):
        for i in range(x.shape[0]):
            x[i] = x[: i + 1] @ y[i:]

    def broadcast(x, y):
        for i in range(x.shape[0]):
            x[:i] = y[i : i + 1] + x[:1]
            x[0] = (x[:i] * y[:1]).sum()

    for function in (added, with_fixed, stored, dotted):
        check(function, rand(9), rand(9))
    check(broadcast, rand(9), rand(9), whole=True)


def test_bounds_from_data() -> None:
    def rows(starts, values, out):
        for i in range(out.shape[0]):
            out[i] = values[starts[i] : starts[i + 1]].sum()
            values[starts[i] :] *= 1.1

    def growing(x, n):
        k = 1
        while k < n:
            x[:k] += 1.0
            x[k] = x[:k].sum()
            k += 2
        return x

    starts = np.array([0, 2, 2, 5, 9, 30, 4, -3, -1, -40])
    quiet(rows, starts, rand(9), np.zeros(9), whole=True)
    quiet(rows, starts.astype(np.int32), rand(9), np.zeros(9), whole=True)
    check(growing, rand(9), 9)


def test_trip_counts_share_a_program() -> None:
    def prefix(x, n):
        for i in range(n):
            x[:i] += x[i]
        return x

    decorated = aj.autocluster(policy="eager")(prefix)
    x = rand(40)
    for n in (9, 20, 40, 7):
        np.testing.assert_allclose(decorated(x.copy(), n), prefix(x.copy(), n), rtol=1e-12)
    assert decorated.cache_info().compiles == 1


def test_empty_arrays_and_read_only_ones() -> None:
    def f(a, x):
        for i in range(a.shape[0]):
            a[i, :i] += x[:i]
        return a.sum()

    check(f, np.zeros((0, 0)), np.zeros(0))
    check(f, rand(9, 9), rand(4))
    frozen = rand(9, 9)
    frozen.flags.writeable = False
    check(f, frozen, rand(9))


def test_what_stays_native() -> None:
    def escapes(x):
        for i in range(9):
            part = x[:i]
        return part

    def collected(x):
        return [x[:i] for i in range(9)], [x[i:] for i in range(9)]

    def stepped(x):
        for i in range(9):
            x[:i:2] += 1
        return x

    def fancy(x, places):
        for i in range(9):
            x[places[:i]] += 1
        return x

    def iterated(x):
        total = 0.0
        for i in range(9):
            for value in x[:i]:
                total += value
        return total

    def sorted_part(x):
        for i in range(9):
            x[:i] = np.sort(x[:i])
        return x

    for function in (escapes, collected, stepped, iterated, sorted_part):
        check(function, rand(9))
    check(fancy, rand(9), np.array([1, 3, 2, 8, 8, 0, 4, 5, 7]))


def test_short_parts_of_large_arrays_stay_native() -> None:
    def rows(starts, values, out):
        for i in range(out.shape[0]):
            out[i] = values[starts[i] : starts[i + 1]].sum()

    check(rows, np.arange(0, 50_001, 1000), rand(50_000), np.zeros(50), whole=False)
