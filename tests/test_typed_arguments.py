"""NumPy scalars as keywords take part in dtypes, ints beyond 64 bits have others, and checks of unused results stay."""

import numpy as np
import pytest

from tests.helpers import check_calls

A = np.arange(8.0)
SHORT = np.arange(8, dtype=np.float32)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, k: a + 1 if np.asarray(k).dtype == np.uint64 else a - 1,
        lambda a, k: np.zeros(2, np.array(k).dtype),
        lambda a, k: (a * 2, np.result_type(np.array(k), a)),
        lambda a, k: (a * 2, np.array(k).dtype, k > 3),
    ],
)
def test_dtypes_of_integers_beyond_64_bits(function):
    numbers = np.arange(3)
    check_calls(function, (numbers, 5), (numbers, 6), (numbers, 2**63), (numbers, -(2**63)), (numbers, 2**64))


@pytest.mark.parametrize("number", [np.uint8, np.int64, int, np.bool_, np.float32])
@pytest.mark.parametrize(
    "function",
    [
        lambda a, n: np.pad(a, n(1)),
        lambda a, n: np.pad(a, (n(1), n(2))),
        lambda a, n: np.pad(a, 1, constant_values=n(1)),
        lambda a, n: np.histogram(a, bins=4, range=(0, n(8))),
        lambda a, n: np.histogram(a, bins=n(4)),
        lambda a, n: np.histogram(a, bins=[0, n(3), 10]),
        lambda a, n: np.histogram(a, bins=4, range=(0, a.size * n(1))),
        lambda a, n: np.isclose(a, a + 1, atol=n(1)),
        lambda a, n: np.isclose(a, a * 2, rtol=n(1)),
        lambda a, n: np.nan_to_num(a / a, nan=n(1)),
        lambda a, n: np.var(a, ddof=n(1)),
        lambda a, n: np.std(a, correction=n(1)),
        lambda a, n: np.ediff1d(a, to_end=n(1)),
        lambda a, n: np.interp(a, a, a, left=n(1), right=n(2)),
        lambda a, n: np.roll(a, n(1)),
        lambda a, n: np.trim_zeros(a * n(1)),
        lambda a, n: np.linspace(n(0), n(1), 5) + a[:5],
        lambda a, n: np.arange(n(8)) + a,
        lambda a, n: np.eye(4, k=n(1)) + a[:4],
        lambda a, n: np.diff(a, prepend=n(1)),
        lambda a, n: np.gradient(a, n(1)),
        lambda a, n: np.trapezoid(a, dx=n(1)),
        lambda a, n: np.clip(a, n(0), n(1)),
        lambda a, n: np.round(a, n(1)),
        lambda a, n: np.quantile(a, n(1)),
        lambda a, n: np.full(3, n(1)) + a[:3],
    ],
)
@pytest.mark.parametrize("a", [A, SHORT], ids=str)
def test_numpy_scalars_for_keywords(function, number, a):
    with np.errstate(all="ignore"):
        check_calls(function, (a, number), rtol=1e-6 if a.dtype == np.float32 else 1e-14)


@pytest.mark.parametrize("d", [np.float32(0.1), np.float16(0.1), 0.1])
def test_degrees_of_freedom(d):
    check_calls(lambda a, d: float(np.var(a, ddof=d)), (A, d), rtol=1e-15)


def unused(a, k):
    np.quantile(a, k / 10)
    return a.sum()


def validated(a, k):
    try:
        np.percentile(a, k * 10)
    except ValueError:
        return -1.0
    return a.sum()


@pytest.mark.parametrize("function", [unused, validated])
def test_quantiles_that_nobody_needs_raise(function):
    check_calls(function, (A, 3), (A, 4), (A, 300), (A, -1))
