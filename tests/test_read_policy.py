"""What readers of the runtime's policies have found: sleeps without an end, decisions that are interrupted."""

import importlib
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import autojit as aj
from autojit.runtime import measured, probe, watch
from autojit.runtime.background import BACKGROUND
from autojit.runtime.measured import Trial
from autojit.runtime.probe import _NOBODY
from autojit.runtime.remembered import key_of
from tests.helpers import assert_same
from tests.measuring import X, compiling_pays, probe_of  # noqa: F401 -- a fixture


def poly(x):
    return x * x * 3 + np.sin(x)


def until(condition, seconds=30.0):
    end = time.perf_counter() + seconds
    while not condition() and time.perf_counter() < end:
        time.sleep(0.01)
    return condition()


# ---- sleeps


def test_a_deep_sleep_ends_though_nobody_around_is_asked(monkeypatch):
    monkeypatch.setattr(probe, "_NAPS", (0.1, 0.1))
    fast = aj.autocluster(poly)
    one = probe_of(fast)
    one.is_deep, one.nap = True, 0.1
    one.sleep()
    assert one.sleeps and not one.on and one.timed is None
    assert until(lambda: one.on) and not one.sleeps


def test_long_sleeps_let_the_watch_rest(monkeypatch):
    """... and it comes back for who goes to sleep meanwhile."""
    monkeypatch.setattr(watch, "EVERY", 0.001)
    monkeypatch.setattr(probe, "_NAPS", (1000.0, 1000.0))
    late, soon = probe_of(aj.autocluster(poly)), probe_of(aj.autocluster(lambda x: poly(x)))
    late.is_deep, late.nap = True, 1000.0
    late.sleep()
    assert until(lambda: not watch.WATCH._wake.is_set())
    assert soon.nap_for(0.05)
    assert until(lambda: soon.on) and late.sleeps
    late.wakes = 0.0
    late.rouse()
    assert late.on


def test_another_threads_call_does_not_undo_a_light_sleep():
    one = probe_of(aj.autocluster(poly))
    heat = one.heats.of((X,))
    one.sleep()
    assert one.timed is _NOBODY
    one.time(heat)  # by a thread that was asked before
    assert one.timed is _NOBODY
    one.timed = threading.get_ident(), heat
    begun = one.begin()
    assert begun is not None and one.timed is _NOBODY
    one.end(begun)


def test_a_long_call_that_begins_in_a_light_sleep_is_looked_after(monkeypatch):
    one = probe_of(aj.autocluster(poly))
    one.watched = True
    one.sleep()
    begun = one.begin()
    assert begun[3] == threading.get_ident() and (begun[3], begun[2]) in watch.WATCH._running
    one.end(begun)
    assert (begun[3], begun[2]) not in watch.WATCH._running


# ---- parts


@pytest.mark.usefixtures("pays")
def test_parts_are_asked_again_when_the_plan_around_is_given_up(monkeypatch):
    def f(rows, w):
        p = np.prod(w)
        out = np.zeros(len(rows))
        for k, row in enumerate(rows):
            out[k] = (np.sin(row) * np.cos(row) + row**2).sum() * p
        return out

    monkeypatch.setattr(measured, "_is_faster", lambda *_: True)
    fast = aj.autocluster(check=False)(f)
    rows, ones = np.random.default_rng(0).random((60, 50)), np.ones(20)
    root = probe_of(fast)
    for _ in range(200):
        assert_same(fast(rows, ones), f(rows, ones), 1e-12)
        BACKGROUND.wait()
        if any(not plan.is_native for plan in root.plans):
            break
    parts = [one for one in fast.__autojit_controller__.probes.values() if one is not root]
    assert parts and all(one.is_quiet for one in parts)
    small = np.full(20, 1e-30)
    for _ in range(300):
        assert_same(fast(rows, small), f(rows, small), 1e-12)
    assert all(plan.is_native for plan in root.plans) and not any(one.is_quiet for one in parts)


# ---- decisions


