"""Loops of a script's own statements: which are taken, and that a script does the same with them as without."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from autojit.capture.module_loops import loops_of
from tests.loop_programs import make_loop_program
from tests.module_judge import judge_script, same_script
from tests.name_programs import make_name_program

ROOT = Path(__file__).resolve().parent.parent

#: Scripts whose loops are taken.
TAKEN = {
    "accumulates": """
        total = np.zeros(4)
        for i in range(20):
            total = total + np.sin(i * total + 1)
    """,
    "changes what it was given": """
        b = a
        for i in range(5):
            a[i] = a[i - 1] * 2 + i
            b[1:] += a[:-1]
    """,
    "views stay views": """
        rows, part = [], None
        for i in range(4):
            part = A[i]
            part *= 2
            rows.append(part)
        same = part
    """,
    "comprehensions read what the loop binds": """
        for i in range(3):
            t = a * 2 + i
            a = a + [t * w + i for w in (0.5, 0.25)][1]
    """,
    "no iteration leaves names unbound": """
        for i in range(0):
            never = np.ones(3)
    """,
    "some iterations bind a name": """
        for i in range(6):
            if i % 4 == 3:
                found = a * i
        best = None
        for i in range(2):
            if i == 5:
                best = a
    """,
    "while": """
        x, k = np.ones(50), 0
        while x.max() < 1e6:
            x = x * 1.5 + np.cos(x)
            k += 1
    """,
    "break and else": """
        for i in range(10):
            a += i
            if a[0] > 20:
                break
        else:
            a[:] = 0
        for i in range(3):
            a -= 1
        else:
            last = i
    """,
    "an inner loop is left early": """
        for i in range(9):
            count = 0
            while True:
                if count >= a.size:
                    break
                count += 1
    """,
    "inside if, with and try": """
        if a.size:
            for i in range(3):
                a += i
        with np.errstate(all="ignore"):
            for i in range(3):
                a = a / (i - 1)
        try:
            for i in range(9):
                a[i] = i
                c = a * 2
        except IndexError as error:
            text = str(error)
        finally:
            for i in range(2):
                a = a + 1
    """,
    "the exception of an iteration": """
        done = 0
        for i in range(20):
            a = a * 2
            a[i] = 1
            done = i
    """,
    "exits": """
        for i in range(20):
            a = a + 1
            if i == 3:
                raise SystemExit(4)
    """,
    "prints": """
        for i in range(5):
            a = a * 2 + i
            print(i, a.sum())
            a -= 1
    """,
    "comprehensions": """
        powers = []
        for i in range(4):
            powers.append(sum([a[j] * i for j in range(3)]))
            a = a + np.array([float(i * v) for v in a])
    """,
    "unpacks, swaps, deletes": """
        x, y = a, a * 2
        for i, (p, q) in enumerate([(1, 2), (3, 4)]):
            x, y = y, x + p * q
            t = x * y
            del t
        for name, v in {"one": 1.0, "two": 2.0}.items():
            x = x * v
    """,
    "calls functions": """
        def halved(x):
            return x / 2

        def filled(x, value):
            x[:] = value
            return x

        for i in range(5):
            c = halved(a) + i
            filled(a, c.sum())
    """,
    "hoists arguments": """
        def shown(x, y):
            print(x, y)
            return x

        for i in range(3):
            c = shown(a.sum() * 2 + i, np.max(a) - i)
            shown(*[c], y=a * i)
    """,
    "reads globals that stay": """
        K, MODE = 3, "add"
        w = a * 1.0
        for i in range(K):
            w = w + K if MODE == "add" else w - K
    """,
    "walrus": """
        n = 0
        while (n := n + 1) < 5:
            a = a * n
            if (m := a.max()) > 3:
                a = a / m
    """,
    "lambda of other names": """
        for i in range(3):
            a = (lambda v: v * 2)(a) + i
    """,
    "objects": """
        class Cell:
            def __init__(self):
                self.value = np.zeros(3)

            def step(self, by):
                self.value = self.value + by

        cell = Cell()
        for i in range(4):
            cell.step(i)
            cell.value[0] *= 2
        cell = cell.value
    """,
    "names that are usually there": """
        for i in range(a.size):
            t = a + i
        for i in range(3):
            t = t * 2 + i
        for j in range(i):
            u = t + j
        else:
            last = i
    """,
    "names that are usually there and are not": """
        try:
            for i in range(0):
                t = a + i
            for i in range(3):
                t = t * 2 + i
        except NameError as error:
            text = str(error)
    """,
    "a loop in a loop": """
        for i in range(3):
            for j in range(4):
                A[i, j] = A[j, i] * 0.5 + i - j
    """,
    "a name that was a builtin": """
        sum = 0.0
        for i in range(5):
            sum += a[i]
    """,
    "draws": """
        rng = np.random.default_rng(3)
        np.random.seed(3)
        for i in range(4):
            a = a + rng.normal(size=a.size)
            a += np.random.rand()
        rng = rng.bit_generator.state["state"]
    """,
    "records": """
        state = {"x": a, "n": 0}
        for i in range(4):
            state["x"] = state["x"] * 2
            state["n"] += 1
    """,
    "traps": """
        n = np.arange(-2, 3)
        out = []
        for i in range(5):
            out.append(10 // n[i] if n[i] else -1)
            m = 7 % (n - i)
    """,
}  # fmt: skip

#: Scripts whose loops are left alone, each for one reason.
LEFT = {
    "a function reads it in a comprehension": """
        def f():
            return sum([a for _ in [1]])

        for i in range(6):
            b = a * 2 + f()
            a = b * 0.5 + i
    """,
    "a method reads it in a comprehension": """
        class Late:
            def get(self):
                return {k: a * 1.0 for k in (1,)}[1]

        late = Late()
        for i in range(6):
            b = a * 2 + late.get()
            a = b * 0.5 + i
        late = None
    """,
    "a function that is named like a comprehension": """
        def listcomp():
            return a

        for i in range(6):
            b = a * 2
            c = b + listcomp()
            a = b + 1
    """,
    "a name like those of autojit": """
        __autojit_k = 2.0
        for i in range(3):
            a = a * __autojit_k
            b = a + 1
    """,
    "a function reads what the loop binds": """
        def shown():
            return a.sum()

        for i in range(4):
            a = a + 1
            print(shown())
    """,
    "a function writes it": """
        def more():
            global a
            a = a * 2

        for i in range(4):
            a = a + 1
            more()
    """,
    "a class body reads it": """
        for i in range(4):
            a = a + 1

        class Late:
            value = a
    """,
    "a generator reads it later": """
        kept = []
        for i in range(3):
            a = a + 1
            kept.append(x * i for x in a)
        kept = [list(one) for one in kept]
    """,
    "a lambda keeps it": """
        kept = []
        for i in range(3):
            a = a + 1
            kept.append(lambda: a * i)
        print([f() for f in kept])
    """,
    "all names are asked for": """
        for i in range(3):
            a = a + 1
            print(sorted(set(globals()) - {"__builtins__", "__warningregistry__"}))
    """,
    "locals": """
        for i in range(3):
            a = a + 1
            locals()["a"] = a * 2
    """,
    "the module as a module": """
        import sys
        for i in range(3):
            a = a + 1
            print("i" in vars(sys.modules["sys"]))
    """,
    "annotations": """
        for i in range(3):
            b: np.ndarray = a + i
    """,
    "a definition": """
        for i in range(3):
            def f(x):
                return x + 1
            a = f(a)
    """,
    "a name that may be a builtin": """
        for i in range(3):
            a = a + max(i, 1)
            max = min
    """,
    "a name that may have no value": """
        if a.size > 100:
            c = 1
        for i in range(3):
            if i == 1:
                c = a
            elif i == 2:
                c = c + 1
    """,
    "names of the module itself": """
        for i in range(3):
            a = a + 1
            __doc__ = "text"
    """,
    "leaves a loop around": """
        def f():
            return i

        for i in range(3):
            for j in range(3):
                a = a + j
            else:
                break
    """,
}  # fmt: skip


def script(body):
    text = "\n".join(line[8:] for line in body.split("\n"))
    return f'"""A script."""\nimport numpy as np\nA, a = given\n{text}'


def given():
    return [np.arange(25.0).reshape(5, 5) - 7, np.linspace(0.5, 2, 5)]


@pytest.mark.parametrize("name", TAKEN)
def test_scripts_whose_loops_are_taken(name):
    text = script(TAKEN[name])
    whole = ast.parse(text)
    outer = sum(isinstance(node, ast.For | ast.While) for node in whole.body)
    inner = {"inside if, with and try": 4, "break and else": 2, "some iterations bind a name": 2}
    inner["names that are usually there and are not"] = 2
    assert same_script(text, given(), "eager", 1e-12) == inner.get(name, outer) > 0


@pytest.mark.parametrize("name", LEFT)
def test_scripts_whose_loops_are_left(name):
    assert same_script(script(LEFT[name]), given(), "eager", 1e-12) == 0


def test_scripts_under_measured():
    """Regions are tried at once and loops taken over at random places, in a process of its own."""
    environment = {**os.environ, "AUTOJIT_FLAGS": "--disk_cache=0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.test_module_loops"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stdout.split() == [str(len(TAKEN) + len(LEFT)), "scripts"], done.stdout + done.stderr


READS = """
import __main__

def get():
    return __main__.x

def get_by_dict():
    return __main__.__dict__["x"]

def get_by_vars():
    return vars(__main__)["x"]

def get_by_getattr():
    return getattr(__main__, "x")

ns = vars(__main__)

def get_from_a_dict():
    return ns["x"] * 1.0

def get_by_get():
    return ns.get("x")
"""
READ = """
import numpy as np
import reads

x = np.zeros(3)
for i in range(4):
    x = x + 1
    y = x + reads.{}()
    x = x * 2
print(x, y)
"""


@pytest.mark.parametrize("way", ["get", "get_by_dict", "get_by_vars", "get_by_getattr", "get_from_a_dict", "get_by_get"])
def test_another_module_reads_the_scripts_names(tmp_path, way):
    (tmp_path / "reads.py").write_text(READS)
    (tmp_path / "script.py").write_text(READ.format(way))
    environment = {**os.environ, "AUTOJIT_FLAGS": "--disk_cache=0", "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "autojit", "run", "--policy=eager", "script.py"]
    ended = subprocess.run(words, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
    assert ended.stdout == "[30. 30. 30.] [30. 30. 30.]\n"


ODD = {
    "a long sum": "for i in range(2):\n    a = " + " + ".join(["a"] * 300) + "\nprint(a)\n",
    "a very long sum": "for i in range(2):\n    a = a + 1\na = " + " + ".join(["a"] * 600) + "\nprint(a)\n",
    "many branches": "for i in range(2):\n    if i == 7: a = a\n"
    + "".join(f"    elif i == {k}: a = a * {k}\n" for k in range(8, 258))
    + "print(a)\n",
    "an error of the compiler": "for i in range(2):\n    a = a + 1\nreturn a\n",
    "a warning of the compiler": "for i in range(2):\n    if i is 1: a = a + 1\nprint(a)\n",
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_scripts(tmp_path, name):
    (tmp_path / "script.py").write_text(f"import numpy as np\na = np.ones(3)\n{ODD[name]}")
    environment = {**os.environ, "AUTOJIT_FLAGS": "--disk_cache=0", "PYTHONPATH": str(ROOT)}
    plain, launched = (
        subprocess.run([sys.executable, *words, "script.py"], capture_output=True, text=True, env=environment, cwd=tmp_path)
        for words in ((), ("-m", "autojit", "run"))
    )
    assert (launched.returncode, launched.stdout, launched.stderr) == (plain.returncode, plain.stdout, plain.stderr)


@pytest.mark.parametrize("make", [make_loop_program, make_name_program])
def test_random_programs_as_scripts(make):
    tallies = [judge_script(make(Random(seed))) for seed in range(400, 412)]
    assert sum(tally.loops for tally in tallies if tally is not None) > 20
    assert sum(tally.hits for tally in tallies if tally is not None) > 0


def test_what_is_a_parameter():
    text = "import numpy as np\nx = np.ones(3)\nfor i in range(3):\n    x = x + 1\n    y = x\n"
    (loop,) = loops_of(ast.parse(text), text, "script.py")
    assert loop.parameters == ("x",)


def measured():
    from tests import measured_mode

    measured_mode.at_once()
    names = {**TAKEN, **LEFT}
    for body in names.values():
        for _ in range(3):
            same_script(script(body), given(), "measured", 1e-12)
    print(len(names), "scripts")


if __name__ == "__main__":
    measured()
