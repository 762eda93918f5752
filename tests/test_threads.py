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
from autojit.threads import OwnThread, own

posix = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals are not blocked by thread here")


@posix
def test_they_take_no_signals():
    seen = []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    made = OwnThread(lambda: seen.append(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "autojit-test")
    made.start()
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


def test_a_program_that_waits_for_all_threads_waits_for_none_of_ours():
    seen, begun, end = [], threading.Event(), threading.Event()

    def run(*given):
        begun.set()
        seen.append((given, threading.current_thread() in threading.enumerate()))  # as a finalizer may, which runs here
        end.wait()

    made = OwnThread(run, "autojit-test", 1, 2)
    assert not made.is_alive() and made.ident == 0
    made.start()
    assert begun.wait(60) and made.is_alive() and own()[made.ident] is made
    end.set()
    made.join()
    ident = made.ident
    assert not made.is_alive() and ident not in own()
    assert seen == [((1, 2), True)] and ident not in {thread.ident for thread in threading.enumerate()}
    made.join()
    with pytest.raises(RuntimeError):
        made.start()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")  # it is, on purpose
def test_a_forked_process_does_not_have_them():
    end = threading.Event()
    made = OwnThread(end.wait, "autojit-test")
    made.start()
    child = os.fork()
    if child == 0:
        os._exit(made.is_alive() or bool(own()))
    end.set()
    made.join(60)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_program_that_waits_until_it_has_one_thread(tmp_path):
    file = tmp_path / "waits.py"
    file.write_text(
        textwrap.dedent("""
        import threading, time
        import numpy as np
        def work(x):
            for _ in range(3000): x = np.sin(x) + 1
            return x
        for _ in range(4): threading.Thread(target=work, args=(np.ones(1000),)).start()
        for _ in range(2): work(np.ones(1000))
        while threading.active_count() > 1: time.sleep(0.01)
        for thread in threading.enumerate():
            if thread is not threading.main_thread(): thread.join()
        from autojit.threads import own
        print("ended", bool(own()))
        """)
    )
    environment = {**os.environ, "AUTOJIT_FLAGS": "--disk_cache=0"}
    command = [sys.executable, "-m", "autojit", "run", str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.returncode) == ("ended True\n", 0), done.stderr


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
