"""`python -m autojit run`: a program behaves as without it, and its functions are compiled."""

import os
import re
import signal
import site
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from autojit import config as flags
from autojit.launch import hook, summary
from autojit.launch.arm import arm

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = '''
import atexit, contextlib, dataclasses, functools, inspect, pickle, sys, threading, asyncio
import numpy as np
import ownmodule
from ownpackage.part import Model, scale

atexit.register(lambda: print("atexit"))

@dataclasses.dataclass
class Point:
    x: float = 1.0

    def norm(self, *, p: int = 2) -> float:
        """The norm."""
        return float(np.sum(np.abs(np.ones(3) * self.x) ** p))

    @staticmethod
    def both(a, /, b=2):
        return a + b

    @classmethod
    def made(cls, a):
        return cls(a)

    @property
    def twice(self):
        return self.x * 2

class Special(Point):
    def norm(self, *, p: int = 2) -> float:
        for _ in range(2):
            found = super().norm(p=p)
        return found

def wrapping(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)
    return inner

@wrapping
def counted(n):
    total = 0
    for i in range(n):
        total += i
    return total

def numbers(n):
    for i in range(n):
        yield i * 2

async def waits():
    return 5

@contextlib.contextmanager
def context():
    yield 3

def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)

def squares(x, *more, k=1, **named):
    for _ in range(2):
        x = x * x
    return x, more, k, named

def outer(k):
    def inner(x):
        for _ in range(3):
            x = x + k
        return x
    return inner

def first(y: "int") -> str:
    pass

def whole(n, steps):
    u = np.zeros((n, n))
    u[n // 4 : n // 2] = 1
    for k in range(steps):
        u[1:-1, 1:-1] += 0.1 * (u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1] - 4 * u[1:-1, 1:-1])
    return u

if __name__ == "__main__":
    p = Point(2.0)
    print(p, p.norm(), p.norm(p=3), Point.both(1), Point.both(1, b=5), Point.made(4).twice, Special(3.0).norm())
    print(counted(5), counted.__name__, list(numbers(3)), asyncio.run(waits()), factorial(10), outer(2)(1))
    with context() as value:
        print(value)
    print(inspect.signature(Point.norm), Point.norm.__doc__, inspect.signature(squares), inspect.getsource(squares)[:20])
    print(pickle.loads(pickle.dumps(squares)) is squares, pickle.loads(pickle.dumps(p)) == p, Point.norm.__qualname__)
    print(first.__annotations__, squares.__module__, whole.__code__.co_firstlineno, whole.__defaults__, squares.__kwdefaults__)
    threads = [threading.Thread(target=squares, args=(np.ones(3),)) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print(squares(2, 3, 4, k=5, z=6), squares(np.float32(2)))
    for call in (lambda: p.norm(q=1), lambda: squares(), lambda: Point.both(a=1)):
        try:
            call()
        except TypeError as error:
            print(error)
    print(ownmodule.__name__, ownmodule.total(np.arange(5.0)), Model(3).run(np.ones(4)), scale(2))
    print(sys.argv[1:], __name__, __file__ == sys.argv[0] or __file__.endswith("program.py"), __spec__, __package__)
    print(round(float(whole(60, 50).sum()), 9))
    sys.exit(3)
'''
OWN = "import numpy as np\n\ndef total(x):\n    for _ in range(3):\n        x = x + 1\n    return float(np.sum(x))\n"
PART = """import numpy as np
FACTOR = 2
def scale(x):
    return x * FACTOR
class Model:
    def __init__(self, n):
        self.n = n
    def run(self, x):
        for _ in range(self.n):
            x = scale(x)
        return float(x.sum())
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "ownmodule.py").write_text(OWN)
    (tmp_path / "ownpackage").mkdir()
    (tmp_path / "ownpackage" / "__init__.py").write_text("")
    (tmp_path / "ownpackage" / "part.py").write_text(PART)
    (tmp_path / "ownpackage" / "__main__.py").write_text("import sys\nprint(__name__, __package__, __spec__.name, sys.argv[1:])")
    return tmp_path


def run(folder, *words, launched=True, flags="", **more):
    start = ["-m", "autojit", "run"] if launched else []
    env = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOJIT_FLAGS": f"--disk_cache=false {flags}"}
    return subprocess.run([sys.executable, *start, *words], cwd=folder, env=env, capture_output=True, text=True, **more)


def both(folder, *words):
    plain, fast = run(folder, *words, launched=False), run(folder, *words)
    assert fast.stdout == plain.stdout
    assert (fast.stderr, fast.returncode) == (plain.stderr, plain.returncode)
    return plain, fast


def test_a_program_behaves_as_without(folder):
    plain, _ = both(folder, "program.py", "--some", "x y")
    assert plain.returncode == 3 and "atexit" in plain.stdout and plain.stderr == ""


@pytest.mark.parametrize("flags", ["--policy=eager", "--policy=native", "--auto_jit=0"])
def test_with_other_policies(folder, flags):
    plain, fast = run(folder, "program.py", launched=False), run(folder, flags, "program.py")
    # Under `eager` each argument of a recursive function may count as a kind of call of its own.
    told = re.sub(r".*\[too-many-plans\].*\n(  .*\n)?", "", fast.stderr)
    assert (fast.stdout, told, fast.returncode) == (plain.stdout, plain.stderr, 3)


def test_functions_are_compiled_in_their_place(folder):
    fast = run(folder, "--policy=eager", "--summary", "program.py")
    assert re.search(r"autojit: [1-9]\d* of \d+ functions that were looked into are compiled", fast.stderr)
    for name in ("whole", "total", "Model.run"):
        assert re.search(rf"  {re.escape(name)} \(.*\.py\): [1-9]\d* calls of compiled parts", fast.stderr), fast.stderr
    assert "  whole (program.py): " in fast.stderr and f"  Model.run ({Path('ownpackage', 'part.py')}): " in fast.stderr


CATCHING = """
import numpy as np

