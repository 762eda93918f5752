"""The thread that looks after calls that take long."""

from __future__ import annotations

import ctypes
import time

import pytest

from autojit.runtime import watch
from autojit.runtime.watch import Watch


class Napping:
    """A probe in a nap, or something else that is looked after."""

    wakes = 0.0

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.roused = self.looked = 0

    def rouse(self) -> None:
        self.roused += 1
        if self.error is not None:
            raise self.error

    def looked_after(self, seconds: float) -> None:
        self.looked += 1
        if self.error is not None:
            raise self.error


@pytest.fixture(name="looks")
def that_looks_often(monkeypatch):
    """A thread of its own."""
    monkeypatch.setattr(watch, "EVERY", 1e-3)
    mine = Watch()
    yield mine
    mine.reset()


def wait_until(condition):
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(1e-3)
    return condition()


def test_one_that_fails_does_not_keep_others_asleep(looks):
    bad, good = Napping(RuntimeError("what a user's class may raise")), Napping()
    looks.add("call", bad, time.perf_counter())
    assert looks.rouses(bad) and wait_until(lambda: bad.looked and bad.roused)
    assert looks.rouses(good) and wait_until(lambda: good.roused)
    looks.remove("call")


def test_where_its_thread_is_ended_nobody_sleeps_on(looks, monkeypatch):
    monkeypatch.setattr(watch, "_IDLE", 1_000_000)  # it waits for nothing that an exception would not end
    asleep, later = Napping(), Napping()
    asleep.wakes = later.wakes = time.perf_counter() + 1000
    assert looks.rouses(asleep)
    first = looks._thread
    early = Napping()
    assert looks.rouses(early) and wait_until(lambda: early.roused)  # it is at work
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(first.ident), ctypes.py_object(SystemExit))
    assert wait_until(lambda: asleep.roused) and asleep.wakes == 0.0
    first.join(20)
    assert looks.rouses(later) and looks._thread is not first
    later.wakes = 0.0
    assert wait_until(lambda: later.roused)
