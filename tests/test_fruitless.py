"""Captures that end in cuts: under `measured` they are not made again and again."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autojit as aj
from autojit.capture import varying
from autojit.runtime import heat, maker, warmup
from autojit.runtime.background import BACKGROUND, Background
from autojit.runtime.plans import is_numpys
from autojit.runtime.remembered import Verdict


@pytest.fixture
def captures(monkeypatch):
    """The lines of the regions that are captured, from their function's on; every call is worth a capture."""
    monkeypatch.setattr(heat, "PAYS_AFTER", 1e-9)
    monkeypatch.setattr(heat, "WAITS", 0.0)
    found = []

    def noted(tree, region, values, options, rows):
        first = tree.source.function.__code__.co_firstlineno
        found.append(tuple(line - first for line in region.lines))
        return varying.capture_varying(tree, region, values, options, rows)

    monkeypatch.setattr(maker, "capture_varying", noted)
    return found


def mixed(x):
    y = x * 2 + 1
    top = max(y.tolist())
    return y.sum() * y + top


def test_a_region_is_not_captured_for_each_shape_where_it_is_cut(captures):
    fast = aj.autocluster(mixed, policy="measured")
    for _ in range(3):
        for n in range(2, 9):
            np.testing.assert_array_equal(fast(np.arange(float(n))), mixed(np.arange(float(n))))
            BACKGROUND.wait()  # while a first plan is compiled, calls of other shapes wait for what becomes of it
    assert captures.count((1, 3)) == warmup.FRUITLESS < captures.count((3, 3))


def test_parts_are_not_captured_before_they_are_met(captures):
    def parted(x, log):
        log.append(1)
        y = x * 2 + 1
        print("", end="")
        if len(log) > 3:
            y = np.sqrt(y) * 3
        return y

    fast = aj.autocluster(parted, policy="measured")
    for _ in range(5):
        fast(np.ones(4), [])
    assert (5, 5) not in captures  # the branch that was never taken
    assert (1, 6) in captures and (2, 2) in captures


def test_clearing_begins_again(captures):
    fast = aj.autocluster(mixed, policy="measured")
    for turn in range(1, 3):
        for _ in range(2):  # NumPy takes the first call of each kind
            for n in range(2, 6):
                fast(np.arange(float(n)))
        assert captures.count((1, 3)) == turn * warmup.FRUITLESS
        fast.clear_cache()


def test_another_process_splits_where_a_capture_was_cut_before(captures, monkeypatch, tmp_path):
    monkeypatch.setattr(warmup, "SPLITS_AFTER", 0.0)
    monkeypatch.setattr(warmup, "LOST", math.inf)
    options = {"policy": "measured", "cache_dir": str(tmp_path), "disk_cache": True}
    first = aj.autocluster(mixed, **options)
    for _ in range(4):
        first(np.arange(4.0))
    assert captures.count((1, 3)) == 1
    BACKGROUND.wait()  # the verdict is saved
    captures.clear()
    second = aj.autocluster(mixed, **options)
    for _ in range(4):
        np.testing.assert_array_equal(second(np.arange(4.0)), mixed(np.arange(4.0)))
    assert (1, 3) not in captures and (1, 2) in captures and (3, 3) in captures


@pytest.mark.parametrize("cuts", ["ab", [1.5], [True], 3])
def test_cuts_of_another_kind_are_refused(cuts):
    with pytest.raises(TypeError):
        Verdict.read({**Verdict(False, 0.0, 0.0, 0.0)._asdict(), "cuts": cuts})


def test_another_kind_of_call_keeps_its_plan(captures, monkeypatch):
    monkeypatch.setattr(Background, "submit", lambda self, job: job() or True)

    def sometimes(x, whole):
        y = x * 2 + 1
        if not whole:
            y = y + max(y.tolist())
        return y * y

    fast = aj.autocluster(sometimes, policy="measured")
    probe = next(iter(fast.__autojit_controller__.probes.values()))
    for n in (3, 4, 5, 6, 7):
        for _ in range(3):
            for whole in (True, False):
                np.testing.assert_array_equal(fast(np.arange(float(n)), whole), sometimes(np.arange(float(n)), whole))
    assert probe.state != "off" and any(not is_numpys(plan) for plan in probe.plans)


@pytest.mark.parametrize("cuts", [(99,), (-1,), (0, 3)])
def test_cuts_that_there_are_not_are_ignored(captures, monkeypatch, cuts):
    monkeypatch.setattr(warmup, "SPLITS_AFTER", 0.0)
    monkeypatch.setattr(warmup.WarmUp, "recall", lambda self, probe, heat: Verdict(False, 0.0, 0.0, 0.0, cuts=cuts))
    fast = aj.autocluster(mixed, policy="measured")
    for _ in range(4):
        np.testing.assert_array_equal(fast(np.arange(4.0)), mixed(np.arange(4.0)))
    assert captures.count((1, 3)) == 1  # a verdict like any other
