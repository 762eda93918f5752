"""The end of a process: what the names of a module hold is freed, as without autojit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = '''
import atexit, sys, threading
atexit.register(lambda: print("before autojit", work(2)))
import numpy as np
import autojit as aj

class Told:
    def __del__(self, write=sys.stdout.write):  # `sys` may have gone before
        write("freed\\n")

told = Told()
out = open(sys.argv[1], "w")
options = {"policy": sys.argv[2]} if sys.argv[2] else None
decorate = aj.autocluster(**options) if options else (lambda f: f)

def helper(x):
    return x.sum()

def never(x):
    for _ in range(3):
        x = x + 1
    return x

never = decorate(never)

@decorate
def work(n):
    out.write("line\\n")
    x = np.arange(5.0)
    for i in range(n):
        x = np.sin(x) + i
    return round(float(helper(x)), 9)

print(work(3), work(3))
atexit.register(lambda: print("after autojit", work(2)))

@decorate
def waits():
    for _ in range(2):
        __import__("time").sleep(20)

if sys.argv[3:]:
    goes_on = {"outside": __import__("time").sleep, "inside": lambda _: waits()}[sys.argv[3]]
    threading.Thread(target=goes_on, args=(20,), daemon=True).start()
'''


def run(folder, *words, launched=False):
    (folder / "program.py").write_text(PROGRAM)
    start = ["-m", "autojit", "run", f"--policy={words[0] or 'measured'}"] if launched else []
    env = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOJIT_FLAGS": "--disk_cache=false"}
    given = [sys.executable, *start, "program.py", "out.txt", *([""] if launched else words)]
    found = subprocess.run(given, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0 and not found.stderr, found.stderr
    return found.stdout, (folder / "out.txt").read_text()


@pytest.mark.parametrize("launched", [False, True])
@pytest.mark.parametrize("policy", ["eager", "measured", "native"])
def test_files_are_flushed_and_objects_freed(tmp_path, policy, launched):
    plain = run(tmp_path, "")
    assert plain[0].endswith("freed\n") and plain[1] == "line\n" * 4
    assert run(tmp_path, policy, launched=launched) == plain


@pytest.mark.parametrize("policy", ["eager", "measured"])
def test_with_a_thread_that_goes_on(tmp_path, policy):
    assert run(tmp_path, policy, "outside") == run(tmp_path, "")


def test_with_a_thread_inside_of_a_decorated_function(tmp_path):
    """Nothing is taken away from it."""
    stdout, _ = run(tmp_path, "eager", "inside")
    assert "after autojit" in stdout and "before autojit" in stdout


GENERATOR = """
import numpy as np
import autojit as aj

@aj.autocluster(policy="eager")
def gen(x):
    try:
        for i in range(3):
            x = x * 2 + 1
            y = x.sum()
            yield y
    finally:
        z = np.ones(3)
        print("closing", (x * 2 + z[0]).sum())

@aj.autocluster(policy="eager")
def main():
    global g
    for i in range(2):
        g = gen(np.ones(4))
        print(next(g))

for i in range(3):
    main()
print("end")
"""


def test_a_generator_that_is_suspended_at_the_end(tmp_path):
    outputs = []
    for text in (GENERATOR, "\n".join(line for line in GENERATOR.split("\n") if "aj" not in line)):
        (tmp_path / "program.py").write_text(text)
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        found = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
        outputs.append((found.returncode, found.stdout, found.stderr))
    assert outputs[0] == outputs[1]


LATE = """
import atexit
import numpy as np
atexit.register(lambda: print(refused(np.ones(2))))  # runs after autojit's own
import autojit as aj
names = {"np": np}
exec("def f(x): return np.sin(x) + 1", names)
refused = aj.jit_compile(names["f"])
try:
    refused(np.ones(2))
except aj.UncompilableError as error:
    print("refused")
"""


def test_a_strict_function_without_source_at_the_end(tmp_path):
    (tmp_path / "program.py").write_text(LATE)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.split("\n")[:2] == ["refused", "[1.84147098 1.84147098]"]
