"""The policy `measured`: NumPy goes on while plans are made in the background, and only what is faster stays."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.runtime.background import BACKGROUND, Background
from autojit.runtime.heat import CROWD, SEEN, Heat, HeatMap, price_of
from autojit.runtime.maker import Maker
from autojit.runtime.measured import Trial
from autojit.runtime.turns import Turns


def poly(x):
    return x * x * 3 + np.sin(x)


def probe_of(function):
    return next(iter(function.__autojit_controller__.probes.values()))


@pytest.fixture
def pays(monkeypatch):
    """Compiling pays after the first call, and plans win."""
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr(Heat, "best", 1.0)


@pytest.fixture
def held(monkeypatch):
    """Compiling waits for an event."""
    let, began, compile = threading.Event(), threading.Event(), Maker.compile

    def late(*args):
        began.set()
        assert let.wait(60)
        return compile(*args)

    monkeypatch.setattr(Maker, "compile", late)
    yield began, let
    let.set()
    BACKGROUND.wait()


X = np.linspace(0.0, 1.0, 1000)


def test_one_call_captures_nothing():
    fast = aj.autocluster(poly)
    np.testing.assert_array_equal(fast(X), poly(X))
    BACKGROUND.wait()
    info = fast.cache_info()
    assert (info.misses, info.captures, info.compiles) == (1, 0, 0)
    (heat,) = probe_of(fast).heats._kinds.values()
    assert heat.calls == 1 and 0 < heat.seconds < 1


@pytest.mark.usefixtures("pays")
def test_the_caller_does_not_wait(held):
    began, let = held
    fast = aj.autocluster(poly)
    fast(X)
    for _ in range(5):
        np.testing.assert_array_equal(fast(X), poly(X))
        assert began.wait(60)
    assert fast.cache_info().hits == 0 and fast.cache_info().captures == 1
    let.set()
    BACKGROUND.wait()
    np.testing.assert_allclose(fast(X), poly(X), rtol=1e-14)
    assert fast.cache_info().hits == 1


@pytest.mark.usefixtures("pays")
def test_arrays_can_be_resized_meanwhile(held):
    began, let = held

    def double(x):
        return x * 2

    fast, x = aj.autocluster(double), np.arange(5000.0)
    for _ in range(2):
        fast(x)
    assert began.wait(60)
    x.resize(6000)  # NumPy refuses it for an array that something else holds
    let.set()
    BACKGROUND.wait()
    np.testing.assert_array_equal(fast(x), x * 2)


@pytest.mark.usefixtures("pays")
def test_what_fails_in_the_background_is_told_in_the_foreground(monkeypatch):
    def fail(*args):
        raise MemoryError("no room for the program")

    monkeypatch.setattr(Maker, "compile", fail)
    fast = aj.autocluster(poly)
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=aj.AutojitWarning)
        for size in (1000, 1001):
            for _ in range(8):
                np.testing.assert_array_equal(fast(X[:size]), poly(X[:size]))
                BACKGROUND.wait()
        told = [each for each in caught if each.category is aj.AutojitWarning]
    assert [Path(each.filename).name for each in told] == [Path(__file__).name]
    assert "no room for the program" in str(told[0].message)


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
    fast = aj.autocluster(poly)
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=aj.AutojitWarning)
        for size in range(100, 112):
            for _ in range(3):
                np.testing.assert_allclose(fast(X[:size]), poly(X[:size]), rtol=1e-14)
                BACKGROUND.wait()
        fast(X[:7])
    (told,) = (each for each in caught if each.category is aj.AutojitWarning)
    assert "more than 8 combinations" in str(told.message) and told.filename == __file__
    assert "`x` was float64[100], float64[101], float64[102], float64[103] ..." in str(told.message)
    assert len(probe_of(fast).plans) == 8 and probe_of(fast).crowd.dropped == 4
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1.0)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 4.0)
    assert price_of(0.1, 2) == 4.0 and price_of(0.5, 3) == 16.0  # each one that follows must have paid for more


def test_probes_of_tiny_calls_sleep_until_a_call_is_long():
    fast, x = aj.autocluster(lambda x: x + 1), np.ones(3)
    for _ in range(40 * SEEN):
        fast(x)
        if probe_of(fast).sleeps:
            break
    assert probe_of(fast).sleeps and not probe_of(fast).on
    misses = fast.cache_info().misses
    fast(x)
    assert fast.cache_info().misses == misses
    large = np.ones(2_000_000)
    for _ in range(2):
        np.testing.assert_array_equal(fast(large), large + 1)
    assert not probe_of(fast).sleeps and fast.cache_info().misses == misses + 1


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
            assert np.array_equal(found, expected) if isinstance(found, list) else np.allclose(found, expected), turn
        BACKGROUND.wait()
    assert fast.cache_info().hits > 5


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


@pytest.mark.usefixtures("pays")
def test_threads():
    fast, wrong = aj.autocluster(poly), []

    def work(seed):
        x = np.random.default_rng(seed).random(1000 + seed % 3)
        for _ in range(50):
            if not np.allclose(fast(x), poly(x), rtol=1e-13):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    BACKGROUND.wait()
    assert not wrong and fast.cache_info().compiles <= 3


def run(program: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(Path(aj.__file__).parents[1]), "AUTOJIT_FLAGS": "--disk_cache=0"}
    script = textwrap.dedent(
        """
        import os, sys, threading, time
        import numpy as np
        import autojit as aj
        from autojit.runtime import heat
        from autojit.runtime.background import BACKGROUND
        from autojit.runtime.maker import Maker
        heat.PAYS_AFTER, heat.WAITS = 1e-9, 0.0
        began, compile = threading.Event(), Maker.compile
        """
    )
    return subprocess.run(
        [sys.executable, "-c", script + textwrap.dedent(program)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# `python -c` has no source, so that the functions stand in a file.
_FUNCTION = """
def work(x):
    for i in range(200):
        x = np.sin(x) * 2 + x
    return x
