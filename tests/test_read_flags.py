"""What others change while a loop runs, what a loop's `else` sees, attributes that are the class's: read and mended."""

from __future__ import annotations

import functools
import pickle
import subprocess
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check_call
from tests.test_launch_ends import ROOT, both

STOP = False
STATE = {"running": True}
TABLE = {f"k{i}": np.ones(10) for i in range(300)}


class Worker:
    """Another thread sets `running`."""

    running, count = True, 0

    def __init__(self):
        self.running = True

    def work(self, x):
        n = 0
        while self.running:
            x = np.sin(x) + 1.0
            n += 1
        return n


def ends_by_global(x):
    n = 0
    while not STOP:
        x = np.sin(x) + 1.0
        n += 1
    return n


def ends_by_item(x):
    n = 0
    while STATE["running"] is True and n >= 0:
        x = np.sin(x) + 1.0
        n += 1
    return n


def breaks(x, n):
    for i in range(n):
        x = np.sin(x) + 1.0
        if STOP:
            break
    return i


def stop_all(worker):
    global STOP
    STOP = True
    STATE["running"] = worker.running = False


@pytest.mark.parametrize("which", ["global", "item", "break", "attribute"])
def test_a_flag_that_another_thread_sets_ends_a_loop(which):
    global STOP
    worker, long = Worker(), 50_000_000
    fast, args = {
        "global": (aj.autocluster(policy="eager")(ends_by_global), ()),
        "item": (aj.autocluster(policy="eager")(ends_by_item), ()),
        "break": (aj.autocluster(policy="eager")(breaks), (long,)),
        "attribute": (aj.autocluster(policy="eager")(Worker.work), ()),
    }[which]
    given = [np.ones(1000), *args] if which != "attribute" else [worker, np.ones(1000)]
    for _ in range(9):  # while a capture outlasts the timer there are no iterations, rightly
        STOP, STATE["running"], worker.running = False, True, True
        timer = threading.Timer(1.0, stop_all, [worker])
        timer.start()
        start = time.perf_counter()
        count = fast(*given)
        assert time.perf_counter() - start < 8.0
        timer.join()
        if count:
            break
    assert 0 < count < long - 1
    if which == "global":
        STOP = False
        assert "another thread" in str(fast.explain(np.ones(1000)))


def rolls(x, limit):
    n = 0
    while n < limit and x.size > 0:
        x = np.sin(x) + 1.0
        if x.ndim == 2:
            break
        n += 1
    return x, n


def test_what_an_array_is_like_is_no_flag():
    fast = aj.jit_compile(rolls)
    check_call(fast, rolls, np.ones(10), 50, rtol=1e-13)
    assert fast.cache_info().compiles == 1


def counts(x, n, best):
    for k in range(n):
        x = x * 0.5
        best = min(best, float(x[0]))
        if best < 1e-3 and n > 2:
            break
    return x, k


def test_loops_that_data_ends_are_rolled():
    fast = aj.jit_compile(counts)
    check_call(fast, counts, np.ones(10), 50, 9.0)


def writes_in_else(a, b, n):
    u, v = a, b
    for _ in range(n):
        v, u = u, u + v
    else:
        v[0] = 7.0
    return u


def returns_in_else(a, b, n):
    u, v = a, b
    for _ in range(n):
        v, u = u, u + v
    else:
        return v
    return u


def writes_after_while(a, b, n):
    u, v = a * 1.0, b
    u, v = a, b
    while np.abs(u).max() > 1.0:
        v, u = u, u * 0.5 + v * 0.0
    else:
        v[0] = 7.0
    return u


@pytest.mark.parametrize("function", [writes_in_else, returns_in_else, writes_after_while])
def test_what_an_else_writes_or_gives_may_be_an_argument(function):
    fast = aj.autocluster(policy="eager")(function)
    for n in (3, 1, 2, 0, 1):
        check_call(fast, function, np.full(5, 2.0**n), np.ones(5), n)


class Box:
    """Its attributes begin in the class."""

    flag, count, buffer = False, 0, np.zeros(5)


def may_set(o, x):
    if x.sum() > 0:
        o.flag = True
    return x * 2


def may_count(o, x):
    v = x.sum()
    while v > 1.0:
        v = v * 0.5
        o.count += 1
    return v


def adds(o, x):
    for _ in range(10):
        o.buffer += x
    return x * 2


@pytest.mark.parametrize("function", [may_set, may_count, adds])
def test_what_is_the_classs_stays_there(function):
    fast = aj.autocluster(policy="eager")(function)
    for sign in (-1, -1, 1, 1, -1):
        got, wanted = Box(), Box()
        for _ in range(2):
            Box.buffer[:] = 0.0
            one = fast(got, sign * np.ones(5)), Box.buffer.copy()
            Box.buffer[:] = 0.0
            other = function(wanted, sign * np.ones(5)), Box.buffer.copy()
            np.testing.assert_allclose(one[0], other[0], rtol=1e-13)
            np.testing.assert_array_equal(one[1], other[1])
            assert vars(got).keys() == vars(wanted).keys()
            assert (got.flag, got.count) == (wanted.flag, wanted.count)


class Held(list):
    """It can be referred to weakly."""


def report(x, held):
    def write(value, out=held.pop()):
        out.append(float(value))
        return weakref.ref(out)

    return write(x.sum())


