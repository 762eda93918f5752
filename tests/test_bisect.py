"""`python -m autojit bisect`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autojit.__main__ import main
from autojit.launch import bisect as bisect_command

ROOT = Path(__file__).resolve().parent.parent

# A difference of products is contracted; the others give NumPy's bits.
DIFFERENT = """
import sys
import numpy as np
import autojit as aj

@aj.autocluster
def smooth(x):
    return (x[1:] + x[:-1]) / 2

@aj.autocluster
def residual(x, y):
    return x * y - 0.1

@aj.jit_compile
def shift(x):
    return (x + 1) * 2

x = np.linspace(1.0, 2.0, 100)
print("mean", smooth(x).max(), file=sys.stdout)
for k in range(3):
    print(k, shift(x[k:]).max())
roots = (residual(x, 0.1 / x) == 0).sum()
print("most are roots", bool(roots > 50))
shift(x[:5])
if "status" in sys.argv:
    sys.exit(0 if roots > 50 else "no roots")
"""


def bisect(folder, *words, flags=""):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOJIT_FLAGS": flags}
    command = [sys.executable, "-m", "autojit", "bisect", *words]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "different.py").write_text(DIFFERENT)
    return tmp_path


def test_the_cluster_that_makes_the_output_differ(folder):
    found = bisect(folder, "--", sys.executable, "different.py")
    assert found.returncode == 0 and not found.stderr
    assert "6 cluster(s) under --policy=eager" in found.stdout
    assert "cluster 5 makes the difference\ncluster_0 of `residual`, line 12: np.multiply, np.subtract\n" in found.stdout
    assert "different.py\n    12  return x * y - 0.1\n" in found.stdout
    assert "    def cluster_0(a0, a1):" in found.stdout
    assert found.stdout.endswith(
        "first in line 5 of the output:\n  without autojit: most are roots True\n  with it:         most are roots False\n"
    )


def test_the_cluster_that_makes_the_program_fail(folder):
    found = bisect(folder, "--", sys.executable, "different.py", "status")
    assert "cluster 5 makes the difference" in found.stdout
    assert found.stdout.endswith("exit status 1 instead of 0 (no roots)\n")


def test_the_flags_of_the_environment_hold(folder):
    found = bisect(folder, "--", sys.executable, "different.py", flags="--exact")
    assert found.returncode == 1 and "there is nothing to look for" in found.stdout


def test_numbers_that_are_close(folder):
    (folder / "close.py").write_text(DIFFERENT.replace("bool(roots > 50)", "1.0 if roots > 50 else 1.0001"))
    found = bisect(folder, "--rtol=1e-3", "--", sys.executable, "close.py")
    assert found.returncode == 1 and "the output and the exit status are those without autojit" in found.stdout


def test_numbers_in_arrays_have_other_widths():
    close, far = "[1.                 2.0000000000000004]", "[1.                 2.1000000000000001]"
    assert bisect_command._same("[1. 2.]", close, 1e-9)
    assert not bisect_command._same("[1. 2.]", far, 1e-9) and not bisect_command._same("[1. 2.]", close, 0.0)


OWN = """
@aj.autocluster(clustering_fuel=1)
def own(x):
    return np.exp(x) * 2

own(x)
"""


def test_what_another_process_and_a_functions_own_fuel_do(folder):
    (folder / "parent.py").write_text(
        "import subprocess, sys, numpy as np, autojit as aj\nx = np.ones(3)\n"
        f"{OWN}\nprint(aj.autocluster(lambda x: x + 1)(x), flush=True)\nsubprocess.run([sys.executable, 'different.py'])"
    )
    found = bisect(folder, "--", sys.executable, "parent.py")
    assert found.returncode == 1 and "parent.py: 1 cluster(s)" in found.stdout
    assert "with all of these clusters the output is the same: another process" in found.stdout


def test_a_program_that_fails_in_any_case(folder):
    (folder / "failing.py").write_text("import autojit\n1 / 0")
    found = bisect(folder, "--", sys.executable, "failing.py")
    assert "it ends with status 1 either way (ZeroDivisionError: division by zero): there is nothing to look for" in found.stdout


def test_programs_that_do_something_else_in_each_run(folder):
    (folder / "other.py").write_text("import os, autojit\nprint(os.getpid())")
    found = bisect(folder, "--", sys.executable, "other.py")
    assert found.returncode == 1 and "the program does not do the same in each run" in found.stdout


@pytest.mark.parametrize("slow", [1, 2, 5, 8, 9])
def test_the_cluster_that_makes_a_program_slow(slow, monkeypatch, capsys):
    entry = {"policy": "eager", "region": [3, 4], "cluster": "cluster_0", "operations": ["np.add"], "lines": [["program.py", 3, "x + 1"]], "graph": "..."}
    clusters = {number: {**entry, "function": f"f{number}"} for number in range(1, 10)}

    def run(self, flags):
        fuel = 0 if "--auto_jit=0" in flags else min(9, int(re.search(r"--clustering_fuel=(\d+)", flags)[1]))
        # Each cluster but one gains a little.
        return bisect_command.Run("", "", 0, 5 - 0.1 * fuel + 2 * (fuel >= slow), clusters if fuel else {})

    monkeypatch.setattr(bisect_command._Search, "_run", run)
    assert main(["bisect", "--slow", "--", "program"]) == 0
    told = capsys.readouterr().out
    assert f"cluster {slow} takes 1.90 s more than NumPy does in its place\ncluster_0 of `f{slow}`, lines 3-4: np.add" in told


def test_a_program_that_is_not_slow(monkeypatch, capsys):
    monkeypatch.setattr(bisect_command._Search, "_run", lambda self, flags: bisect_command.Run("", "", 0, 5.0, {}))
    assert main(["bisect", "--slow", "--", "program"]) == 1
    assert "it is not slower" in capsys.readouterr().out


def test_what_cannot_be_run(folder):
    missing = bisect(folder, "--", "no-such-program")
    assert missing.returncode == 1 and missing.stderr == "`no-such-program` cannot be run: No such file or directory\n"
    assert "there is no command to run" in bisect(folder).stderr