"""


@pytest.mark.parametrize("leave", ["", "sys.exit(0)", "raise SystemExit"])
def test_a_process_may_end_in_the_middle_of_a_compilation(tmp_path, leave):
    (tmp_path / "work.py").write_text("import numpy as np\n" + _FUNCTION)
    done = run(
        f"""
        sys.path.insert(0, {str(tmp_path)!r})
        import work

        def compiling(*args):
            began.set()
            return compile(*args)

        Maker.compile = compiling
        fast = aj.autocluster(work.work)
        x = np.ones(1000)
        for _ in range(3):
            fast(x)
        assert began.wait(60)
        print("end")
        {leave}
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_in_the_middle_of_a_compilation(tmp_path):
    (tmp_path / "work.py").write_text("import numpy as np\n" + _FUNCTION)
    done = run(
        f"""
        sys.path.insert(0, {str(tmp_path)!r})
        import work
        let = threading.Event()

        def compiling(*args):
            began.set()
            assert let.wait(60)
            return compile(*args)

        Maker.compile = compiling
        fast = aj.autocluster(work.work)
        x = np.ones(1000)
        for _ in range(3):
            fast(x)
        assert began.wait(60)
        child = os.fork()
        if not child:
            for _ in range(5):
                assert np.array_equal(fast(x), work.work(x))
            BACKGROUND.wait()
            os._exit(7)
        let.set()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        print("end")
        """
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_background():
    background, order = Background(), []
    for number in range(5):
        assert background.submit(lambda number=number: order.append(number) or 1 // (number - 2))
    background.wait()
    assert order == [0, 1, 2, 3, 4]
    background.close()
    assert not background.was_at_work()
    assert not background.submit(lambda: None)
    background.wait()


def test_kinds_of_calls():
    heats = HeatMap()
    one = heats.of((X, 3, "a"))
    assert heats.of((X + 1, 4, "b")) is one
    for other in ((X[:5], 3, "a"), (X.astype("f4"), 3, "a"), (X, 3.0, "a"), (X, 3, None), (X,)):
        assert heats.of(other) is not one
    for size in range(100):
        heats.of((X[:size],))
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


def kinds_for(calls, seconds, of=lambda number: number % 20):
    """A heat map after so many calls of 20 kinds."""
    heats = HeatMap()
    for number in range(calls):
        heats.note(heats.of((X[: of(number)],)), seconds)
    return heats


def test_a_crowd_of_short_calls_is_passed_over():
    assert not kinds_for(CROWD - 1, 50e-6).are_many(8)
    assert not kinds_for(CROWD, 1e-3).are_many(8)  # timing them costs next to nothing
    assert not kinds_for(CROWD, 50e-6, lambda number: number % 8).are_many(8)
    assert not kinds_for(CROWD, 50e-6, lambda number: number % 20 * (number % 3 > 0)).are_many(8)  # one is common
    assert kinds_for(CROWD, 50e-6, lambda number: number).are_many(8)  # most of them are forgotten
    heats = kinds_for(CROWD, 50e-6)
    assert heats.are_many(8)
    before = heats.of((X[:3],)).seconds
    passed = heats.pass_over(64.0)
    assert 0 < passed < 64.0
    # As if they had been timed for that long: what pays is compiled as late as ever.
    assert heats.of((X[:3],)).seconds == pytest.approx(9 * before)
    heats.go_on()
    assert not heats.are_many(8)
    for number in range(CROWD):
        heats.note(heats.of((X[: number % 20],)), 50e-6)
    assert heats.are_many(8)
    assert heats.pass_over(1e-6) == 1e-6


def test_regions_of_many_kinds_of_calls_nap_and_go_on(monkeypatch):
    monkeypatch.setattr("autojit.runtime.heat.CROWD", 64)
    monkeypatch.setattr("autojit.runtime.heat.TINY", 0.0)

    def shrink(x):
        total = 0.0
        while x.size > 10:
            x = x[:-1] * 1.0
            total += x.sum()
        return total

    fast = aj.autocluster(shrink)
    x = X[:200]
    want = shrink(x)
    naps = 0
    for _ in range(30):
        assert fast(x) == pytest.approx(want, rel=1e-12)
        naps += any(not probe.forgets for probe in fast.__autojit_controller__.probes.values())
    assert naps


_REMEMBERING = """
import json, sys, time
import numpy as np
import autojit as aj
from autojit.runtime import door, heat
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
x = np.linspace(0.0, 1.0, 200_000)
fast, slow = aj.autocluster(work), aj.autocluster(loses)
first = None
for _ in range(int(sys.argv[1])):
    assert np.allclose(fast(x, 20), work(x, 20), rtol=1e-12)
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
    monkeypatch.setattr(Heat, "best", 1.0)
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

    fast, out, turns = aj.autocluster(add), np.zeros(1000), 12
    for _ in range(turns):
        fast(X, out)
        BACKGROUND.wait()
    np.testing.assert_allclose(out, turns * np.sin(X), rtol=1e-13)
    assert fast.cache_info().hits


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
@pytest.mark.parametrize("policy", ["eager", "measured"])
def test_a_timeout_ends_a_long_call(policy):
    class Timeout(Exception):
        pass

    def handler(number, frame):
        raise Timeout

    def long(x, n):
        for i in range(n):
            x[i % 1000] += i
        return x

    fast = aj.autocluster(long, policy=policy)
    fast(np.zeros(1000), 10)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(Timeout):
            for _ in range(1000):
                fast(np.zeros(1000), 3_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_threads_take_turns_more_often_while_a_job_runs():
    def quiet():
        BACKGROUND.wait()
        time.sleep(0.05)
        return sys.getswitchinterval()

    before, seen = quiet(), []

    def job():
        seen.append(sys.getswitchinterval())
        raise RuntimeError("ends it")

    BACKGROUND.submit(job)
    assert quiet() == before > seen[0]
    try:
        BACKGROUND.submit(lambda: sys.setswitchinterval(0.002))
        assert quiet() == pytest.approx(0.002)  # what the program chooses meanwhile stays
    finally:
        sys.setswitchinterval(before)


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
