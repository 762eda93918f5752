"""The policy `measured`: NumPy is timed call by call, and what comes often enough to pay is compiled."""

import json
import os
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.errors import Reason
from autojit.runtime.background import BACKGROUND
from autojit.runtime.heat import ASKING, BURST, SEEN, SHARE, Heat, HeatMap, price_of
from autojit.runtime.plan import NATIVE, Plan
from autojit.runtime.probe import IDLE, Probe
from tests.measuring import X, compiling_pays, probe_of  # noqa: F401 -- a fixture


def poly(x):
    return x * x * 3 + np.sin(x)


def test_one_call_captures_nothing():
    fast = aj.autocluster(poly)
    np.testing.assert_array_equal(fast(X), poly(X))
    BACKGROUND.wait()
    info = fast.cache_info()
    assert (info.misses, info.captures, info.compiles) == (1, 0, 0)
    (heat,) = probe_of(fast).heats._kinds.values()
    assert heat.calls == 1 and 0 < heat.seconds < 1


@pytest.mark.usefixtures("pays")
def test_each_constant_has_its_plan():
    def head(x, n):
        return np.cumsum(x[: x.size // n] * 2)

    fast = aj.autocluster(head)
    for n in (2, 5, 2, 10, 5, 10, 2):
        for _ in range(3):
            np.testing.assert_allclose(fast(X, n), head(X, n), rtol=1e-13)
            BACKGROUND.wait()
    assert fast.cache_info().plans == 3


def test_many_shapes_compile_nothing(monkeypatch):
    fast = aj.autocluster(poly)
    for size in range(1, 1000):
        np.testing.assert_array_equal(fast(X[:size]), poly(X[:size]))
    assert fast.cache_info().captures == 0
    assert len(probe_of(fast).heats._kinds) <= 64


@pytest.mark.usefixtures("pays")
def test_a_storm_of_shapes_is_told_and_ends(monkeypatch):
    def running(x):
        return np.append(np.diff(x), x[0]) * 2  # of neighbours: there is no plan for several lengths

    fast = aj.autocluster(running)
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=aj.AutojitWarning)
        for size in range(100, 112):
            for _ in range(3):
                np.testing.assert_allclose(fast(X[:size]), running(X[:size]), rtol=1e-14)
                BACKGROUND.wait()
                if probe_of(fast).gate is not None:  # a second later
                    probe_of(fast).gate.rouse()
        fast(X[:7])
    (told,) = (each for each in caught if each.category is aj.AutojitWarning)
    assert "more than 8 combinations" in str(told.message) and told.filename == __file__
    assert "`x` was float64[100], float64[101], float64[102], float64[103] ..." in str(told.message)
    assert len(probe_of(fast).plans) == 8 and probe_of(fast).crowd.dropped == 4
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1.0)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 4.0)
    assert price_of(0.1, 2) == 4.0 and price_of(0.5, 3) == 16.0  # each one that follows must have paid for more


@pytest.mark.usefixtures("pays")
def test_one_plan_takes_many_lengths():
    fast = aj.autocluster(poly)
    for size in range(100, 128):
        for _ in range(3):
            np.testing.assert_allclose(fast(X[:size]), poly(X[:size]), rtol=1e-14)
            BACKGROUND.wait()
    assert fast.cache_info().captures == 2 and len(probe_of(fast).plans) == 2


def test_probes_of_tiny_calls_sleep_until_a_call_is_long(monkeypatch):
    monkeypatch.setattr("autojit.runtime.probe._MIXED", float("inf"))  # what else runs makes some calls long
    fast, x = aj.autocluster(lambda x: x + 1), np.ones(3)
    end = time.perf_counter() + 30
    while time.perf_counter() < end:  # what else runs may make some calls long enough for naps
        fast(x)
        if probe_of(fast).sleeps and probe_of(fast).forgets:
            break
    assert probe_of(fast).sleeps and probe_of(fast).forgets and not probe_of(fast).on
    misses = fast.cache_info().misses
    fast(x)
    assert fast.cache_info().misses == misses
    large = np.ones(2_000_000)
    for _ in range(20):  # one alone may take less than a millisecond
        np.testing.assert_array_equal(fast(large), large + 1)
        if not probe_of(fast).sleeps:
            break
    assert not probe_of(fast).sleeps and fast.cache_info().misses == misses
    np.testing.assert_array_equal(fast(large), large + 1)
    assert fast.cache_info().misses == misses + 1


