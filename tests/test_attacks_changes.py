"""What a plan must notice: classes, helpers, defaults, globals and attributes that change between calls."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.attacks import rand


def eager(function):
    return aj.autocluster(policy="eager")(function)


def test_changes_of_classes() -> None:
    class Model:
        scale = 2

        def step(self, x):
            return x * self.scale

        @property
        def bias(self):
            return 1.0

        @staticmethod
        def fixed(x):
            return x + 1

        @classmethod
        def of_class(cls, x):
            return x * 5

    def f(m, x):
        return m.step(x) + m.bias + m.fixed(x) + m.of_class(x) + Model.fixed(x)

    decorated = eager(f)
    model, x = Model(), rand(3)

    def same():
        for _ in range(2):
            np.testing.assert_allclose(decorated(model, x), f(model, x))

    same()
    Model.scale = 3
    same()
    model.scale = 4
    same()
    Model.step = lambda self, x: x * 100
    same()
    Model.bias = property(lambda self: 50.0)
    same()
    Model.fixed = staticmethod(lambda x: x - 9)
    same()
    Model.of_class = classmethod(lambda cls, x: x - 3)
    same()
    model.step = lambda x: x * 7
    same()
    del model.step
    same()
    Model.bias = 3.0
    same()
    model.bias = 4.0
    same()


def helper(x, k=2, *, shift=0):
    return x * k + shift


def test_changes_of_helpers() -> None:
    def f(x):
        return helper(x) + helper(x, 3)

    decorated = eager(f)
    x = rand(3)
    original = helper, helper.__code__

    def same():
        for _ in range(2):
            np.testing.assert_allclose(decorated(x), f(x))

    same()
    try:
        helper.__defaults__ = (9,)
        same()
        helper.__kwdefaults__ = {"shift": 4}
        same()
        helper.__code__ = (lambda x, k=2, *, shift=0: x - k - shift).__code__
        same()
        globals()["helper"] = lambda x, k=5: x + k * 10
        same()
        globals()["helper"] = np.add
        with pytest.raises(TypeError):
            decorated(x)
        globals()["helper"] = np.multiply.__class__ and (lambda x, k=1: np.multiply(x, k))
        same()
    finally:
        globals()["helper"] = original[0]
        helper.__code__ = original[1]
        helper.__defaults__, helper.__kwdefaults__ = (2,), {"shift": 0}
    same()


def test_changes_of_the_function_itself() -> None:
    def f(x, k=2, *, shift=1):
        return x * k + shift

    x = rand(3)
    decorated = eager(f)
    np.testing.assert_allclose(decorated(x), x * 2 + 1)
    decorated.__defaults__ = (5,)
    np.testing.assert_allclose(decorated(x), x * 5 + 1)
    decorated.__kwdefaults__ = {"shift": 7}
    np.testing.assert_allclose(decorated(x), x * 5 + 7)

    def caller(x):
        return decorated(x) * 2

    outer = eager(caller)
    np.testing.assert_allclose(outer(x), caller(x))
    decorated.__defaults__ = (6,)
    np.testing.assert_allclose(outer(x), caller(x))


VALUE = 3.0
TABLE = {"k": 2.0, "w": np.ones(3)}


def test_changes_of_globals() -> None:
    def f(x):
        return x * VALUE + TABLE["k"]  # of many types

    def g(x):
        total = x
        for key in TABLE:
            total = total * TABLE[key]
        return total * len(TABLE)

    def builtin(x):
        return x * abs(-2)

    many = aj.autocluster(policy="eager", max_plans=64)
    one, two, three = many(f), many(g), many(builtin)
    x = rand(3)

    def same():
        for decorated, function in ((one, f), (two, g), (three, builtin)):
            for _ in range(2):
                np.testing.assert_allclose(decorated(x), function(x))

    saved = VALUE, dict(TABLE)
    try:
        for value in (4.0, 4, True, np.float32(2), np.ones(3), np.array(2), 1j):
            globals()["VALUE"] = value
            same()
        TABLE["extra"] = 2
        same()
        TABLE["k"] = np.ones(3)
        same()
        globals()["abs"] = lambda v: 77
        same()
    finally:
        globals()["VALUE"] = saved[0]
        TABLE.clear()
        TABLE.update(saved[1])
        globals().pop("abs", None)
    same()


def test_changing_attribute_types() -> None:
    class Box:
        pass

    def f(b, x):
        return x * b.v

    def optional(b, x):
        if b.v is None:
            return x
        return x + b.v

    box = Box()
    many = aj.autocluster(policy="eager", max_plans=64)
    decorated, second = many(f), many(optional)
    x = rand(3)
    for value in (1, 2.5, np.float32(2), np.ones(3), np.arange(3), True, 1j, np.ones((2, 3)), np.int8(3), 1):
        box.v = value
        for _ in range(2):
            for got, want in ((decorated(box, x), f(box, x)), (second(box, x), optional(box, x))):
                np.testing.assert_allclose(got, want)
                assert got.dtype == want.dtype
    box.v = None
    np.testing.assert_allclose(second(box, x), x)
    del box.v
    for function in (decorated, second):
        with pytest.raises(AttributeError):
            function(box, x)
