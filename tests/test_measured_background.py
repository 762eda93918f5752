"""The policy `measured`: plans are made in the background, while the caller, threads, forks and exits go on."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.runtime.background import BACKGROUND, Background
from autojit.runtime.maker import Maker
from tests.measuring import X, compiling_pays, compiling_waits  # noqa: F401 -- fixtures


def poly(x):
    return x * x * 3 + np.sin(x)


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
def test_threads():
    fast, wrong = aj.autocluster(poly), []

    def work(seed):
        x = np.random.default_rng(seed).random(1000 + seed % 3)
        for _ in range(50):
            if not np.allclose(fast(x), poly(x), rtol=1e-13, atol=1e-12):
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


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
@pytest.mark.parametrize("policy", ["eager", "measured"])
def test_a_timeout_ends_a_long_call(policy, no_collection):
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
        end = time.perf_counter() + 30
        while BACKGROUND.is_busy() and time.perf_counter() < end:  # a job is counted as done after that
            time.sleep(0.001)
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
