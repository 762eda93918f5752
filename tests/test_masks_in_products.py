"""Products with what was a bool: `False * inf` is NaN and `False * -3.0` is -0.0, also where XLA would make a choice."""

import numpy as np
import pytest

import autojit as aj

MASK = np.array([True, False, False, True, False])
VALUES = [
    np.array([-3.0, -2.0, np.inf, 1.0, np.nan]),
    np.array([np.inf, -np.inf, 1.0, 1.0, -1.0]),
    np.array([-1.0, -2.0, -3.0, -4.0, -5.0]),
    np.array([-0.0, -0.0, 0.0, -0.0, 0.0]),
]
PRODUCTS = {
    "dot": lambda m, x: np.dot(m, x),
    "dot of floats": lambda m, x: np.dot(m.astype(float), x),
    "dot of a comparison": lambda m, x: (m > 0).astype(x.dtype) @ x,
    "dot of a view": lambda m, x: np.broadcast_to(m.astype(float), (2, 5))[1] @ x,
    "dot of concatenated": lambda m, x: np.concatenate([m, np.zeros(0)]) @ x,
    "dot of an inverse": lambda m, x: np.logical_not(m) @ x,
    "dot of members": lambda m, x: np.isin(np.arange(5), [0, 3]) @ x,
    "row and column": lambda m, x: m[None] @ x[:, None],
    "matrix": lambda m, x: np.stack([m, m]) @ x,
    "matrices": lambda m, x: np.stack([m, m]) @ np.stack([x, x, x], axis=1),
    "inner": lambda m, x: np.inner(m, x),
    "vdot": lambda m, x: np.vdot(m, x),
    "vecdot": lambda m, x: np.vecdot(np.stack([m, ~m]), x),
    "tensordot": lambda m, x: np.tensordot(m, x, 1),
    "einsum": lambda m, x: np.einsum("i,i", m, x),
    "einsum of products": lambda m, x: np.einsum("i,i->i", m, x),
    "einsum of all": lambda m, x: np.einsum("i,j->ij", m, x),
    "outer": lambda m, x: np.outer(m, x),
    "kron": lambda m, x: np.kron(m[:, None], x),
    "cross": lambda m, x: np.cross(np.full(3, m[1], float), x[:3]),
    "product": lambda m, x: np.prod(np.stack([m, x]), axis=0),
    "reduced": lambda m, x: np.multiply.reduce(np.stack([m.astype(x.dtype), x])),
    "running": lambda m, x: np.cumprod(np.stack([m, x]), axis=0),
    "elementwise": lambda m, x: m * x,
    "in place": lambda m, x: np.multiply(x, m, out=x),
    "convolution": lambda m, x: np.convolve(m, x),
    "triangle": lambda m, x: np.tri(5)[2] @ x,
    "identity": lambda m, x: np.eye(5)[1] @ x,
    "average": lambda m, x: np.average(x, weights=m + 0.5),
}


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of invalid values
def test_products(name, dtype):
    function = PRODUCTS[name]
    fast = aj.autocluster(function, policy="eager")
    for values in VALUES:
        found, expected = (each(MASK.copy(), values.astype(dtype)) for each in (fast, function))
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])
