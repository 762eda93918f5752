"""Products against NumPy."""

import numpy as np
import pytest
from op_checks import check_all, raised

from autojit.ir.spec import spec_of
from autojit.ops import contraction

ROW = {row.name: row for row in contraction.ROWS}
INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, bool]


@pytest.mark.parametrize("row", contraction.ROWS, ids=str)
def test_samples(row, rng):
    # float32 with float64 operands is computed in float64; complex64 in single precision.
    check_all([(row, args, params) for args, params in row.samples(rng)], rtol=2e-6)


def test_integers_wrap_and_bools_are_or_and(rng):
    cases = []
    for dtype in INTEGERS:
        a, b = (rng.integers(0, 2**62, (5, 5)).astype(dtype) for _ in range(2))
        cases += [(ROW[name], (a, b), {}) for name in ("np.dot", "np.matmul", "np.inner", "np.kron", "np.outer")]
        cases += [(ROW["np.einsum"], (a, b), {"subscripts": "ij,jk->k"})]
    check_all(cases)


def test_float16_adds_up_in_float32(rng):
    a, b = (rng.random((60, 60)).astype(np.float16) for _ in range(2))
    check_all([(ROW["np.dot"], (a, b), {}), (ROW["np.matmul"], (a, b), {})], rtol=1e-3)


def test_float32_is_as_good_as_numpy(rng):
    a, b = (rng.random((300, 300)).astype(np.float32) for _ in range(2))
    check_all([(ROW["np.dot"], (a, b), {}), (ROW["np.matmul"], (a, b), {})], rtol=1e-6)


def test_static_errors_are_numpys():
    a, b = np.ones((2, 3)), np.ones((2, 3))
    for name in ("np.dot", "np.matmul"):
        assert raised(ROW[name].infer, [spec_of(a), spec_of(b)], {}) is ValueError
    assert raised(ROW["np.einsum"].infer, [spec_of(a), spec_of(b)], {"subscripts": "ij,jk"}) is ValueError
    assert raised(ROW["np.convolve"].infer, [spec_of(a[0]), spec_of(b[0, :0])], {}) is ValueError


def test_same_mode_for_all_lengths(rng):
    cases = []
    for n in range(1, 8):
        for m in range(1, 8):
            pair = rng.random(n), rng.random(m)
            cases += [(ROW[name], pair, {"mode": "same"}) for name in ("np.convolve", "np.correlate")]
    check_all(cases, rtol=1e-13)
