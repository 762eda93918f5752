"""How much of a program's time making plans may take, where nobody has decorated its functions."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import autojit as aj
from autojit.runtime import allowance, heat
from autojit.runtime.allowance import ALLOWANCE, Allowance
from autojit.runtime.background import BACKGROUND
from autojit.runtime.heat import Heat
from autojit.runtime.remembered import Verdict
from autojit.runtime.takeover import Takeover
from tests.measuring import X, compiling_pays  # noqa: F401 -- a fixture


class Probe:
    hits = 0


@pytest.fixture(name="mine")
def that_knows_the_time(monkeypatch):
    """An allowance with a limit, in a program that has just begun."""
    monkeypatch.setattr(allowance, "SHARE", 0.05)
    mine = Allowance()
    mine._begun = time.perf_counter() + 1000.0 - 2.0  # so that what passes in the test does not count
    mine.spent = -1000.0 * 0.05
    mine.limit()
    return mine


def test_where_the_user_has_named_the_functions_there_is_no_limit():
    mine = Allowance()
    mine.spend(1e6)
    assert not mine.delay(1e6) and not mine.delay_of_capture(1e6)


def test_decorated_functions_may_cost_a_fifth_of_the_time_since_the_first_call(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(allowance, "perf_counter", lambda: now[0])
    monkeypatch.setattr(heat, "WAITS", 5.0)
    mine, probe = Allowance(), Probe()
    mine.spend(3.0)  # before, for functions whose first call compiles
    now[0] = 200.0
    mine.begin()
    assert mine.lacks(0.1) == pytest.approx(0.5)
    now[0] = 200.5
    mine.begin()  # only the first call counts
    assert mine.lacks(0.09) == 0.0 and mine.lacks(0.3) == pytest.approx(1.0)
    mine.spend(0.1)
    assert mine.lacks(0.1) == pytest.approx(0.5)
    mine.keep(probe, 0.2)
    probe.hits += 1  # half of what it saves may be spent at once
    assert mine.lacks(0.09) == 0.0 and mine.lacks(0.2) == pytest.approx(0.5)
    monkeypatch.setattr(heat, "WAITS", 0.0)
    assert mine.lacks(1e6) == 0.0


def test_no_sequence_of_calls_takes_much_longer_than_in_numpy(monkeypatch):
    """Plans are made as soon as they may be, and none is ever faster."""
    now, lost = [0.0], 0.0
    monkeypatch.setattr(allowance, "perf_counter", lambda: now[0])
    mine = Allowance()
    now[0] = begun = 7.0
    mine.begin()
    for call in range(100_000):
        now[0] += 1e-3  # in NumPy
        cost = 0.01 + 0.1 * (call % 7)
        if not mine.lacks(cost):
            now[0] += cost
            lost += cost
            mine.spend(cost)
        passed = now[0] - begun
        assert passed <= 1.2 * (passed - lost) + 1e-9
    assert lost > 10.0


def test_a_share_of_the_time_may_be_spent(mine):
    assert not mine.delay(0.09) and mine.delay(0.12) == pytest.approx(0.4, abs=0.1)
    mine.spend(0.09)
    assert mine.delay(0.05) == pytest.approx(0.8, abs=0.1)
    mine._begun -= 2.0  # which give 0.1
    assert not mine.delay(0.05) and mine.delay(0.12)


def test_for_what_promises_to_be_faster_there_is_an_advance(mine, monkeypatch):
    monkeypatch.setattr(allowance, "ADVANCE", 0.4)
    monkeypatch.setattr(allowance, "OF_PROMISED", 0.5)
    assert mine.delay(0.25, promises=True)  # nobody knows for how long
    mine.promise(0.2)
    assert mine.delay(0.25, promises=True)
    mine.promise(0.4)
    mine.promise(0.1)  # another region
    assert mine.delay(0.25) and not mine.delay(0.25, promises=True)  # half of it, and a share of 2 s
    mine.promise(1e3)
    assert mine.delay(0.45) and not mine.delay(0.45, promises=True)
    mine.spend(0.45)
    assert mine.delay(0.06, promises=True)


def test_what_a_thread_does_in_python_counts_as_far_as_it_holds_others_up(mine):
    def work():
        stop = time.thread_time() + 0.1
        while time.thread_time() < stop:
            pass

    before = mine.spent
    with mine.sharing():
        work()  # nobody else goes on meanwhile
    assert mine.spent - before == pytest.approx(0.1, abs=0.05)
    before = mine.spent
    with mine.sharing():
        time.sleep(0.1)
    assert mine.spent - before == pytest.approx(0.0, abs=0.05)
    thread, data = (
        threading.Thread(target=lambda: [np.sort(data) for _ in range(3)]),
        np.random.default_rng(1).random(3_000_000),
    )
    thread.start()
    before = mine.spent
    with mine.sharing():
        time.sleep(0.1)
        while thread.is_alive():  # NumPy does not hold the interpreter
            time.sleep(1e-3)
    assert mine.spent - before < 0.05


def test_what_others_do_counts_in_part(mine):
    before = mine.spent
    mine.spend(0.2, part=0.25)
    assert mine.spent == pytest.approx(before + 0.05)
    mine.spend(1e6, part=0.25)  # it has waited for others
    assert mine.spent == pytest.approx(before + 0.05 + 0.25 * allowance.MOST_BESIDE)


def test_a_program_that_uses_all_processors_loses_more(mine, monkeypatch):
    monkeypatch.setattr(allowance, "_PROCESSORS", 3)
    monkeypatch.setattr(allowance, "ALLOWANCE", mine)
    mine._begun, mine._used = time.perf_counter() - 1e4, time.process_time() - 1e4
    assert mine.crowding < 1e-6 and allowance.part_of_compiling() <= 0.25
    mine._used -= 1e4  # two of three
    assert mine.crowding == pytest.approx(0.5, abs=0.01) and allowance.part_of_compiling() == pytest.approx(0.5, abs=0.01)
    mine._used -= 1e6
    assert mine.crowding == 1.0
    monkeypatch.setattr(allowance, "_PROCESSORS", 1)
    assert mine.crowding == 0.0


def test_what_plans_save_may_be_spent(mine):
    probe = Probe()
    mine.spend(1.0)
    probe.hits = 10
    mine.keep(probe, 0.1)
    assert mine.saved == 0.0  # what it saves from now on counts
    probe.hits = 30
    assert mine.saved == pytest.approx(2.0)
    assert not mine.delay(0.05)
    mine.gain(1.0)
    assert mine.saved == pytest.approx(3.0)
    mine.keep(probe, 5.0)  # another kind of calls: nobody knows of which a hit is
    probe.hits = 40
    assert mine.saved == pytest.approx(4.0)
    probe.hits = 0  # the function was cleared
    assert mine.saved == pytest.approx(4.0)
    probe.hits = 10
    assert mine.saved == pytest.approx(5.0)
    del probe
    assert mine.saved == pytest.approx(5.0)


def test_who_comes_in_while_it_is_counted_does_not_wait(mine):
    probe = Probe()
    with mine._counts:
        mine.keep(probe, 1.0)
        probe.hits = 10
        assert mine.saved == 0.0
    assert mine.saved == 0.0


def poly(x):
    return x * x * 3 + np.sin(x)


@pytest.fixture(name="spent")
def all_is_spent(monkeypatch):
    """No time is left."""
    monkeypatch.setattr(ALLOWANCE, "spent", 1e9)
    monkeypatch.setattr(ALLOWANCE, "is_limited", True)


@pytest.mark.usefixtures("pays", "spent")
def test_where_all_is_spent_nothing_is_captured_until_there_is_some_again(monkeypatch):
    fast = aj.autocluster(poly)
    for _ in range(6):
        np.testing.assert_allclose(fast(X), poly(X), rtol=1e-14)
        BACKGROUND.wait()
    assert not fast.cache_info().captures
    monkeypatch.setattr(ALLOWANCE, "spent", -1e9)
    time.sleep(1.2)  # nobody asks for a second at most
    for _ in range(6):
        np.testing.assert_allclose(fast(X), poly(X), rtol=1e-14)
        BACKGROUND.wait()
    assert fast.cache_info().captures == 1


@pytest.mark.usefixtures("pays", "spent")
def test_what_an_earlier_process_has_found_to_be_faster_is_not_limited(monkeypatch):
    verdict = Verdict(True, 1.0, 1e-6, 1e-6)
    monkeypatch.setattr("autojit.runtime.warmup.WarmUp.recall", lambda self, probe, heat: verdict)
    fast = aj.autocluster(poly)
    for _ in range(6):
        np.testing.assert_allclose(fast(X), poly(X), rtol=1e-14)
        BACKGROUND.wait()
    assert fast.cache_info().captures == 1


@pytest.mark.usefixtures("pays")
def test_what_is_spent_and_saved_is_counted():
    spent, saved = ALLOWANCE.spent, ALLOWANCE.saved
    fast = aj.autocluster(poly)
    for _ in range(20):
        fast(X)
        BACKGROUND.wait()
    assert ALLOWANCE.spent > spent
    if not fast.__autojit_controller__.config.check:
        assert ALLOWANCE.saved > saved + 0.9  # each hit saves what NumPy is said to take, a second


@pytest.mark.usefixtures("pays", "spent")
def test_loops_are_not_taken_over_where_all_is_spent(monkeypatch):
    def walk(n):
        total = 0.0
        for k in range(n):
            total += np.sin(k)
        return total

    fast = aj.autocluster(walk)
    fast(3)
    (probe,) = [one for one in fast.__autojit_controller__.probes.values() if one.takeovers]
    (takeover,) = probe.takeovers
    assert type(takeover) is Takeover and takeover.is_due_after(1e6)  # the program's thread is to look
    takeover.look()
    assert not takeover.is_due_after(1e6)
    monkeypatch.setattr(ALLOWANCE, "spent", -1e9)
    assert takeover.is_due_after(1e6)
    assert Heat.best == 1.0


def test_a_report_is_not_bounded():
    allowance = Allowance()
    allowance.begin()
    allowance.spend(5.0)
    assert allowance.lacks(1.0) > 0.0
    allowance.is_bounded = False
    assert allowance.lacks(1.0) == 0.0
