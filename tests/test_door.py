"""What captures and compiles is imported when that pays, by the thread that needs it, whatever happens meanwhile."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit import jax_names
from autojit.compile.garbage import uncollected

_BEGIN = """
import gc, os, signal, sys, threading, time, warnings
import numpy as np
import autojit as aj
from autojit.runtime import door, heat, warmup
from autojit.runtime.allowance import Allowance
from autojit.runtime.background import BACKGROUND
from autojit.runtime.door import DOOR

def work(x):
    for _ in range(50):
        x = np.sin(x) * 2 + x / 3
    return x

def pays():
    heat.PAYS_AFTER = door.SECONDS = warmup.LONG_CLOSED = 1e-9
    Allowance.lacks = lambda self, seconds: 0.0
    door._PAUSE = 0.0
    heat.Heat.best = 1.0  # NumPy loses

X = np.linspace(0.0, 1.0, 10_000)
WANTED = work(X)

def check(function, calls=6):
    for _ in range(calls):
        assert np.allclose(function(X), WANTED, rtol=1e-12, atol=1e-12)
        BACKGROUND.wait()

class Slowly:
    # Finds nothing, but looks long for what lies behind the door.
    def __init__(self, seconds):
        self.seconds, self.begun, self.ends = seconds, threading.Event(), threading.Event()
    def find_spec(self, name, path=None, target=None):
        if name == "autojit.runtime.maker":
            self.begun.set()
            end = time.monotonic() + self.seconds
            while time.monotonic() < end and not self.ends.is_set():
                time.sleep(0.01)