def check(y, k):
    if k % 2:
        raise ValueError("odd")
    return y + k

def guarded(x, n):
    bad = 0
    for k in range(n):
        try:
            x = check(np.sqrt(x), k)
        except ValueError:
            bad += 1
    return x, bad

for turn in range(10):
    guarded(np.ones(20_000), 30)
"""


def test_the_summary_of_calls_that_were_left_to_numpy_and_of_what_is_not_judged(folder):
    (folder / "catching.py").write_text(CATCHING)
    told = run(folder, "--policy=eager", "--summary", "catching.py").stderr
    assert "  guarded, lines 10-16: [trapped] 8 calls met data that is NumPy's; look for a caught exception" in told, told
    # `check` is looked into when it has been called for a tenth of a second.
    # Another thread, which looks 20 times a second, has it asked about again.
    (folder / "catching.py").write_text(f"{CATCHING}import time\ntime.sleep(1.0)\nguarded(np.ones(20_000), 4)\n")
    told = run(folder, "--summary", "catching.py").stderr
    assert re.search(r"autojit: 0 of 3 functions that were looked into are compiled, [123] not judged yet", told), told


def test_the_summary_tells_what_was_saved(monkeypatch):
    captures = [SimpleNamespace(what=what, seconds=seconds) for what, seconds in (("captured", 0.02), ("kept", 5.0), ("captured", 0.04))]
    one = SimpleNamespace(
        name="f", file="a.py", state="compiled", is_compiled=True, gain=1.5, hits=300, speed=None, natives=list,
        controllers=[SimpleNamespace(history=SimpleNamespace(events=captures))],
    )  # fmt: skip
    other = SimpleNamespace(**{**vars(one), "name": "g", "gain": 0.75})
    monkeypatch.setattr(summary, "functions", lambda: [one, other])
    assert "\n  their calls took some 2.25 s less than in NumPy; capturing took 0.12 s\n" in summary.summary()
    one.gain = other.gain = 0.0  # under `eager` nothing is timed
    assert "less than" not in summary.summary()


def test_modules(folder):
    plain, _ = both(folder, "-m", "ownpackage", "a", "-b")
    assert plain.stdout.split()[0] == "__main__"
    both(folder, "ownpackage")
    missing = run(folder, "-m", "nothing_there")
    assert missing.returncode == 1 and missing.stderr == "there is no module `nothing_there` that can be run\n"
    assert "`nothing.py` cannot be read" in run(folder, "nothing.py").stderr
    assert "there is no program to run" in run(folder).stderr
    assert "did you mean `--policy`" in run(folder, "--polcy=eager", "program.py").stderr
    mistyped = run(folder, "--summry", "program.py")
    assert mistyped.returncode == 2 and mistyped.stderr.startswith("unknown flag `--summry`; did you mean `--summary`?\nthe flags are ")
    assert all(f"`--{name}`" in mistyped.stderr for name in ("include", "exclude", "summary", "report", "policy"))


def test_include_and_exclude(folder):
    excluded = run(folder, "--policy=eager", "--summary", "--exclude=ownmodule,ownpackage", "program.py").stderr
    assert "  whole (" in excluded and "  total (" not in excluded and "Model.run" not in excluded
    without = run(folder, "--policy=eager", "--summary", "--exclude=__main__", "program.py").stderr
    assert "  total (" in without and "(program.py)" not in without
    included = run(folder, "--policy=eager", "--summary", "--exclude=own*", "--include=ownmodule", "program.py").stderr
    assert "  total (" not in included


def test_installed_modules_are_taken_where_that_is_asked(folder):
    """Modules of a `site-packages` that `PYTHONPATH` names are installed ones, too."""
    site = folder / "opt" / "lib" / "site-packages"
    site.mkdir(parents=True)
    (site / "installed.py").write_text(
        "import numpy as np\ndef wave(x):\n    return np.sin(x) * 2 + 1\n"
        "def waves(x, n):\n    for _ in range(n):\n        x = wave(x)\n    return x\n"
    )
    (folder / "uses.py").write_text(
        f"import sys\nsys.path.append({str(site)!r})\nimport numpy as np\nimport installed\n"
        "def calls(x):\n    for _ in range(3):\n        repr(x[0])\n        x = installed.wave(x)\n    return x\n"
        "x = np.ones(30_000)\nfor _ in range(3): print(installed.waves(x, 3)[0], calls(x)[0])\n"
    )
    plain = run(folder, "--policy=eager", "--summary", "uses.py")
    assert "  calls (" in plain.stderr and "  wave" not in plain.stderr, plain.stderr
    taken = run(folder, "--policy=eager", "--summary", "--include=installed", "uses.py")
    assert "  calls (" in taken.stderr and "  waves (" in taken.stderr, taken.stderr
    assert taken.stdout == plain.stdout


RAISING = """
import numpy as np

