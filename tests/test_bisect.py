"""`python -m autojit bisect`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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

SLOW = """
import numpy as np

def step(x):
    for k in range(2):
        x = x + k
    return x

def large(x):
    for k in range(3):
        x = np.sqrt(x * x + k)
    return x

large(np.ones(1000))
x = np.ones(4)
for turn in range(30_000):
    x = step(x) - 1
large(np.ones(1001))
"""


def bisect(folder, *words, flags="", given=""):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOJIT_FLAGS": flags}
    command = [sys.executable, "-m", "autojit", "bisect", *words]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, input=given)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "different.py").write_text(DIFFERENT)
    (tmp_path / "slow.py").write_text(SLOW)
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
    (folder / "different.py").write_text(f"import sys\ndata = sys.stdin.read()\nassert data == 'given', data\n{DIFFERENT}")
    found = bisect(folder, "--", sys.executable, "different.py", "status", given="given")
    assert "cluster 5 makes the difference" in found.stdout
    assert found.stdout.endswith("exit status 1 instead of 0: no roots\n")


def test_the_flags_of_the_environment_hold(folder):
    found = bisect(folder, "--", sys.executable, "different.py", flags="--exact")
    assert found.returncode == 1 and "there is nothing to look for" in found.stdout


def test_numbers_that_are_close(folder):
    (folder / "close.py").write_text(DIFFERENT.replace("bool(roots > 50)", "1.0 if roots > 50 else 1.0001"))
    found = bisect(folder, "--rtol=1e-3", "--", sys.executable, "close.py")
    assert found.returncode == 1 and "the output and the exit status are those without autojit" in found.stdout


def test_programs_that_do_something_else_in_each_run(folder):
    (folder / "other.py").write_text("import os, autojit\nprint(os.getpid())")
    found = bisect(folder, "--", sys.executable, "other.py")
    assert found.returncode == 1 and "the program does not do the same in each run" in found.stdout


def test_the_cluster_that_makes_a_launched_program_slow(folder):
    found = bisect(folder, "--slow", "--repeat=1", "--", sys.executable, "-m", "autojit", "run", "slow.py")
    assert found.returncode == 0, found
    assert " of `step`, lines 5-7: " in found.stdout, found.stdout


def test_what_cannot_be_run(folder):
    missing = bisect(folder, "--", "no-such-program")
    assert missing.returncode == 1 and missing.stderr == "`no-such-program` cannot be run: No such file or directory\n"
    assert "there is no command to run" in bisect(folder).stderr
