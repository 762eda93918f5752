"""`--check`: NumPy runs beside every plan, its answers are compared, and the first difference is told."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import autojit as aj
from autojit.ir.graph import Const
from autojit.ops.chapters import TABLE
from autojit.passes import pipeline
from autojit.runtime import check, compiler
from autojit.runtime.agree import compare
from tests.helpers import outcome


def exits(x, y, n):
    for i in range(n):
        y[i] = y[i - 1] + np.exp(-x[i])
        if y[i] > 3:
            break
    return y[::2], x.sum(), [i, x]


def logs(x, log):
    for i in range(4):
        y = x * i
        log.append(y.sum())
        if y.sum() > 10:
            continue
        x = x + 1
    return x


def raises(x, i):
    x[0] = 5
    return x[i]


def hyperbolic(x):
    y = x + 1
    return np.cosh(y) - 1


PROGRAM = """import numpy as np, autojit as aj
from autojit.ops.chapters import TABLE
object.__setattr__(TABLE["np.ldexp"], "lower", lambda node, xs, trap: (xs[0] + 1,))

@aj.autocluster(policy="eager")
def double(x):
    return np.ldexp(x, 1).max() - 1

print(double(np.arange(3.0)))
"""


def checked(function: Any, **options: Any) -> Any:
    return aj.autocluster(policy="eager", check=True, **options)(function)


@contextlib.contextmanager
def told(text: str) -> Iterator[list[warnings.WarningMessage]]:
    """One warning with this text. `pytest.warns` has a filter that asks for every warning, which only NumPy gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", aj.AutojitWarning)
        yield caught
    assert len(caught) == 1
    assert text in str(caught[0].message)


@pytest.mark.parametrize(
    ("function", "arguments"), [(exits, (np.arange(6.0), np.ones(6), 4)), (logs, (np.ones(3), []))]
)
def test_nothing_to_tell(function: Any, arguments: tuple[Any, ...]) -> None:
    fast, expected = checked(function), outcome(function, arguments, {})
    for _ in range(2):
        got = outcome(fast, arguments, {})
        assert compare(expected.result, got.result)
        assert compare(expected.arguments, got.arguments)


def test_numpy_s_exception_with_its_effects() -> None:
    fast = checked(raises)
    for index in (1, 7):
        x = np.ones(3)
        if index == 1:
            assert fast(x, index) == 1
        else:
            with pytest.raises(IndexError, match="out of bounds"):
                fast(x, index)
        assert x[0] == 5


def test_what_a_plan_leaves_to_numpy_runs_once(capsys: pytest.CaptureFixture[str]) -> None:
    def largest(x, limit, seen):
        try:
            y = x * 2
            if y[0] > limit:
                raise ValueError(limit)
            return y + 1
        except ValueError:
            print("too large")
            seen.append(limit)
            return x

    function, seen = checked(largest), []
    for _ in range(2):
        assert_array_equal(function(np.ones(3), 5, seen), np.full(3, 3.0))
        assert_array_equal(function(np.ones(3), 1, seen), np.ones(3))
    assert function.cache_info().hits >= 2
    assert (seen, capsys.readouterr().out) == ([1, 1], "too large\n" * 2)


def test_without_memory_nothing_happens_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def grow(thing, x):
        x += 1
        thing.count += 1
        return x.sum()

    class Failing(check.State):
        made = 0

        def __init__(self, *args: Any) -> None:
            Failing.made += 1
            if Failing.made % 2 == 0:  # the one after the plan
                raise MemoryError("no room")
            super().__init__(*args)

    monkeypatch.setattr(check, "State", Failing)
    thing, x = types.SimpleNamespace(count=0), np.ones(3)
    function = checked(grow)
    for turn in (1, 2):
        assert function(thing, x) == 3.0 * (turn + 1)
        assert thing.count == turn
    assert Failing.made == 4