def test_exceptions_pass_through_the_clock():
    def outer(a, i):
        for k in range(3):
            try:
                if k == i:
                    continue
                a[k] = a[10 * k] + 1
            finally:
                a[0] += 1
        return a

    for function in (outer, aj.autocluster(outer)):
        a = np.zeros(15)
        with pytest.raises(IndexError, match="index 20 is out of bounds") as raised:
            function(a, 5)
        frames = traceback.extract_tb(raised.value.__traceback__)
        assert [frame.name for frame in frames][1:] == ["outer"] and frames[-1].line == "a[k] = a[10 * k] + 1"
        assert a[0] == 4 and a[1] == 1


@pytest.mark.usefixtures("pays")
def test_functions_with_native_statements():
    def steps(x, log):
        y = np.sqrt(x) * 2
        log.append(f"{np.sum(y * 2 + 1):.6f}")
        for k in range(3):
            y = np.cos(y) + k
            log.insert(k, str(np.max(y * k) > 1))
        return y / 3, log

    fast = aj.autocluster(steps)
    for turn in range(10):
        for found, expected in zip(fast(X, []), steps(X, []), strict=True):
            assert np.array_equal(found, expected) if isinstance(found, list) else np.allclose(found, expected, rtol=1e-12, atol=1e-12), turn
        BACKGROUND.wait()
    assert fast.cache_info().hits > 5


def test_blocks_as_deep_as_python_takes_them():
    lines = ["def deep(a):", *(f"{' ' * n}for i{n} in range(1):" for n in range(1, 20)), " " * 20 + "print(end='')"]
    lines += [" " * 20 + "a += 1", " return a"]
    path = Path(__file__).with_name("deep_blocks.py")
    namespace: dict = {}
    import linecache

    text = "\n".join(lines) + "\n"
    linecache.cache[str(path)] = (len(text), None, text.splitlines(True), str(path))
    exec(compile(text, str(path), "exec"), namespace)
    fast = aj.autocluster(namespace["deep"])
    for turn in range(3):
        assert fast(np.zeros(2)).tolist() == [1, 1], turn


def test_kinds_of_calls():
    heats = HeatMap()
    one = heats.of((X, 3, "a"))
    assert heats.of((X + 1, 4, "b")) is one
    for other in ((X[:5], 3, "a"), (X.astype("f4"), 3, "a"), (X, 3.0, "a"), (X, 3, None), (X,)):
        assert heats.of(other) is not one
    for size in range(100):
        heats.of((np.empty((7, size)),))
    assert heats.of((X, 3, "a")) is not one  # forgotten
    heat = Heat()
    for seconds in (0.5, 0.1, 0.2):
        heat.add(seconds)
    assert heat.best == 0.1 and heat.calls == 3 and heat.seconds >= price_of(0.01, 0)
    for _ in range(SEEN):
        assert not heats.are_tiny()
        heats.note(heat, 1e-6)
    assert heats.are_tiny()
    heats.note(heat, 1e-3)
    assert not heats.are_tiny()


def test_kinds_that_have_taken_long_are_remembered():
    heats = HeatMap()
    heats.by_rows = False
    one = heats.of((X,))
    heats.note(one, 1e-2)
    for turn in range(4):
        for size in range(200):
            heats.note(heats.of((np.empty((size, turn)),)), 1e-5)
        assert heats.of((X,)) is one
        heats.note(one, 1e-2)
    for size in range(20_000):  # each one that is forgotten raises what new time counts from
        heats.note(heats.of((np.empty((size, 5)),)), 1e-3)
    assert heats.of((X,)) is not one


def test_kinds_of_about_as_many_rows():
    heats = HeatMap()
    one = heats.of((np.empty((40, 3)), 1.0))
    assert heats.of((np.empty((33, 3)), 2.0)) is one and one.kind[0][1] == (48, 3)
    for shape in ((32, 3), (49, 3), (40, 4), (40,), (3, 40)):
        assert heats.of((np.empty(shape), 1.0)) is not one
    heats.by_rows = False
    assert heats.of((np.empty((33, 3)), 1.0)) is not heats.of((np.empty((34, 3)), 1.0))


@pytest.fixture(name="stopped")
def that_stands_still(monkeypatch):
    """The clock that naps are reckoned by."""
    now = time.perf_counter()
    monkeypatch.setattr("autojit.runtime.heat.perf_counter", lambda: now)
    return now


