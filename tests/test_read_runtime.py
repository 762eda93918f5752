"""Functions that are looked into: generators, searches, nested text, closures, text made at run time, forks, threads."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import linecache
import os
import signal
import sys
import threading
import types
import weakref
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.runtime.alive import Alive

POLICIES = pytest.mark.parametrize("policy", ["measured", "eager"])


def weights(x):
    total = 0.0
    for k in range(len(x)):
        total += x[k] * 0.5
    yield total
    k = 0
    while k < 3:
        total += k
        k += 1
    yield total


async def settled(x):
    for _ in range(3):
        x = x * 0.5 + 1.0
    await asyncio.sleep(0)
    return x


def weighted(x):
    return [w * 2.0 for w in weights(x)]


class Node:
    def __init__(self, value, left=None):
        self.value, self.left = value, left


def leftmost(node):
    while node.left:
        node = node.left
    return node


def smallest(x, root):
    y = x * 2.0
    return y + leftmost(root).value


@types.coroutine
def pause(x):
    y = x * 2.0
    yield
    return y + 1.0


async def waits(function):
    return await function(np.ones(2))


@POLICIES
def test_generators_and_coroutines_with_loops(policy):
    x = np.arange(4.0)
    fast = aj.autocluster(policy=policy)
    for _ in range(2):
        assert list(fast(weights)(x)) == list(weights(x))
        assert fast(weighted)(x) == weighted(x)
        assert np.array_equal(asyncio.run(fast(settled)(x)), asyncio.run(settled(x)))


@POLICIES
def test_loops_without_array_work(policy):
    root = Node(3.0, Node(2.0, Node(1.0)))
    for _ in range(2):
        assert aj.autocluster(policy=policy)(leftmost)(root).value == 1.0
        assert np.array_equal(aj.autocluster(policy=policy)(smallest)(np.ones(3), root), [3.0, 3.0, 3.0])


@POLICIES
def test_generators_that_can_be_awaited(policy):
    for _ in range(2):
        assert np.array_equal(asyncio.run(waits(aj.autocluster(policy=policy)(pause))), [3.0, 3.0])


def report(x, path):
    out = open(path, "w")  # noqa: SIM115 -- that it is closed with the last name for it is the matter

    def write(value):
        out.write(f"{value:.3f}\n")

    write(x.sum())


# Python warns of a file that is closed by nobody, as without autojit.
@pytest.mark.filterwarnings(
    "ignore:unclosed file:ResourceWarning", "ignore:(?s).*unclosed file:pytest.PytestUnraisableExceptionWarning"
)
def test_closures_are_not_held(tmp_path):
    fast = aj.autocluster(report)
    for turn in range(2):
        path = tmp_path / str(turn)
        fast(np.arange(4.0), path)
        assert path.read_text() == "6.000\n"


def functions_of(text, file, **names):
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)
    return names


class Table:
    value = 2.0


def test_functions_made_at_each_call_are_not_held():
    made = []

    def once(x, k):
        table = Table()
        made.append(weakref.ref(table))
        return functions_of(f"def g(x):\n    return x * {k}.5 + table.value\n", f"<made {k}>", table=table)["g"](x)

    def calls(x, once, k):
        y = x + 1.0
        return once(y, k)

    fast = aj.autocluster(calls)
    for k in range(4):
        assert np.array_equal(fast(np.ones(2), once, k), calls(np.ones(2), once, k))
    g = "def g(x):\n    return x * 2.0 + table.value\n"
    run = functions_of("def run(f, x):\n    return f(x)\n", "run_of_text.py")["run"]
    fast = aj.autocluster(run)
    for k in range(4):
        table = Table()
        made.append(weakref.ref(table))
        assert fast(functions_of(g, f"<made so {k}>", table=table)["g"], 1.0) == 4.0
    del table
    gc.collect()
    assert not any(reference() is not None for reference in made)


LONG = " + ".join(f"x * {k}" for k in range(900))


@POLICIES
def test_text_that_is_nested_deeply(policy, tmp_path):
    text = f"def energy(x):\n    return {LONG}\n\ndef calls(x):\n    y = x + 1.0\n    return energy(y)\n"
    file = str(tmp_path / "deep.py")
    names = functions_of(text, file, __name__="deep")
    x = np.arange(3.0)
    for name in ("energy", "calls"):
        fast = aj.autocluster(policy=policy)(names[name])
        assert np.array_equal(fast(x), names[name](x))
        assert np.array_equal(fast(x), names[name](x))
    if policy == "eager":
        with pytest.raises(aj.UncompilableError, match="nested"):
            aj.jit_compile(names["energy"])(x)


def helper(x):
    return x * 2.0


def asks(x):
    y = x + 1.0
    return helper(y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
# Python 3.12 warns of forks beside threads, which is what is tested.
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_while_another_thread_looks_into_a_function():
    fast = aj.autocluster(asks)
    lock = fast.__autojit_controller__.twins._lock
    begun, done = threading.Event(), threading.Event()

    def looks():
        with lock:
            begun.set()
            done.wait()

    thread = threading.Thread(target=looks)
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        signal.alarm(20)
        os._exit(int(not np.array_equal(fast(np.ones(2)), [4.0, 4.0])))
    done.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_a_weak_set_is_looked_through_while_others_add():
    found, kept, ended = Alive(), [], threading.Event()

    def adds():
        while not ended.is_set():
            kept.append(Table())
            found.add(kept[-1])
            if len(kept) > 500:
                kept.clear()

    thread = threading.Thread(target=adds)
    thread.start()
    try:
        for _ in range(300):
            list(found)
    finally:
        ended.set()
        thread.join()


def late(name, path):
    """The recipe of the documentation of importlib."""
    spec = importlib.util.spec_from_file_location(name, path)
    loader = importlib.util.LazyLoader(spec.loader)
    spec.loader = loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


class ModuleLike:
    """Says that it is a module."""

    __class__ = types.ModuleType  # type: ignore[assignment] -- as proxies do

    @staticmethod
    def double(x):
        return x * 2.0


def of_a_proxy(x, proxy):
    y = x + 1.0
    return proxy.double(y) + y


@POLICIES
def test_what_says_that_it_is_a_module(policy):
    for _ in range(2):
        assert np.array_equal(aj.autocluster(policy=policy)(of_a_proxy)(np.ones(2), ModuleLike()), [6.0, 6.0])


@POLICIES
def test_modules_that_load_late_are_not_loaded(policy, tmp_path):
    path = tmp_path / "plotting_late.py"
    path.write_text("import a_toolkit_that_is_not_installed\n")
    text = (
        "def run(x, show=False):\n    for k in range(3):\n        x = x * 2 + k\n"
        "        if show:\n            plotting.show(x)\n    return x\n"
    )
    names = functions_of(text, str(tmp_path / "runs.py"), plotting=late("plotting_late", path), np=np)
    fast = aj.autocluster(policy=policy)(names["run"])
    for _ in range(2):
        assert np.array_equal(fast(np.ones(2)), [12.0, 12.0])
    with pytest.raises(ImportError):
        fast(np.ones(2), True)
    sys.modules.pop("plotting_late", None)


SCRIPTS = {
    "late": """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("plotting", sys.argv[0].replace("late.py", "inside.py"))
