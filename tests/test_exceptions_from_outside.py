"""Exceptions that handlers of signals and other threads raise, wherever a call is: none is lost, nothing is done twice."""

import ctypes
import functools
import linecache
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.capture import heads
from autojit.runtime.maker import Maker
from autojit.runtime.measured import Trial


class Late(Exception):
    pass


def plain(number, frame):
    raise Late


class Handler:
    def __call__(self, number, frame):
        raise Late


def once(number, frame):
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    raise Late


def named(name, number, frame):
    raise Late


HANDLERS = {"plain": plain, "object": Handler(), "once": once, "partial": functools.partial(named, "late")}


def writes(a, b):
    a += 1.0
    b += a


def on_the_host(a, b):
    s = np.linalg.svd(a[:90_000].reshape(300, 300))[1]
    return np.exp(-s) + s * b[0]


def draws(a, b):
    return np.random.standard_normal(a.size) * 2 + b


# A handler that is gone when its exception arrives in a host operation is not told from a function of the user's there.
CASES = [(function, name) for function in (writes, on_the_host, draws) for name in HANDLERS if name != "once"]


# Python drops what is raised in a finalizer or in a callback of the garbage collector (jax has one), and only tells it.
dropped = pytest.mark.filterwarnings(r"ignore:(?s).*\.Late\b:pytest.PytestUnraisableExceptionWarning")


@dropped
@pytest.mark.parametrize(("function", "handler"), [*CASES, (writes, "once")])
def test_a_timeout_is_not_lost(function, handler):
    # A check runs the statements, too, whose own exceptions it compares: without its handler one is taken for these.
    options = {"check": False} if handler == "once" else {}
    fast, n = aj.autocluster(function, policy="eager", **options), 1_000_000
    fast(np.ones(n), np.ones(n))
    before = signal.getsignal(signal.SIGALRM)
    try:
        for trial in range(3):
            a, b, calls = np.zeros(n), np.zeros(n), 0
            handle = HANDLERS[handler]
            with pytest.raises(Late):
                for _ in range(5):
                    signal.signal(signal.SIGALRM, handle)
                    signal.setitimer(signal.ITIMER_REAL, 0.02 + 0.003 * trial)
                    end = time.monotonic() + 3
                    while time.monotonic() < end:
                        fast(a, b)
                        calls += 1
            if function is writes:
                assert a[0] in (calls, calls + 1)
                assert b[0] in (calls * (calls + 1) / 2, (calls + 1) * (calls + 2) / 2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_timeout_is_not_lost_in_a_capture():
    """A capture runs what is declared pure once, which may take long."""
    pause = [30.0]

    def slow(x):
        time.sleep(pause[0])
        return x + 1

    declared = aj.host_op(slow)
    fast = aj.autocluster(lambda x: (declared(x) * 2).sum(), policy="eager", check=False)
    before = signal.signal(signal.SIGALRM, plain)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        start = time.monotonic()
        with pytest.raises(Late):
            fast(np.ones(9))
        assert time.monotonic() - start < 0.9
    finally:
        pause[0] = 0.0
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert fast(np.ones(9)) == 36


@dropped
def test_a_timeout_is_not_lost_in_a_check():
    # A check draws, runs the statements and compares: somewhere in each of these an exception arrives.
    fast, n = aj.autocluster(draws, policy="eager", check=True), 1_000_000
    a, b = np.ones(n), np.ones(n)
    fast(a, b)
    start = time.monotonic()
    fast(a, b)
    took = time.monotonic() - start
    before = signal.signal(signal.SIGALRM, plain)
    try:
        for part in range(1, 12):
            with pytest.raises(Late):
                for _ in range(5):
                    signal.setitimer(signal.ITIMER_REAL, took * part / 12)
                    end = time.monotonic() + 3 * took
                    while time.monotonic() < end:
                        fast(a, b)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dropped
def test_a_timeout_of_another_thread_is_not_lost():
    fast, n = aj.autocluster(writes, policy="eager", check=False), 1_000_000  # see above
    fast(np.ones(n), np.ones(n))
    ended, begun = [], threading.Event()

    def work():
        a, b, calls = np.zeros(n), np.zeros(n), 0
        try:
            begun.set()
            while True:
                fast(a, b)
                calls += 1
        except Late:
            ended.append(a[0] - calls)

    for _ in range(5):
        begun.clear()
        thread = threading.Thread(target=work)
        thread.start()
        assert begun.wait(60)  # on a busy machine it takes its time
        time.sleep(0.03)
        for _ in range(5):
            if thread.is_alive():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Late))
                thread.join(5)
        assert not thread.is_alive()
    assert len(ended) == 5
    assert set(ended) <= {0.0, 1.0}


def test_ctrl_c_while_a_plan_is_loaded():
    def interrupted(*args):
        raise KeyboardInterrupt

    fast = aj.autocluster(lambda x: np.sin(x) * 2)
    controller = fast.__autojit_controller__
    trial = Trial.__new__(Trial)
    trial.controller, trial.probe, trial.prepared, trial.error = controller, None, None, None
    controller.maker.compile = interrupted
    with pytest.raises(KeyboardInterrupt):
        trial.compile()
    assert trial.error is None