def test_defaults_of_functions_made_at_each_call_are_freed():
    fast = aj.autocluster(policy="eager")(report)
    for _ in range(3):
        assert fast(np.arange(4.0), [Held()])() is None


@functools.lru_cache
def cached(n):
    return float(np.arange(n).sum())


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # autojit's, that it reads no such object: how it is called is tested
    cached = aj.autocluster(cached)


def test_what_is_pickled_by_name_has_it():
    assert pickle.loads(pickle.dumps(cached)) is cached and cached(4) == 6.0


def picks(x):
    return x * TABLE["k3"]


def test_a_dict_may_change_while_it_is_looked_at():
    end = threading.Event()

    def change():
        while not end.is_set():
            TABLE["t"] = 0
            del TABLE["t"]

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(3):
            np.testing.assert_array_equal(aj.jit_compile(picks)(np.ones(10)), np.ones(10))
    finally:
        end.set()
        thread.join()


def leaf(x):
    return np.sin(x) * 2 + x


def down(n, x, f):
    return f(x) if n == 0 else down(n - 1, x, f)


def test_calls_near_the_limit_of_recursion_say_nothing_of_others():
    fast, x = aj.autocluster(policy="eager")(leaf), np.ones(200_000)
    fast(x)
    deepest = sys.getrecursionlimit()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for left in range(60, 0, -1):
            try:
                down(deepest - left, x, fast)
            except RecursionError:
                pass
    assert not told
    before = fast.cache_info().hits
    fast(x)
    assert fast.cache_info().hits == before + 1


LATIN = b"import numpy as np\n# caf\xe9\nfor i in range(3):\n    x = np.ones(3) * i\nprint(x)\n"


def test_modules_with_other_bytes_in_comments(tmp_path):
    (tmp_path / "latin.py").write_bytes(LATIN)
    for start in ([], ["-m", "autojit", "run"]):
        done = subprocess.run([sys.executable, *start, "-m", "latin"], cwd=tmp_path, capture_output=True, text=True,
                              env={"PYTHONPATH": str(ROOT), "PATH": ""}, timeout=120)  # fmt: skip
        assert (done.stdout, done.stderr, done.returncode) == ("[2. 2. 2.]\n", "", 0)


COMPREHENSION = """
import numpy as np
a = np.ones(1000)
for k in range(1):
    t = -1
for i in range(3):
    t = a * 2 + i
    a = a + [t * w for w in (0.5, 0.25)][1]
print(np.ravel(t)[0], a[0], i)
"""
ENVIRONMENT = """
import os, numpy as np
before = dict(os.environ)
def f(x):
    for _ in range(200): x = np.sin(x) + 1
    return x
for _ in range(30): f(np.ones(10000))
print(dict(os.environ) == before)
"""
AT_EXIT = """
import atexit, numpy as np, autojit as aj
def f(x):
    for _ in range(20): x = np.sin(x) * 2 + x
    return x
f = aj.autocluster(policy="eager")(f)
atexit.register(lambda: print(f.cache_info().captures, len(str(f.explain(np.ones(3)))) > 10))
f(np.ones(2000))
"""


@pytest.mark.parametrize(("text", "told"), [(COMPREHENSION, "7.0 4.25 2\n"), (ENVIRONMENT, "True\n")])
def test_launched_programs_do_as_without(tmp_path, text, told):
    assert both(tmp_path, text, AUTOJIT_FLAGS="--policy=eager") == (told, 0)


def test_a_program_may_ask_at_its_end_what_was_done(tmp_path):
    (tmp_path / "program.py").write_text(AT_EXIT)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "AUTOJIT_FLAGS": "--disk_cache=0"},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("1 True\n", "")


REPORTED = """
import numpy as np
def helper(x):
    return x + 1

a = np.ones(10000)
for i in range(50):
    a = np.sin(a) + i
"""


def test_the_report_of_a_scripts_loop_shows_the_loop(tmp_path):
    (tmp_path / "program.py").write_text(REPORTED)
    done = subprocess.run(
        [sys.executable, "-m", "autojit", "run", "--policy=eager", "--report=out.txt", "program.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.txt").read_text()
    assert "a = np.sin(a) + i" in text and "return x + 1" not in text


@aj.host_op
def looked_up(x):
    ASKED.append(1)
    return np.cumsum(x)


ASKED: list[int] = []


def test_explain_runs_no_declared_function():
    fast = aj.autocluster(policy="eager")(lambda x: looked_up(x * 2) + 1)
    text = str(fast.explain(np.ones(3)))
    assert not ASKED and "known after a first run" in text
    fast(np.ones(3))
    assert ASKED and "known after a first run" not in str(fast.explain(np.ones(3)))


EXCLUDED = """
import numpy as np, helpers
a = np.ones(10000)
for i in range(200):
    a = helpers.step(a)
    print("", end="")
print(a[0], helpers.step.__code__.co_name)
"""


def test_excluded_modules_stay_as_they_are_in_loops_of_scripts(tmp_path):
    (tmp_path / "helpers.py").write_text("import numpy as np\ndef step(x):\n    return np.sin(x) + 1\n")
    (tmp_path / "program.py").write_text(EXCLUDED)
    done = subprocess.run(
        [sys.executable, "-m", "autojit", "run", "--policy=eager", "--exclude=helpers", "--report=-", "program.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0 and "step" in done.stdout and "helpers.py" not in done.stderr, done.stderr
