"""Host rows: specs that are known beforehand, and which functions count as pure."""

import math

import numpy as np
import pytest
from op_checks import check_samples
from scipy import linalg, ndimage, signal, special

from autojit.errors import CannotCapture, Trapped
from autojit.ir.spec import spec_of
from autojit.ops import host
from autojit.ops.declared import declare_host_op

ROW = {row.name.removeprefix("np."): row for row in host.ROWS}


@pytest.mark.parametrize("row", [row for row in host.ROWS if row.samples], ids=str)
def test_samples(row, rng):
    assert row.lower is None
    check_samples(row, rng=rng)


def test_data_decides_the_bins():
    with pytest.raises(CannotCapture, match="data-shape"):
        ROW["histogram"].infer([spec_of(np.ones(3))], {"bins": "auto"})


def test_functions_of_scipy_are_pure():
    for function in (special.gamma, special.logsumexp, signal.fftconvolve):
        row = host.host_function(function)
        assert row is host.host_function(function)
        assert row.family == "host"
        assert row.lower is None
    x = np.array([0.5, 1.5])
    np.testing.assert_array_equal(host.host_function(special.gamma).call(x), special.gamma(x))


def test_other_functions_are_not():
    for function in (
        print,
        math.sqrt,
        np.random.rand,
        len,
        int,
        np.frompyfunc(print, 1, 1),
        lambda x: x,
        3,
        np.ndarray,
    ):
        assert host.host_function(function) is None


def test_declared_functions():
    @declare_host_op
    def mine(x):
        return x + 1

    row = host.host_function(mine)
    assert row.operands == ("*args",)
    assert row.call(2) == 3


def test_effects_and_odd_results_are_refused():
    a = np.eye(2)
    with pytest.raises(Trapped):
        host.host_function(linalg.inv).call(a, overwrite_a=True)
    with pytest.raises(Trapped):
        host.host_function(ndimage.generic_filter).call(a, np.sum, size=2)

    @declare_host_op
    def one(x):
        return (x,)

    with pytest.raises(Trapped):
        host.host_function(one).call(a)
