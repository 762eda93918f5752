"""`np.fft` against NumPy, to a tolerance of the largest element."""

import numpy as np
import pytest
from op_checks import check_all, raised

import autojit as aj
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


@pytest.mark.parametrize(
    "transform",
    [
        np.fft.fft2,
        np.fft.ifft2,
        np.fft.fftn,
        lambda x: np.fft.irfft2(x, s=(4, 4)),
        lambda x: np.fft.fft(x, axis=0),
        lambda x: np.fft.fft(x, axis=-2).mT,
    ],
)
def test_what_reads_a_transform_may_want_columns(transform):
    """LAPACK does, and XLA would have the transform itself write them, which its runtime refuses to do."""

    def programs(x):
        y = transform(x)
        return np.linalg.svdvals(y), np.linalg.inv(y), np.linalg.qr(y)[1], transform(np.linalg.inv(x))

    rng = np.random.default_rng(5)
    for shape in ((4, 4), (3, 4, 4)):
        x = rng.standard_normal(shape) + 4 * np.eye(4)
        fast = aj.jit_compile(programs)
        for one, other in zip(fast(x), programs(x), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-11)  # inverses add to it
        assert fast.cache_info().hits == 1
