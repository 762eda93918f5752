"""Elements that a boolean array selects: reduced, multiplied, changed and assigned, in one program."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers import check

RNG = np.random.default_rng(6)


def rand(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def quiet(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """`check`, without NumPy's own warnings about nothing and NaN."""
    with warnings.catch_warnings():
        # NumPy's floating point warnings, which compiled code does not repeat.
        warnings.simplefilter("ignore", RuntimeWarning)
        return check(function, *args, **options)


def reductions() -> list[Callable[..., Any]]:
    def sums(x):
        m = x > 0
        return x[m].sum(), np.sum(x[~m] * 2), np.add.reduce(x[m])

    def products(x):
        return x[x > 0].prod(), np.prod(x[x > 100])

    def means(x):
        m = x > 0
        return x[m].mean(), np.mean(x[m] + 1), np.average(x[m])

    def extremes(x):
        m = x > 0
        return x[m].max(), np.min(x[m]), np.maximum.reduce(x[m])

    def spread(x):
        return np.ptp(x[x > 0] * 2)

    def places(x):
        m = x > 0
        return x[m].argmax(), np.argmin(x[m]), np.argmax(x[m] * 0)

    def deviations(x):
        m = x >= 0
        return x[m].std(), np.var(x[m]), np.std(x[m], ddof=1)

    def truth(x):
        m = x > 0
        return x[m].any(), np.all(x[m]), np.count_nonzero(x[m])

    def lengths(x):
        m = x > 0
        return len(x[m]) + 0, x[m].size * 2, x[m].shape[0] / 2, np.size(x[m]) + 1

    def running(x):
        m = x > 0
        x[m] = np.cumsum(x[m])
        return x

    def dots(x):
        m = x > 0
        return x[m] @ x[m], np.dot(x[m], x[m] * 2), np.inner(x[m], x[m])

    return [value for value in locals().values() if callable(value)]


