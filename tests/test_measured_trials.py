"""The policy `measured`: a plan is tried beside NumPy, and only what is faster stays."""

import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import autojit as aj
from autojit.runtime.background import BACKGROUND
from autojit.runtime.heat import Heat
from autojit.runtime.measured import Trial, _is_faster
from autojit.runtime.plans import is_numpys
from autojit.runtime.turns import Turns
from tests.measuring import X, compiling_pays, compiling_waits, probe_of  # noqa: F401 -- fixtures


def poly(x):
    return x * x * 3 + np.sin(x)


@pytest.mark.usefixtures("pays")
def test_under_check_plans_stay(monkeypatch):
    monkeypatch.setattr(Heat, "best", 1e-9)
    fast = aj.autocluster(poly, check=True)
    for _ in range(12):
        np.testing.assert_allclose(fast(X), poly(X), rtol=1e-14)
        BACKGROUND.wait()
    assert not probe_of(fast).plans[0].is_native


def test_a_plan_that_loses_is_given_up(monkeypatch):
    monkeypatch.setattr("autojit.runtime.measured.LOSES_AFTER", 0.0)
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr(Heat, "best", 1e-9)
    fast = aj.autocluster(poly, check=False)  # under a check no plan is given up
    for _ in range(12):
        np.testing.assert_allclose(fast(X), poly(X), rtol=1e-14)
        BACKGROUND.wait()
    (plan,) = probe_of(fast).plans
    assert plan.reason.id == "slower" and fast.cache_info().hits == 2


def test_where_a_plan_can_be_tried_an_estimate_does_not_decide(monkeypatch):
    """A step in place beside a native statement: by estimate, copying the array in and out takes longer than NumPy."""

    def relax(u, n):
        for k in range(n):
            u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
            if k % 50 == 0:
                print(f"{k}: {u.mean():.3f}", end="")

    def tried(seconds):
        monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
        monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
        monkeypatch.setattr(Heat, "best", seconds)
        fast, u, expected = aj.autocluster(check=False)(relax), *np.ones((2, 300, 300))
        for _ in range(4):
            fast(u, 20)
            relax(expected, 20)
            BACKGROUND.wait()
        np.testing.assert_allclose(u, expected, rtol=1e-14)
        return fast.cache_info()

    assert tried(1.0).hits
    assert not tried(1e-9).compiles


@pytest.mark.usefixtures("pays")
def test_numbers_that_come_in_turns_are_tried_alike(monkeypatch):
    """The time of a call may depend on a number: when two alternate, both are timed in both ways."""
    monkeypatch.setattr(Heat, "best", 0.01)
    trial = trial_of(aj.autocluster(lambda x, n: x * 2 + np.sin(x) * n), X, 3)
    trial.turns, turns = Turns(), []
    for call in range(16):
        turns.append((call % 2, trial._is_numpys_turn()))
        trial.turns.took(0.0)
    assert all(turns.count(kind) == 4 for kind in turns)


def trial_of(fast, *args):
    """The trial of a function, once it is compiled."""
    for _ in range(3):
        fast(*args)
        BACKGROUND.wait()
    (plan,) = probe_of(fast).plans
    return plan.reason


@pytest.mark.usefixtures("pays")
def test_what_a_plan_has_written_stays_written_when_its_trial_fails(monkeypatch):
    def fail(*args):
        raise MemoryError

    monkeypatch.setattr(Trial, "_decide", fail)

    def add(x, out):
        out += np.sin(x)

    fast, out, turns = aj.autocluster(add), np.zeros(1000), 0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")  # where each one is told, nothing is compiled
        while turns < 400 and not any(map(is_numpys, probe_of(fast).plans)):
            fast(X, out)
            BACKGROUND.wait()
            turns += 1
    np.testing.assert_allclose(out, turns * np.sin(X), rtol=1e-13)
    (one,) = told
    assert "could not be compiled: MemoryError" in str(one.message) and fast.cache_info().hits


