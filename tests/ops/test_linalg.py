"""`np.linalg` against NumPy, up to rounding; what raises there traps here."""

import numpy as np
import pytest
from op_checks import Trap, check_all, lowered, raised

from autojit.ir.spec import spec_of
from autojit.ops import linalg

ROW = {row.name.removeprefix("np.linalg."): row for row in linalg.ROWS}


@pytest.mark.parametrize("row", [row for row in linalg.ROWS if row.samples], ids=str)
def test_samples(row, rng):
    cases = [(row, args, params) for args, params in row.samples(rng)]
    for dtype, rtol in ((np.float32, 2e-4), (None, 1e-10)):
        check_all([case for case in cases if (case[1][0].dtype == np.float32) == (dtype is np.float32)], rtol=rtol)


SINGULAR = np.array([[1.0, 2], [2, 4]])


@pytest.mark.parametrize("name", ["solve", "inv", "det", "slogdet", "cond"])
def test_singular_matrices_trap(name):
    more = (np.ones(2),) if name == "solve" else ()
    for a in (SINGULAR, np.zeros((3, 3))[:2, :2], np.arange(9.0).reshape(3, 3)[:2, :2] * 0, np.full((2, 2), np.nan)):
        with pytest.raises(Trap):
            lowered(ROW[name], a, *more)
    nearly = np.arange(1.0, 10).reshape(3, 3)
    with pytest.raises(Trap):
        lowered(ROW[name], nearly, *(np.ones(3) for _ in more))


def test_not_positive_definite_traps():
    for a in (np.array([[1.0, 2], [2, 1]]), np.full((2, 2), np.nan), np.zeros((2, 2))):
        with pytest.raises(Trap):
            lowered(ROW["cholesky"], a)


@pytest.mark.parametrize("name", ["qr", "eigvalsh", "svdvals", "pinv"])
def test_values_that_are_not_finite_trap(name):
    with pytest.raises(Trap):
        lowered(ROW[name], np.array([[1.0, np.nan], [0, 1]]))


def test_signs_of_qr(rng):
    for dtype, rtol in ((np.float64, 1e-10), (np.float32, 1e-3), (np.complex128, 1e-10)):
        cases = []
        for n, m in [(2, 2), (5, 5), (30, 30), (30, 8), (8, 30)]:
            cases += [(ROW["qr"], (rng.standard_normal((n, m)).astype(dtype),), {}) for _ in range(3)]
        check_all(cases, rtol=rtol)


def test_static_errors_are_numpys():
    wide = np.ones((2, 3))
    for name in ("inv", "det", "cholesky", "eigvalsh", "eigh"):
        for a in (wide, wide[0], wide[:, :2].astype(np.float16)):
            wanted = raised(ROW[name].call, a)
            assert wanted in (np.linalg.LinAlgError, TypeError)
            assert raised(ROW[name].infer, [spec_of(a)], {}) is wanted, name
    specs = [spec_of(np.eye(2)), spec_of(np.ones((3, 2)))]
    assert raised(ROW["solve"].infer, specs, {}) is ValueError
    assert raised(ROW["norm"].infer, [spec_of(wide)], {"ord": "nope"}) is ValueError


def test_named_results():
    for name, kind in linalg.RESULT_TYPES.items():
        assert type(ROW[name.removeprefix("np.linalg.")].call(np.eye(2))) is kind