@pytest.mark.parametrize("function", reductions(), ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16", "uint8"])
def test_reductions(function: Callable[..., Any], dtype: str) -> None:
    x = np.abs(rand(30) * 3 + 1) - (0 if dtype == "uint8" else 1.5)
    decorated = quiet(function, x.astype(dtype), whole=True)
    assert decorated.cache_info().traps == 0


def test_nan_and_infinity_outside() -> None:
    def f(x):
        m = np.isfinite(x)
        return x[m].sum(), x[m].mean(), x[m].max(), x[m] @ x[m], x[m].std(), np.linalg.norm(x[m])

    x = rand(20)
    x[[1, 5, 19]] = np.nan, np.inf, -np.inf
    check(f, x, whole=True)


def test_nan_inside() -> None:
    def f(x):
        m = ~(x < 0)
        return x[m].sum(), x[m].max(), x[m].argmax(), np.nansum(x[m]), np.nanmax(x[m]), np.nanmean(x[m])

    x = rand(20)
    x[[1, 5]] = np.nan
    quiet(f, x, whole=True)


def test_nothing_is_selected() -> None:
    def sums(x):
        y = x[x > 100]
        return y.sum(), y.prod(), y.any(), y.all(), len(y), np.count_nonzero(y), y @ y

    def mean(x):
        return x[x > 100].mean(), x[x > 100].std()

    def largest(x):
        return x[x > 100].max()

    def place(x):
        return np.argmin(x[x > 100])

    def assigned(x):
        m = x > 100
        x[m] = x[m] * 2 + 1
        x[m] += 1
        return x

    check(sums, rand(9), whole=True)
    quiet(mean, rand(9), whole=True)
    check(assigned, rand(9), whole=True)
    for function in (largest, place):
        check(function, rand(9))
    check(sums, np.zeros(0))


def test_bins() -> None:
    def azimuthal(data, radius, count):
        rmax = radius.max()
        out = np.zeros(count)
        for i in range(count):
            low, high = rmax * i / count, rmax * (i + 1) / count
            mask = np.logical_and(low <= radius, radius < high)
            out[i] = data[mask].mean()
        return out

    quiet(azimuthal, rand(200), np.abs(rand(200)), 20, whole=True)
    quiet(azimuthal, rand(20), np.abs(rand(20)), 40, whole=True)


def test_changes_in_place() -> None:
    def named(x):
        m = x > 0
        y = x[m]
        z = y
        y += 1
        y *= 2
        x[m] = z
        return x

    def parts(x):
        x[x > 0] += 1
        x[x > 1] *= x[x > 1]
        x[x < 0] = 0
        y = x[x > 0]
        y[y > 2] = -1
        y[:] = y - 0.5
        y.fill(3.0) if x.size == 0 else None
        return y.sum(), x

    def casts(x):
        k = np.zeros(x.shape, np.int64)
        m = x > 0
        k[m] = x[m] * 10
        x[m] = k[m] / 3
        return k, x

    check(named, rand(9), whole=True)
    check(parts, rand(9) * 3, whole=True)
    x = rand(9)
    x[np.argmin(x)] = -np.inf
    decorated = check(casts, x, whole=True)
    assert decorated.cache_info().traps == 0


def test_what_is_not_selected_raises_nothing() -> None:
    def divide(x, y):
        m = y != 0
        x[m] = x[m] // y[m]
        return x, (x[m] % y[m]).sum()

    decorated = check(divide, np.arange(9), np.arange(9) % 3, whole=True)
    assert decorated.cache_info().traps == 0


def test_masks_of_the_first_axes() -> None:
    def rows(a, row):
        m = a[:, 0] > 0
        a[m] = row
        a[m] += 1
        a[m] = a[m] * row + a[m]
        a[~m, 1] = 5
        a[m, 1:3] *= 2
        a[m, 2] = a[m, 1] - 1
        return a, a[m].sum(), a[m].mean(axis=0), a[m].max(axis=0), a[m, 1].sum(), len(a[m])

    def inner(a, row):
        m = a[:, 0] > 0
        a[m] -= a[m].mean(axis=0)
        a[m] /= 1 + a[m].sum(axis=0) ** 2
        return a, a[m][:, 1].sum(), a[m][:, 1:].sum(axis=0), a[m].any(), a[m].shape[1], a[m].ndim

    def whole(a, row):
        m = a > 0
        b = a * 2
        a[m] = b[m] + a[m]
        return a[m].sum(), a[m] @ b[m], a[m].argmax(), a[m].size, a[m].std(), np.ptp(a[m])

    def weighted(a, row):
        m = a[:, 0] > 0
        return a[m, 0] @ a[m], np.dot(a[m, 0], a[m, 1])

    a = rand(7, 4)
    for function in (rows, inner, whole, weighted):
        quiet(function, a, rand(4), whole=True)
        quiet(function, np.asfortranarray(a), rand(4), whole=True)


def test_other_masks() -> None:
    def two_masks(x):
        m, n = x > 0, x < 1
        x[m] = x[n][: m.sum()] if n.sum() >= m.sum() else 0
        return x

    def mixed(x):
        m = x > 0
        return x[m] + np.arange(m.sum())

    def selected(x):
        return x[x > 0], x[x > 0][::-1], np.sort(x[x > 0])

    def changed_mask(x):
        m = x > 0
        y = x[m]
        m[0] = not m[0]
        x[m] = 1
        return y.sum(), x

    def changed_array(x):
        m = x > 0
        y = x[m]
        x *= 2
        x[m] = y
        return x

    def one_axis_less(x):
        a = np.outer(x, x)
        m = x > 0
        a[m, 2:4] = a[m, 0] + 1
        return a

    for function in (two_masks, mixed, selected, changed_mask, changed_array):
        check(function, rand(9))
    check(one_axis_less, np.arange(-3.0, 4.0))
    check(one_axis_less, np.arange(-4.0, 3.0))


def test_places_in_loops() -> None:
    def where(x, n):
        total = x.sum()
        for k in range(n):
            i = np.where(x > k * 0.2)
            x[i] -= 0.1
            x[np.nonzero(x < -1)] = 0.5
            x[np.flatnonzero(x > 2)] *= 0.5
            total += x[np.where(x > 0)].sum() + len(np.where(x > 0)[0]) + x[i].size
        return x, total

    def planes(a, n):
        for k in range(n):
            i, j = np.nonzero(a > 0)
            a[i, j] *= 0.9
            a[np.where(a < -k)] = k
            (rows,) = np.where(a[:, 0] > 0)
            a[rows] += 0.01
            a[rows, 1] = 0.25
        return a

    check(where, rand(9) * 3, 9, whole=True)
    check(planes, rand(6, 5), 9, whole=True)


def test_loops() -> None:
    def clipped(x, n):
        for k in range(n):
            m = np.abs(x) > 2 - 0.1 * k
            x[m] = np.sign(x[m]) * 1.5
            x += 0.3
            x[0] = x[m].sum() + len(x[m])
        return x

    def escape(z, c, n):
        count = np.zeros(z.shape, np.int64)
        for k in range(n):
            inside = np.abs(z) < 2
            z[inside] = z[inside] ** 2 + c[inside]
            count[inside] = k
        return z, count

    check(clipped, rand(20), 12, whole=True)
    check(escape, np.zeros((5, 6), complex), rand(5, 6) + 1j * rand(5, 6), 20, whole=True)
