"""`set_jit("autoclustering")`: modules that are imported later are taken, as with `--auto_jit=2`."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import autojit as aj

MODULE = """
import numpy as np
def total(x):
    s = 0.0
    for k in range(3):
        s = s + (x * k).sum()
    return s
"""
BEGIN = """
    import sys
    import numpy as np
    import autojit as aj
    def taken(function): return "__autojit_controller__" in vars(function)
"""


def run(folder: Path, text: str, flags: str = "") -> str:
    (folder / "early.py").write_text(MODULE)
    (folder / "late.py").write_text(MODULE)
    (folder / "program.py").write_text(textwrap.dedent(BEGIN) + textwrap.dedent(text))
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(aj.__file__).parents[1]),
        "AUTOJIT_FLAGS": f"--disk_cache=0 --policy=eager {flags}",
    }
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_modules_that_are_imported_later_are_taken(tmp_path):
    text = """
        import early
        aj.set_jit("autoclustering"), aj.set_jit("autoclustering")
        import late
        print(early.total(np.ones(4)), late.total(np.ones(4)), taken(early.total), taken(late.total))
        print(late.total.__autojit_controller__.counters.captures)
        print(sum(type(finder).__name__ == "Finder" for finder in sys.meta_path))
        aj.set_jit("off")
        print(late.total(np.ones(3)), late.total.__autojit_controller__.enabled)
    """
    assert run(tmp_path, text).split() == "12.0 12.0 False True 1 1 9.0 False".split()


def test_what_is_imported_while_it_is_off_is_taken_too(tmp_path):
    text = """
        aj.set_jit("autoclustering"), aj.set_jit("off")
        import early, late
        print(early.total(np.ones(4)))
        aj.set_jit(True)
        print(early.total(np.ones(4)), late.total(np.ones(4)))
        print(early.total.__autojit_controller__.counters.captures, late.total.__autojit_controller__.counters.captures)
    """
    assert run(tmp_path, text).split() == "12.0 12.0 12.0 1 1".split()


@pytest.mark.parametrize(("mode", "flags"), [("True", ""), ("'off'", ""), ("'autoclustering'", "--auto_jit=0")])
def test_other_modes_take_nothing(tmp_path, mode, flags):
    text = f"""
        aj.set_jit({mode})
        import late
        print(late.total(np.ones(4)), taken(late.total))
    """
    assert run(tmp_path, text, flags).split() == ["12.0", "False"]