fast = aj.autocluster(work)
"""


def run(folder: Path, script: str, flags: str = "", **more: str) -> str:
    """What a script prints, which begins as above; it must end well."""
    file = folder / "script.py"
    file.write_text(_BEGIN + textwrap.dedent(script))
    environment = {
        **os.environ, "PYTHONPATH": str(Path(aj.__file__).parents[1]), "AUTOJIT_FLAGS": f"--disk_cache=0 {flags}", **more,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(file)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def test_it_stays_closed_without_need(tmp_path):
    printed = run(
        tmp_path,
        """
        check(fast)
        aj.clear_cache(), aj.memory_info(), aj.trim_memory(), fast.cache_info(), fast.clear_cache()
        aj.host_op(work), aj.set_jit("off"), aj.set_jit(True)
        check(aj.jit_compile(work, policy="native"))
        print(DOOR.is_open, [name for name in sys.modules if name.startswith(("autojit.ops.table", "autojit.lowering"))])
        """,
    )
    assert printed.split() == ["False", "[]"]


def test_the_program_s_random_numbers(tmp_path):
    """jax draws some when it is imported."""
    file = tmp_path / "script.py"
    file.write_text("import numpy as np\nnp.random.seed(0)\nimport autojit, jax\nprint(np.random.rand())\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(aj.__file__).parents[1])}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True)
    assert float(done.stdout) == np.random.RandomState(0).rand()


def test_it_opens_when_that_pays(tmp_path):
    printed = run(
        tmp_path,
        """
        door.SECONDS, heat.PAYS_AFTER = 0.3, 1e-9
        Allowance.lacks = lambda self, seconds: 0.0
        heat.Heat.best = 1.0
        start = time.perf_counter()
        while not DOOR.is_open:
            assert np.allclose(fast(X), WANTED, rtol=1e-12, atol=1e-12)
        print(0.25 < time.perf_counter() - start)
        check(fast)
        print(fast.cache_info().hits > 0)
        """,
    )
    assert printed.split() == ["True", "True"]


def test_all_that_is_hot_counts(tmp_path):
    printed = run(
        tmp_path,
        """
        door.SECONDS, heat.PAYS_AFTER = 0.3, 1e-9
        Allowance.lacks = lambda self, seconds: 0.0
        names = [f"work_{n}" for n in range(20)]
        source = "".join(f"def {name}(x):\\n    time.sleep(0.02)\\n    return x * 2 + {name!r}.count('_')\\n" for name in names)
        import linecache
        linecache.cache["made"] = (len(source), None, source.splitlines(True), "made")
        exec(compile(source, "made", "exec"))
        functions = [aj.autocluster(globals()[name]) for name in names]
        for _ in range(2):
            for function in functions:
                assert np.array_equal(function(X), X * 2 + 1)
        print(DOOR.is_open)
        """,
    )
    assert printed.split() == ["True"]


def test_other_threads_go_on_in_numpy(tmp_path):
    printed = run(
        tmp_path,
        """
        pays()
        finder = Slowly(60.0)
        sys.meta_path.insert(0, finder)
        opener = threading.Thread(target=check, args=(fast,))
        opener.start()
        assert finder.begun.wait(30)
        start = time.monotonic()
        other = aj.autocluster(work)
        assert np.allclose(other(X), WANTED, rtol=1e-12, atol=1e-12) and np.allclose(fast(X), WANTED, rtol=1e-12, atol=1e-12)
        print(time.monotonic() - start < 0.5, DOOR.is_open)
        finder.ends.set()
        opener.join()
        check(other)
        print(DOOR.is_open, other.cache_info().hits > 0)
        """,
    )
    assert printed.split() == ["True", "False", "True", "True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_meanwhile(tmp_path):
    printed = run(
        tmp_path,
        """
        pays()
        door._FORK_WAITS = 0.1
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads
        finder = Slowly(1.0)
        sys.meta_path.insert(0, finder)
        opener = threading.Thread(target=check, args=(fast,))
        opener.start()
        assert finder.begun.wait(30)
        child = os.fork()
        if not child:
            check(fast)
            check(aj.autocluster(work, policy="eager"))
            print(DOOR.is_open, fast.cache_info().hits, flush=True)
            try:
                fast.explain(X)
            except aj.AutojitError as error:
                print("forked" in str(error), flush=True)
            os._exit(0)
        print(os.waitpid(child, 0)[1] == 0, flush=True)
        opener.join()
        check(fast)
        assert fast.cache_info().hits
        """,
    )
    assert printed.split() == ["False", "0", "True", "True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_waits_until_it_is_open(tmp_path):
    printed = run(
        tmp_path,
        """
        pays()
        door._FORK_WAITS = 30.0
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads
        finder = Slowly(0.2)
        sys.meta_path.insert(0, finder)
        opener = threading.Thread(target=DOOR.open)
        opener.start()
        assert finder.begun.wait(30)
        child = os.fork()
        if not child:
            check(fast)
            print(DOOR.is_open, fast.cache_info().hits > 0, flush=True)
            os._exit(0)
        print(os.waitpid(child, 0)[1] == 0, flush=True)
        opener.join()
        check(fast)
        print(DOOR.is_open, fast.cache_info().hits > 0)
        """,
    )
    assert printed.split() == ["True", "True", "True", "True", "True"]


def test_an_import_that_fails_beside_the_program_is_not_tried_again(tmp_path):
    printed = run(
        tmp_path,
        """
        from autojit.runtime import allowance
        allowance.ALLOWANCE.limit()
        allowance.SHARE = 1e9
        pays()
        tried = []

        class Fails:
            def find_spec(self, name, path=None, target=None):
                if name == "autojit.runtime.maker":
                    tried.append(name)
                    raise MemoryError("none left")

        sys.meta_path.insert(0, Fails())
        seen = []
        warnings.showwarning = lambda message, *others: seen.append("none left" in str(message))
        check(fast, 20)
        print(len(tried), DOOR.is_open, seen, gc.get_threshold()[0] < 10_000)
        """,
    )
    assert printed.split() == ["1", "False", "[True]", "True"]


def test_a_program_with_an_allowance_does_not_wait_for_it(tmp_path):
    printed = run(
        tmp_path,
        """
        from autojit.runtime import allowance
        allowance.ALLOWANCE.limit()
        allowance.SHARE = 1e-9
        pays()
        finder = Slowly(60.0)
        sys.meta_path.insert(0, finder)
        fast(X), fast(X)
        print(BACKGROUND.is_busy())  # nothing is to be spent
        allowance.SHARE = 1e9
        start = time.monotonic()
        while not BACKGROUND.is_busy():
            assert np.allclose(fast(X), WANTED, rtol=1e-12, atol=1e-12)
        for _ in range(3):
            assert np.allclose(fast(X), WANTED, rtol=1e-12, atol=1e-12)
        print(time.monotonic() - start < 0.8, DOOR.is_open)
        finder.ends.set()
        check(fast)
        end = time.monotonic() + 30
        while BACKGROUND.is_busy() and time.monotonic() < end:  # a job counts till a moment after it is done
            time.sleep(0.01)
        print(DOOR.is_open, BACKGROUND.is_busy(), fast.cache_info().hits > 0, allowance.ALLOWANCE.spent > 0)
        """,
    )
    assert printed.split() == ["False", "True", "False", "True", "False", "True", "True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_before(tmp_path):
    printed = run(
        tmp_path,
        """
        fast(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's, of threads
            child = os.fork()
        if not child:
            pays()
            check(fast)
            print(DOOR.is_open, fast.cache_info().hits > 0, flush=True)
            os._exit(0)
        print(os.waitpid(child, 0)[1] == 0, flush=True)
        """,
    )
    assert printed.split() == ["True", "True", "True"]


def test_a_function_of_numpy_is_replaced(tmp_path):
    printed = run(
        tmp_path,
        """
        pays()
        sin = np.sin
        np.sin = lambda x: sin(x) + 1
        other = work(X)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("default")
            for _ in range(5):
                assert np.allclose(fast(X), other, rtol=1e-12, atol=1e-12)
            eager = aj.autocluster(work, policy="eager")
            assert np.allclose(eager(X), other, rtol=1e-12, atol=1e-12)
        print(DOOR.is_open, len(told), "numpy.sin" in str(told[0].message))
        for ask in (lambda: aj.jit_compile(work), lambda: fast.explain(X)):
            try:
                ask()
            except aj.AutojitError as error:
                assert "numpy.sin" in str(error)
            else:
                print("not refused")
        print(not hasattr(aj, "Explanation"))
        aj.autocluster(work, ops_to_cluster="sin")
        np.sin = sin
        check(fast)
        print(DOOR.is_open, fast.cache_info().hits > 0)
        """,
    )
    assert printed.split() == ["False", "2", "True", "True", "True", "True"]


def test_the_end_of_the_process_meanwhile(tmp_path):
    run(
        tmp_path,
        """
        pays()
        finder = Slowly(0.5)
        sys.meta_path.insert(0, finder)
        threading.Thread(target=check, args=(fast,), daemon=True).start()
        assert finder.begun.wait(30)
        """,
    )


def test_methods_that_open_it_have_names():
    assert "<function explain_call at " in repr(aj.autocluster(len_of).explain)


def len_of(x):
    return len(x)


def test_what_asks_for_it_opens_it(tmp_path):
    printed = run(
        tmp_path,
        """
        assert fast.explain(X).is_whole and aj.STAGES[0] == "graph" and aj.ArraySpec((3,), float).shape == (3,)
        assert {"Explanation", "ClusterInfo", "ArraySpec"} <= set(dir(aj))
        assert "HloModule" in fast.get_compiler_ir(X)()
        try:
            aj.nothing
        except AttributeError as error:
            print(error)
        """,
    )
    assert printed.strip() == "module `autojit` has no attribute `nothing`"


def test_the_modules_are_put_back_to_an_earlier_state(tmp_path):
    printed = run(
        tmp_path,
        """
        from unittest import mock
        pays()
        with mock.patch.dict("sys.modules", {"pandas": None}):
            check(fast)
        check(fast)
        other = aj.autocluster(lambda x: np.cumsum(x) * 2, policy="eager")
        assert np.allclose(other(X), np.cumsum(X) * 2, rtol=1e-12, atol=1e-12)
        assert fast.explain(X).is_whole and "HloModule" in fast.get_compiler_ir(X)()
        import jax.numpy
        print(jax.numpy.ones(3).sum(), isinstance(fast.explain(X), aj.Explanation))
        """,
    )
    assert printed.split() == ["3.0", "True"]


def test_signals_wait_until_it_is_open(tmp_path):
    """One that broke it off might leave locks of modules behind."""
    printed = run(
        tmp_path,
        """
        pays()
        finder = Slowly(0.5)
        sys.meta_path.insert(0, finder)
        def late():
            finder.begun.wait(30)
            for number in (signal.SIGINT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR1):
                os.kill(os.getpid(), number)
        class Late(Exception): pass
        ran = []
        def on_alarm(*_):
            ran.append("alarm")
            raise Late
        handlers = {
            signal.SIGALRM: on_alarm,
            signal.SIGUSR1: lambda *_: ran.append("user"),
            signal.SIGINT: signal.default_int_handler,  # a shell may have had it ignored
        }
        for number, handler in handlers.items():
            signal.signal(number, handler)
        threading.Thread(target=late).start()
        try:
            for _ in range(4): fast(X)
        except (KeyboardInterrupt, Late) as error:
            print(type(error).__name__ in ("KeyboardInterrupt", "Late"))
        print(sorted(ran), DOOR.is_open, all(signal.getsignal(each) is handler for each, handler in handlers.items()))
        check(fast)
        print(fast.cache_info().hits > 0)
        """,
    )
    assert printed.splitlines() == ["True", "['alarm', 'user'] True True", "True"]


def test_a_timeout_of_the_user_s_while_something_is_decorated(tmp_path):
    printed = run(
        tmp_path,
        """
        finder = Slowly(0.3)
        sys.meta_path.insert(0, finder)
        def on_alarm(*_): raise TimeoutError("the user's")
        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        for decorate in (aj.autocluster, aj.jit_compile):
            try:
                decorate(work, policy="eager")
            except TimeoutError as error:
                print(error)
        check(aj.jit_compile(work))
        """,
    )
    assert printed.strip() == "the user's"


@pytest.mark.parametrize("what", ["fast(X)", "aj.STAGES", "fast.explain(X)", "aj.autocluster(work, policy='eager')"])
def test_who_asks_while_the_same_thread_imports(tmp_path, what):
    """A finalizer or an import hook."""
    printed = run(
        tmp_path,
        f"""
        pays()
        asked = []
        class Hook:
            def find_spec(self, name, path=None, target=None):
                if name in ("autojit.runtime.maker", "autojit.capture.values", "autojit.lowering.cluster"):
                    asked.append(name)
                    assert np.allclose(fast(X), WANTED, rtol=1e-12, atol=1e-12)
                    try:
                        fast.explain(X)
                    except aj.AutojitError:
                        asked.append("refused")
        sys.meta_path.insert(0, Hook())
        for _ in range(3):
            {what}
        check(fast)
        print(len(asked), DOOR.is_open, fast.cache_info().hits > 0)
        """,
    )
    assert printed.split() == ["6", "True", "True"]


def test_opening_leaves_the_collector_as_it_was():
    before = gc.get_threshold(), gc.isenabled()
    with uncollected():
        assert gc.get_threshold()[0] > before[0][0]
        gc.disable()
    assert (gc.get_threshold(), gc.isenabled()) == (before[0], False)
    gc.enable()
    with uncollected():
        gc.set_threshold(123, 4, 5)
    assert gc.get_threshold() == (123, 4, 5)
    gc.set_threshold(*before[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_that_is_forked_meanwhile_collects_garbage_as_before():
    before = gc.get_threshold()
    with uncollected(), uncollected():
        pid = os.fork()
        if not pid:
            os._exit(gc.get_threshold() != before)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert gc.get_threshold() == before


def test_the_version_of_jax_while_another_thread_imports_it(monkeypatch):
    found = jax_names.jax_version()
    half = types.ModuleType("jax")
    half.__spec__ = sys.modules["jax"].__spec__
    monkeypatch.setitem(sys.modules, "jax", half)
    assert jax_names.jax_version.__wrapped__() == found
