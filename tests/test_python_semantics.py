"""Attributes, keys, identity, iterators and descriptors are Python's, whatever stands beside them."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check_calls

X = np.arange(1.0, 4)


@pytest.mark.parametrize("name", ["ndim", "dtype", "shape", "append", "keys", "zzz", "__hash__", "__name__", "mro"])
def test_attributes_of_lists_and_tuples(name):
    def asked(x, values):
        return x * 2 if getattr(values, name, None) is None else x * 3

    check_calls(asked, (X, [1.0]), (X, (1.0,)), (X, {1: 2}), (X, X), (X, X[1]))

    def of_made_ones(x):
        found = []
        for value in ([x], (x,), {1: x}, x.sum(), x.sum() > 1):
            found.append(getattr(value, name, None) is None)
        return found, x * 2

    check_calls(of_made_ones, (X,))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, v: x * 2 if v.__class__ is list else x * 3,
        lambda x, v: (callable(v.append), x * 2),
        lambda x, v: x * 2 if x.__array_priority__ else x * 3,
        lambda x, v: (x * 2, x.__hash__ is None, callable(x.device), type(x.device) is str),
        lambda x, v: (type(x.__add__).__name__, type([x].__len__).__name__, x * 2),
        lambda x, v: x * len({1: 2} * 2),
        lambda x, v: ({1: x} * 2, {} * 3),
        lambda x, v: (v * 2, (x, 1) * 2, 3 * [x.size]),
        lambda x, v: [1] in {1: x * 2}.keys(),
        lambda x, v: ([1], 2) in {1: x.size}.items(),
        lambda x, v: (1 in {1: x * 2}.keys(), 2 in {1: x.size}, x * 2),
        lambda x, v: ([type(iter(each)).__name__ for each in ([x], (x,), x, {1: 2}, range(3), "ab")], x * 2),
        lambda x, v: (type(reversed(range(3))).__name__, type(reversed(v)).__name__, type(iter(v)).__name__, x * 2),
    ],
)
def test_what_python_answers(function):
    check_calls(function, (X, [1.0, 2.0]), (X, (1.0,)))


def test_a_missing_attribute_is_caught():
    def function(x, values):
        try:
            values.append
        except AttributeError:
            return x * 3
        return x * 2

    check_calls(function, (X, (1.0,)), (X, [1.0]))


class percent(property):
    def __get__(self, owner, kind=None):
        return self if owner is None else super().__get__(owner, kind) * 100


class Counted:
    asked = 0

    @percent
    def share(self):
        return 2.0

    @property
    def counted(self):
        Counted.asked += 1
        return 1.0

    def method(self):
        return 1


def test_descriptors():
    check_calls(lambda x, o: x * o.share, (X, Counted()))
    check_calls(lambda x, o: (x * 2, hasattr(o, "method"), hasattr(o, "nothing")), (X, Counted()))

    def asked(x, o):
        return x * 2, hasattr(o, "counted")

    fast = aj.autocluster(policy="eager")(asked)
    for count in range(1, 4):
        fast(X, Counted())
        assert Counted.asked == count


def test_the_identity_of_equal_objects():
    def same(x, a, b):
        return x * 2 if a is b else x * 3

    text, numbers, part = "a b", range(3), slice(1)
    check_calls(same, (X, text, text), (X, text, "".join(["a ", "b"])))
    check_calls(same, (X, numbers, numbers), (X, numbers, range(3)))
    check_calls(same, (X, part, part), (X, part, slice(1)))
    check_calls(same, (X, None, None), (X, X, X), (X, X, X * 1))


def test_nans_are_no_keys():
    def function(x, a, b):
        d = {}
        d[a] = x
        d[b] = x * 2
        return len(d)

    nan = float("nan")
    check_calls(function, (X, nan, nan), (X, nan, float("nan")), (X, 1.0, 1.0))


def helper(a, b):
    return a * 2 + b


def test_a_signature_that_is_made_up():
    helper.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in "ba"]
    )
    try:
        check_calls(lambda x: helper(x, x * 10), (X,))
    finally:
        del helper.__signature__


def test_a_dict_that_changes_while_it_is_reversed():
    def function(x):
        d = {1: x * 2}
        r = reversed(d)
        d[3] = x
        return [d[k] for k in r]

    check_calls(function, (X,))


OPTIMIZED = """
import numpy as np, autojit as aj

def inc(a):
    a += 1
    return True

def f(x):
    assert inc(x)
    return x * 2

def g(x):
    for i in range(50):
        assert inc(x)
    assert (z := x * 2) is not None
    return z

fast, x = aj.autocluster(policy="eager")(f), np.arange(3.0)
print(fast(x), x)
try:
    aj.autocluster(policy="eager")(g)(x)
except UnboundLocalError:
    print("unbound", x)
"""


def test_assertions_that_are_optimized_away(tmp_path):
    (tmp_path / "program.py").write_text(OPTIMIZED)
    found = subprocess.run(
        [sys.executable, "-O", "program.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == ["[0. 2. 4.] [0. 1. 2.]", "unbound [0. 1. 2.]"], found
