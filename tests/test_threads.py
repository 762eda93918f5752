"""Threads of autojit's own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from unittest import mock

import numpy as np
import pytest

import autojit as aj
from autojit.runtime.background import Background
from autojit.runtime.watch import Watch
from autojit.threads import own_thread, start_own

posix = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals are not blocked by thread here")


@posix
def test_they_take_no_signals():
    seen = []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    made = own_thread(lambda: seen.append(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "autojit-test")
    start_own(made)
    made.join()
    assert {signal.SIGTERM, signal.SIGINT, signal.SIGALRM} <= seen[0] and signal.SIGSEGV not in seen[0]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_there_are_none_where_threads_have_been_replaced(monkeypatch):
    """As gevent does, whose threads take turns: one of ours that sleeps would stop all."""
    monkeypatch.setattr(threading, "_start_new_thread", lambda *args: None)
    assert not Background().submit(print) and not Watch().rouses(mock.Mock(wakes=0.0))
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr("autojit.runtime.background.BACKGROUND._thread", None)
    fast = aj.autocluster(lambda x: np.sin(x) * 2)
    for _ in range(5):
        np.testing.assert_array_equal(fast(np.ones(3)), np.sin(np.ones(3)) * 2)
    assert not fast.cache_info().compiles


def test_what_a_test_has_put_in_the_place_of_the_class_is_not_used():
    done = threading.Event()
    with mock.patch("threading.Thread") as thread:
        background = Background()
        assert background.submit(done.set)
    assert done.wait(60) and not thread.called
    background.close()


@posix
def test_a_section_that_no_signal_ends(tmp_path):
    file = tmp_path / "section.py"
    file.write_text(
        textwrap.dedent("""
        import os, signal, numpy as np
        def work(n):
            x = np.ones(100_000)
            for i in range(n): x = np.sin(x) + 1
            return x
        work(300)
        old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        os.kill(os.getpid(), signal.SIGTERM)
        print("written", flush=True)
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
        """)
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "AUTOJIT_FLAGS": "--disk_cache=0"}
    command = [sys.executable, "-m", "autojit", "run", "--policy=eager", str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.returncode) == ("written\n", -signal.SIGTERM), done.stderr
