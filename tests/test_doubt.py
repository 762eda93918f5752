"""Plans that were kept are compared with NumPy again: the data may have changed."""

from __future__ import annotations

import time

import numpy as np
import pytest

import autojit as aj
from autojit.runtime import doubt, heat, measured
from autojit.runtime.background import BACKGROUND
from autojit.runtime.doubt import hits_until
from autojit.runtime.measured import Trial
from autojit.runtime.tuning import Tuning

X = np.random.default_rng(0).random(50_000)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Plans are made at once, kept whatever they take, and compared after few calls."""
    monkeypatch.setattr(heat, "PAYS_AFTER", 1e-9)
    monkeypatch.setattr(heat, "WAITS", 0.0)
    monkeypatch.setattr(doubt, "LEAST", 20)
    monkeypatch.setattr(doubt, "SHARE", 1e9)
    monkeypatch.setattr(doubt, "CLOSE", 1e9)  # no plan has won by little
    monkeypatch.setattr(Trial, "_other_way", lambda self, seconds: None)
    monkeypatch.setattr(Tuning, "begin", lambda self: False)


def kept(monkeypatch, function, *args):
    """A function with a plan, and its probe."""
    monkeypatch.setattr(measured, "_is_faster", lambda *_: True)
    fast = aj.autocluster(check=False)(function)  # a check runs NumPy beside every plan
    (probe,) = fast.__autojit_controller__.probes.values()
    for _ in range(400):
        fast(*args)
        BACKGROUND.wait()
        if any(not plan.is_native for plan in probe.plans):
            return fast, probe
    raise AssertionError("there is no plan")


def waves(x):
    return np.sin(x) * np.cos(x) + np.exp(-x) * np.sin(x * x) + np.cos(x * 3)


def test_a_plan_that_has_become_slower_is_given_up(monkeypatch):
    monkeypatch.setattr(doubt, "FASTER", 1e9)  # whatever the machine does
    fast, probe = kept(monkeypatch, waves, X)
    for _ in range(200):
        assert np.allclose(fast(X), waves(X), rtol=1e-12, atol=1e-12)
    (plan,) = probe.plans
    assert plan.is_native and plan.reason.id == "slower" and "of late" in plan.reason.detail
    assert fast.explain(X).history[-1].what == "left"


def test_a_plan_that_takes_long_with_other_data_is_found(monkeypatch):
    fast, probe = kept(monkeypatch, waves, X)
    (plan,) = probe.plans
    call = plan.call

    def with_other_data(*values):
        time.sleep(0.02)
        return call(*values)

    plan.call = with_other_data
    for _ in range(200):
        fast(X)
    assert all(plan.is_native for plan in probe.plans)


def test_a_plan_that_is_faster_stays_and_is_asked_less_often(monkeypatch):
    monkeypatch.setattr(doubt, "FASTER", 0.0)
    fast, probe = kept(monkeypatch, waves, X)
    (plan,) = probe.plans
    native = probe.native
    for _ in range(400):
        fast(X)
    assert probe.plans == (plan,) and plan.looks >= 2 and not plan.strikes
    assert 2 * doubt.RUNS <= probe.native - native <= 400 // 8


def test_one_look_does_not_decide(monkeypatch):
    monkeypatch.setattr(doubt, "FASTER", 1e9)
    fast, probe = kept(monkeypatch, waves, X)
    (plan,) = probe.plans
    while not plan.strikes:
        fast(X)
    monkeypatch.setattr(doubt, "FASTER", 0.0)
    while plan.strikes:
        fast(X)
    assert probe.plans == (plan,) and plan.looks


@pytest.mark.parametrize("slower", [True, False])
def test_a_plan_that_has_won_by_little_is_compared_in_blocks(monkeypatch, slower):
    """... and the one that is faster stays."""
    monkeypatch.setattr("autojit.runtime.turns.BLOCK", float("inf"))  # blocks end by their calls
    monkeypatch.setattr(doubt, "CLOSE", 0.8)
    fast, probe = kept(monkeypatch, waves, X)
    (plan,) = probe.plans
    plan.seconds, plan.looks, probe.doubts_at = 0.9 * plan.numpy_seconds, 0, probe.hits + 1
    call, limit = plan.call, 1e9 if slower else 0.0
    monkeypatch.setattr(doubt, "FASTER_IF_CLOSE", limit)  # whatever the machine does
    monkeypatch.setattr(doubt, "FASTER_ROUND", limit)
    if slower:
        plan.call = lambda *values: (time.sleep(0.003), call(*values))[1]
    native = probe.native
    for _ in range(400):
        fast(X)
    assert all(plan.is_native for plan in probe.plans) == slower
    assert slower or (plan.looks >= 1 and probe.native - native <= 8 * (plan.looks + 1))


@pytest.mark.parametrize("are_steady", [True, False])
def test_what_a_plan_gains_may_be_lost_between_its_calls(monkeypatch, are_steady):
    """... which shows from one call to the next, where these are alike."""
    monkeypatch.setattr(doubt, "CLOSE", 0.8)
    monkeypatch.setattr(doubt, "FASTER_IF_CLOSE", 0.0)  # the calls alone never lose
    monkeypatch.setattr(doubt, "IN_ROUND", 0.0)
    monkeypatch.setattr(doubt, "STEADY", 1e9 if are_steady else 1.25)  # other programs may be in the way
    fast, probe = kept(monkeypatch, waves, X)
    (plan,) = probe.plans
    plan.seconds, plan.looks, probe.doubts_at = 0.9 * plan.numpy_seconds, 0, probe.hits + 1
    hits = probe.hits
    for number in range(400):
        fast(X)
        is_compiled, hits = probe.hits > hits, probe.hits
        if is_compiled:
            time.sleep(0.016 if not are_steady and number % 3 else 0.008)
    if are_steady:
        assert plan not in probe.plans and "from one call to the next" in probe.plans[0].reason.detail
    else:
        assert probe.plans == (plan,)


@pytest.mark.parametrize("is_compiling", [True, False])
def test_no_look_decides_while_something_is_compiled(monkeypatch, is_compiling):
    monkeypatch.setattr(doubt, "CLOSE", 0.8)
    monkeypatch.setattr(doubt, "FASTER_IF_CLOSE", 1e9)
    fast, probe = kept(monkeypatch, waves, X)
    (plan,) = probe.plans
    plan.seconds, plan.looks, probe.doubts_at = 0.9 * plan.numpy_seconds, 0, probe.hits + 1
    fast(X)
    monkeypatch.setattr(BACKGROUND, "is_busy", lambda: is_compiling)
    for _ in range(400):
        fast(X)
    assert (plan in probe.plans) == is_compiling and not plan.looks


def test_what_looks_cost():
    class Plan:
        numpy_seconds, seconds, looks = 3e-3, 1e-3, 0

    assert hits_until(Plan) == 20  # as `soon` has it
    doubt.SHARE = 0.01
    assert hits_until(Plan) == 1200  # four calls of NumPy's, for one part in a hundred
    Plan.looks = 3
    assert hits_until(Plan) == 9600
    doubt.CLOSE, Plan.seconds = 0.8, 2.9e-3
    assert hits_until(Plan) == 827 << 3  # eight, in a block
    Plan.looks = 0
    assert hits_until(Plan) == 20


def test_calls_that_the_plan_refuses_are_looked_at_by_others(monkeypatch):
    monkeypatch.setattr(doubt, "FASTER", 0.0)
    fast, _ = kept(monkeypatch, waves, X)
    for k in range(200):
        x = X if k % 2 else X[: 1000 + k]
        assert np.allclose(fast(x), waves(x), rtol=1e-12, atol=1e-12)


def test_an_exception_in_numpys_turn(monkeypatch):
    monkeypatch.setattr(doubt, "FASTER", 0.0)

    def checked(x, n):
        y = np.sin(x) * 2 + np.cos(x)
        return y[: 10 // n].sum()

    fast, _ = kept(monkeypatch, checked, X, 2)
    for k in range(200):
        if k % 5:
            assert np.allclose(fast(X, 2), checked(X, 2), rtol=1e-12, atol=1e-12)
        else:
            with pytest.raises(ZeroDivisionError):
                fast(X, 0)


def test_a_look_that_cannot_begin_leaves_the_answer(monkeypatch):
    fast, probe = kept(monkeypatch, waves, X)

    def fails(*_):
        raise RuntimeError("ours")

    monkeypatch.setattr(doubt, "native_plan", fails)
    (plan,) = probe.plans
    for _ in range(200):
        assert np.allclose(fast(X), waves(X), rtol=1e-12, atol=1e-12)
    assert probe.plans == (plan,)
