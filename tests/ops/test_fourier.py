"""`np.fft` against NumPy, to a tolerance of the largest element."""

import numpy as np
import pytest
from op_checks import check_all, raised

from autojit.ir.spec import spec_of
from autojit.ops import fourier

ROW = {row.name.removeprefix("np.fft."): row for row in fourier.ROWS}


@pytest.mark.parametrize("row", fourier.ROWS, ids=str)
def test_samples(row, rng):
    cases = [(row, args, params) for args, params in row.samples(rng)]
    for itemsize, rtol in ((4, 1e-5), (8, 1e-5), (0, 1e-13)):
        chosen = [
            case
            for case in cases
            if (case[1][0].dtype.itemsize if case[1][0].dtype in (np.float32, np.complex64) else 0) == itemsize
        ]
        if chosen:
            check_all(chosen, rtol=rtol)


def test_long_transforms(rng):
    x = rng.standard_normal(10_007)
    check_all([(ROW["rfft"], (x,), {}), (ROW["fft"], (x[:4096] + 0j,), {})], rtol=1e-13)


def test_static_errors_are_numpys():
    for name, x, params in [
        ("fft", np.ones(3), {"n": 0}),
        ("fft", np.ones(3), {"axis": 4}),
        ("rfft", np.ones(3) * 1j, {}),
        ("fft", np.ones(3), {"norm": "x"}),
    ]:
        wanted = raised(ROW[name].call, x, **params)
        assert wanted is not None
        assert raised(ROW[name].infer, [spec_of(x)], params) is wanted
