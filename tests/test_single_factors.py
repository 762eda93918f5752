"""Products by a single number: BLAS adds nothing where it is zero, so that infinities and NaNs leave no trace."""

import itertools
import warnings

import numpy as np
import pytest

import autojit as aj

warned = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own
OTHERS = {
    "vector": lambda v: v,
    "row": lambda v: v[None],
    "column": lambda v: v[:, None],
    "matrix": lambda v: np.stack([v, -v]),
    "cube": lambda v: np.stack([v, -v])[None],
    "one": lambda v: v[:1],
    "empty": lambda v: v[:0],
}
SINGLES = {"()": (), "(1,)": (1,), "(1, 1)": (1, 1)}
PRODUCTS = {
    "dot": lambda a, b: np.dot(a, b),
    "inner": lambda a, b: np.inner(a, b),
    "matmul": lambda a, b: np.matmul(a, b),
    "vdot": lambda a, b: np.vdot(a, b),
    "outer": lambda a, b: np.outer(a, b),
    "kron": lambda a, b: np.kron(a, b),
    "tensordot": lambda a, b: np.tensordot(a, b, 1),
    "multi_dot": lambda a, b: np.linalg.multi_dot([a, b]),
    "multi_dot of three": lambda a, b: np.linalg.multi_dot([a, a, b]),
    "einsum": lambda a, b: np.einsum("ij,jk->ik", a, b),
    "einsum, optimized": lambda a, b: np.einsum("ij,jk->ik", a, b, optimize=True),
    "method": lambda a, b: a.dot(b),
}


def same(function, *args):
    """A call cold and warm beside NumPy, bit by bit."""
    fast = aj.autocluster(function, policy="eager")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of what is infinite or NaN
        try:
            expected = function(*args)
        except Exception as error:
            for _ in range(2):
                with pytest.raises(type(error)) as caught:
                    fast(*args)
                assert type(caught.value) is type(error) and str(caught.value) == str(error)
            return
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of what is infinite or NaN
            got = fast(*args)
        assert type(got) is type(expected) and got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
        if got.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(got) & (got == 0), np.signbit(expected) & (expected == 0))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "float16", "int64"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_by_a_single_number(name, dtype):
    values = np.array([np.inf, -3.0, 0.0, -0.0, np.nan])
    values = np.array([7, -3, 0, 1, 2]) if dtype == "int64" else values.astype(dtype)
    if name == "vdot" and dtype == "complex128":  # which part of it is infinite, BLAS decides otherwise (docs/numerics.md)
        values = np.nan_to_num(values, posinf=5)
    for shape, other, factor in itertools.product(SINGLES.values(), OTHERS.values(), (0, 2)):
        single = np.full(shape, factor, dtype)
        same(PRODUCTS[name], single, other(values))
        same(PRODUCTS[name], other(values), single)


@warned
def test_python_numbers():
    x = np.array([np.inf, 1.0, -1.0])
    for factor in (0.0, -0.0, 2.0, 0, 1, True, False, np.float32(0)):
        same(lambda a, b: np.dot(a, b), factor, x)
        same(lambda a, b: np.dot(a, b), x, factor)


@warned
def test_in_loops():
    """Rolled, as one batched operation, over slices whose length moves, and over selected elements."""

    def scaled(a, x):
        out = np.zeros((len(a), len(x)))
        for i in range(len(a)):
            out[i] = np.dot(a[i], x)
        return out

    def single(a, x):
        out = np.zeros((len(a), len(x)))
        for i in range(len(a)):
            out[i] = np.dot(a[i : i + 1], x[None])
        return out

    def growing(a, b):
        out = np.zeros((len(a), b.shape[1]))
        for i in range(len(a)):
            out[i] = np.dot(a[: i + 1], b[: i + 1])
        return out

    def columns(a, b):
        out = np.zeros((len(a), b.shape[1]))
        for i in range(len(a)):
            out[i] = np.dot(b[: i + 1].T, a[: i + 1])
        return out

    def by_numbers(a, x):
        total = np.zeros(len(x))
        for i in range(1, len(x)):
            total[:i] += np.dot(a[i % len(a)], x[:i])
        return total

    a, x = np.array([0.0, 1.0, 0.0, 2.0]), np.array([np.inf, -1.0, 2.0])
    b = np.arange(12.0).reshape(4, 3) - 5
    b[0, 1], b[3, 2] = np.nan, np.inf
    for function in (scaled, single, by_numbers):
        same(function, a, x)
        same(function, a, np.abs(np.nan_to_num(x, posinf=3)))
    for function in (growing, columns):
        same(function, a, b)
        same(function, a[::-1].copy(), b)
        same(function, a, np.nan_to_num(b, nan=1, posinf=2))


@warned
def test_selected_elements():
    def chosen(a, b, mask):
        return np.dot(a[mask], b[mask])

    a, b = np.array([0.0, 1.0, 0.0, 2.0]), np.ones((4, 3))
    b[0, 1], b[3, 2] = np.nan, np.inf
    for bits in itertools.product([False, True], repeat=4):
        same(chosen, a, b, np.array(bits))
        same(chosen, a, b[:, 0].copy(), np.array(bits))