def test_attributes_and_arrays_are_those_of_the_plan() -> None:
    def move(thing, x):
        thing.old, thing.x = thing.x, thing.x + x
        thing.new = x
        x *= 2
        thing.count += 1
        return thing.old

    thing, x = types.SimpleNamespace(x=np.arange(3.0), count=0), np.ones(3)
    function, first = checked(move), thing.x
    with warnings.catch_warnings():
        warnings.simplefilter("error", aj.AutojitWarning)
        assert function(thing, x) is first is thing.old
    assert list(vars(thing)) == ["x", "count", "old", "new"]
    assert thing.new is x and thing.count == 1
    assert_array_equal(x, np.full(3, 2.0))
    assert_array_equal(thing.x, np.arange(3.0) + 1)


def test_warnings_are_heard_once() -> None:
    function = checked(lambda x: np.histogram(x > 0.5, bins=2)[0] * 1.0)
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            function(np.linspace(0, 1, 9))
        assert [each.category for each in caught] == [RuntimeWarning]


@pytest.fixture
def wrong_cosh():
    row = TABLE["np.cosh"]
    kept = row.lower
    object.__setattr__(row, "lower", lambda node, xs, trap: (xs[0] * 2,))
    aj.clear_cache()
    yield
    object.__setattr__(row, "lower", kept)
    aj.clear_cache()


@pytest.mark.usefixtures("wrong_cosh")
@pytest.mark.parametrize("decorator", [aj.jit_compile(check=True), aj.autocluster(policy="eager", check=True)])
def test_a_wrong_lowering(decorator: Any) -> None:
    with told("[check]") as caught:
        result = decorator(hyperbolic)(np.arange(3.0))
    assert result.tolist() == [1, 3, 5]  # what the plan gave: the program runs as it does without the check
    text = str(caught[0].message)
    assert "`hyperbolic` differs from NumPy" in text
    assert "`np.cosh` at " in text
    assert "return np.cosh(y) - 1" in text
    assert "cluster_0" in text
    assert "at [2]: 6.0, NumPy gives 10.0676" in text
    assert caught[0].filename == __file__


def test_a_wrong_pass() -> None:
    def cut(graph: Any) -> Any:
        return replace(graph, outputs=tuple(Const(np.float64(0), value.spec) for value in graph.outputs))

    def total(x):
        return x.sum() * 2

    def run(graph: Any, record: Any, passes: Any) -> Any:
        return pipeline.run_pipeline(graph, record, (*passes, cut))

    with mock.patch.object(compiler, "run_pipeline", run), told("the pass `cut`"):
        assert checked(total)(np.ones(3)) == 0


def test_a_wrong_capture() -> None:
    def total(x):
        return x.sum() * 2

    def run(graph: Any, record: Any, passes: Any) -> Any:
        wrong = replace(graph, outputs=tuple(Const(np.float64(0), value.spec) for value in graph.outputs))
        return pipeline.run_pipeline(wrong, record, passes)

    with mock.patch.object(compiler, "run_pipeline", run), told("captured wrongly"):
        assert checked(total)(np.ones(3)) == 0


def test_arguments_that_overlap_and_functions_that_share_a_definition() -> None:
    def writer(k):
        def write(a, b):
            a[k] += b[0]
            return a, b

        return write

    for k in (1, -1, slice(1, 3)):
        fast = checked(writer(k))
        x, y = np.arange(9.0).reshape(3, 3), np.arange(9.0).reshape(3, 3)
        wanted = writer(k)(x, x[1:])
        assert compare(wanted, fast(y, y[1:]))
        assert compare(x, y)


def test_memory_that_nobody_has_written() -> None:
    def partly(n):
        y = np.empty(n)
        for i in range(0, n, 2):
            y[i] = i
        return y, np.empty_like(y)

    for _ in range(3):
        np.full(4000, np.e)  # freed, and given to one of the two
        checked(partly)(4000)


def test_float32_numbers_in_a_float64_array() -> None:
    def means(x, out):
        for i in range(len(x)):
            out[i] = np.exp(x[i]).mean()
        return out

    rng = np.random.default_rng(3)
    checked(means)(rng.standard_normal((50, 40)).astype(np.float32), np.zeros(50))


def test_the_flag_of_the_process(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "AUTOJIT_FLAGS": "--check --disk_cache=0", "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "2.0\n"
    assert "program.py:7: AutojitWarning: autojit [check]: `double` differs from NumPy" in done.stderr
    assert "the returned value: relative error 3.3e-01, allowed 1e-09, 2.0, NumPy gives 3.0" in done.stderr
