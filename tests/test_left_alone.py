"""Modules that `--exclude` leaves out are left alone in their callers, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import autojit as aj
from autojit.launch.scope import Scope
from autojit.ops import trust


def helper(x):
    return np.sin(x) * 2 + 1


def work(x):
    y = np.cos(x) + np.tanh(x)
    return helper(y) * 3 + y


def test_nothing_of_them_is_taken_in(monkeypatch):
    x = np.linspace(0, 1, 20_000)
    before = aj.autocluster(work, policy="eager").explain(x)
    assert before.is_whole and not before.native_statements
    monkeypatch.setattr(trust, "LEFT_ALONE", [Scope((), (helper.__module__,)).leaves_out])
    fast = aj.autocluster(work, policy="eager")
    explained = fast.explain(x)
    (reason,) = explained.native_statements
    assert "`--exclude` leaves out" in str(reason) and "helper" in str(reason)
    np.testing.assert_allclose(fast(x), work(x), rtol=1e-12)
    assert fast.cache_info().hits or fast.cache_info().plans


def test_the_launcher_says_which(tmp_path):
    (tmp_path / "shop.py").write_text("def price(x, y):\n    return x * y - 0.1\n")
    (tmp_path / "main.py").write_text(
        "import numpy as np\nfrom shop import price\n"
        "def total(a, b, n):\n    for _ in range(n):\n        a = price(a, b) + np.sin(b) * np.cos(a)\n    return a\n"
        "print(total(np.ones(30_000), np.full(30_000, 0.3), 9).sum())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(aj.__file__).parents[1]), "AUTOJIT_FLAGS": "--disk_cache=0"}
    said = {}
    for option in ("", "--exclude=shop"):
        words = ["-m", "autojit", "run", "--policy=eager", "--report=-", *([option] if option else []), "main.py"]
        done = subprocess.run(
            [sys.executable, *words], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=150, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        said[option] = done.stderr
    assert "`--exclude` leaves out" not in said[""] and "`--exclude` leaves out" in said["--exclude=shop"], said
