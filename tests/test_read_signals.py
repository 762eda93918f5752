"""Signals' handlers, the collector's threshold and methods of C code: what is the program's stays the program's."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import autojit as aj
from autojit.compile.garbage import uncollected
from autojit.runtime import interrupts
from autojit.runtime.interrupts import deferred
from autojit.runtime.twins import Known, Twins
from autojit.runtime.watch import WATCH


def test_a_method_of_c_code_is_the_one_that_came_in():
    @aj.autocluster(policy="eager")
    def f(a, method):
        return a * 2, method

    table = {}
    one, other = table.get, table.get
    assert f(np.ones(3), one)[1] is one
    assert f(np.ones(3), other)[1] is other
    assert f.cache_info().hits


class Asked:
    """Says when it is asked what it is."""

    asked = 0

    def __repr__(self):
        Asked.asked += 1
        return "asked"

    def stop(self, number, frame):
        pass


def test_a_handler_is_not_asked_what_it_is():
    before = signal.signal(signal.SIGTERM, Asked().stop)
    Asked.asked = 0
    try:
        with deferred():
            pass
        try:
            raise ValueError
        except ValueError as error:
            assert not interrupts.comes_from_outside(error)
        assert not Asked.asked
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_a_fork_by_another_thread_leaves_no_signal_waiting():
    program = """
import os, signal, sys, threading
from autojit.runtime.interrupts import deferred

def child():
    pid = os.fork()
    if not pid:
        os._exit(0 if signal.getsignal(signal.SIGINT) is signal.default_int_handler else 1)
    sys.exit_code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

with deferred():
    thread = threading.Thread(target=child)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print(sys.exit_code)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n", done.stderr


def test_the_program_sets_another_threshold_meanwhile():
    before = gc.get_threshold()
    entered, may_leave = threading.Event(), threading.Event()

    def captures():
        with uncollected():
            entered.set()
            may_leave.wait(60)

    thread = threading.Thread(target=captures)
    thread.start()
    try:
        assert entered.wait(60)
        gc.set_threshold(50_000, 20, 20)
        with uncollected():
            assert gc.get_threshold()[0] > 50_000
        may_leave.set()
        thread.join(60)
        assert gc.get_threshold() == (50_000, 20, 20)
    finally:
        may_leave.set()
        gc.set_threshold(*before)


def test_an_exception_as_garbage_is_looked_for_no_more(monkeypatch):
    before, setting = gc.get_threshold(), gc.set_threshold

    def interrupted(*numbers):
        setting(*numbers)
        if numbers[0] > 1_000_000:
            raise KeyboardInterrupt

    monkeypatch.setattr(gc, "set_threshold", interrupted)
    with pytest.raises(KeyboardInterrupt), uncollected():
        pass
    monkeypatch.undo()
    assert gc.get_threshold() == before


def test_functions_are_asked_about_again_where_nobody_can_be_roused(monkeypatch):
    class Owner:
        known = Known()

    owner = Owner()
    twins = Twins(owner, rests=True)

    def rouses(probe):
        raise TimeoutError

    monkeypatch.setattr(WATCH, "rouses", rouses)
    with pytest.raises(TimeoutError):
        twins._rest(1.0)
    assert twins.asks
