"""Rows that make arrays against NumPy."""

import numpy as np
import pytest
from op_checks import Trap, check, check_all, check_samples, lowered, raised

import autojit as aj
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


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.linspace(0.1, a),
        lambda a: np.linspace(a / 3, 5, 20),
        lambda a: np.linspace(np.where(a > 2, 0.1, 0.7), np.where(a > 2, 0.7, 9.1)),
        lambda a: np.linspace(3, np.sqrt(a), 33, endpoint=False),
    ],
)
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "uint64", "bool", "float64"])
def test_linspace_from_numbers_that_are_known_to_be_no_nan(function, dtype):
    """LLVM knows that of constants and of what was an integer; no product may be contracted for it."""
    a = np.array([6, 3, 1, 77, 0]).astype(dtype)
    np.testing.assert_array_equal(aj.autocluster(policy="eager")(function)(a), function(a))
