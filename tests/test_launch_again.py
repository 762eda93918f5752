"""Launched programs, read once more: functions decorated by hand, arguments that are resized, hooks, warnings."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import autojit as aj
from tests.test_launch_ends import ROOT, both

ENV = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOJIT_FLAGS": "--disk_cache=0"}

DECORATED = """
import numpy as np, autojit as aj
def smooth(x, k=2.0):
    for _ in range(3): x = x / k
    return x
smooth.__defaults__ = (4.0,)
smooth.tag = "a"
fast = aj.autocluster(smooth)
print(fast(np.ones(3)), fast.tag, smooth(np.ones(3)), fast.__name__)
"""
RESIZED = """
import numpy as np
def grow(x, n):
    for i in range(n):
        if i >= len(x): x.resize(2 * len(x))
        x[i] = i
    return x
print(grow(np.zeros(1), 10))
"""
HOOK = """
import logging, sys
def hook(*given):
    print(sys.exc_info(), flush=True)
    try:
        raise
    except RuntimeError as error:
        print(error)
sys.excepthook = hook
1 / 0
"""
WARNS = """
import numpy as np
def f(x, flag): return x + 1
a = np.ones(3)
for i in range(2):
    a = f(a, i is 1)
print(a)
"""
TIMEOUT = """
import os, signal, sys, traceback
import numpy as np
def late(*_): raise TimeoutError("late")
def ends(*given):
    traceback.print_exception(*given)
    os._exit(1)  # else the process waits for the rest of the loop, which XLA does not stop
sys.excepthook = ends
def work(x, n):
    for _ in range(n): x = np.sin(x) + 1
    return x
work(np.ones(10), 200)
signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 1.0)
work(np.ones(10), 500_000_000)
"""


@pytest.mark.parametrize("text", [DECORATED, RESIZED, HOOK, WARNS])
def test_as_without_autojit(tmp_path, text):
    both(tmp_path, text)


def test_a_timeout_in_a_plan_shows_the_users_frames(tmp_path):
    both(tmp_path, TIMEOUT, AUTOJIT_FLAGS="--policy=eager --disk_cache=0", PYTHONNODEBUGRANGES="1")


def test_what_is_no_function_is_called_by_captured_code():
    with pytest.warns(aj.AutojitWarning):
        act = aj.autocluster(np.tanh)

    @aj.jit_compile
    def layer(x):
        return act(x) * 2

    np.testing.assert_allclose(layer(np.ones(3)), np.tanh(np.ones(3)) * 2)


def test_what_is_no_function_makes_no_method():
    with pytest.warns(aj.AutojitWarning):

        class Layer:
            act = aj.autocluster(np.tanh)

            def f(self, x):
                return self.act(x)

    np.testing.assert_array_equal(Layer().f(np.ones(2)), np.tanh(np.ones(2)))
    assert Layer.act.__name__ == "tanh" and Layer.act.explain() is not None


def test_what_is_main_while_a_package_is_imported(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("import __main__\nKNOWN = hasattr(__main__, '__file__')\n")
    (tmp_path / "shop" / "__main__.py").write_text("from shop import KNOWN\nprint(KNOWN)\n")
    told = [
        subprocess.run([sys.executable, *start, "-m", "shop"], cwd=tmp_path, stdout=-1, text=True, check=True, env=ENV).stdout
        for start in ([], ["-m", "autojit", "run"])
    ]
    assert told == ["False\n", "False\n"]


def test_programs_that_forbid_to_compile(tmp_path):
    text = """
import builtins
def forbidden(*args, **kwargs): raise RuntimeError("dynamic code is disabled")
builtins.eval = builtins.exec = builtins.compile = forbidden
def total(values):
    s = 0
    for v in values: s += v
    return s
print(total([1, 2, 3]))
"""
    both(tmp_path, text)
