"""Linear algebra where the precision and the order of NumPy's steps show."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import check

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("order", [np.inf, -np.inf, 1])
def test_norms_of_large_vectors_keep_nan(order):
    def f(a, b):
        return np.linalg.norm(a, order), np.linalg.norm(b, order, axis=0), np.linalg.norm(b, order, axis=-1)

    a, b = np.ones(200_000), np.ones((1000, 10))
    a[7] = b[1, 0] = np.nan
    check(f, a, b)
    check(f, RNG.random(200_000), RNG.random((1000, 10)))


@pytest.mark.parametrize("order", [np.inf, -np.inf, 1, -1])
def test_norms_of_large_matrices_keep_nan(order):
    def f(a, b):
        return np.linalg.norm(a, order), np.linalg.norm(b, order, axis=(1, 2)), np.linalg.norm(b, order, (2, 0), True)

    a, b = RNG.random((5, 100_000)), RNG.random((2000, 5, 6))
    check(f, a, b)
    a[2, 3] = b[5, 1, 1] = np.nan
    check(f, a, b)


@pytest.mark.parametrize("order", [np.inf, -np.inf, 1, -1, 3])
def test_norms_of_infinite_complex_numbers(order):
    def f(a):
        return np.linalg.norm(a, order)

    check(f, np.array([complex(np.inf, np.nan), 1]))
    check(f, np.array([3 + 4j, -1j]))


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (5, 5), (6, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64])
def test_inverses_of_matrices_without_full_rank(shape, dtype):
    def f(a):
        return np.linalg.pinv(a)

    check(f, np.arange(shape[0] * shape[1]).reshape(shape).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision_is_computed_in_double(dtype):
    def f(a):
        return (
            np.linalg.inv(a), np.linalg.det(a), np.linalg.svdvals(a), np.linalg.cond(a), np.linalg.cond(a, 1),
            np.linalg.solve(a, a[0]), np.linalg.pinv(a), np.linalg.matrix_power(a, -1), np.linalg.norm(a, -2),
            np.linalg.slogdet(a)[1], np.linalg.cholesky(a), np.linalg.eigvalsh(a),
        )  # fmt: skip

    hilbert = 1 / (np.arange(5)[:, None] + np.arange(5) + 1.0)
    check(f, hilbert.astype(dtype), rtol=3e-6)
    check(f, np.array([[1, 1], [1, 1.0001]], dtype), rtol=3e-6)
