"""Sorting and searching against NumPy."""

import numpy as np
import pytest
from op_checks import Trap, check, check_all, check_samples, lowered, raised

from autojit.ir.spec import spec_of
from autojit.ops import quantiles, sorting

ROW = {row.name.removeprefix("np."): row for row in sorting.ROWS}


@pytest.mark.parametrize("row", sorting.ROWS, ids=str)
def test_samples(row, rng):
    check_samples(row, rng=rng, rtol=1e-15 if row is sorting.INTERP else 0)


def test_ties_trap():
    for x in (np.array([1.0, 2, 1]), np.array([np.nan, np.nan]), np.array([3, 3])):
        with pytest.raises(Trap):
            lowered(ROW["argsort"], x)
        check(ROW["argsort"], x, kind="stable")
    with pytest.raises(Trap):
        lowered(ROW["sort"], np.array([0.0, -0.0]))


def test_unsorted_arrays_trap():
    bad = np.array([3.0, 1, 2])
    for name, operands in [("searchsorted", (bad, 2.0)), ("digitize", (np.ones(2), bad)), ("interp", (2.0, bad, bad))]:
        with pytest.raises(Trap):
            lowered(ROW[name], *operands)


def test_static_errors_are_numpys():
    x = np.ones((2, 2))
    for name, operands, params in [
        ("sort", [x], {"axis": 3}),
        ("argsort", [x], {"axis": -3}),
        ("sort", [x], {"kind": "nope"}),
        ("searchsorted", [x, x], {}),
        ("searchsorted", [x[0], x], {"side": "middle"}),
        ("digitize", [x, x], {}),
        ("interp", [x, x, x], {}),
        ("interp", [x, x[0], np.ones(3)], {}),
    ]:
        wanted = raised(ROW[name].call, *operands, **params)
        assert wanted is not None
        assert raised(ROW[name].infer, [spec_of(operand) for operand in operands], params) is wanted, name


@pytest.mark.parametrize("row", quantiles.ROWS, ids=str)
def test_quantiles(row, rng):
    cases = [(row, args, params) for args, params in row.samples(rng)]
    check_all([case for case in cases if case[1][0].dtype != np.float32], rtol=1e-15)
    check_all([case for case in cases if case[1][0].dtype == np.float32], rtol=3e-7)


def test_quantiles_outside_trap():
    for q in (-1, 101.0, np.nan):
        with pytest.raises(Trap):
            lowered(quantiles.ROWS[1], np.ones(3), q)
