"""Findings of reading the runtime: what waits, what is left behind, and memory that nobody says it owns."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import autojit as aj
from autojit.compile import persistent
from autojit.runtime import capturing
from autojit.runtime.plan import Plan
from autojit.runtime.traps import is_given_up
from autojit.runtime.watch import LEFT, WATCH
from autojit.threads import own


class Late(Exception):
    pass


def late(*_):
    raise Late


def many(x, n):
    for _ in range(n):
        x = np.sin(x) + 1
    return x


def workers():
    return sum(thread.name == "autojit-long-programs" for thread in own().values())


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_threads_of_interrupted_programs_end(no_collection):  # jax's callback of the collector loses what arrives in it
    fast, x = aj.autocluster(many, policy="eager", check=False), np.ones(1000)
    fast(x, 100_000)  # so that nothing is compiled when the alarm comes
    before, old = workers(), signal.signal(signal.SIGALRM, late)
    try:
        for _ in range(4):
            with pytest.raises(Late):
                signal.setitimer(signal.ITIMER_REAL, 0.02)
                fast(x, 1_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    end = time.monotonic() + 60
    while workers() > before:
        assert time.monotonic() < end
        time.sleep(0.05)


def wrapped():
    """What makes arrays over one memory, which have no base and do not own it."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = ctypes.cast(get(np._core._multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    number, pointer = ctypes.c_int, ctypes.c_void_p
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, number, pointer, number, pointer, pointer, number, number, pointer)(
        table[93]  # PyArray_New
    )
    memory, lengths = (ctypes.c_double * 1000)(), (ctypes.c_ssize_t * 1)(1000)
    lasts = memory, lengths

    def one():
        assert lasts
        return make(np.ndarray, 1, ctypes.addressof(lengths), 12, None, ctypes.addressof(memory), 0, 0x501, None)

    return one


def fills(a, b):
    a[:] = 1.0
    return b.sum()


def test_arrays_over_one_memory_that_nobody_owns():
    make = wrapped()
    assert make().base is None and not make().flags.owndata
    fast = aj.autocluster(fills, policy="eager")
    for _ in range(2):
        a, b = make(), make()
        b[:] = 0
        assert fast(a, b) == 1000
    assert fast(np.zeros(1000), np.zeros(1000)) == 0
    own = np.zeros(1000)
    assert fast(own, own) == 1000


def test_the_least_integer_of_its_type_does_not_warn():
    def f(x, n, zero):
        for _ in range(n):
            x = np.maximum(x * 0.5, zero)
        return x

    fast = aj.autocluster(f, policy="eager")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")  # under "error" and "always" NumPy answers
        for _ in range(3):
            np.testing.assert_array_equal(fast(np.ones(10), 5, np.int8(-128)), f(np.ones(10), 5, np.int8(-128)))
    assert not [str(each.message) for each in found] and fast.cache_info().hits


class Cyclic:
    def __init__(self, lock):
        self.me, self.lock = self, lock

    def __del__(self):
        with self.lock:
            pass


def product(x):
    return (np.tanh(x * 2 + 1) * np.exp(-x)).sum()


def test_a_finalizer_in_a_capture_may_wait_for_who_waits_for_the_capture(monkeypatch):
    monkeypatch.setattr(capturing, "_LONGEST", 0.2)
    lock, holds, captures = threading.Lock(), threading.Event(), threading.Event()
    fast = aj.autocluster(product, policy="eager")
    controller = fast.__autojit_controller__
    found = {}

    def holder():
        with lock:
            holds.set()
            assert captures.wait(30)
            found["holder"] = fast(np.ones(1001))

    make_for = controller._make_for

    def slowly(*args):
        captures.set()
        Cyclic(lock)
        gc.collect()
        return make_for(*args)

    controller._make_for = slowly
    thread = threading.Thread(target=holder)
    thread.start()
    assert holds.wait(30)
    found["captures"] = fast(np.ones(1000))
    thread.join(60)
    assert not thread.is_alive()
    assert found == {"holder": product(np.ones(1001)), "captures": pytest.approx(product(np.ones(1000)), rel=1e-12)}