@pytest.mark.usefixtures("pays")
@pytest.mark.parametrize("error", [ValueError("ours"), KeyboardInterrupt()])
def test_a_decision_that_fails_is_made_again_or_told(monkeypatch, error):
    failed = []
    decide = Trial._decide

    def once(self, *args):
        if not failed:
            failed.append(self)
            raise error
        decide(self, *args)

    monkeypatch.setattr(Trial, "_decide", once)
    fast = aj.autocluster(check=False)(poly)
    one = probe_of(fast)
    for _ in range(400):
        try:
            with warnings.catch_warnings():
                # The program raises while something is compiled, which autojit tells.
                warnings.filterwarnings("ignore", "compiling failed: ours|.*ours", aj.AutojitWarning)
                assert_same(fast(X), poly(X), 1e-12)
        except KeyboardInterrupt:
            assert isinstance(error, KeyboardInterrupt)
        BACKGROUND.wait()
    assert failed and not any(getattr(plan.reason, "is_trial", False) for plan in one.plans)


@pytest.mark.usefixtures("pays")
def test_nobody_waits_for_who_decides(monkeypatch):
    """A finalizer in the thread that decides may want a lock that the waiting thread holds."""
    fast = aj.autocluster(check=False)(poly)
    inside, go_on, held = threading.Event(), threading.Event(), []

    def waits(self, *args):
        held.append(self)
        inside.set()
        assert go_on.wait(60)

    monkeypatch.setattr(Trial, "_decide", waits)
    calls = threading.Event()

    def work():
        while not calls.is_set():
            fast(X)
            BACKGROUND.wait()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert inside.wait(60)
        begin = time.perf_counter()
        for _ in range(20):
            assert_same(fast(X), poly(X), 1e-12)  # in this thread, while the other one decides
        held[0]._took(1.0)
        held[0]._note(held[0].compiled, 1.0)
        assert time.perf_counter() < begin + 20
    finally:
        calls.set()
        go_on.set()
        thread.join()


# ---- large integers, deep stacks, globals that change


def test_literals_of_thousands_of_digits(tmp_path, monkeypatch):
    (tmp_path / "large_literals.py").write_text(
        f"import numpy as np\n\n\ndef g(x):\n    M = {hex(16**3600 - 1)}\n    return x * (M % 7)\n\n\n"
        "def f(x):\n    print(end='')\n    return g(x + 1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("large_literals")
    g, f, x = module.g, module.f, np.arange(3.0)
    assert key_of(g, "") == key_of(g, "") != key_of(f, "")
    want = f(x)
    for function in (f, g):
        fast = aj.autocluster(policy="eager")(function)
        for _ in range(2):
            assert_same(fast(x), want if function is f else g(x))


def test_a_first_call_near_the_end_of_the_stack_decides_nothing():
    @aj.autocluster(policy="eager")
    def leaf(x):
        return np.sin(x) * 2 + x

    def down(n, x):
        return leaf(x) if n == 0 else down(n - 1, x)

    x, depth, frame = np.arange(5.0), 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    down(sys.getrecursionlimit() - depth - 60, x)
    assert not leaf.cache_info().plans
    np.testing.assert_allclose(leaf(x), np.sin(x) * 2 + x, rtol=1e-14)
    assert leaf.cache_info().plans == 1 and leaf.explain(x).is_whole


COUNT = 3


def head(x):
    return np.sin(x[:COUNT]) * 2


@pytest.mark.parametrize("before", [0, 2])
def test_a_global_that_changes_while_a_plan_is_made(monkeypatch, before):
    fast = aj.autocluster(policy="eager")(head)
    one, x = probe_of(fast), np.arange(10.0)
    make = one.owner.maker.make

    def changes(*args):
        made = make(*args)
        monkeypatch.setitem(globals(), "COUNT", 4)
        return made

    monkeypatch.setattr(one.owner.maker, "make", changes)
    one.refusals = before
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        assert_same(fast(x), np.sin(x[:4]) * 2, 1e-14)
    assert one.on == (not before) and len(told) == bool(before)
    if told:
        assert "refuses the call it was made for" in str(told[0].message)


# ---- integers of 64 bits


@pytest.mark.parametrize("out", [np.zeros(1000), np.zeros(1000, np.int64)])
def test_python_divisions_that_64_bits_do_not_hold(out):
    def f(out, k):
        for i in range(-1000, 0):
            out[i] = k // i
        return out

    fast = aj.autocluster(policy="eager")(f)
    for k in (7, -(2**63) + 1, -(2**63)):
        if out.dtype == np.int64 and k == -(2**63):
            for one in (f, fast):
                with pytest.raises(OverflowError):
                    one(out.copy(), k)
        else:
            assert_same(fast(out.copy(), k), f(out.copy(), k))
