"""Rows that make arrays against NumPy."""

import numpy as np
import pytest
from op_checks import Trap, check, check_all, check_samples, lowered, raised

from autojit.ir.spec import spec_of
from autojit.ops import creation, grids

ROW = {row.name: row for row in creation.ROWS}


def test_samples(rng):
    check_samples(*creation.ROWS, *grids.ROWS, rng=rng)


def test_large_arange():
    cases = [(0, 200_000, 1), (3, 400_000, 3), (0.0, 1e5, 0.5), (5.0, -1e5, -1.0)]
    check_all([(ROW["np.arange"], (), {"start_or_stop": a, "stop": b, "step": c}) for a, b, c in cases])


@pytest.mark.parametrize("num", [70_000, 100])
def test_linspace_is_exact(num):
    check(ROW["np.linspace"], 0.1, 7.3, num=num)
    check(ROW["np.linspace"], np.float32(0.1), np.float32(7.3), num=num)
    check(ROW["np.linspace"], -5, 3, num=num, endpoint=False)


def test_empty_has_the_spec():
    for params in ({"shape": (2, 3)}, {"shape": 4, "dtype": np.int8}):
        (got,) = lowered(ROW["np.empty"], **params)
        assert spec_of(got) == spec_of(np.empty(**params))


def test_fill_that_does_not_fit_traps():
    with pytest.raises(Trap):
        lowered(ROW["np.full"], 300, shape=(2,), dtype=np.int8)
    with pytest.raises(Trap):
        lowered(ROW["np.full_like"], np.arange(3), np.nan)


def test_static_errors_are_numpys():
    for name, specs, params in [
        ("np.zeros", [], {"shape": (-1,)}),
        ("np.full", [spec_of(np.zeros(3))], {"shape": (2,)}),
        ("np.linspace", [spec_of(0.0)] * 2, {"num": -1}),
    ]:
        assert raised(ROW[name].infer, specs, params) is ValueError
