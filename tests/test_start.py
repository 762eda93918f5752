"""What a start of `python -m autojit run` takes: what few programs need is imported when one does."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.capture.source import source_of
from autojit.errors import SourceLine
from autojit.ir.syntax import has_loop, parse
from autojit.logs import Log
from autojit.runtime.remembered import Verdict

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = ("argparse", "dataclasses", "difflib", "logging", "pathlib", "subprocess", "jax", "jaxlib")


def modules(folder, *start):
    (folder / "program.py").write_text("import numpy, numpy.random, numpy.fft, sys\nprint(*sys.modules)\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOJIT_FLAGS": ""}
    words = [sys.executable, *start, "program.py"]
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=True)
    return {*done.stdout.split()}


def test_what_a_start_imports(tmp_path):
    more = modules(tmp_path, "-m", "autojit", "run") - modules(tmp_path)
    assert "autojit.runtime.door" in more and more.isdisjoint(LEFT_OUT)


WORK = """
import numpy as np
def work(n):
    x = np.arange(5000.0)
    for i in range(n):
        x = np.sqrt(x * x + 1) - i / n
    return x
print(work(20000).sum())
"""


@pytest.mark.parametrize("is_imported", [True, False])
@pytest.mark.parametrize("name", ["logging", "subprocess", "difflib", "argparse"])
def test_modules_of_the_program_with_the_names_of_what_is_imported_late(tmp_path, name, is_imported):
    (tmp_path / f"{name}.py").write_text(f"print('the own {name}')\n")
    (tmp_path / "program.py").write_text(f"import {name}\n{WORK}" if is_imported else WORK)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOJIT_FLAGS": f"--cache_dir={tmp_path / 'cache'}"}
    words = [sys.executable, "-m", "autojit", "run", "program.py"]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.count("the own") == is_imported
    # Without a module of Python's to start it with there is no process that compiles.
    assert ("AutojitWarning" in done.stderr) <= (is_imported and name == "subprocess"), done.stderr
    assert "Traceback" not in done.stderr


def test_a_log_is_quiet_unless_the_program_gives_it_a_level(caplog):
    quiet = Log()
    quiet.is_quiet = True
    quiet.debug("nobody")
    with caplog.at_level("DEBUG", logger="autojit"):
        quiet.debug("somebody")
    quiet.warning("everybody")
    assert [record.getMessage() for record in caplog.records] == ["somebody", "everybody"]
    assert {record.filename for record in caplog.records} == {"test_start.py"}


def test_places_are_equal_whoever_calls():
    inner, other = SourceLine("a.py", 3, "f", "x", SourceLine("b.py", 1)), SourceLine("a.py", 3, "f", "x")
    assert inner == other and not inner != other and hash(inner) == hash(other) and inner != SourceLine("a.py", 4, "f", "x")
    assert inner.outermost == SourceLine("b.py", 1) and "b.py" not in repr(inner) and inner != tuple(inner)


@pytest.mark.parametrize("fields", [{"choice": 3}, {"cuts": ["x"]}, {"surely": 1}])
def test_verdicts_that_are_none(fields):
    known = {"wins": True, "numpy_seconds": 1.0, "compiled_seconds": 0.5, "capture_seconds": 0.1}
    assert Verdict.read({**known, "cuts": [1, 2]}).cuts == (1, 2)
    with pytest.raises(TypeError):
        Verdict.read(known | fields)


def test_loops_of_statements():
    for text in ("for i in x: pass", "if x:\n    pass\nelse:\n    while x: pass", "try:\n    pass\nexcept E:\n    for i in x: pass",
                 "match x:\n    case 1:\n        for i in x: pass", "with x:\n    for i in x: pass"):
        assert has_loop(parse(text).body)
    for text in ("def f():\n    for i in x: pass", "class A:\n    for i in x: pass", "y = [i for i in x]", "pass"):
        assert not has_loop(parse(text).body)


class Holder:
    def method(self):
        return lambda x: (lambda y: y * 2.0)(x) + 1.0


def outer():
    values = [lambda x: np.sqrt(x) + 1.0, lambda x: np.sqrt(x) + 2.0]
    return values


def test_lambdas_are_found_where_they_stand():
    x = np.arange(1.0, 6.0)
    for function in (*outer(), Holder().method()):
        assert source_of(function).node.lineno == function.__code__.co_firstlineno
        np.testing.assert_array_equal(aj.autocluster(policy="eager")(function)(x), function(x))


def test_the_version_of_jax_is_what_jax_says():
    import jax

    text = "import autojit.jax_names as names, sys; print(names.jax_version(), 'jax' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.argv[:] = ['-m']; sys.orig_argv[:] = ['python', '-m', 'autojit']; {text}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == [jax.__version__, "False"]
