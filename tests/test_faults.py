"""Faults that are injected: XLA that fails, memory that is short, a thread that is gone. NumPy's answer, one warning."""

import ast
import ctypes
import itertools
import threading
import warnings

import jax
import numpy as np
import pytest

import autojit as aj
from autojit.compile import room, transfer, xla
from autojit.compile.cache import CACHE
from autojit.compile.xla import Program
from autojit.runtime.background import BACKGROUND, Background
from autojit.runtime.heat import Heat
from autojit.runtime.maker import Maker

X = np.linspace(0.0, 1.0, 1000)


def pure(x, k):
    return np.sin(x) * k + x


def writing(x, k):
    """A write in the middle: what fails must not be done twice."""
    x *= k
    y = np.cos(x)
    x += y
    return y.sum()


def looping(x, k):
    for _ in range(5):
        x += np.sin(x) * k
    while x.max() > 1:
        x *= 0.5
    return x.mean()


def printing(x, k):
    """Statements of two regions, and a native one between."""
    x = x * k
    repr(x[0])
    x += 1
    return np.tanh(x).sum()


PROGRAMS = [pure, writing, looping, printing]
POLICIES = ["eager", "measured"]


@pytest.fixture(autouse=True)
def pays(monkeypatch):
    """Under `measured` compiling pays after the first call, plans win, and nothing is compiled before."""
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr(Heat, "best", 1.0)
    CACHE.clear()


