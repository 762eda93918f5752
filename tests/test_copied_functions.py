"""Functions whose code or attributes the program copies before their first call, under the launcher."""

from __future__ import annotations

import pytest

from tests.test_launch import both, run

# Before its first call an armed function has code, and attributes, by which it is recognized.
COPIED = {
    "attributes": "functools.update_wrapper(tripled, added)",
    "a namespace": "tripled.__dict__.update(added.__dict__)",
    "codes": "tripled.__code__, added.__code__ = added.__code__, tripled.__code__",
    "a code": "tripled.__code__ = added.__code__",
    "a method": "A.m = functools.wraps(added)(A.n)",
}


@pytest.mark.parametrize("name", COPIED)
def test_what_is_copied_from_function_to_function_before_the_first_call(tmp_path, name):
    (tmp_path / "copied.py").write_text(
        f"""
import functools
import numpy as np
def added(x):
    for i in range(3):
        x = x + 1
    return x
def tripled(x):
    for i in range(3):
        x = x * 2
    return x
class A:
    def m(self):
        for i in range(2):
            x = i
        return x
    def n(self):
        for i in range(2):
            x = i * 2
        return x
{COPIED[name]}
for _ in range(2):
    print(tripled(np.ones(3)), added(np.ones(3)), A().m(), A().n())
"""
    )
    both(tmp_path, "copied.py")


def test_keywords_that_are_called_as_ours_are(tmp_path):
    (tmp_path / "keywords.py").write_text(
        """
import numpy as np
def total(x, **weights):
    for name in sorted(weights):
        x = x + weights[name]
    return x.sum()
def scaled(x, *, self=1.0, args=0, kwargs=0, first=0, stub=0):
    for _ in range(2):
        x = x * self + args + kwargs + first + stub
    return x.sum()
for _ in range(2):
    print(total(np.ones(3), self=2.0, args=1, kwargs=2, first=3, stub=4))
    print(scaled(np.ones(3), self=2.0), scaled(np.ones(3), args=2.0, kwargs=1, first=1, stub=1))
"""
    )
    both(tmp_path, "keywords.py")


def test_objects_that_have_a_functions_attributes(tmp_path):
    (tmp_path / "wrappers.py").write_text(
        """
import copy, functools, pickle
import numpy as np
def f(x):
    for i in range(3):
        x = x + i
    return x
class Traced:
    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f = f
    def __call__(self, *args):
        return self.f(*args)
for _ in range(2):
    for made in (Traced(f), functools.update_wrapper(functools.partial(f), f)):
        print(pickle.loads(pickle.dumps(made))(np.ones(2)), copy.deepcopy(made)(np.ones(2)))
    f(np.ones(2))
"""
    )
    both(tmp_path, "wrappers.py")


def test_a_hook_that_raises_and_a_module_that_runs_twice(tmp_path):
    (tmp_path / "hooked.py").write_text(
        """
import sys
import numpy as np
def hook(*error):
    raise ValueError("in the hook")
sys.excepthook = hook
raise KeyError("of the program")
"""
    )
    both(tmp_path, "hooked.py")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("from . import part\n")
    (tmp_path / "pack" / "part.py").write_text("print(__name__)\n")
    both(tmp_path, "-m", "pack.part")


def test_expressions_that_are_deeper_than_trees_may_be(tmp_path):
    (tmp_path / "deep.py").write_text(f"import deeper\nprint({' + '.join(['1'] * 1500)}, deeper.total)\n")
    (tmp_path / "deeper.py").write_text(f"total = {' + '.join(['1'] * 1500)}\n")
    both(tmp_path, "deep.py")


def test_a_timeout_while_the_program_waits_for_a_compilation(tmp_path):
    (tmp_path / "late.py").write_text(
        """
import signal
import numpy as np
def late(number, frame):
    raise TimeoutError("late")
signal.signal(signal.SIGALRM, late)
def work(x):
    for k in range(3_000_000):
        x = np.sin(x) + 1
    return x
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    work(np.ones(10))
    print("in time")
except TimeoutError as error:
    print("timeout", error)
"""
    )
    fast = run(tmp_path, "--policy=eager", "late.py")
    assert (fast.stdout, fast.returncode) == ("timeout late\n", 0), fast.stderr
