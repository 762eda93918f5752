"""The gate before a region's plans: calls of lengths that none takes cost next to nothing, the others are answered."""

from __future__ import annotations

import time

import numpy as np
import pytest

import autojit as aj
from autojit.runtime.background import BACKGROUND
from autojit.runtime.plan import NATIVE
from autojit.runtime.watch import WATCH
from tests.measuring import compiling_pays, probe_of  # noqa: F401 -- a fixture

LARGE, SMALL = np.linspace(0.0, 1.0, 20_000), np.linspace(0.0, 1.0, 7)


class Scaled:
    """What only a guard looks at."""

    def __init__(self):
        self.factor = 2.0

    def apply(self, x):
        return np.sqrt(x * self.factor + 1) * x - x / (x + self.factor)


@pytest.fixture(name="fast")
def with_a_plan(pays, monkeypatch):
    """A function that has a plan for large arrays, and asks about small ones."""
    fast = aj.autocluster(Scaled.apply)
    for _ in range(20):
        fast(Scaled(), LARGE)
        BACKGROUND.wait()
    assert [plan for plan in probe_of(fast).plans if not plan.is_native]
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 100.0)
    return fast


def close(fast):
    """Make small calls until the gate is closed."""
    probe, thing, end = probe_of(fast), Scaled(), time.perf_counter() + 20
    while probe.gate is None and time.perf_counter() < end:
        np.testing.assert_allclose(fast(thing, SMALL), Scaled.apply(thing, SMALL), rtol=1e-14)
    assert probe.gate is not None
    return probe


def test_what_no_plan_takes_is_left_to_numpy(fast):
    probe = close(fast)
    probe.gate.wakes = np.inf
    misses, hits, thing = fast.cache_info().misses, fast.cache_info().hits, Scaled()
    for x in (SMALL, SMALL[:0], np.ones(19_999), np.ones((5, 3)), LARGE, SMALL, LARGE):
        np.testing.assert_allclose(fast(thing, x), Scaled.apply(thing, x), rtol=1e-14)
    assert fast.cache_info().misses == misses and fast.cache_info().hits == hits + 2
    assert fast(thing, 4.0) == Scaled.apply(thing, 4.0)  # no array: it is asked about
    assert fast.cache_info().misses == misses + 1


def test_it_opens_by_itself(fast):
    probe, thing = close(fast), Scaled()
    end = time.perf_counter() + 20
    while probe.gate is not None and time.perf_counter() < end:
        time.sleep(0.01)
    assert probe.gate is None
    misses = fast.cache_info().misses
    fast(thing, SMALL)
    assert fast.cache_info().misses == misses + 1


def test_calls_behind_it_do_not_turn_the_probe_off(fast):
    probe, thing = close(fast), Scaled()
    probe.gate.wakes = np.inf
    for _ in range(300):
        fast(thing, SMALL)
    assert probe.on
    hits = probe.hits
    fast(thing, LARGE)
    assert probe.hits == hits + 1


def test_without_a_thread_that_opens_it_there_is_none(fast, monkeypatch):
    monkeypatch.setattr(WATCH, "rouses", lambda probe: False)
    probe, thing = probe_of(fast), Scaled()
    for _ in range(200):
        np.testing.assert_allclose(fast(thing, SMALL), Scaled.apply(thing, SMALL), rtol=1e-14)
    assert probe.gate is None and probe.on


def test_plans_that_are_gone_meanwhile(fast):
    probe, thing = close(fast), Scaled()
    gate = probe.gate
    fast.clear_cache()
    probe.gate = later = object()  # stands for another one, since
    np.testing.assert_allclose(fast(thing, LARGE), Scaled.apply(thing, LARGE), rtol=1e-14)
    gate.rouse()
    assert probe.gate is later
    assert gate.enter(thing, SMALL) is not NATIVE
    np.testing.assert_allclose(fast(thing, LARGE), Scaled.apply(thing, LARGE), rtol=1e-14)


def test_guards_ask_for_arrays_first():
    def function(thing, x, y):
        return thing.factor * x + y

    fast = aj.autocluster(policy="eager")(function)
    for rows in (5, 6):
        fast(Scaled(), np.ones(rows), np.ones(rows))
    lines = probe_of(fast).plans[0].source.splitlines()
    places = [
        next(n for n, line in enumerate(lines) if text in line)
        for text in ("`x` is an array", "`y` is an", "type Scaled")
    ]
    assert places == sorted(places)