def told(function, program, calls=8):
    """The warnings of some calls, each of which gives NumPy's answer."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=aj.AutojitWarning)
        for number in range(calls):
            mine, expected = X * (number + 1), X * (number + 1)
            result = function(mine, 2.5)
            np.testing.assert_allclose(result, program(expected, 2.5), rtol=1e-12)
            np.testing.assert_allclose(mine, expected, rtol=1e-12)
            BACKGROUND.wait()
    return [str(each.message) for each in caught if each.category is aj.AutojitWarning]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("error", [jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: no room"), MemoryError("no room")])
def test_xla_cannot_compile(monkeypatch, program, policy, error):
    def fail(*args):
        raise error

    monkeypatch.setattr(xla, "_compile", fail)
    function = aj.autocluster(program, policy=policy)
    messages = told(function, program)
    assert len(messages) == 1 and "no room" in messages[0] and program.__name__ in messages[0]
    assert function.cache_info().hits == 0


def test_strict_functions_say_that_xla_cannot_compile(monkeypatch):
    def fail(*args):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: no room")

    monkeypatch.setattr(xla, "_compile", fail)
    with pytest.raises(aj.AutojitError, match=r"`pure` could not be compiled.*no room"):
        aj.jit_compile(pure)(X, 2.5)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_program_fails_when_it_runs(monkeypatch, program, policy, after):
    """At first, or after it has run well."""
    launch, count = Program.launch, itertools.count()

    def fail(self, buffers):
        if next(count) >= after:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: no room")
        return launch(self, buffers)

    monkeypatch.setattr(Program, "launch", fail)
    messages = told(aj.autocluster(program, policy=policy), program)
    assert len(messages) == 1 and "no room" in messages[0] and program.__name__ in messages[0]


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_memory_for_staging(monkeypatch, program):
    asked = []

    def fail(*args):
        asked.append(args)
        raise MemoryError("no room")

    monkeypatch.setattr(transfer, "_stage", fail)
    monkeypatch.setattr(transfer, "readable_at", lambda array: 0)
    function = aj.autocluster(program, policy="eager")
    assert len(told(function, program)) == bool(asked)


def test_no_memory_for_a_second_array(monkeypatch):
    """The system would end the process: NumPy needs no second one."""
    left = []

    def available():
        left.append(1 << 20)
        return left[-1]

    transfer.RESULTS.clear()
    monkeypatch.setattr(room, "ASKED", 1 << 20)
    monkeypatch.setattr(room, "available", available)

    def double(x):
        x *= 2.0
        return x

    x = np.arange(200_000.0)
    function = aj.autocluster(double, policy="eager")
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=aj.AutojitWarning)
        assert function(x) is x
    assert left and "GB more are needed" in str(caught[0].message)
    assert (x == 2.0 * np.arange(200_000)).all()
    assert function(x) is x and (x == 4.0 * np.arange(200_000)).all()
    monkeypatch.setattr(room, "available", lambda: 1 << 40)  # it was that moment's
    assert function(x) is x and (x == 8.0 * np.arange(200_000)).all() and function.cache_info().hits == 1


def test_memory_that_the_system_has(monkeypatch, tmp_path):
    """What is kept is freed before a program goes without memory; a container's bound counts, but not its files."""
    files = {"info": "MemTotal: 9 kB\nMemAvailable: 8000 kB\n", "used": "5000", "stat": "anon 7\ninactive_file 90"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(room, "_SYSTEM", str(tmp_path / "info"))
    group = tuple(str(tmp_path / name) for name in ("most", "used", "stat"))
    monkeypatch.setattr(room, "_GROUPS", (group, ("nothing", "at all", "there")))
    assert room.available() == 8000 * 1024
    for most, left in (("max\n", 8000 * 1024), ("6000\n", 1090)):
        (tmp_path / "most").write_text(most)
        assert room.available() == left
    monkeypatch.setattr(room, "_SYSTEM", "nowhere")
    (tmp_path / "most").write_text("max")
    assert room.available() == float("inf")


def test_large_results_without_memory_of_xla_s(monkeypatch):
    def fail(nbytes):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: no room")

    transfer.RESULTS.clear()
    monkeypatch.setattr(transfer, "allocate", fail)
    x = np.linspace(0.0, 1.0, 200_000)
    function = aj.autocluster(pure, policy="eager")
    for _ in range(3):
        np.testing.assert_allclose(function(x, 2.5), pure(x, 2.5), rtol=1e-12)
    assert function.cache_info().hits == 3


def _kill(background: Background) -> threading.Thread:
    """End its thread, as a debugger may; an exception that still meets the end of a job is that job's."""
    thread = background._thread
    for _ in range(60):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
        background.submit(lambda: None)  # wakes it, so that it notices
        thread.join(1)
        if not thread.is_alive():
            return thread
    raise AssertionError("it does not end")


def test_a_killed_thread_is_replaced():
    background, done = Background(), []
    background.submit(lambda: done.append(1))
    background.wait()
    thread = _kill(background)
    background.submit(lambda: done.append(2))
    background.wait()
    assert done == [1, 2] and background._thread is not thread
    background.close()


def test_the_compiling_thread_is_killed():
    function = aj.autocluster(pure)
    function(X, 2.5)
    BACKGROUND.submit(lambda: None)
    BACKGROUND.wait()
    _kill(BACKGROUND)
    assert told(function, pure, 24) == []
    assert function.cache_info().hits > 0


def test_a_job_that_is_killed_leaves_numpy():
    """What it would have made never comes."""
    function = aj.autocluster(pure)
    compile = Maker.compile

    died = []

    def die(*args):
        died.append(args)
        raise SystemExit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Maker, "compile", die)
        assert len(told(function, pure)) <= 1
    assert died
    assert compile is Maker.compile
    assert told(function, pure) == []


def test_python_s_parser_fails_for_a_moment(monkeypatch):
    """As it does when two threads parse at the same time (python/cpython#106905)."""
    real, count = ast.parse, itertools.count()

    def fail(text, *rest, **named):
        if next(count) % 3:
            raise SystemError("AST constructor recursion depth mismatch (before=69, after=41)")
        return real(text, *rest, **named)

    monkeypatch.setattr(ast, "parse", fail)
    for program in PROGRAMS:
        function = aj.autocluster(program, policy="eager")
        assert told(function, program) == [] and function.cache_info().hits > 0
