"""Functions whose code is exchanged under their identity, as tools that reload modules do."""

import numpy as np
import pytest

import autojit as aj
from autojit.capture.source import original_of


class Steps:
    def method(self, x):
        return x + 1.0

    @classmethod
    def of_class(cls, x):
        return x + 1.0

    @staticmethod
    def static(x):
        return x + 1.0

    @property
    def size(self):
        return 1.0

    def __call__(self, x):
        return x + 1.0


def make():
    class Own(Steps):
        method = type(Steps.method)(Steps.method.__code__, Steps.method.__globals__)
        of_class = classmethod(type(Steps.method)(Steps.of_class.__func__.__code__, Steps.method.__globals__))
        static = staticmethod(type(Steps.method)(Steps.static.__code__, Steps.method.__globals__))
        size = property(type(Steps.method)(Steps.size.fget.__code__, Steps.method.__globals__))
        __call__ = type(Steps.method)(Steps.__call__.__code__, Steps.method.__globals__)

    return Own()


CASES = [
    (lambda o, x: o.method(x), lambda kind: kind.method, lambda self, x: x - 1.0),
    (lambda o, x: type(o).of_class(x), lambda kind: kind.of_class.__func__, lambda cls, x: x - 1.0),
    (lambda o, x: o.static(x), lambda kind: kind.static, lambda x: x - 1.0),
    (lambda o, x: x + o.size, lambda kind: kind.size.fget, lambda self: -1.0),
    (lambda o, x: o(x), lambda kind: kind.__call__, lambda self, x: x - 1.0),
]


@pytest.mark.parametrize(("function", "part", "other"), CASES)
def test_parts_of_classes(function, part, other):
    fast, o = aj.autocluster(policy="eager")(function), make()
    for expected in (1.0, -1.0):
        for _ in range(3):
            assert fast(o, np.zeros(3)).tolist() == [expected] * 3
        part(type(o)).__code__ = other.__code__


def plus(x):
    return x + 1.0


@pytest.mark.parametrize("decorator", [lambda f: f, aj.autocluster(policy="eager"), aj.jit_compile], ids=["plain", "auto", "jit"])
def test_functions_decorated_or_not(decorator):
    helper = decorator(type(plus)(plus.__code__, plus.__globals__))
    fast = aj.autocluster(policy="eager")(lambda x: helper(x) * 2)
    for _ in range(3):
        assert fast(np.zeros(3)).tolist() == [2.0] * 3
    helper.__code__ = (lambda x: x - 1.0).__code__
    for _ in range(3):
        assert fast(np.zeros(3)).tolist() == [-2.0] * 3
        assert helper(np.zeros(3)).tolist() == [-1.0] * 3
    assert original_of(helper) is None


def test_what_autojit_exchanges_itself_is_no_change():
    def split(x, found):
        y = x + 1
        found.append(1)  # a native line: the function is instrumented anew at its first call
        return y * 2

    helper = aj.autocluster(policy="eager")(split)
    fast = aj.autocluster(policy="eager")(lambda x: x + helper(x, []))
    for _ in range(4):
        assert fast(np.ones(2)).tolist() == [5.0, 5.0]
    helper(np.ones(3), [])
    before = fast.cache_info().captures
    for _ in range(3):
        assert fast(np.ones(2)).tolist() == [5.0, 5.0]
    assert fast.cache_info().captures <= before + 1