def naps_of(seconds, calls=BURST):
    """The nap after so many calls of so many seconds, which were all that happened; and the heat of their kind."""
    heats = HeatMap()
    heat = heats.of((X,))
    heats._since -= calls * seconds
    for _ in range(calls):
        heats.note(heat, seconds)
    return (heats.nap(0.05, 1.0) if heats.is_due() else 0.0), heat


@pytest.mark.usefixtures("stopped")
def test_asking_takes_a_fraction_of_short_calls():
    assert naps_of(50e-6, BURST - 1)[0] == 0
    assert naps_of(ASKING / SHARE * 1.5)[0] == 0
    for seconds in (50e-6, 2e-4, 1e-3):
        nap, heat = naps_of(seconds)
        assert nap * SHARE >= 0.99 * ASKING * BURST or nap == 1.0
        # As if they had been timed meanwhile: what pays is compiled as late as ever. A clock has gone on.
        assert heat.seconds == pytest.approx(BURST * seconds + nap, rel=0.3)
        assert heat.calls == BURST and heat.best == seconds
    assert naps_of(1e-5)[0] == 0  # these sleep, as soon as there are more of them


def test_times_are_added_once_for_each_nap(stopped):
    heats = HeatMap()
    heat = heats.of((X,))
    for number in range(1, 4):
        heats._since = stopped - 10 * BURST * 5e-5  # a tenth of the time is the region's
        for _ in range(BURST):
            heats.note(heat, 5e-5)
        nap = heats.nap(0.05, 0.05)
        assert nap == 0.05
        assert heat.seconds == pytest.approx(number * (BURST * 5e-5 + 0.005), rel=0.3)
    heat.cool()
    assert heat.seconds == heat.seen == 0


def test_regions_of_short_calls_nap_and_go_on(monkeypatch):
    monkeypatch.setattr("autojit.runtime.heat.TINY", 0.0)
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e9)  # what is compiled naps no more
    naps, nap_for = Counter(), Probe.nap_for

    def counted(probe, seconds):
        assert not probe.sleeps  # who naps again has been woken
        naps[probe] += 1
        return nap_for(probe, seconds)

    monkeypatch.setattr(Probe, "nap_for", counted)

    def shrink(x):
        total = 0.0
        while x.size > 10:
            x = x[:-1] * 1.0
            total += x.sum()
        return total

    fast = aj.autocluster(shrink)
    x = X[:200]
    want = shrink(x)
    end = time.perf_counter() + 60
    while time.perf_counter() < end and max(naps.values(), default=0) < 3:
        assert fast(x) == pytest.approx(want, rel=1e-12)
    assert max(naps.values()) >= 3


def test_what_a_user_has_decorated_naps_and_is_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr("autojit.runtime.heat.TINY", 0.0)
    monkeypatch.setattr(Heat, "best", 1.0)
    fast, x, slept = aj.autocluster(poly), X[:500], False
    end = time.perf_counter() + 60
    while time.perf_counter() < end and not fast.cache_info().hits:
        np.testing.assert_allclose(fast(x), poly(x), rtol=1e-13)
        if probe_of(fast).sleeps and not slept:
            slept = True
            assert not fast.explain(x).standing  # it is not said to be too small
    assert slept and fast.cache_info().hits


def until_awake(probe):
    end = time.perf_counter() + 30
    while probe.sleeps and time.perf_counter() < end:
        time.sleep(0.01)
    time.sleep(0.05)  # what might switch it on comes right after that


def test_who_is_woken_late_is_switched_off_all_the_same(monkeypatch):
    monkeypatch.setattr("autojit.runtime.heat.TINY", 0.0)
    fast = aj.autocluster(poly)
    probe = probe_of(fast)
    assert probe.nap_for(0.05) and probe.sleeps and not probe.on
    probe.owner.switch(False)
    until_awake(probe)
    assert not probe.on and not probe.sleeps
    probe.owner.switch(True)
    assert probe.on and probe.nap_for(60.0)
    probe.owner.turn_off(probe)
    probe.rouse()
    assert not probe.on
    fast.__autojit_controller__.clear()
    assert probe.on
    probe.be_quiet(True)
    assert not probe.on and probe.nap_for(0.05)
    until_awake(probe)
    assert not probe.on and not probe.sleeps  # the region around it is compiled
    probe.owner.switch(False)
    probe.owner.switch(True)
    assert not probe.on
    probe.be_quiet(False)
    assert probe.on


