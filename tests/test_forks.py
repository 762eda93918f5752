"""Forked processes: NumPy's answers where XLA's threads are missing, compiled ones where it was not started before."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")

START = """
import multiprocessing, os, signal, warnings
import numpy as np
import autojit as aj
for category in (DeprecationWarning, RuntimeWarning):  # of forks with threads; such forks are what is tested
    warnings.simplefilter("ignore", category)
warnings.simplefilter("error", aj.AutojitWarning)

@aj.autocluster(policy="eager")
def f(x):
    for i in range(3):
        x = x * 2 + i
    return x

@aj.jit_compile
def g(x):
    return x * 3

def work(n):
    signal.alarm(60)
    x = np.full(4, float(n))
    assert np.array_equal(f(x), x * 8 + 4) and np.array_equal(g(x), x * 3)
    assert np.array_equal(aj.autocluster(policy="eager")(lambda y: y + 1)(x), x + 1)
    aj.set_jit(True)
    assert np.array_equal(f(x + 1), (x + 1) * 8 + 4)
    return f.cache_info().hits

def forked():
    child = os.fork()
    if not child:
        os._exit(0 if work(7) >= 0 else 1)
    return os.waitpid(child, 0)[1]
"""


def run(text: str) -> str:
    """What a program prints."""
    # In a file, for there must be source.
    program = textwrap.dedent(START) + textwrap.dedent(text)
    path = os.environ["PYTEST_TMP_PROGRAM"]
    with open(path, "w") as file:
        file.write(program)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(autouse=True)
def _program(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_TMP_PROGRAM", str(tmp_path / "program.py"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))


def test_after_the_parent_has_compiled():
    assert (
        run("work(1); before = f.cache_info().hits; print(forked(), f.cache_info().hits == before, work(2) > before)")
        == "0 True True\n"
    )


def test_a_pool():
    text = """
    if __name__ == "__main__":
        work(1)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(sum(pool.map(work, range(20))), work(3) > 0)
    """
    assert run(text).endswith("True\n")


def test_before_the_parent_has_compiled():
    text = """
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(pool.map(work, [1, 2])[-1] > 0, work(3) > 0)
    """
    assert run(text) == "True True\n"


def test_a_child_of_a_child():
    text = """
    work(1)
    child = os.fork()
    if not child:
        os._exit(0 if forked() == 0 and work(2) >= 0 else 1)
    print(os.waitpid(child, 0)[1])
    """
    assert run(text) == "0\n"


def test_children_that_end_as_python_does():
    """XLA's client waits at its end for threads that only the parent has."""
    text = """
    import atexit
    work(1)
    for end in ("sys.exit(5)", "pass"):
        child = os.fork()
        if not child:
            import sys
            atexit.register(print, "the end", flush=True)
            work(2)
            exec(end)
            break
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    """
    assert run(text) == "the end\n5\nthe end\n0\n"
