"""Rows that move elements against NumPy."""

import numpy as np
import pytest
from op_checks import Trap, check_all, check_samples, lowered, raised

from autojit.ir.spec import spec_of
from autojit.ops import copying, inserting, shaping

ROW = {row.name: row for row in (*shaping.ROWS, *copying.ROWS, *inserting.ROWS)}


def test_samples(rng):
    check_samples(*shaping.ROWS, rng=rng)


@pytest.mark.parametrize("row", (*copying.ROWS, *inserting.ROWS), ids=str)
def test_samples_of_copies(row, rng):
    check_samples(row, rng=rng)


def test_static_errors_are_numpys():
    x = np.ones((2, 3))
    for name, operands, params, wanted in [
        ("np.reshape", [x], {"shape": (4,)}, ValueError),
        ("np.broadcast_to", [x], {"shape": (2, 4)}, ValueError),
        ("np.concatenate", [x, x.T], {}, ValueError),
        ("np.concatenate", [x, x[0]], {}, ValueError),
        ("np.stack", [x, x.T], {}, ValueError),
        ("np.transpose", [x], {"axes": (0, 0)}, ValueError),
        ("np.diag", [np.ones((1, 1, 1))], {}, ValueError),
        ("np.take", [x, 1], {"axis": 2}, np.exceptions.AxisError),
        ("np.take", [x, np.ones(1)], {}, TypeError),
        ("np.pad", [x], {"pad_width": -1}, ValueError),
        ("set_real", [x, x.T], {}, ValueError),
        ("set_imag", [x, 1], {}, TypeError),
    ]:
        row = ROW[name]
        assert raised(row.call, *operands, **params) is wanted, name
        assert raised(row.infer, [spec_of(operand) for operand in operands], params) is wanted, name


def test_indices_out_of_bounds_trap():
    x, far = np.ones((2, 3)), np.array([7])
    for name, operands, params in [
        ("np.take", (x, far), {}),
        ("np.take", (x, -far), {"axis": 0}),
        ("np.take_along_axis", (x, far[None]), {"axis": 0}),
        ("np.choose", (np.array([0, -1]), 1.0, 2.0), {}),
    ]:
        assert raised(ROW[name].call, *operands, **params) in (IndexError, ValueError)
        with pytest.raises(Trap):
            lowered(ROW[name], *operands, **params)


def test_joins_of_many_shapes(rng):
    x, v = rng.random((2, 3, 4)), rng.random(5)
    cases = []
    for axis in (0, 1, 2, -1, None):
        for count in (1, 2, 3, 12):
            cases.append((ROW["np.concatenate"], (x,) * count, {"axis": axis}))
    for axis in (0, 1, 3, -1, -2):
        cases.append((ROW["np.stack"], (x, x + 1), {"axis": axis}))
    for name in ("np.hstack", "np.vstack", "np.dstack", "np.column_stack"):
        for part in (v, x[0], *([] if name == "np.column_stack" else [x])):
            cases.append((ROW[name], (part, part * 2, part), {}))
    cases.append((ROW["np.hstack"], (2.0, 3), {}))
    cases.append((ROW["np.vstack"], (2.0, 3), {}))
    cases.append((ROW["np.concatenate"], (x[:0], x, x[:, :, :4]), {}))
    cases.append((ROW["np.concatenate"], (x[..., :0], x), {"axis": 2}))
    check_all(cases)
