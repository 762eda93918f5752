"""Calls that stay in a function for long: regions in loops, before anything was captured."""

import ast
import os

import numpy as np
import pytest

import autojit as aj
from autojit.capture.calls import source_of
from autojit.capture.early import early_regions, split_early
from autojit.capture.regions import RegionTree
from autojit.runtime.background import Background
from autojit.runtime.heat import Heat


def step(x):
    return np.sin(x) * 2 + x


def pure(x, n):
    for _ in range(n):
        x = np.sin(x) * 2 + x
    return x


def steps(x, n, log):
    log.append("begin")
    for k in range(n):
        x = step(x)
        if k % 7 == 3:
            log.append(k)
        x = np.cos(x) + k
    return x


def leaves(x, n):
    k = 0
    while True:
        x = np.sin(x) + 1
        k += 1
        if k >= n:
            return x, k


def nested(x, n):
    with open(os.devnull):
        if n > 2:
            for i in range(n):
                for j in range(3):
                    x = np.sin(x) + i * j
    return x




def texts(function):
    """The early regions that have probes, as text."""
    tree = RegionTree(source_of(function))
    split_early(tree)
    return ["; ".join(map(ast.unparse, r.statements)) for r in early_regions(tree.root) if not r.once]


def test_which_regions_there_are():
    def loops(x):
        y = x + 1
        for i in range(3):
            y = y * i
        if len(y):
            while y[0] > 3:
                y = np.sqrt(y)
        return y + x

    assert texts(loops) == ["y = y * i", "y = np.sqrt(y)"]

    def acts(x, log):
        for i in range(3):
            x = x.copy() * np.sin(i).sum()
            log.append(x)
            x = x + max(1, abs(i))
            print(x)
        return x

    assert texts(acts)[1:] == ["x = x.copy() * np.sin(i).sum()", "x = x + max(1, abs(i))"]

    def none(x):
        y = np.sin(x)
        return [v + 1 for v in y]

    assert texts(none) == []


@pytest.fixture
def pays(monkeypatch):
    """Compiling pays after the first run of a region, takes no time, and plans win."""
    monkeypatch.setattr(Background, "submit", lambda self, job: job() or True)
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr(Heat, "best", 1.0)


X = np.linspace(0.0, 1.0, 20_000)


@pytest.mark.usefixtures("pays")
@pytest.mark.parametrize("function", [pure, steps, leaves, nested])
def test_a_single_call_gains(function):
    more = ([],) if function is steps else ()
    fast = aj.autocluster(function)
    found, expected = fast(X, 20, *more), function(X, 20, *more)
    if function is leaves:
        assert found[1] == expected[1]
        found, expected = found[0], expected[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    info = fast.cache_info()
    assert info.compiles >= 1 and info.hits >= 10
    if more:
        assert more[0] == ["begin", 3, 10, 17] * 2


@pytest.mark.usefixtures("pays")
def test_the_whole_goes_before_its_parts():
    def whole(x, n):
        for _ in range(n):
            x = np.sin(x) * 2 + x
        return x

    fast = aj.autocluster(whole)
    for _ in range(6):
        np.testing.assert_allclose(fast(X, 20), whole(X, 20), rtol=1e-12)
    root, body = (fast.__autojit_controller__.probes[number] for number in (0, 1))
    assert root.hits >= 4 and not body.on
