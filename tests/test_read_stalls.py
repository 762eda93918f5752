"""What would stand still: host operations in rolled loops, captures of many parts, and a program's own clocks."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import autojit as aj
from autojit.compile.cache import CACHE
from autojit.compile.garbage import uncollected
from autojit.compile.xla import Program
from autojit.runtime import interrupts, plans
from autojit.runtime.takeover import Takeover
from tests.helpers import check, check_call


def sorts_rows(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = np.sort(x[i])
    return out


def takes_medians(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.nanmedian(x[i])
    return out


def takes_logs_of_some(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        s = np.sort(x[i])
        if s[0] > 0:
            out[i] = np.log(s[0])
    return out


@pytest.mark.parametrize("function", [sorts_rows, takes_medians, takes_logs_of_some])
@pytest.mark.filterwarnings("error:invalid value:RuntimeWarning")  # which NumPy does not give
def test_operations_on_the_host_are_in_no_rolled_loop(function):
    x = np.random.default_rng(0).standard_normal((3000, 500))
    fast = check(function, x[:40])
    start = time.perf_counter()
    function(x)
    least = time.perf_counter() - start
    fast(x)
    start = time.perf_counter()
    fast(x)
    assert time.perf_counter() - start < 30 * least


def filters(x):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = 0.9 * y[i - 1] + x[i]
    return np.unique(np.round(y, 1))


def test_a_capture_runs_no_long_loop():
    fast = aj.autocluster(policy="eager")(filters)
    start = time.perf_counter()
    check_call(fast, filters, np.random.default_rng(0).random(20_000))
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.concatenate(x) * 2.0,
        lambda x: np.hstack(x) * 2.0,
        lambda x: [p.sum() for p in np.array_split(x, 30_000)][:3],
    ],
)
def test_a_capture_makes_no_node_for_each_of_many_parts(function):
    fast = aj.autocluster(policy="eager")(function)
    start = time.perf_counter()
    check_call(fast, function, np.ones((30_000, 3)))
    assert time.perf_counter() - start < 10


def test_nested_lists_are_not_copied_whole():
    table = [[float(i * j) for j in range(2000)] for i in range(2000)]
    fast = aj.autocluster(policy="eager")(lambda x, table: x * len(table) + 1)
    fast(np.arange(4.0), table[:2])
    start = time.perf_counter()
    fast(np.arange(5.0), table)
    assert time.perf_counter() - start < 2


STOP = False


def goes_on(x, n):
    for i in range(n):
        if not STOP:
            x = np.sin(x) + 1.0
        else:
            break
    return i


class Worker:
    stop = False

    def epochs(self, x):
        for epoch in range(20):
            if self.stop:
                break
            x = x * 0.5 + self.wait(x)
        return epoch

    def wait(self, x):
        return np.sin(x) + np.cos(x)


def runs_while(x, n):
    k = 0
    while not STOP and k < n:
        x[1:-1] = (x[:-2] + x[2:]) * 0.5
        k += 1
    return k


@pytest.mark.parametrize("function", [goes_on, runs_while])
@pytest.mark.parametrize("policy", ["eager", "measured"])
def test_flags_that_another_thread_sets(function, policy):
    global STOP
    n = 500_000_000

    def stop():
        global STOP
        STOP = True

    for delay in (1.0, 20.0):  # on a busy machine the flag may be set before the loop begins
        STOP = False
        timer = threading.Timer(delay, stop)
        timer.start()
        start = time.perf_counter()
        count = aj.autocluster(policy=policy)(function)(np.ones(1000), n)
        took = time.perf_counter() - start
        timer.join()
        if count:
            break
    assert took < delay + 9.0 and 0 < count < n - 1


def test_short_loops_that_ask_for_a_flag_are_python_s():
    fast = aj.autocluster(policy="eager")(Worker.epochs)
    check_call(fast, Worker.epochs, Worker(), np.ones(10))
    assert "another thread" in str(fast.explain(Worker(), np.ones(10)))


MOCKED = """
import time
from unittest import mock
import numpy as np

def relax(u, n):
    for _ in range(n):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return u