spec.loader = importlib.util.LazyLoader(spec.loader)
plotting = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plotting)
import numpy as np
def total(x, show=False):
    s = 0.0
    for v in x:
        s += v
    if show:
        plotting.show(s)
    return s
print(total(np.arange(5.0)))
""",
    "deep": """
import numpy as np, helpers
x = np.ones(3)
for k in range(3):
    print(k)
    x = helpers.energy(x)
print(x)
""",
    "kept": """
import numpy as np
from numba import keeps, code_of
@keeps
def total(x):
    s = 0.0
    for k in range(x.size):
        s += x[k]
    return s
print(code_of(total).co_varnames, total(np.arange(3.0)), code_of(total).co_varnames)
""",
    "third_line": b"import numpy as np\n\n\n# caf\xe9\nprint(1)\n",
    "encoded": b"import numpy as np\n# caf\xe9\nprint(1)\n",
}
BESIDE = {
    "inside.py": "print('loaded')\n",
    "helpers.py": f"import numpy as np\ndef energy(x):\n    return ({LONG}) * 1e-6\n",
    "numba.py": "def keeps(f):\n    return f\ndef code_of(f):\n    return f.__code__\n",
    "whole/__main__.py": "import part\nprint(part.VALUE, __file__)\n",
    "whole/part.py": "VALUE = 5\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in {**{f"{name}.py": text for name, text in SCRIPTS.items()}, **BESIDE}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path


@pytest.mark.parametrize("name", [*(f"{name}.py" for name in SCRIPTS), "whole", "."])
def test_scripts_are_as_without(folder, name, launched):
    assert launched(name, folder / "whole" if name == "." else folder)


def test_safe_paths(folder, launched):
    assert launched("whole", folder, PYTHONSAFEPATH="1")


@pytest.fixture
def launched():
    """Whether a script ends and prints under the launcher as without it; the last line of what it raises, too."""
    import subprocess

    root = Path(aj.__file__).parents[1]

    def is_same(name, folder, **more):
        env = {**os.environ, "PYTHONPATH": str(root), "AUTOJIT_FLAGS": "--disk_cache=0", **more}
        ways = ([sys.executable, name], [sys.executable, "-m", "autojit", "run", name])
        done = [subprocess.run(way, cwd=folder, env=env, capture_output=True, text=True) for way in ways]
        ends = [(one.returncode, one.stdout, one.stderr.splitlines()[-1:]) for one in done]
        assert ends[0] == ends[1]
        return True

    return is_same
