"""Ctrl-C in loops that never end, or not soon."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import autojit

PROGRAM = """
    import os, signal, threading, time
    import numpy as np
    import autojit as aj
    from autojit.threads import own

    @aj.autocluster(policy="eager")
    LOOP

    # Started in the background of a shell, a process is told to ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    x = np.ones(20_000)
    done, began = threading.Event(), []

    def press():
        # Compiling takes its time on a busy machine.
        while not any(thread.name == "autojit-long-programs" for thread in own().values()):
            time.sleep(0.05)
        time.sleep(1)  # in the loop
        began.append(time.monotonic())
        # Again and again: jax has a callback of the garbage collector, in which Python drops a KeyboardInterrupt.
        while not done.is_set():
            os.kill(os.getpid(), signal.SIGINT)
            done.wait(1.5)

    threading.Thread(target=press).start()
    try:
        endless(x, 90_000)
    except KeyboardInterrupt:
        done.set()
        print("interrupted", time.monotonic() - began[0] < 4)
    assert endless.cache_info().compiles == 1, endless.cache_info()
    print(aj.autocluster(policy="eager")(lambda v: v * 2 + 1)(np.arange(3.0)), flush=True)
    os._exit(0)  # or the process would wait for the program
"""


ENDLESS = """
    def endless(x, n):
        while True:
            x = x * 0.5 + 1
            if x.sum() < 0:
                break
        return x
"""
#: Some minutes, in not so many iterations.
LONG = """
    def endless(x, n):
        y = x.reshape(100, 200) * 0.5
        for _ in range(90_000):
            y = np.cos(np.sin(y @ y.T) @ y)
        return y
"""


@pytest.mark.parametrize("loop", [ENDLESS, LONG, LONG.replace("90_000", "n")])
def test_a_loop_can_be_interrupted(tmp_path: Path, loop: str) -> None:
    script = tmp_path / "endless.py"
    script.write_text(textwrap.dedent(PROGRAM.replace("    LOOP\n", loop.strip("\n") + "\n")))
    # Beside NumPy (`--check`) the loop would never begin: NumPy's does not end.
    environment = {**os.environ, "AUTOJIT_FLAGS": "--disk_cache=0", "PYTHONPATH": str(Path(autojit.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    assert run.stdout.splitlines() == ["interrupted True", "[1. 3. 5.]"], run.stdout + run.stderr
    assert run.returncode == 0, run.stderr
