"""Host operations whose results have another shape or dtype from call to call end a region."""

import time

import numpy as np
import pytest

import autojit as aj
from tests.helpers import assert_same, check


def levels(x):
    y = np.tanh(x) * 2
    k = np.unique(np.round(y, 1))
    return np.exp(k) * 2 + 1 + y.sum(), k


def arrays(count, kinds):
    rng = np.random.default_rng(0)
    made = [rng.standard_normal(50) * (number % kinds + 1) for number in range(kinds)]
    return [made[number % kinds].copy() for number in range(count)]


def test_what_follows_has_plans_for_its_shapes():
    fast = aj.autocluster(policy="eager")(levels)
    for x in arrays(30, 3):
        assert_same(fast(x), levels(x))
    info = fast.cache_info()
    assert info.traps == 1 and info.hits > 40 and info.compiles < 8, info
    explanation = fast.explain(x)
    (reason,) = explanation.native_statements
    assert reason.id == "data-shape" and "`np.unique`" in reason.detail
    assert len(explanation.clusters) == 2 and not explanation.host_nodes


def test_a_shape_that_stays_keeps_its_node():
    fast = aj.autocluster(policy="eager")(levels)
    for _ in range(4):
        fast(np.linspace(0, 1, 50))
    assert fast.cache_info().traps == 0 and fast.explain(np.linspace(0, 1, 50)).host_nodes


def test_a_shape_that_was_seen_on_other_values():
    """The first capture sees the values before a loop that stays Python."""

    def later(v, n):
        for i in range(n):
            v = v * 1.3
            if i % 5 == 0:
                print("", end="")
        return np.unique(np.round(v)) * 2

    fast = aj.autocluster(policy="eager")(later)
    for _ in range(5):
        assert np.array_equal(fast(np.linspace(0, 1, 11), 20), later(np.linspace(0, 1, 11), 20))
    assert fast.cache_info().traps <= 1


def test_a_dtype_that_varies():
    table = {0: np.arange(3), 1: np.arange(3.0), 2: np.arange(3) > 1}
    host = aj.host_op(lambda x: table[int(x[0]) % 3])

    def f(x):
        return host(x) * 2, x + 1

    fast = aj.autocluster(policy="eager")(f)
    for number in range(12):
        x = np.full(4, float(number))
        for one, other in zip(fast(x), f(x), strict=True):
            assert one.dtype == other.dtype and np.array_equal(one, other)


def test_clear_cache_forgets_it():
    fast = aj.autocluster(policy="eager")(levels)
    for x in arrays(6, 3):
        fast(x)
    fast.clear_cache()
    for _ in range(3):
        check(levels, x)
        fast(x)
    assert fast.cache_info().traps == 0


@pytest.mark.parametrize("kinds", [2, 20])
def test_under_measured(kinds):
    def heavy(x):
        y = np.sin(np.tile(x, 4000)).reshape(-1, 50).sum(axis=0)
        k = np.unique(np.round(x, 1))
        return np.exp(k) + y.sum()

    fast = aj.autocluster(policy="measured", disk_cache=False)(heavy)
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        for x in arrays(20, kinds):
            assert np.allclose(fast(x), heavy(x), rtol=1e-12, atol=1e-12)
    assert fast.cache_info().traps <= 1


def test_a_view_is_no_exception():
    def f(x, edges):
        return np.histogram(x, edges)[0] * 2

    fast = aj.autocluster(policy="eager")(f)
    x, edges = np.random.default_rng(0).random(100), np.linspace(0, 1, 5)
    assert np.array_equal(fast(x, edges), f(x, edges))
    assert all("Trapped" not in str(reason) and reason.id != "raises" for reason in fast.explain(x, edges).reasons)
