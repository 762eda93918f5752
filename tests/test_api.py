"""The decorators, their switches, and what decorated functions can be asked."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check
from tests.warned import warned

ROOT = Path(__file__).parents[1]
EAGER = aj.autocluster(policy="eager")


def poly(x, y=2.0):
    """The document string."""
    return x * x * 3 + y


@aj.autocluster(policy="eager")
def at_module_level(x):
    return x * 2 + 1


# ---- decorating


@pytest.mark.parametrize("decorator", [aj.jit_compile, aj.autocluster])
def test_bare_and_with_options(decorator):
    x = np.arange(5.0)
    for decorated in (decorator(poly), decorator()(poly), decorator(policy="eager")(poly), decorator(max_plans=2)(poly)):
        np.testing.assert_allclose(decorated(x, y=1), x * x * 3 + 1)
        assert decorated.__name__ == "poly" and decorated.__doc__ == "The document string."
        assert inspect.signature(decorated) == inspect.signature(poly)
        assert decorated.__wrapped__ is poly and decorated.__module__ == __name__


@pytest.mark.parametrize("decorator", [aj.jit_compile, aj.autocluster])
@pytest.mark.parametrize("wrong", [3, "poly", None.__class__, int, property(lambda self: 1)])
def test_what_is_not_a_function(decorator, wrong):
    with pytest.raises(TypeError, match="is not a Python function"):
        decorator(wrong)


@pytest.mark.parametrize("decorator", [aj.jit_compile, aj.autocluster])
def test_wrong_options(decorator):
    with pytest.raises(aj.FlagError, match=r"unknown flag `polcy`; did you mean `policy`\?"):
        decorator(polcy="eager")
    with pytest.raises(aj.FlagError, match="`policy` does not take `fast`"):
        decorator(policy="fast")
    with pytest.raises(aj.FlagError, match="max_plans"):
        decorator(poly, max_plans=0)
    with pytest.raises(TypeError):
        decorator(poly, poly)


def test_functions_that_are_not_written_in_python():
    for builtin in (np.sin, len, functools.partial(poly, y=1)):
        with pytest.raises(TypeError, match="nothing to compile"):
            aj.jit_compile(builtin)
        with warned(r"\[not-a-function\]"):
            native = aj.autocluster(builtin)
        x = np.array([1.0, 2.0])
        np.testing.assert_array_equal(native(x), builtin(x))
        assert native.explain([1.0]).native_statements[0].id == "not-a-function"
        assert native.cache_info() == aj.CacheInfo()
        native.clear_cache()
        with pytest.raises(aj.AutojitError, match="not written in Python"):
            native.get_compiler_ir([1.0])


def test_functions_of_all_kinds():
    class Model:
        scale = 3.0

        @EAGER
        def method(self, x):
            return x * self.scale

        @staticmethod
        @EAGER
        def static(x):
            return x + 1

        @EAGER
        @staticmethod
        def static_inside(x):
            return x + 2

        @classmethod
        @EAGER
        def of_class(cls, x):
            return x * cls.scale

        def plain(self, x):
            return x - self.scale

    x, model = np.arange(4.0), Model()
    np.testing.assert_allclose(model.method(x), x * 3)
    np.testing.assert_allclose(model.static(x), x + 1)
    np.testing.assert_allclose(model.static_inside(x), x + 2)
    np.testing.assert_allclose(Model.of_class(x), x * 3)
    bound = EAGER(model.plain)
    np.testing.assert_allclose(bound(x), x - 3)
    assert bound.cache_info().hits == 1
    double = EAGER(lambda a: a * 2)
    np.testing.assert_allclose(double(x), x * 2)
    assert double.cache_info().hits == 1

    async def later(a):
        await asyncio.sleep(0)
        return a * 2 + a.sum()

    np.testing.assert_allclose(asyncio.run(EAGER(later)(x)), x * 2 + x.sum())


def test_decorating_twice_is_decorating_once():
    twice = aj.jit_compile(EAGER(poly))
    assert twice.__wrapped__ is poly
    np.testing.assert_allclose(twice(np.ones(3)), 5)


def test_pickle_by_name():
    assert pickle.loads(pickle.dumps(at_module_level)) is at_module_level


def test_decorated_functions_call_each_other():
    def outer(x):
        return at_module_level(x) * poly(x)

    check(outer, np.arange(6.0), whole=True)


# ---- switches


def test_set_jit():
    decorated = EAGER(poly)
    x = np.ones(4)
    decorated(x)
    try:
        aj.set_jit("off")
        made_while_off = EAGER(poly)
        for _ in range(3):
            np.testing.assert_allclose(decorated(x), 5)
            np.testing.assert_allclose(made_while_off(x), 5)
        assert decorated.cache_info().hits == 1 and made_while_off.cache_info().misses == 0
        with pytest.raises(ValueError, match="not 'on'"):
            aj.set_jit("on")
    finally:
        aj.set_jit(True)
    decorated(x), made_while_off(x)
    assert decorated.cache_info().hits == 2 and made_while_off.cache_info().hits == 1
    aj.set_jit(False), aj.set_jit(True)
    decorated(x)
    assert decorated.cache_info().hits == 3


def test_native_and_auto_jit_0_do_nothing():
    for options in ({"policy": "native"}, {"auto_jit": 0}):
        decorated = aj.autocluster(**options)(poly)
        strict = aj.jit_compile(**options)(poly)
        aj.set_jit("off"), aj.set_jit(True)  # an outer switch does not turn them on
        for each in (decorated, strict):
            np.testing.assert_allclose(each(np.ones(3)), 5)
            assert each.cache_info().misses == each.cache_info().captures == 0


def run_python(text, flags=""):
    environment = {**os.environ, "AUTOJIT_FLAGS": f"{flags} --disk_cache=0", "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    file = "import sys; sys.path.insert(0, sys.argv[1]); from program import main; main()"
    return subprocess.run(
        [sys.executable, "-c", file, text], capture_output=True, text=True, env=environment, check=False, timeout=120
    )


PROGRAM = """
import numpy as np
import autojit as aj

def main():
    decorated = aj.autocluster(function)
    for _ in range(3):
        result = decorated(np.arange(5.0))
    info = decorated.cache_info()
    print(result.sum(), info.captures, info.hits)

def function(x):
    return x * 2 + 1
"""


def test_flags_of_the_environment(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    assert run_python(str(tmp_path), "--auto_jit=0 --policy=eager").stdout.split() == ["25.0", "0", "0"]
    wrong = run_python(str(tmp_path), "--auto_jitt=0")
    assert wrong.returncode == 1 and not wrong.stdout
    assert "unknown flag `--auto_jitt`; did you mean `--auto_jit`?" in wrong.stderr


def test_processes_side_by_side(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(run_python(str(tmp_path), "--policy=eager").stdout.split()))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [["25.0", "1", "3"]] * 2


# ---- threads


def test_threads():
    def accumulate(total, x):
        total += x * 2
        return total.sum()

    functions = [aj.autocluster(policy="eager")(accumulate), aj.autocluster(policy="eager")(poly)]
    problems = []
    start = threading.Barrier(8)

    def work(number):
        rng = np.random.default_rng(number)
        start.wait()
        try:
            for turn in range(30):
                n = (50, 300, 7000)[(number + turn) % 3]
                x, total = rng.random(n), rng.random(n)
                before = total.copy()
                np.testing.assert_allclose(functions[0](total, x), (before + x * 2).sum())
                np.testing.assert_allclose(total, before + x * 2)
                np.testing.assert_allclose(functions[1](x, number), poly(x, number))
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems
    assert [each.cache_info().captures for each in functions] == [3, 3]
