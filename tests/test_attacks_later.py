"""Functions and classes that change, or differ, after the first call."""

from __future__ import annotations

import abc
import enum
import sys
import types
from typing import Any

import numpy as np
import pytest

import autojit as aj

K = 2.0
BUFFER = np.zeros(3)
X = np.arange(3.0)
eager = aj.autocluster(policy="eager")


def scaled(x):
    BUFFER[:] = x
    return x * K


def in_other_globals(function: Any, **names: Any) -> Any:
    return types.FunctionType(function.__code__, names)


def test_equal_code_with_other_globals() -> None:
    other_buffer = np.zeros(3)
    np.testing.assert_array_equal(eager(scaled)(X), X * 2)
    BUFFER[:] = 7
    np.testing.assert_array_equal(eager(in_other_globals(scaled, K=5.0, BUFFER=other_buffer))(X), X * 5)
    np.testing.assert_array_equal(other_buffer, X)
    np.testing.assert_array_equal(BUFFER, 7)


def test_one_text_in_two_files(tmp_path) -> None:
    for number in (1, 2):
        path = tmp_path / f"m{number}.py"
        path.write_text("def f(x):\n    return x * K + 1\n" + f"K = {number}\n")
        namespace: dict[str, Any] = {"__name__": f"m{number}"}
        exec(compile(path.read_text(), str(path), "exec"), namespace)
        fast = eager(namespace["f"])
        np.testing.assert_array_equal(fast(X), X * number + 1)
        assert fast.cache_info().hits


def test_a_callback_with_equal_code_and_other_globals() -> None:
    def helper(x):
        return x * K

    one, other = in_other_globals(helper, K=2.0), in_other_globals(helper, K=5.0)
    fast = eager(lambda x, call: call(x) + 1)
    for _ in range(2):
        np.testing.assert_array_equal(fast(X, one), X * 2 + 1)
        np.testing.assert_array_equal(fast(X, other), X * 5 + 1)


def test_closures_of_one_definition_share_a_plan() -> None:
    fast = eager(lambda x, call: call(x) + 1)
    for k in range(4):
        np.testing.assert_array_equal(fast(X, lambda x, k=float(k): x * k), X * k + 1)
    assert fast.cache_info().captures == 1


def test_a_class_that_is_registered_later() -> None:
    class Base(abc.ABC):
        pass

    class Own:
        pass

    fast = eager(lambda x, o: x * 2 if isinstance(o, Base) else x * 3)
    np.testing.assert_array_equal(fast(X, Own()), X * 3)
    Base.register(Own)
    np.testing.assert_array_equal(fast(X, Own()), X * 2)


def test_a_class_whose_bases_change() -> None:
    class One:
        pass

    class Two:
        pass

    class Heir(One):
        pass

    fast = eager(lambda x, o: x * 2 if isinstance(o, Two) else x * 3)
    np.testing.assert_array_equal(fast(X, Heir()), X * 3)
    Heir.__bases__ = (Two,)
    np.testing.assert_array_equal(fast(X, Heir()), X * 2)


@pytest.mark.parametrize("name", ["__bool__", "__len__"])
def test_a_class_that_gets_a_truth_later(name) -> None:
    class Own:
        pass

    fast = eager(lambda x, o: x * 2 if o else x * 3)
    np.testing.assert_array_equal(fast(X, Own()), X * 2)
    setattr(Own, name, lambda self: 0 if name == "__len__" else False)
    np.testing.assert_array_equal(fast(X, Own()), X * 3)


def test_a_class_that_gets_a_call_later() -> None:
    class Own:
        pass

    fast = eager(lambda x, o: x * 2 if callable(o) else x * 3)
    np.testing.assert_array_equal(fast(X, Own()), X * 3)
    Own.__call__ = lambda self: None  # type: ignore[attr-defined] -- that is the point
    np.testing.assert_array_equal(fast(X, Own()), X * 2)


class Counting:
    """A descriptor that counts how often it is read."""

    def __init__(self) -> None:
        self.count = 0

    def __get__(self, owner: Any, kind: Any = None) -> float:
        self.count += 1
        return float(self.count)


def assert_runs_once_a_call(function: Any, *args: Any) -> None:
    fast = eager(function)
    np.testing.assert_array_equal([fast(X, *args) for _ in range(4)], [X * k for k in (1.0, 2.0, 3.0, 4.0)])


def test_a_descriptor_that_is_read_through_its_class() -> None:
    class Own:
        v = Counting()

    assert_runs_once_a_call(lambda x: x * Own.v)


#: Of properties: Python 3.13 no longer does that.
CLASSMETHODS = pytest.mark.skipif(sys.version_info >= (3, 13), reason="class methods are not chained here")


@pytest.mark.parametrize("way", ["property", "getattr", pytest.param("classmethod", marks=CLASSMETHODS)])
def test_attributes_that_a_metaclass_computes(way) -> None:
    counter = Counting()

    class Meta(type):
        if way == "property":
            v = property(counter.__get__)
        if way == "getattr":

            def __getattr__(cls, name):
                return counter.__get__(None)

    class Own(metaclass=Meta):
        if way == "classmethod":
            v = classmethod(property(counter.__get__))  # type: ignore[arg-type] -- Python 3.9 to 3.12 take it

    assert_runs_once_a_call(lambda x: x * Own.v)


def test_a_module_that_computes_its_attributes() -> None:
    counter, module = Counting(), types.ModuleType("counting")
    module.__getattr__ = lambda name: counter.__get__(None)  # type: ignore[method-assign] -- that is the point
    assert_runs_once_a_call(lambda x: x * module.v)


def test_an_object_that_lacks_what_the_first_one_had() -> None:
    names: list[str] = []

    class Own:
        def __getattr__(self, name):
            names.append(name)
            return 5.0

    first, second = Own(), Own()
    first.v = 2.0
    fast = eager(lambda x, o: x * o.v)
    np.testing.assert_array_equal(fast(X, first), X * 2)
    np.testing.assert_array_equal(fast(X, second), X * 5)
    assert names == ["v"]


def test_a_property_of_an_enum() -> None:
    counter = Counting()

    class Color(enum.Enum):
        RED = 1.0

        @property
        def v(self):
            return counter.__get__(self)

    assert_runs_once_a_call(lambda x: x * Color.RED.v)
    fast = eager(lambda x: x * Color.RED.value)
    np.testing.assert_array_equal(fast(X), X)
    fast(X)
    assert fast.cache_info().hits