@pytest.mark.usefixtures("pays")
def test_what_was_measured_is_told():
    aj.clear_cache()
    fast = aj.autocluster(poly)
    for _ in range(20):
        fast(X)
        BACKGROUND.wait()
    explanation = fast.explain(X)
    (plan,) = explanation.plans
    assert plan.state == "compiled" and 0 < plan.seconds < plan.numpy_seconds == 1.0
    assert [event.what for event in explanation.history][:3] == ["captured", "compiled", "kept"]
    assert "in NumPy: " in str(explanation) and "NumPy takes 1e+03 ms" in str(explanation)


@pytest.mark.usefixtures("pays")
def test_a_trial_and_its_loss_are_told(monkeypatch, held):
    began, let = held
    monkeypatch.setattr("autojit.runtime.measured.KEEP_BELOW", 0.0)
    fast = aj.autocluster(check=False)(poly)  # which keeps its plans
    fast(X), fast(X)
    assert began.wait(60) and [plan.state for plan in fast.explain(X).plans] == ["on trial"]
    let.set()
    for _ in range(50):
        BACKGROUND.wait()
        fast(X)
    explanation = fast.explain(X)
    (plan,) = explanation.plans
    assert plan.state == "native" and plan.reason.id == "slower"
    assert explanation.history[-1].what == "left" and "ms compiled" in explanation.history[-1].detail


@pytest.mark.parametrize(
    "times, decides", [([0.16], False), ([0.16, 0.16], True), ([0.16, 0.005], False), ([0.6], True)]
)
def test_one_run_that_touches_new_memory_decides_only_where_it_takes_long(times, decides):
    numpy, rough = Heat(()), Heat(())
    numpy.add(0.004)
    for _ in range(250):
        rough.add(0.004)
    trial = SimpleNamespace(times=times, numpy=numpy, rough=rough, turns=Turns(False))
    trial.controller = SimpleNamespace(config=SimpleNamespace(check=False))
    trial._numpy_spent = Trial._numpy_spent.fget(trial)
    assert bool(Trial._reference(trial)) == decides


def test_where_numpy_takes_long_it_is_timed_again_only_if_the_two_are_close():
    numpy, rough = Heat(()), Heat(())
    rough.add(0.6)
    trial = SimpleNamespace(times=[], numpy=numpy, rough=rough, turns=Turns(False))

    def is_numpys():
        return Trial._is_numpys_turn(trial)

    assert not is_numpys()
    trial.times = [0.58]
    assert is_numpys()
    numpy.add(0.6)
    assert not is_numpys()
    trial.times = [0.58, 0.2]
    assert not is_numpys()
    trial.times = [0.58, 0.59]
    assert is_numpys()
    numpy.add(0.55)
    assert not is_numpys()
    for runs in (3, 4, 5):  # as often as the plan
        trial.times = [0.58] * runs
        assert is_numpys() is (runs < 5)
        numpy.add(0.6)


def test_where_the_two_are_close_and_long_both_are_timed_several_times():
    numpy, rough = Heat(()), Heat(())
    trial = SimpleNamespace(times=[0.52] * 4, numpy=numpy, rough=rough, turns=Turns(False))
    trial.controller = SimpleNamespace(config=SimpleNamespace(check=False))
    for seconds, decides in ((0.59, False), (0.59, False), (0.58, False), (0.41, True)):
        numpy.add(seconds)  # in new memory, most of them
        trial._numpy_spent = Trial._numpy_spent.fget(trial)
        assert bool(Trial._reference(trial)) is decides
    assert Trial._reference(trial) == 0.41
    trial.times = [0.52, 0.3]
    numpy.last.clear(), numpy.cool()
    numpy.add(0.59)
    assert not Trial._reference(trial)  # the plan is timed four times