def inner(x):
    for k in range(3):
        x = x[k + 5]
    return x

def middle(x):
    try:
        inner(x)
    except IndexError as error:
        raise ValueError("outer") from error

class Broken:
    def go(self):
        middle(np.ones(3))

def main():
    for _ in range(2):
        Broken().go()

main()
"""


def test_tracebacks_are_the_programs(folder):
    (folder / "raising.py").write_text(RAISING)
    plain, _ = both(folder, "raising.py")
    assert "outer" in plain.stderr and plain.returncode == 1


@pytest.mark.parametrize("end", ["sys.exit('told')", "raise SystemExit", "raise SystemExit(7)", "assert False, 'no'", "1 /", "os._exit(4)"])
def test_ways_to_end(folder, end):
    (folder / "ending.py").write_text(f"import os, sys\nprint('x', flush=True)\n{end}\n")
    both(folder, "ending.py")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c(folder):
    (folder / "long.py").write_text("import time\ndef f():\n    for _ in range(100): time.sleep(0.1)\nprint('go', flush=True)\nf()\n")
    ends, hears = [], lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # which a shell's background ignores
    for start in ([], ["-m", "autojit", "run"]):
        env, command = {**os.environ, "PYTHONPATH": str(ROOT)}, [sys.executable, *start, "long.py"]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": hears}
        with subprocess.Popen(command, cwd=folder, env=env, text=True, **streams) as process:
            assert process.stdout.readline() == "go\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            ends.append((process.wait(30), process.stderr.read().splitlines()[-1]))
    assert ends[0] == ends[1] and ends[0][1] == "KeyboardInterrupt"


def test_the_flag_takes_modules_that_are_imported_later(folder):
    (folder / "importing.py").write_text(
        "import autojit\nimport numpy as np\nimport ownmodule\nprint(ownmodule.total(np.ones(3)))\n"
        "print(ownmodule.total.__autojit_controller__.counters.captures)\n"
    )
    on = run(folder, "importing.py", launched=False, flags="--auto_jit=2 --policy=eager")
    assert on.stdout.split() == ["12.0", "1"], on.stderr
    off = run(folder, "importing.py", launched=False, flags="--auto_jit=1")
    assert "no attribute '__autojit_controller__'" in off.stderr


def test_worker_processes(folder):
    (folder / "workers.py").write_text(
        "import multiprocessing as mp\nimport numpy as np\n"
        "def work(n):\n    x = np.zeros(5)\n    for k in range(n): x = x + k\n    return float(x.sum())\n"
        "if __name__ == '__main__':\n    for way in ('fork', 'spawn'):\n"
        "        with mp.get_context(way).Pool(2) as pool: print(pool.map(work, [1, 2, 3]))\n"
    )
    both(folder, "workers.py")


def test_a_failure_leaves_the_function_as_it_is(folder):
    (folder / "failing.py").write_text(
        "import autojit\nfrom autojit.runtime.function import Controller\n"
        "def broken(self): raise RuntimeError('broken')\nController.instrumented = broken\n"
        "import numpy as np\nimport ownmodule\n"
        "print([ownmodule.total(np.ones(3)) for _ in range(3)], hasattr(ownmodule.total, '__autojit_controller__'))\n"
    )
    found = run(folder, "failing.py", launched=False, flags="--auto_jit=2 --policy=eager")
    assert found.stdout == "[12.0, 12.0, 12.0] False\n"
    assert found.stderr.count("`total` could not be compiled: RuntimeError: broken") == 1


def test_objects_among_the_names_of_a_module_are_not_asked(folder):
    (folder / "asking.py").write_text(
        "class Lazy:\n    def __getattr__(self, name): raise RuntimeError(name)\n    __module__ = property(lambda self: 1 / 0)\n"
        "lazy = Lazy()\n"
        "def f(n):\n    for k in range(n): n = n + k\n    return n\nprint(f(3))\n"
    )
    both(folder, "asking.py")


def test_options_need_their_values(folder):
    found = run(folder, "--include", "program.py")
    assert found.returncode == 1 and "options are written `--name=value`" in found.stderr


ODD = {
    "deep recursion": "def depth(n): return 0 if n == 0 else 1 + depth(n - 1)\nprint(depth(900))",
    "an array that nothing else holds": "import numpy as np\ndef grow(a): a.resize(10); return a.shape\nprint(grow(np.zeros(3)))",
    "names": "def f():\n    for _ in (): pass\nprint(sorted(globals()), type(__builtins__).__name__)",
    "code elsewhere": "import types\nX = 1\ndef f(): return X\nprint(types.FunctionType(f.__code__, {'X': 5})())",
    "defaults": (
        "import inspect\ndef f(x, y=1):\n    for _ in (): pass\n    return x, y\n"
        "f.__defaults__ = (7,)\nprint(inspect.signature(f), f(0), f(0), inspect.unwrap(f) is f)"
    ),
    "callers": (
        "import sys, warnings\nwarnings.simplefilter('always')\ndef who(): return sys._getframe(1).f_code.co_name\n"
        "def old(): warnings.warn('old', DeprecationWarning, stacklevel=2)\n"
        "def user(): old(); return who()\nprint(user(), user())"
    ),
    "a thread's error": "import threading\ndef f(x): return x + 1\nt = threading.Thread(target=f, args=('a',))\nt.start(); t.join()",
    "its own hook": "import sys\nsys.excepthook = lambda *given: print('hook', given[0].__name__)\n1 / 0",
    "private names": (
        "class A:\n    __x = 3\n    def f(self):\n        for _ in range(2): y = self.__x\n        return y\nprint(A().f())"
    ),
    "run by runpy": "import runpy\nprint(runpy.run_module('ownmodule')['total']([1.0, 2.0]) if 0 else sorted(runpy.run_module('ownmodule'))[:3])",
    "an import that raises": "import broken_module",
    "an import that is no Python": "import wrong_module",
    "not Python": "def f(:\n  pass",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_programs(folder, name):
    (folder / "broken_module.py").write_text("def f():\n    for _ in range(2): 1 / 0\nf()\n")
    (folder / "wrong_module.py").write_text("def f(:\n")
    (folder / "odd.py").write_text(ODD[name] + "\n")
    both(folder, "odd.py")


def test_archives(folder):
    with zipfile.ZipFile(folder / "app.pyz", "w") as archive:
        text = "import sys, inside\nprint(__name__, __spec__.name, sys.argv, inside.VALUE, __file__, sys.path[0])"
        archive.writestr("__main__.py", text)
        archive.writestr("inside.py", "VALUE = 5")
    both(folder, "app.pyz", "x")
    both(folder, f"../{folder.name}/app.pyz")


def test_a_folder_that_is_gone(folder):
    gone = folder / "gone"
    gone.mkdir()
    start = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    words = [sys.executable, "-c", start, "-m", "autojit", "run", "nothing.py"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=gone, env=env, capture_output=True, text=True)
    assert done.returncode == 2 and "`nothing.py` cannot be read" in done.stderr


def _halved(x):
    for _ in range(3):
        x = x / 2
    return x


def _called(n):
    for i in range(n):
        print("", end="")
        x = _halved(np.ones(5) * i)
    return x


def test_an_armed_function_that_another_one_calls_has_one_controller():
    """It has probes of its own from its first call on, and no twin, whose source would be that of what waits for it."""
    before = _called(3)
    config = hook.measured(flags.current())
    for function in (_called, _halved):
        arm(function, config)
    for _ in range(2):
        np.testing.assert_array_equal(_called(3), before)
    controller = _called.__autojit_controller__
    assert not controller.callees and not controller.no_source
    assert not _halved.__autojit_controller__.no_source


BYTES = """
import atexit, sys
import numpy as np

