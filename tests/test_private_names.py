"""Private names, which CPython mangles in the body of a class: attributes, arguments and local names."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import autojit as aj
from autojit.capture.private import mangled

eager = aj.autocluster(policy="eager")


class Tank:
    __scale = 3.0

    def __init__(self, level):
        self.__level = level

    @eager
    def fill(self, __amount, *__more, __times=1, **__rest):
        __added = __amount * __times + self.__scale
        try:
            if __added[0] > 100:
                raise ValueError(3)
        except ValueError as __error:
            return __error.args
        for __i in range(3):
            __added += __i * __more[0]
            self.__level = self.__level + __added
        self._note(__added)
        return self.__doubled(__added), __rest, [__x * 2 for __x in __added], (__last := __added.sum())

    def _note(self, __amount):
        self.__noted = __amount.sum()

    def __doubled(self, __x):
        return __x * 2

    @eager
    def in_an_inner_class(self, x):
        class Inner:
            __scale = 2.0

            def scaled(self, y):
                return y * self.__scale

        return Inner().scaled(x) + self.__scale

    @eager
    def private_definitions(self, x):
        def __twice(y):
            return y * 2

        return __twice(x)


class __Private(Tank):
    __scale = 1.0

    @eager
    def scale(self, __x):
        __x = __x * self.__scale
        return __x + self._Tank__scale


def test_they_are_those_of_the_class():
    for _ in range(2):
        tank = Tank(np.zeros(3))
        doubled, rest, pairs, total = tank.fill(np.ones(3), 2, _Tank__times=5, b=3)
        assert_array_equal(doubled, np.full(3, 28.0))
        assert (rest, pairs, total) == ({"b": 3}, [28.0] * 3, 42.0)
        assert list(vars(tank)) == ["_Tank__level", "_Tank__noted"]
        assert_array_equal(vars(tank)["_Tank__level"], np.full(3, 8.0 + 10.0 + 14.0))
        assert vars(tank)["_Tank__noted"] == 42.0
    assert tank.fill(np.full(3, 100.0), 2) == (3,)
    info = Tank.fill.cache_info()
    assert info.hits >= 2 and info.compiles == 1


def test_names_of_a_class_that_is_private_itself():
    fast = __Private(np.zeros(1))
    for _ in range(2):
        assert_array_equal(fast.scale(np.ones(3)), np.full(3, 4.0))
    assert __Private.scale.cache_info().compiles == 1


def test_what_defines_a_private_name_is_pythons():
    tank = Tank(np.zeros(1))
    assert_array_equal(tank.private_definitions(np.ones(2)), np.full(2, 2.0))
    assert_array_equal(tank.in_an_inner_class(np.ones(2)), np.full(2, 5.0))
    assert "private name of its class" in str(Tank.private_definitions.explain(tank, np.ones(2)))


@pytest.mark.parametrize(
    ("name", "owner", "expected"),
    [
        ("__x", "A", "_A__x"), ("__x", "__A", "_A__x"), ("__x", "___", "__x"), ("__x", "", "__x"), ("_x", "A", "_x"),
        ("__x__", "A", "__x__"), ("__", "A", "__"), ("__x_", "A", "_A__x_"),
    ],
)  # fmt: skip
def test_mangling(name, owner, expected):
    assert mangled(name, owner) == expected
    if owner.strip("_"):
        scope: dict = {}
        exec(f"class {owner}:\n    {name} = 1", scope)
        assert expected in vars(scope[owner])