def test_one_long_run_of_numpys_does_not_decide_that_was_faster_before():
    trial = SimpleNamespace(times=[0.11, 0.11], numpy=Heat(()), rough=Heat(()), turns=Turns(False))
    trial.controller = SimpleNamespace(config=SimpleNamespace(check=False))
    trial.rough.add(0.05)
    trial.numpy.add(0.3)  # in new memory
    trial._numpy_spent = Trial._numpy_spent.fget(trial)
    assert Trial._is_numpys_turn(trial) and not Trial._reference(trial)
    trial.numpy.add(0.3)
    trial.times += [0.11, 0.11]
    trial.numpy.add(0.3), trial.numpy.add(0.3)
    assert not Trial._is_numpys_turn(trial) and Trial._reference(trial) == 0.3  # it does take so long by now


@pytest.mark.parametrize(
    "numpy_seconds, times, decides",
    [
        (0.44, [0.6], False),
        (0.44, [0.6, 0.58], True),
        (0.44, [0.7, 0.5], False),  # the first one may have touched new memory
        (0.04, [0.06, 0.058], False),  # a call of which there will be many
    ],
)
def test_two_runs_decide_where_a_long_call_is_clearly_slower(numpy_seconds, times, decides):
    trial = SimpleNamespace(times=times, numpy=Heat(()), rough=Heat(()), turns=Turns(False))
    trial.controller = SimpleNamespace(config=SimpleNamespace(check=False))
    trial.numpy.add(numpy_seconds)
    trial._numpy_spent = Trial._numpy_spent.fget(trial)
    assert bool(Trial._reference(trial)) is decides


def test_a_plan_wins_by_its_usual_run_not_by_a_lucky_one():
    numpy = [0.37, 0.35, 0.36, 0.35, 0.4]

    def wins(*times):
        return _is_faster(times, numpy, min(numpy))

    assert wins(0.3, 0.31, 0.36, 0.3) and wins(0.5, 0.3, 0.3, 0.3)
    assert not wins(0.45, 0.5, 0.45, 0.32, 0.46) and not wins(0.34, 0.34, 0.34, 0.34)
    assert _is_faster([0.1, 0.5], [], 0.35)  # NumPy was only timed beside the compilation


def test_close_trials_go_on_in_blocks():
    """Call by call, each finds the caches as the other has left them."""
    trial = SimpleNamespace(times=[0.9e-3], numpy=Heat(()), turns=Turns(False))
    trial.controller = SimpleNamespace(config=SimpleNamespace(check=False))
    assert not Trial._is_open(trial, 1e-3)  # NumPy was not timed
    trial.numpy.add(1e-3)
    assert Trial._is_open(trial, 1e-3)
    for seconds, times in ((1e-3, [0.7e-3]), (1e-3, [1.4e-3]), (0.2, [0.19])):
        trial.times = times
        assert not Trial._is_open(trial, seconds)
    trial.times, trial.turns = [0.9e-3], Turns(True)
    assert not Trial._is_open(trial, 1e-3)


def test_products_alone_are_left_to_numpys_library(monkeypatch):
    """No program is compiled for them, and what has more to do is."""
    monkeypatch.setattr(Heat, "best", 0.05)  # whatever the load of the machine

    def chain(a, b, c):
        return a @ b @ c

    def scaled(a, b, c):
        x = np.sin(a) * np.cos(b)
        for _ in range(3):
            x = np.exp(-x * x) + c
        return x @ c

    a = np.random.default_rng(0).random((1000, 1000))
    for function, is_left in ((chain, True), (scaled, False)):
        fast = aj.autocluster(function, policy="measured", disk_cache=False, check=False)
        end = time.perf_counter() + 60
        while not any(probe.plans for probe in fast.__autojit_controller__.probes.values()):
            np.testing.assert_allclose(fast(a, a, a), function(a, a, a))
            assert time.perf_counter() < end
        reasons = {getattr(plan.reason, "id", "") for probe in fast.__autojit_controller__.probes.values() for plan in probe.plans}
        assert ("products" in reasons) == is_left, reasons
        assert not is_left or fast.cache_info().compiles == 0
