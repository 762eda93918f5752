"""What loops change on ways that are taken back, and flags of many kinds that others set while a loop runs: read, mended."""

from __future__ import annotations

import types

import numpy as np
import pytest
from numpy.testing import assert_allclose

import autojit as aj


def fill(a, b, both):
    for i in range(len(a)):
        a[i] = a[i] * 0.5 + 1.0
        if both:
            b[i] = 7.0


def fills_or_raises(a, b, x):
    for k in range(10):
        if x[k] > 100.0:
            fill(a, b, True)
            raise ValueError("too big")
        fill(a, b, False)
    return a.sum()


def add(v, w, both):
    for _ in range(20):
        v = v * 0.5 + w
        if both:
            w = w + 1.0
    return v, w


def adds_or_raises(a, b, x):
    if x[0] > 100.0:
        v, w = add(a, b, True)
        raise ValueError("too big")
    v, w = add(a, b, False)
    return v, w


def binds_or_not(a, b, x, both=False):
    for _ in range(20):
        a = a * 0.5 + x[0]
        if both:
            b = a
    return a, b


@pytest.mark.parametrize("function", [fills_or_raises, adds_or_raises, binds_or_not])
@pytest.mark.parametrize("first", [True, False])
def test_what_only_another_way_changes_is_not_written(function, first):
    fast, x = aj.autocluster(policy="eager")(function), np.ones(10)
    for is_writeable in (first, not first, first):
        b = np.ones(30)
        b.flags.writeable = is_writeable
        assert_allclose(np.sum(fast(np.ones(30), b, x)), np.sum(function(np.ones(30), b, x)))
    assert fast.cache_info().hits >= 3 or not first
    assert "that is written is writeable (line 3" not in str(fast.explain(np.ones(30), np.ones(30), x))


def count(o, x, both):
    for _ in range(20):
        x = x * 0.5
        if both:
            o.count += x.sum()
    return x


def keep(o, x, both):
    for _ in range(20):
        x = x * 0.5
        if both:
            o.count = x.sum()
    return x


def counts_or_raises(o, x, step):
    if x[0] > 100.0:
        step(o, x, True)
        raise ValueError("too big")
    return step(o, x, False)


@pytest.mark.parametrize("step", [count, keep])
def test_an_attribute_that_only_another_way_sets_is_left_alone(step):
    fast, number = aj.autocluster(policy="eager")(counts_or_raises), float("2.5")
    for _ in range(2):
        holder = types.SimpleNamespace(count=number)
        assert_allclose(fast(holder, np.ones(5), step), np.ones(5) * 0.5**20)
        assert holder.count is number
    assert fast.cache_info().hits == 2
