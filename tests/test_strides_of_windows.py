"""Windows from `i * stride` on, where the stride is an argument: the loop is rolled for each stride."""

import numpy as np
import pytest

import autojit as aj


def layer(x, w, stride):
    (height, width), (kh, kw) = x.shape, w.shape
    out = np.zeros(((height - kh) // stride + 1, (width - kw) // stride + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(x[i * stride : i * stride + kh, j * stride : j * stride + kw] * w)
    return out


def frames(x, w, step):
    n = len(w)
    out = np.empty(((x.shape[1] - n) // step + 1, n))
    for k in range(len(out)):
        out[k] = x[0, step * k : step * k + n] * w[:, 0]
    return out


def only_a_number(x, w, step):
    for k in range(len(x)):
        x[k] = k * step
    return x


@pytest.mark.parametrize("function", [layer, frames])
def test_one_program_for_each_stride(function, rng):
    fast = aj.autocluster(function, policy="eager")
    x, w = rng.standard_normal((40, 60)), rng.standard_normal((5, 4))
    for stride in (1, 2, 3, 2, 1):
        np.testing.assert_allclose(fast(x, w, stride), function(x, w, stride), rtol=1e-12)
        assert fast.explain(x, w, stride).is_whole
    assert fast.cache_info().plans == 3 and fast.cache_info().hits == 5


def test_a_factor_that_is_only_a_number_makes_no_plan_of_its_own(rng):
    fast = aj.autocluster(only_a_number, policy="eager")
    for step in range(12):
        x = rng.standard_normal((40, 3))
        np.testing.assert_array_equal(fast(x.copy(), None, step), only_a_number(x.copy(), None, step))
    assert fast.cache_info().plans == 1


def test_strides_that_reach_over_the_end(rng):
    def windows(x, stride):
        out = np.zeros((8, 3))
        for i in range(8):
            part = x[i * stride : i * stride + 3]
            out[i, : len(part)] = part
        return out

    fast = aj.autocluster(windows, policy="eager")
    x = rng.standard_normal(20)
    for stride in (1, 3, 2, 0, -1):
        np.testing.assert_array_equal(fast(x, stride), windows(x, stride))