def run(script):
    environment = {**os.environ, "AUTOJIT_FLAGS": "--disk_cache=0", "PYTHONPATH": str(Path(aj.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False, env=environment
    )


LONG = """
import os, signal, threading, time
import numpy as np
import autojit as aj

def long(a, n):
    for _ in range({bound}):
        a = np.sin(a) + 1
    return a

signal.signal(signal.SIGINT, signal.default_int_handler)
fast, sent = aj.autocluster(policy="eager")(long), []

def interrupt():
    while not fast.cache_info().compiles:  # which takes its time on a busy machine
        time.sleep(0.05)
    time.sleep(1)  # the plan runs
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    fast(np.ones(100_000), 10**9)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - sent[0] < 20, fast.cache_info().compiles > 0, flush=True)
os._exit(0)  # the program goes on
"""


@pytest.mark.parametrize("bound", ["n", "10**9", "n - 5"])
def test_a_long_for_loop_can_be_interrupted(bound, tmp_path):
    script = tmp_path / "long.py"
    script.write_text(LONG.format(bound=bound))
    ended = run(script)
    assert ended.stdout.split() == ["interrupted", "True", "True"], ended.stdout + ended.stderr


DAEMON = """
import threading, time
import numpy as np
import autojit as aj

def work(x):
    for _ in range(50):
        x = np.sin(x) * 2 + x
    return x

fast, x = aj.autocluster(work, policy="eager"), np.ones(300_000)
fast(x)

def loop():
    while True:
        fast(x)

threading.Thread(target=loop, daemon=True).start()
time.sleep(0.5)
print("end")
"""


def test_a_process_ends_while_a_daemon_thread_is_in_a_plan(tmp_path):
    script = tmp_path / "daemon.py"
    script.write_text(DAEMON)
    ended = run(script)
    assert (ended.returncode, ended.stdout) == (0, "end\n"), ended.stderr


def test_other_calls_are_captured_while_a_plan_runs(monkeypatch):
    ready, go = threading.Event(), threading.Event()

    def slow(x):
        if threading.current_thread().name == "second":
            ready.set()
            go.wait(30)
        return x + 0

    host = aj.host_op(slow)
    # A check would run the host operation, too, before there is a plan.
    fast = aj.autocluster(lambda x: np.sin(host(x * 2)) + 1, policy="eager", check=False)
    make, began = Maker.make, threading.Event()

    def late(self, *args):
        began.set()
        time.sleep(0.5)
        return make(self, *args)

    monkeypatch.setattr(Maker, "make", late)
    x = np.ones(10)
    threads = [threading.Thread(target=fast, args=(x,), name=name) for name in ("first", "second")]
    threads[0].start()
    assert began.wait(30)
    threads[1].start()
    assert ready.wait(30)
    fast(np.ones(11))  # the second thread is in its plan, and holds nothing
    go.set()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("after", [1, 2])
@pytest.mark.parametrize("draws_first", [False, True])
@pytest.mark.parametrize("of_a_thread", [False, True])
def test_what_a_plan_changes_is_changed_whole(after, draws_first, of_a_thread):
    """The exception arrives between two of the arrays that a plan writes."""

    class Box:
        total = 0.0

    def function(x, y, box, rng):
        z = rng.random(3) if draws_first else np.ones(3)
        x += z
        y += z
        box.total = box.total + 1.0

    fast = aj.autocluster(policy="eager", check=False)(function)
    box, rng, other = Box(), np.random.default_rng(0), np.random.default_rng(0)
    x, y = np.zeros(3), np.zeros(3)
    fast(x, y, box, rng)
    (plan,) = fast.__autojit_controller__.probes[0].plans
    copyto, count = plan.names["copyto"], 0
    linecache.clearcache()  # anybody may

    def interrupted(to, value):
        nonlocal count
        copyto(to, value)
        count += 1
        if count == after and of_a_thread:
            me = ctypes.c_ulong(threading.get_ident())
            ctypes.pythonapi.PyThreadState_SetAsyncExc(me, ctypes.py_object(Late))
        elif count == after:
            signal.raise_signal(signal.SIGALRM)

    plan.names["copyto"] = interrupted
    before = signal.signal(signal.SIGALRM, plain)
    try:
        with pytest.raises(Late):
            fast(x, y, box, rng)
    finally:
        signal.signal(signal.SIGALRM, before)
    wanted = other.random(3) + other.random(3) if draws_first else np.full(3, 2.0)
    np.testing.assert_allclose(x, wanted, rtol=1e-15)
    np.testing.assert_array_equal(x, y)
    assert box.total == 2.0
    if draws_first:
        assert rng.bit_generator.state == other.bit_generator.state


def test_an_interrupt_while_a_loop_is_captured(monkeypatch):
    real = heads.ends_of

    def interrupted(operand):
        monkeypatch.setattr(heads, "ends_of", real)
        signal.raise_signal(signal.SIGINT)
        return real(operand)

    monkeypatch.setattr(heads, "ends_of", interrupted)

    @aj.autocluster(policy="eager")
    def function(x):
        for i in range(60):
            x = x + i
        return x

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            function(np.ones(3))
    finally:
        signal.signal(signal.SIGINT, before)
    np.testing.assert_array_equal(function(np.ones(3)), 1771)
    assert function.cache_info().hits == 1
