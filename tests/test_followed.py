"""Debuggers and coverage tools see the lines of functions that are compiled when it pays."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.runtime.background import BACKGROUND
from tests.measuring import X, compiling_pays, probe_of  # noqa: F401 -- a fixture

ROOT = Path(__file__).resolve().parent.parent


def work(x):
    y = x * x * 3
    y = y + np.sin(x)
    return y * 2


FIRST = work.__code__.co_firstlineno


def followed(function, *args):
    """The result, and the lines of `work` that a tracer has seen."""
    seen = set()

    def local(frame, event, arg):
        if event == "line":
            seen.add(frame.f_lineno - FIRST)
        return local

    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: local if frame.f_code.co_name == "work" else None)
    try:
        result = function(*args)
    finally:
        sys.settrace(before)
    return result, seen


@pytest.mark.usefixtures("pays")
def test_a_plan_steps_back_for_who_follows():
    fast = aj.autocluster(work)
    for _ in range(4):
        fast(X)
        BACKGROUND.wait()
    hits = fast.cache_info().hits
    assert hits > 0 and probe_of(fast).plans
    for _ in range(2):
        result, seen = followed(fast, X)
        np.testing.assert_array_equal(result, work(X))
        assert seen == {1, 2, 3}
    assert fast.cache_info().hits == hits
    fast(X)
    assert fast.cache_info().hits == hits + 1
    other = threading.Thread(target=lambda: followed(fast, X))  # it is followed alone
    other.start()
    other.join()
    assert fast.cache_info().hits == hits + 1


@pytest.mark.usefixtures("pays")
def test_nothing_is_captured_for_who_follows():
    fast = aj.autocluster(work)
    for _ in range(4):
        _, seen = followed(fast, X)
        BACKGROUND.wait()
        assert seen == {1, 2, 3}
    assert fast.cache_info().captures == 0
    (reason,) = fast.explain(X).standing
    assert reason.id == "followed" and "4 call(s) so far" in reason.detail


def test_other_policies_compile_all_the_same():
    fast = aj.autocluster(work, policy="eager", check=False)  # a check runs the statements, whose lines are seen
    for _ in range(2):
        _, seen = followed(fast, X)
    assert fast.cache_info().hits == 2 and seen == {1}
    assert not fast.explain(X).standing


@pytest.mark.usefixtures("pays")
def test_a_profile_of_autojits_own_follows_and_compiles(tmp_path):
    fast = aj.autocluster(work)
    for _ in range(4):
        fast(X)
        BACKGROUND.wait()
    hits = fast.cache_info().hits
    with aj.profile(tmp_path):
        fast(X)
    assert fast.cache_info().hits == hits + 1


PROGRAM = """
import sys, trace
import numpy as np

def smooth(u, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = (u[:-2] + u[2:]) / 2
        if new[0] > 1e9:
            new[0] = 0
        u = new
    return u

def main():
    u = np.linspace(0, 1, 400_000)
    for k in range(4):
        u = smooth(u, 60)
        u = u * 1.0001 + k
    print(u.sum())

counts = trace.Trace(count=1, trace=0)
counts.runfunc(main)
print(sorted({line for (file, line) in counts.results().counts if file == __file__}))
"""


def both(script, text=""):
    """What a script prints, plain and launched."""
    environment = {**os.environ, "AUTOJIT_FLAGS": "--disk_cache=0", "PYTHONPATH": str(ROOT)}
    return (
        subprocess.run(
            [sys.executable, *words, script.name], input=text, capture_output=True, text=True, check=True, env=environment,
            cwd=script.parent,
        ).stdout
        for words in ((), ("-m", "autojit", "run"))
    )  # fmt: skip


def test_the_lines_that_a_coverage_tool_counts_under_the_launcher(tmp_path):
    script = tmp_path / "covered.py"
    script.write_text(PROGRAM)
    plain, launched = (eval(told.replace("\n", ",", 1)) for told in both(script))
    assert plain[0] == launched[0] and 11 in plain[1]
    assert plain[1] == launched[1]


STOPS = """
import numpy as np

def smooth(u, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = (u[:-2] + u[2:]) / 2
        u = new
    low = u.min()
    return u - low

u = np.linspace(0, 1, 400_000)
for k in range(5):
    u = smooth(u, 60)
    if k == 3:
        breakpoint()
    low = u.max()
    u = u / low
print("end", u.sum())
"""
COMMANDS = "n\nn\nb 7\nb 9\nc\np 'turn', _\nn\nc\np 'turn', _\nclear 1\nc\np 'low', u[0]\nn\nclear 2\nc\n"


def test_a_debugger_stops_in_what_was_compiled(tmp_path):
    script = tmp_path / "stops.py"
    script.write_text(STOPS)
    plain, launched = (told.split("\n") for told in both(script, COMMANDS))
    for told in (plain, launched):
        # The launched one comes by the first line of a part once more at its end.
        assert all("stops.py(" in line for line in told if line.startswith("> "))
        assert [line for line in told if "'turn'" in line] == ["(Pdb) ('turn', 0)", "(Pdb) ('turn', 1)"]
        assert sum("stops.py(7)smooth" in line for line in told) == 2
        assert sum("stops.py(9)smooth" in line for line in told) == 1
    assert plain[-2] == launched[-2] and "end" in plain[-2]
