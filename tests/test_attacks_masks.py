"""Elements that a boolean array selects: read, computed with, written back, and changed in between."""

from __future__ import annotations

import inspect
import warnings

import numpy as np

from tests.attacks import rand, sequence


def each(functions, *calls) -> None:
    """Compare functions for one call after the other; all that fail are named."""
    failed = []
    for function in functions:
        try:
            with warnings.catch_warnings():
                # NumPy's floating point warnings, which compiled code does not repeat.
                warnings.simplefilter("ignore", RuntimeWarning)
                sequence(function, *calls, rounds=1)
        except Exception as error:
            failed.append(f"{function.__name__}: {' '.join(str(error).split())[:300]}")
    assert not failed, "\n".join(failed)


def vectors():
    return [(rand(8),), (np.abs(rand(8)),), (-np.abs(rand(8)),), (np.zeros(0),), (rand(8).astype(np.float32),)]


def test_reads_and_writes() -> None:
    def same_mask(x):
        x[x > 0] = x[x > 0] ** -1.5
        return x

    def named_mask(x):
        m = x > 0
        x[m] = np.sqrt(x[m]) + 1
        return x, m

    def array_changes_before_use(x):
        m = x > 0
        y = x[m]
        x += 1
        x[m] = y * 2
        return x

    def mask_changes_before_use(x):
        m = x > 0
        y = x[m]
        m[:2] = False
        x[m] = 5
        return x, y

    def mask_changes_between(x):
        m = x > 0
        y = x[m] * 2
        m = x < 0
        x[m] = y[: m.sum()] if y.size >= m.sum() else 0
        return x

    def other_mask_of_the_same_size(x):
        m, n = x > 0, x <= x.mean()
        x[m] = x[n] if m.sum() == n.sum() else -1
        return x

    def other_array(x):
        z = np.zeros_like(x)
        m = x > 0.2
        z[m] = x[m]
        z[~m] = -x[~m]
        return z

    def result(x):
        return x[x > 0], x[x > 0] + 1, x[x > 100]

    def reductions(x):
        y = x[x > 0]
        return y.sum(), y.size, len(y), y.shape, np.sum(y * 2), y.prod()

    def more_reductions(x):
        y = x[np.abs(x) >= 0]
        return y.mean() if y.size else 0, y.max() if y.size else 0, np.std(y) if len(y) else 0

    def counts(x):
        m = x > 0
        return np.count_nonzero(m), m.sum(), m.mean() if m.size else 0, x[m].size

    def in_place(x):
        x[x < 0] *= -1
        x[x > 0.5] += 10
        x[(x > 0) & (x < 1)] = 0
        x[~(x > 0)] -= 1
        return x

    def in_place_on_selection(x):
        y = x[x > 0]
        y += 1
        y *= 2
        return x, y

    def view_of_selection(x):
        y = x[x > 0]
        z = y[1:]
        z[:1] = 100
        return y, z

    def twice(x):
        y = x[x > 0]
        return y[y > 0.5], x[x > 0][::-1]

    def with_scalars(x):
        m = x > 0
        x[m] = 3
        x[m] = 2.5
        x[m] = np.float32(1.5)
        x[x == 1.5] = x.size
        return x

    def with_arrays(x):
        m = x > 0
        x[m] = x[m] * np.arange(m.sum()) if m.sum() else 0
        return x

    def wrong_size(x):
        x[x > 0] = np.ones(3)
        return x

    def broadcast(x):
        m = x > 0
        x[m] = np.array([7.0])
        return x

    def where_forms(x):
        a = np.where(x > 0, x, 0)
        i = np.where(x > 0)[0]
        (j,) = np.nonzero(x > 0)
        x[i] = 0
        return a, i, j, x

    def inverted(x):
        m = x > 0
        x[m], x[~m] = x[m] * 2, x[~m] * 3
        return x

    def swap_by_mask(x):
        y = x[::-1].copy()
        m = x > y
        x[m], y[m] = y[m], x[m]
        return x, y

    def chained(x):
        y = x.copy()
        y[x > 0][:] = 5
        y[x > 0] += y[x > 0].sum()
        return y

    def into_view(x):
        v = x[::2]
        v[v > 0] = 9
        x[1::2][x[1::2] < 0] = -9
        return x, v

    def loop(x):
        for k in range(3):
            m = x > k * 0.3
            x[m] = x[m] - 0.1
            x = x + 0.05
        return x

    def selected_later(x):
        m = x > 0
        y = x[m]
        if y.size > 3:
            return y * 2
        return y - 1

    def through_functions(x):
        y = x[x > 0]
        return np.sort(y), np.concatenate([y, x]), y.astype(np.float32), y.reshape(-1, 1), np.asarray(y), list(y), y.tolist()

    def through_ufuncs(x):
        m = x > 0
        x[m] = np.exp(np.log(x[m])) + np.maximum(x[m], 0.1) * np.where(x[m] > 0.3, 1, 2)
        return x

    def integer_mask(x):
        m = (x > 0).astype(int)
        return x[m] if x.size > 1 else x

    def list_mask(x):
        return x[[True] * x.size], x[[False] * x.size]

    def out_of_mask(x):
        m = x > 0
        np.multiply(x, 2, out=x, where=m)
        return x

    def augmented_by_selection(x):
        m = x > 0
        x[m] += x[m]
        x[m] -= x[m].mean() if m.any() else 0
        return x

    programs = [value for name, value in list(locals().items()) if inspect.isfunction(value)]
    each(programs, *vectors())


def test_two_dimensions() -> None:
    def whole(a):
        a[a > 0] = a[a > 0] * 2
        return a, a[a < 0]

    def rows(a):
        m = a[:, 0] > 0
        a[m] = a[m] + 1
        a[m, 1] = 5
        a[~m, 1:] *= 2
        return a, a[m], a[m, 0]

    def columns(a):
        m = a[0] > 0
        a[:, m] = a[:, m] * 3
        a[1:, m] = 0
        return a, a[:, m].sum(axis=0)

    def mixed(a):
        m = a[:, 0] > 0
        return a[m, 1], a[m][:, 0], a[m, 1:3].sum(), a[..., a[0] > 0]

    def transposed(a):
        t = a.T
        t[t > 0] = -1
        a.T[a.T < -1] = 1
        return a, t

    def row_values(a):
        m = a > 0
        a[m] = 1
        a[a.sum(axis=1) > 1] = np.arange(4.0)
        return a

    def diagonal(a):
        m = np.eye(4, dtype=bool)
        a[m] = np.arange(4)
        return a, a[m], a[np.triu(m)]

    def three(a):
        b = np.stack([a, a + 1])
        b[b > 0.5] = 0
        b[a > 0] if b.shape == a.shape else b[:, a > 0]
        b[:, a > 0] *= 2
        b[np.array([True, False])] += 1
        return b

    def newaxis(a):
        m = a[:, 0] > 0
        return a[m, None].shape, a[None, m].sum(), a[m][..., None] * 2

    def axis_mismatch(a):
        return a[np.array([True, False])]

    programs = [value for name, value in list(locals().items()) if inspect.isfunction(value)]
    each(programs, (rand(4, 4),), (np.asfortranarray(rand(4, 4)),), (np.abs(rand(4, 4)),), (-np.abs(rand(4, 4)),))
    each(programs, (np.arange(16).reshape(4, 4) - 8,))
