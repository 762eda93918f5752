"""What NumPy's functions do with rare arguments: masks before replacing, dtypes, axes out of bounds, memory order."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autojit as aj
from autojit.capture import elision
from tests.attacks import sequence
from tests.helpers import assert_same

HALF = np.array([1.0, np.nan, np.inf, -np.inf, 3.0])
ROWS = np.arange(12.0).reshape(3, 4)


# ---- values


def of_minus_infinity(x):
    return np.nan_to_num(x, nan=-np.inf), np.nan_to_num(x, posinf=-np.inf), np.nan_to_num(x, nan=np.inf, posinf=2.0)


def test_what_is_put_in_for_nan_stays():
    sequence(of_minus_infinity, (HALF,), (HALF.astype(np.float32),), (HALF + 1j * HALF[::-1],))


def narrow_moments(x):
    return np.std(x, dtype=np.float32), np.var(x, dtype=np.float32, ddof=1), x.var(dtype=np.float32)


def wide_moments(x):
    return np.std(x, dtype=float), np.nanvar(x, dtype=float), np.nanstd(x, dtype=float), np.nanmean(x, dtype=float)


def test_moments_with_another_dtype():
    sequence(narrow_moments, (1e5 + 0.002 * np.sin(np.arange(200.0)),), (np.array([16777217, 16777219]),), rtol=1e-6)
    values = np.random.default_rng(0).random(1000).astype(np.float32) + 100
    sequence(wide_moments, (values,), (values.astype(float),), rtol=1e-12)
    sequence(narrow_moments, (values.astype(np.float16),), rtol=1e-3)


def rounded_into(x, dtype):
    out, other = np.empty(x.shape, dtype), np.zeros(x.shape, dtype)
    x.round(1, out=other)
    return np.round(x, 2, out=out), other


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_into_another_dtype(dtype):
    sequence(rounded_into, (np.array([2.675, 1.005, 0.145, 33.333]), dtype))
    sequence(rounded_into, (np.array([2.675, 1.005, 0.145, 33.333], np.float32), dtype))


def mean_into(x, out):
    return np.mean(x, axis=0, out=out), x.std(axis=0, out=out * 1)


def test_half_sums_are_stored_where_the_result_goes():
    with np.errstate(over="ignore"):
        sequence(mean_into, (np.full((3000, 2), 100, np.float16), np.zeros(2, np.float16)), rtol=1e-2)


def half_sums(x):
    return np.mean(x, axis=0, dtype=np.float16), x.mean(axis=0, dtype="f2"), x.mean(axis=0), x[:, 0].mean(dtype="f2")


def half_traces(x):
    return np.trace(x), x.trace(axis1=1, axis2=0)


def test_half_sums_along_rows():
    with np.errstate(over="ignore"):
        sequence(half_sums, (np.ones((5000, 2), np.float16),), (np.ones((5000, 2)),), rtol=2e-3)
        sequence(half_traces, (np.ones((3000, 3000, 1), np.float16)[:, :, :1] * np.float16(0.9),), rtol=2e-3)


def parts_of_floats(x):
    return np.frexp(x)


def test_fractions_of_small_half_numbers():
    sequence(parts_of_floats, (np.array([2.0**-20, 6e-8, 2.0**-14, 1.0, 0.0, -3e-6, np.inf], np.float16),))


def quantile(x):
    return np.quantile(x, np.float64(0.3)), np.percentile(x, np.float64(30))


def test_the_type_of_a_quantile_with_nan():
    values = np.arange(9, dtype=np.float32)
    missing = values.copy()
    missing[3] = np.nan
    sequence(quantile, (values,), (missing,), (values,))
    whole = aj.jit_compile(quantile)
    for x, kind in ((values, np.float64), (missing, np.float32)):
        assert [type(found) for found in whole(x)] == [kind, kind]


def counted(x):
    return np.histogram(x > 0.5, bins=2)[0] * 1.0


def test_questions_do_not_warn():
    fast, heard = aj.autocluster(policy="eager")(counted), []
    for function in (fast, fast, fast, counted):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("default")  # under "error" and "always" NumPy answers
            function(np.linspace(0, 1, 9))
        heard.append([str(each.message) for each in found])
    assert heard == [heard[-1]] * 4 and fast.cache_info().hits


# ---- what is refused


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.delete(x[0], 0, axis=1),
        lambda x: np.delete(x, [0], axis=2),
        lambda x: np.roll(x[0], 1, axis=-2),
        lambda x: np.roll(x, 1, axis=-3) + 0.5,
        lambda x: np.roll(x, 1, axis=1.0),
        lambda x: np.roll(x, (1, 2), axis=(0, 2)),
        lambda x: np.repeat(x, len(x) / 2),
        lambda x: x.repeat(2.7),
        lambda x: np.repeat(x[0], [2, -1, 1, 1]),
        lambda x: np.lib.stride_tricks.sliding_window_view(x[0], len(x) / 2) * 2,
        lambda x: np.linalg.matrix_power(x[:, :3], len(x) / 3),
        lambda x: np.select([x < 0, x > 1, x == 0.5], [x * 2], 7.0),
        lambda x: np.select([x < 0, x > 1, x == 0.5, x == 0.25], [x * 2, x * 3]),
        lambda x: np.block([(x, x), (x, x)]),
        lambda x: x[0].ravel("row") * 2,
        lambda x: np.ravel(x[0], order="X"),
        lambda x: x[0].flatten("N"),
        lambda x: x.reshape(4, 3, order="K"),
    ],
)
def test_numpys_errors(function):
    sequence(function, (ROWS,))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (np.roll(x, (1, 2), axis=(0, -1)), np.roll(x, 1, axis=(0, 0)), np.roll(x, np.int64(2), 0)),
        lambda x: (np.repeat(x, True), np.repeat(x[0], np.array([1, 0, 2, 1], np.uint8)), x.repeat(2, axis=0)),
        lambda x: (np.tril(x, k=-1.5), np.triu(x, 1.5), np.tril(x, np.int64(1))),
        lambda x: (np.linalg.matrix_power(x[:, :3], 1) is x, np.linalg.matrix_power(x[:, :3], np.int64(1))),
        lambda x: (np.lib.stride_tricks.sliding_window_view(x[0], np.int64(2)) * 2),
        lambda x: (x.T.ravel("f"), x.ravel("k"), np.ravel(x, order=None), x.reshape(4, 3, order="f")),
    ],
)
def test_rare_arguments_that_numpy_takes(function):
    sequence(function, (ROWS,))


def blocks(top, bottom):
    return np.block([top, bottom]), np.block([top]) * 2, np.block(top)


def test_blocks_of_lists_from_outside():
    m = np.arange(4.0).reshape(2, 2)
    sequence(blocks, ([m, m + 10], [m + 20, m + 30]))


# ---- the order in memory


def copied(x):
    y = x.T.reshape(x.shape[::-1], copy=True)
    y.ravel()[0] = -1.0
    z = x.reshape(x.shape, copy=True)
    z.reshape(-1)[1] = 50.0
    w = x.reshape(x.shape, order="A", copy=True)
    return y, z, w, y.strides, z.strides, w.strides


def test_a_reshape_that_copies_does_so_in_its_order():
    sequence(copied, (ROWS,), (np.asfortranarray(ROWS),))


def ridge(a, b):
    r = a.T * 0.5 + b
    r.ravel()[:: len(r) + 1] += 100.0
    return r, r.strides


def on_the_right(a, b):
    r = b + (-a.T)
    return r, r.strides, (b - a.T * 2.0).strides, (b * (a.T / 3.0)).strides


def in_turns(a, b):
    t = a.T * 2.0
    return (t + b).strides, (a.T * 2.0 + b + b.T * 1.0).strides, (a.T * 2.0 + 1).strides, (a.T * 2.0 + b[0]).strides


def of_calls(a, b):
    r = b + np.exp(a.T)
    return r, r.strides


def of_a_sum(a, b):
    return sum([a.T, b]).strides, sum([a.T * 1.0, b, b]).strides, sum([b, a.T]).strides


def of_other_dtypes(a, b):
    n = (a * 10).astype(int)
    return (a.T * 2.0 + n).strides, (n.T * 2 + b).strides, (n.T // 2 / b).strides, ((n.T > 3) & (b > 0.5)).strides


@pytest.mark.parametrize("function", [ridge, on_the_right, in_turns, of_calls, of_a_sum, of_other_dtypes])
@pytest.mark.parametrize("n", [20, 300])
def test_large_temporaries_give_their_memory(function, n):
    rng = np.random.default_rng(0)
    sequence(function, (rng.random((n, n)), rng.random((n, n))))


def test_where_numpy_does_not_reuse_them(monkeypatch):
    monkeypatch.setattr(elision, "is_done_here", lambda: False)
    made = aj.autocluster(policy="eager", check=False)(ridge)(np.ones((300, 300)), np.ones((300, 300)))
    assert made[1] == (2400, 8)


# ---- places that occur twice


def painted_from_behind(image, ys, xs, c):
    image[ys[::-1], xs[::-1]] = c[::-1]
    return image


def painted(image, ys, xs, c):
    image[ys, xs] = c
    return image


def transposed(image, ys, xs, c):
    image[ys.T, xs.T] = c.T
    return image


def frames(out, places, values):
    out[places.T] = values.T
    return out


def rows(out, places, values):
    out[places] = values
    return out


def test_the_last_one_written_stays_as_in_numpy():
    ys, xs, c = np.array([1, 1, 2, 1]), np.array([1, 2, 3, 1]), np.arange(1.0, 5)
    for function in (painted, painted_from_behind):
        sequence(function, (np.zeros((4, 4)), ys, xs, c), (np.zeros((4, 4)), ys[::-1], xs[::-1], c[::-1]))
        sequence(function, (np.zeros((4, 4)), ys[::-1], xs, c), (np.zeros((4, 4)), ys, xs[::-1], c[::-1]))
        sequence(function, (np.zeros((4, 4)), ys.astype(np.int32), xs, c), (np.zeros((4, 4)), [1, 1, 2, 1], xs, c))
    places = np.array([[0, 1], [1, 2]])
    sequence(transposed, (np.zeros((3, 3)), places, places, np.array([[1.0, 2], [3, 4]])))
    sequence(painted, (np.zeros((3, 3)), places, places, np.array([[1.0, 2], [3, 4]])))
    steps = np.arange(0, 7, 2)[:, None] + np.arange(3)
    sequence(frames, (np.zeros(9), steps, np.arange(12.0).reshape(4, 3)))
    sequence(rows, (np.zeros(9), steps, np.arange(12.0).reshape(4, 3)))
    sequence(rows, (np.zeros((9, 2)), steps, np.arange(24.0).reshape(4, 3, 2)))
    sequence(rows, (np.zeros((9, 2)), steps, np.arange(24.0).reshape(2, 3, 4).T), (np.zeros((9, 2)), steps, np.ones(2)))


def test_plain_places_are_compiled():
    ys, xs, c = np.array([1, 1, 2, 1]), np.array([1, 2, 3, 1]), np.arange(1.0, 5)
    fast = aj.jit_compile(painted)
    assert_same(fast(np.zeros((4, 4)), ys, xs, c), painted(np.zeros((4, 4)), ys, xs, c))
