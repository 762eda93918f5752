"""One run that was slow for other reasons does not decide for good."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import autojit as aj
from autojit.runtime import heat, measured, tuning
from autojit.runtime.background import BACKGROUND
from autojit.runtime.course import Course
from autojit.runtime.heat import Heat
from autojit.runtime.measured import Trial
from autojit.runtime.plans import is_compiling
from autojit.runtime.tuning import Tuning, _Race
from autojit.runtime.turns import Turns


def test_a_loop_goes_on_after_a_run_that_waited():
    course, now, left, runs, by_plan = Course(None, 0, 0.0), 0.5, 10**7, 0, 0
    for _ in range(400):
        if course.times_numpy_first and not course.time_numpy(now, left) or course.is_near(left):
            now, left = now + 0.05, left - 500  # NumPy's
            continue
        count = min(course.next_count(now, left), left)
        runs += 1
        took = 2e-5 + 1e-5 * count + (0.01 if runs == 2 else 0.0)
        course.took(took, now)
        now, left, by_plan = now + took, left - count, by_plan + count
        if course.is_lost or left <= 0:
            break
    assert not course.is_lost and by_plan > 9 * 10**6


def test_calls_that_lost_do_not_keep_others_from_their_plan(monkeypatch):
    monkeypatch.setattr(heat, "PAYS_AFTER", 1e-9)
    monkeypatch.setattr(heat, "WAITS", 0.0)
    monkeypatch.setattr(measured, "LOSES_AFTER", 0.0)
    monkeypatch.setattr(Trial, "_other_way", lambda self, seconds: None)

    @aj.autocluster(check=False)
    def work(x):
        return x * x * 3 + np.sin(x) * x - np.sqrt(x)

    (probe,) = work.__autojit_controller__.probes.values()
    long, short = np.linspace(0.1, 1, 300_000), np.linspace(0.1, 1, 200)
    for x, wins in ((long, True), (short, False)):
        monkeypatch.setattr(measured, "_is_faster", lambda *_, wins=wins: wins)
        for _ in range(300):
            work(x)
            BACKGROUND.wait()
    assert sorted(plan.is_native for plan in probe.plans) == [False, True]
    hits = probe.hits
    for _ in range(20):
        for _ in range(200):
            work(short)
        work(long)
    assert probe.hits - hits == 20


def test_a_short_option_is_not_given_up_after_one_run():
    race = _Race("", 0.0)
    for ours, theirs in ((1e-4, 1e-4), (6e-5, 3e-3)):
        race.add(False, ours), race.add(True, theirs)
    assert not race.is_over
    for _ in range(20):
        race.add(False, 6e-5), race.add(True, 3e-3)
    assert race.is_over


@pytest.mark.parametrize("best, decides", [(0.036, False), (0.3, True)])
def test_of_rare_calls_one_run_does_not_decide_unless_it_was_long(best, decides):
    trial = SimpleNamespace(times=[best], numpy=Heat(()), rough=Heat(()), turns=Turns(False))
    trial.controller = SimpleNamespace(config=SimpleNamespace(check=False))
    trial.numpy.add(0.004), trial.rough.add(0.004)
    trial._numpy_spent = Trial._numpy_spent.fget(trial)
    assert bool(Trial._reference(trial)) is decides


def test_what_will_be_tried_later_keeps_no_other_kind_from_being_captured():
    trial = SimpleNamespace(is_trial=True, waits=True, next=None)
    assert is_compiling(SimpleNamespace(reason=trial))
    trial.next = object()
    assert not is_compiling(SimpleNamespace(reason=trial))


def test_a_plan_is_given_up_whose_data_has_become_numpys():
    @aj.autocluster(policy="eager")
    def product(n):
        total = 1
        for k in range(1, 30):
            total = total * n
        return total

    for _ in range(700):
        product(2)
    for _ in range(600):
        product(5)  # too large for an int of 64 bits
    (probe,) = product.__autojit_controller__.probes.values()
    assert probe.hits == 700 and probe.traps == 256


@pytest.mark.parametrize("elsewhere, price", [(False, 20.0), (True, 4.0)])
def test_what_another_process_takes_to_compile_is_not_waited_for(monkeypatch, elsewhere, price):
    monkeypatch.setattr(type(tuning.SERVICE), "is_used", property(lambda self: elsewhere))
    monkeypatch.setattr(tuning, "next_choice", lambda *_: (None, "another"))
    monkeypatch.setattr(tuning, "largest_loss", lambda *_: 2.0)
    given = SimpleNamespace(controller=SimpleNamespace(config=None))
    prepared = SimpleNamespace(recipe=SimpleNamespace(choice=""))
    plan = SimpleNamespace(executables={"a": SimpleNamespace(compile_seconds=5.0, is_loaded=False)})
    assert Tuning._looked_on(given, plan, prepared, 0.01, frozenset()).race.price == price
