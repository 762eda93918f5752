"""How a launched program ends: what it has printed comes first, its exception is its own, and `python -i` goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def both(folder, text, options=(), entered="", **env):
    """What a script prints, and its exit status: plain, and launched. Both streams are one, and a file."""
    (folder / "ending.py").write_text(text)
    found = []
    for start in ([], ["-m", "autojit", "run"]):
        with (folder / "log").open("w+") as log:
            command = [sys.executable, *options, *start, "ending.py"]
            env = {**os.environ, "PYTHONPATH": str(ROOT), **env}
            env.pop("PYTHONUNBUFFERED", None)
            status = subprocess.run(
                command, cwd=folder, env=env, stdout=log, stderr=subprocess.STDOUT, input=entered, text=True, timeout=120
            ).returncode
            log.seek(0)
            found.append((log.read().replace(str(folder), ""), status))
    plain, launched = found
    assert launched == plain
    return plain


HOOK = """
import os, sys, traceback
def hook(*given):
    traceback.print_exception(*given)
    os._exit(1)
sys.excepthook = hook
print("so far: 42")
1 / 0
"""


@pytest.mark.parametrize(
    "text",
    [
        "print('so far: 42')\n1 / 0\n",
        "import sys\nprint('so far: 42')\nsys.exit('told')\n",
        HOOK,
        "import atexit, os\natexit.register(lambda: os._exit(0))\nprint('so far: 42')\n",
        "import sys\nprint('so far: 42')\nsys.stdout = None\nraise KeyError(1)\n",
    ],
)
def test_what_was_printed_comes_first(tmp_path, text):
    printed, _ = both(tmp_path, text)
    assert "so far: 42" in printed


FROZEN = """
from dataclasses import dataclass
@dataclass(frozen=True)
class BadShape(Exception):
    shape: tuple
def check(shape):
    raise BadShape(shape)
check((2, 3))
"""
BATCH = """
class BatchFailed(Exception):
    def __init__(self, failures):
        super().__init__("batch failed")
        self.exceptions = failures
try:
    raise BatchFailed({"job": ValueError()})
except BatchFailed:
    raise BatchFailed(None)
"""
GROUP = """
def part():
    raise ValueError("of a part")
def all_of_them():
    try:
        part()
    except ValueError as error:
        raise ExceptionGroup("all", [error, KeyError(2)])
all_of_them()
"""


@pytest.mark.parametrize("text", [FROZEN, BATCH, GROUP])
def test_exceptions_of_all_kinds(tmp_path, text):
    printed, status = both(tmp_path, text)
    assert status == 1 and "autojit" not in printed


@pytest.mark.parametrize(
    ("text", "entered"),
    [
        ("x = 1\n", "print(x + 41)\n"),
        ("def f(y):\n    1 / y\nf(42)\nf(0)\n", "import sys\nprint(sys.last_traceback.tb_next.tb_frame.f_locals)\n"),
    ],
)
def test_python_goes_on_with_a_prompt(tmp_path, text, entered):
    env = {"TERM": "dumb", "PYTHON_COLORS": "0"}
    printed, _ = both(tmp_path, text, ["-i"], entered, **env)
    assert "42\n" in printed or "{'y': 0}" in printed
    both(tmp_path, f"import os\nos.environ['PYTHONINSPECT'] = '1'\n{text}", (), entered, **env)
