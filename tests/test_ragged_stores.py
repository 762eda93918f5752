"""Slices whose length moves with a loop: flipped, overlapping, assigned; lengths that do not agree; what stays native."""

from __future__ import annotations

import warnings

import numpy as np

import autojit as aj
from tests.helpers import check
from tests.quiet import quiet

RNG = np.random.default_rng(5)
RNG.bit_generator.advance(2487)  # past the numbers of `test_ragged.py`


def rand(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


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
