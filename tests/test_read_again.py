"""Lists that loops have filled, memory that is used again, arrays that overlap themselves, threads that wait."""

from __future__ import annotations

import signal
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import autojit as aj

X = np.linspace(0.0, 1.0, 2000)


def extended(x, n):
    xs = []
    for k in range(n):
        xs.append(x[k] * 2)
    out = {"history": xs}
    xs += [0.5]
    return out["history"] is xs, len(out["history"]), len(xs)


def repeated(x, n):
    xs = []
    for k in range(n):
        xs.append(x[k] * 2)
    ys = xs
    xs *= 2
    return ys is xs, len(ys), len(xs)


def close(path):
    path += [path[0]]


def by_a_helper(x, n):
    path = []
    for k in range(n):
        path.append(x[k] + 1.0)
    close(path)
    return len(path), path[-1]


@pytest.mark.parametrize("n", [3, 20, 100])
@pytest.mark.parametrize("function", [extended, repeated, by_a_helper])
def test_a_list_that_a_loop_has_filled_grows_in_place(function, n):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(2):
        assert fast(X, n) == function(X, n)


class Solver:
    """Has arrays of so many elements."""

    def __init__(self, n, value):
        self.u = np.full(n, float(value))
        self.prev = None


def keeping(s, dt):
    s.prev = s.u.copy()
    return s.u * dt + 1.0


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="POSIX")
def test_what_was_filled_up_is_given_back_when_nothing_reads_it():
    fast = aj.autocluster(policy="eager")(keeping)
    for n in range(40_000, 45_000, 1000):
        fast(Solver(n, 1.0), 0.5)
    (plan,) = [one for one in fast.__autojit_controller__.probes[0].plans if one.capture.rows is not None][:1]
    give_back, inside = plan.names["give_back"], []

    def interrupted(lent):
        give_back(lent)
        if not inside:
            inside.append(1)
            signal.raise_signal(signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, lambda *_: fast(Solver(45_000, 7.0), 0.5))
    plan.names["give_back"] = interrupted
    try:
        s = Solver(44_500, 1.0)
        fast(s, 0.5)
    finally:
        signal.signal(signal.SIGALRM, before)
        plan.names["give_back"] = give_back
    assert inside and (s.prev == 1.0).all()


def set_twice(a):
    a[0] = 1.0
    a[1] = 2.0
    return a[0] + a[1]


def test_an_array_that_owns_its_memory_and_overlaps_itself():
    fast = aj.autocluster(policy="eager")(set_twice)
    for strides in ((8,), (0,), (8,)):
        assert fast(np.ndarray((3,), float, strides=strides)) == set_twice(np.ndarray((3,), float, strides=strides))


def grown(a):
    a = a * 1 if len(a) > 8 else a
    print(end="")
    a.resize(12)
    return a.sum()


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="frames borrow their arguments there")
def test_an_array_that_only_the_call_holds_can_be_resized():
    fast = aj.autocluster(policy="eager")(grown)

    def results(function):  # an `assert` would hold the array
        return [function(np.arange(6.0)) for _ in range(3)]

    assert results(fast) == results(grown)


def in_time(function, *args):
    found = []
    thread = threading.Thread(target=lambda: found.append(function(*args)), daemon=True)
    thread.start()
    thread.join(60)
    assert found, "it hangs"
    return found[0]


def test_a_host_op_whose_threads_call_the_function_that_is_captured():
    @aj.host_op
    def halves(y):
        with ThreadPoolExecutor(2) as pool:
            return np.concatenate(list(pool.map(smooth, np.split(y, 2))))

    def plain(x):
        y = np.sin(x) * 2.0 + x
        if len(x) > 1000:
            y = np.concatenate([np.sin(part) * 2.0 + part + 1.0 for part in np.split(y, 2)])
        return y + 1.0

    @aj.autocluster(policy="eager")
    def smooth(x):
        y = np.sin(x) * 2.0 + x
        if len(x) > 1000:
            y = halves(y)
        return y + 1.0

    for _ in range(2):
        assert np.allclose(in_time(smooth, X), plain(X), rtol=1e-12)


class Late(Exception):
    """A timeout of the program's."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="POSIX")
def test_what_a_timeout_interrupts_is_let_go():
    @aj.autocluster(policy="eager")
    def work(x):
        return np.sin(np.cos(np.sin(x) + 1) + 1).sum()

    def late(*_):
        raise Late

    work(np.ones(200_000))
    before = signal.signal(signal.SIGALRM, late)
    alive, raised = [], 0
    try:
        for turn in range(60):
            x = np.ones(200_000)
            alive.append(weakref.ref(x))
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-4 * (turn % 20 + 1))
                work(x)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Late:
                raised += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    del x
    assert raised
    assert not [one for one in alive if one() is not None]