with mock.patch("time.sleep") as sleep, mock.patch("builtins.open", mock.mock_open()) as opened:
    with mock.patch("time.perf_counter", side_effect=[10.0, 12.5]), mock.patch("time.time", side_effect=[1.0]):
        begin = time.perf_counter()
        time.sleep(1.0)
        relax(np.linspace(0.0, 1.0, 2000), 300_000)
        print(sleep.call_count, opened.call_count, time.perf_counter() - begin, time.time())
"""


def test_a_program_s_own_clocks(tmp_path):
    (tmp_path / "program.py").write_text(MOCKED)
    words = [sys.executable, "-m", "autojit", "run", f"--cache_dir={tmp_path / 'cache'}", "program.py"]
    root = str(Path(__file__).parent.parent)
    found = subprocess.run(
        words, cwd=tmp_path, env={"PYTHONPATH": root, "PATH": ""}, capture_output=True, text=True, check=False
    )
    assert (found.stdout, found.stderr) == ("1 0 2.5 1.0\n", "")


def test_clocks_are_not_asked_by_name():
    with mock.patch("time.perf_counter", side_effect=[]), mock.patch("time.sleep", side_effect=[]):
        fast = aj.autocluster(policy="eager")(lambda x: (x * 2 + 1).sum())
        assert fast(np.ones(10)) == fast(np.ones(10)) == 30.0
    assert fast.cache_info().hits


class Cyclic:
    lock = threading.Lock()

    def __init__(self):
        self.me = self

    def __del__(self):
        with self.lock:
            pass


def runs_beside(inside, one, other):
    """Run both in threads: where `one` calls `inside`, garbage is collected that waits for what `other` holds.

    Python would collect it where it likes, and so perhaps in the thread that holds the lock, which waits for itself.
    """
    started, held, done = threading.Event(), threading.Event(), []

    def collects():
        if threading.current_thread() is first and not started.is_set():
            Cyclic()
            started.set()
            held.wait()
            gc.collect()

    def holds():
        started.wait()
        with Cyclic.lock:
            held.set()
            done.append(other())

    inside(collects)
    first = threading.Thread(target=lambda: done.append(one()), daemon=True)
    second = threading.Thread(target=holds, daemon=True)
    gc.disable()
    try:
        first.start()
        second.start()
        second.join(30)
        first.join(30)
    finally:
        gc.enable()
    assert started.is_set() and len(done) == 2


def before(owner, name, monkeypatch):
    """For `runs_beside`: the beginning of a function."""
    real = getattr(owner, name)

    def inside(collects):
        monkeypatch.setattr(owner, name, lambda *args, **kwargs: (collects(), real(*args, **kwargs))[1])

    return inside


def test_finalizers_that_wait_while_two_functions_are_lowered(monkeypatch):
    first, second = (aj.autocluster(policy="eager")(one) for one in (lambda x: np.sin(x) + 1, lambda x: np.cos(x) + 2))
    lowering = before(Program, "_lower", monkeypatch)
    runs_beside(lowering, lambda: first(np.ones(200)), lambda: second(np.ones(300)))


@pytest.mark.parametrize("shared", ["cache", "plans"])
def test_no_finalizer_runs_while_what_functions_share_is_locked(shared, monkeypatch):
    """Python collects garbage when many objects were made; there, it has to wait."""
    first, second = (aj.autocluster(policy="eager")(one) for one in (lambda x: np.sin(x) + 3, lambda x: np.cos(x) + 4))
    first(np.ones(10))
    lock, name = (CACHE, "_lock") if shared == "cache" else (plans.CHANGES, "lock")
    found = []

    class Watched:
        real = getattr(lock, name)

        def __enter__(self):
            self.real.acquire()
            found.append(gc.get_threshold()[0])

        def __exit__(self, *_):
            found.append(gc.get_threshold()[0])
            self.real.release()

    monkeypatch.setattr(lock, name, Watched())
    usual = gc.get_threshold()
    second(np.ones(10))
    assert found and min(found) > usual[0] and gc.get_threshold() == usual


def test_garbage_is_looked_for_again_when_the_last_one_is_out():
    usual, one, other = gc.get_threshold(), uncollected(), uncollected()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert gc.get_threshold()[0] > usual[0]
    other.__exit__(None, None, None)
    assert gc.get_threshold() == usual


class Late(Exception):
    pass


def adds(x, n):
    k = 0
    for i in range(n):
        x += 1.0
        k += 1
    return k


def adds_until(x, n):
    k = 0
    while k < n:
        x += 1.0
        k += 1
    return k


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("function", [adds, adds_until])
@pytest.mark.parametrize("arrives", ["copyto", "hits", "advance"])
def test_a_signal_finds_the_names_of_a_loop_as_far_as_its_arrays(function, arrives, monkeypatch):
    """It arrives when a run of iterations that was taken over has been written, or the loop moved on."""
    judge, advance, came = Takeover._judge, Takeover.advance, []

    def arrive():
        came.append(None)
        signal.raise_signal(signal.SIGALRM)

    def copies(to, value):
        np.copyto(to, value)
        if arrives == "copyto" and not came:
            arrive()

    def judges(self, seconds, values):
        judge(self, seconds, values)
        if arrives == "hits" and not came:
            arrive()

    def advances(self, iterator, stop):
        if arrives == "advance" and not came:
            arrive()
        advance(self, iterator, stop)

    def handle(number, frame):
        raise Late

    compiles = Takeover._compile

    def compiled(self, *given):
        compiles(self, *given)
        for plan in self.probe.plans:
            plan.names["copyto"] = copies

    monkeypatch.setattr(Takeover, "_judge", judges)
    monkeypatch.setattr(Takeover, "advance", advances)
    monkeypatch.setattr(Takeover, "_compile", compiled)
    x, earlier = np.zeros(1000), signal.signal(signal.SIGALRM, handle)
    try:
        with pytest.raises(Late) as raised:
            aj.autocluster(function)(x, 3_000_000)
        assert signal.getsignal(signal.SIGALRM) is handle
    finally:
        signal.signal(signal.SIGALRM, earlier)
    assert not interrupts._runs
    (frame,) = [one.frame.raw for one in raised.traceback if one.name == function.__name__]
    assert came and 0 < x[0] == frame.f_locals["k"] < 3_000_000


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("function", [adds, adds_until])
def test_signals_are_heard_again_after_a_loop_that_was_taken_over(function):
    heard, x = [], np.zeros(1000)
    earlier = signal.signal(signal.SIGALRM, lambda *_: heard.append(x[0]))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        fast = aj.autocluster(function)
        assert fast(x, 3_000_000) == x[0] == 3_000_000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)
    (takeover,) = fast.__autojit_controller__.probes[0].takeovers
    assert takeover.probe.hits and heard == sorted(heard) and not interrupts._runs


def test_forgetting_waits_for_no_compilation_without_end(monkeypatch):
    monkeypatch.setattr("autojit.runtime.capturing._LONGEST", 0.2)
    fast = aj.autocluster(policy="eager")(lambda x: np.sin(x) + 5)
    fast(np.ones(20))
    lower, begun, go, calls, found = Program._lower, threading.Event(), threading.Event(), [], []

    def lowers(program):
        calls.append(None)
        begun.set()
        assert go.wait(60)
        return lower(program)

    monkeypatch.setattr(Program, "_lower", lowers)
    thread = threading.Thread(target=lambda: found.append(fast(np.ones(30))))
    thread.start()
    begun.wait()
    start = time.perf_counter()
    fast.clear_cache()
    assert time.perf_counter() - start < 10 and not fast.cache_info().captures
    (probe,) = fast.__autojit_controller__.probes.values()
    assert not probe.plans
    before = []
    add = plans.add
    monkeypatch.setattr(plans, "add", lambda probe, plan: (before.append(plan), add(probe, plan)))
    go.set()
    thread.join()
    np.testing.assert_array_equal(found[0], fast(np.ones(30)))
    late, made = before  # the one that came late is gone, and the call has another
    assert probe.plans == (made,) and fast.cache_info().captures == 1


def test_what_a_finalizer_forgets_in_the_middle_of_a_capture_stays_forgotten(monkeypatch):
    fast = aj.autocluster(policy="eager")(lambda x: np.sin(x) + 6)
    lower = Program._lower

    def lowers(program):
        monkeypatch.setattr(Program, "_lower", lower)
        fast.clear_cache()
        return lower(program)

    monkeypatch.setattr(Program, "_lower", lowers)
    check_call(fast, lambda x: np.sin(x) + 6, np.ones(20))
    (probe,) = fast.__autojit_controller__.probes.values()
    assert len(probe.plans) == fast.cache_info().captures == 1