def plan_of(seconds, numpy_seconds):
    plan = Plan(lambda: None, "", None)
    plan.seconds, plan.numpy_seconds = seconds, numpy_seconds
    return plan


@pytest.mark.parametrize(("seconds", "numpy_seconds"), [(0.0, 0.0), (0.9, 1.0)])
def test_traps_among_answers_that_save_little(seconds, numpy_seconds):
    plan, hits, traps = plan_of(seconds, numpy_seconds), 1_000_000, 0
    while not is_given_up(plan, hits):
        traps += 1
        hits += traps % 100 == 0
        assert traps < 1000


@pytest.mark.parametrize(("seconds", "numpy_seconds"), [(0.0, 0.0), (0.1, 1.0)])
def test_few_traps_are_taken(seconds, numpy_seconds):
    plan, hits = plan_of(seconds, numpy_seconds), 0
    for _ in range(5000):
        hits += 2
        assert not is_given_up(plan, hits)


def test_a_tracer_that_a_call_sets_leaves_no_call_behind():
    def f(x, follow):
        for i in range(3):
            x = x + i
        if follow:
            sys.settrace(lambda *_: None)
        return x

    fast, before = aj.autocluster(f, policy="measured"), sys.gettrace()
    try:
        fast(np.ones(10), True)
    finally:
        sys.settrace(before)
    assert LEFT or not WATCH._running
    fast(np.ones(10), False)
    end = time.monotonic() + 10
    while LEFT or WATCH._running:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="there is no affinity")
def test_programs_are_kept_for_as_many_processors_as_divide_them(monkeypatch):
    every = persistent.processors()
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3, 4, 5, 6})
    assert persistent.processors() == 7 != every


def test_flags_in_a_file(tmp_path, monkeypatch):
    file = tmp_path / "flags"
    monkeypatch.setenv("XLA_FLAGS", str(file))
    before = persistent._environment()
    file.write_text("--xla_dump_to=x")
    assert persistent._environment() != before
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=x")
    assert len(persistent._environment()) == len(before)


SECOND = """
import signal, sys, threading, time, os, numpy as np, autojit as aj
from autojit.compile import patience
signal.signal(signal.SIGINT, signal.default_int_handler)

@aj.autocluster(policy="eager", disk_cache=False)
def f(x, n):
    for _ in range(n):
        x = np.sin(x) + 1
    return x

f(np.ones(10), 100_001)
runs, run = threading.Event(), patience._Job.run

def noted(job):
    runs.set()
    run(job)

patience._Job.run = noted

def press():
    assert runs.wait(60)  # compiling takes its time on a busy machine
    for _ in range(2):
        time.sleep(1.5)
        os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press, daemon=True).start()
try:
    f(np.ones(100_000), 10**9)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_a_second_ctrl_c_ends_the_process(tmp_path):
    (tmp_path / "second.py").write_text(SECOND)
    done = subprocess.run([sys.executable, "second.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted\n", "", 130)


def transposes(a, b):
    a[:] = a.T
    b[:] = np.sort(b)


def test_a_write_that_is_interrupted_at_its_end_is_not_done_twice():
    fast = aj.autocluster(transposes, policy="eager", check=False)
    a0, b0 = np.arange(9.0).reshape(3, 3), np.array([3.0, 1.0, 2.0])
    fast(a0.copy(), b0.copy())
    (plan,) = fast.__autojit_controller__.probes[0].plans
    real, count, old = plan.names["copyto"], 0, signal.signal(signal.SIGALRM, late)

    def copyto(to, value):
        nonlocal count
        real(to, value)
        count += 1
        if count == 1:
            signal.raise_signal(signal.SIGALRM)

    namespace = plan.call.__globals__
    namespace["copyto"] = copyto
    a, b = a0.copy(), b0.copy()
    try:
        with pytest.raises(Late):
            fast(a, b)
    finally:
        signal.signal(signal.SIGALRM, old)
    np.testing.assert_array_equal(a, a0.T)
    np.testing.assert_array_equal(b, np.sort(b0))