def test_loops_whose_long_calls_are_all_numpys_nap(monkeypatch):
    """A light sleep would end with the next long call."""
    fast = aj.autocluster(poly)
    probe = probe_of(fast)
    monkeypatch.setattr("autojit.runtime.probe._GUARDING", 1.0)  # calls come often, whatever the machine does
    monkeypatch.setattr("autojit.runtime.probe._WAKES", float("inf"))  # nor does what disturbs a call wake anybody
    probe.is_deep, probe.heats.long, probe.looked = True, 1.0, -1e9
    probe.plans = (Plan(lambda x: NATIVE, "", None, reason=Reason("slower", "a test")),)
    for is_often in (False, True):
        for _ in range(IDLE):
            fast(X)
        assert not probe.on and probe.sleeps and (probe.timed is None) == is_often
        probe._wake()
        assert probe.on


def test_nobody_naps_where_no_thread_can_end_it(monkeypatch):
    monkeypatch.setattr("autojit.runtime.probe.WATCH.rouses", lambda probe: False)
    decorated = aj.autocluster(poly)
    probe = probe_of(decorated)
    assert not probe.nap_for(60.0) and probe.on and not probe.sleeps


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_nap_ends_in_a_forked_process(monkeypatch):
    decorated = aj.autocluster(poly)
    probe = probe_of(decorated)
    assert probe.nap_for(60.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # this process may have threads
        child = os.fork()
    if child == 0:
        os._exit(3 if probe.sleeps else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert probe.sleeps
    probe.rouse()
    assert not probe.sleeps and probe.on


_REMEMBERING = """
import json, sys, time
import numpy as np
import autojit as aj
from autojit.runtime import door, heat
from autojit.runtime.allowance import Allowance
from autojit.runtime.background import BACKGROUND

def work(x, n):
    for _ in range(n):
        x = np.tanh(x) * 2 + x / 3
    return x

def loses(x):
    return np.sort(x) + x

heat.PAYS_AFTER = 0.02
door.SECONDS = 0.0  # which importing takes, and for which no call of this length would wait
heat.Heat.best = 1.0  # whatever the load of the machine, NumPy loses
Allowance.lacks = lambda self, seconds: 0.0
x = np.linspace(0.0, 1.0, 200_000)
fast, slow = aj.autocluster(work), aj.autocluster(loses)
first = None
for _ in range(int(sys.argv[1])):
    assert np.allclose(fast(x, 20), work(x, 20), rtol=1e-12, atol=1e-12)
    first = first or fast.cache_info()
    slow(x[:1000])
    BACKGROUND.wait()
print(json.dumps([first.hits, first.loads, fast.cache_info().compiles, fast.cache_info().hits]))
"""


def test_what_pays_is_compiled_from_the_first_call_of_the_next_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(_REMEMBERING)
    flags = f"--cache_dir={tmp_path / 'cache'}"
    environment = {**os.environ, "PYTHONPATH": str(Path(aj.__file__).parents[1]), "AUTOJIT_FLAGS": flags}

    def go(calls):
        command = [sys.executable, str(script), str(calls)]
        return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)

    hits, loads, compiles, in_all = go(12)
    assert hits == loads == 0 and 1 <= compiles <= 3 and in_all >= 4  # the loop may be met first
    assert go(2) == [1, 1, 0, 2]


def test_short_and_long_calls_in_turns(monkeypatch):
    """A probe does not sleep for what is tiny while other calls are long."""
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 0.05)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr(Heat, "best", 1.0)
    monkeypatch.setattr("autojit.runtime.heat.ASKING", 0.0)  # nobody naps, however fast the machine is
    fast, tiny, large = aj.autocluster(poly), np.ones(3), np.linspace(0.0, 1.0, 500_000)
    for _ in range(2 * SEEN):
        fast(tiny)
        fast(large)
        BACKGROUND.wait()
    assert fast.cache_info().captures == 1 and fast.cache_info().hits > SEEN / 2


@pytest.mark.usefixtures("pays")
def test_runs_that_raise_are_not_timed():
    def take(x, i):
        y = np.sin(x)
        return y[i] + np.cos(x)

    fast = aj.autocluster(take)
    for _ in range(3):
        with pytest.raises(IndexError):
            fast(X, 5000)
    assert [heat.calls for heat in probe_of(fast).heats._kinds.values()] == [0]