atexit.register(lambda: print("at the end", type(sys.last_value).__name__, sys.last_type is type(sys.last_value)))

def work(x):
    for _ in range(2):
        x = x + len(b"data")
    return x

print(work(np.zeros(2)), __file__)
1 / 0
"""


def test_bytes_the_last_error_and_the_name_of_the_file(folder):
    (folder / "sub").mkdir()
    (folder / "failing.py").write_text(BYTES)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOJIT_FLAGS": "--disk_cache=false --policy=eager"}
    for name in ("failing.py", "./failing.py", "sub/../failing.py"):
        plain, fast = (
            subprocess.run([sys.executable, "-bb", *how, name], cwd=folder, env=env, capture_output=True, text=True)
            for how in ([], ["-m", "autojit", "run"])
        )
        assert "at the end ZeroDivisionError True" in plain.stdout
        assert (fast.stdout, fast.stderr, fast.returncode) == (plain.stdout, plain.stderr, plain.returncode)


def test_which_folders_are_the_users():
    package = Path(hook.__file__).resolve().parents[1]
    scope = hook.Scope()
    assert scope.has("demo", f"{package}_demo/program.py") and not scope.has("autojit.api", f"{package}/api.py")
    for installed in [site.getusersitepackages(), *site.getsitepackages()]:
        assert not scope.has("pandas", f"{installed}/pandas/core.py")


def test_a_function_that_starts_again_stands_once_in_a_traceback(folder):
    text = "import numpy\n\ndef g(x):\n    for _ in range(2):\n        raise ValueError('mine')\n\ng(1)\n"
    (folder / "again.py").write_text(text)
    plain, fast = run(folder, "again.py", launched=False), run(folder, "--policy=eager", "again.py")
    assert (fast.stdout, fast.stderr, fast.returncode) == (plain.stdout, plain.stderr, plain.returncode)
