"""Members of enums and attributes of classes and functions: what is read through them may change, and runs once."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check


def eager(function):
    return aj.autocluster(policy="eager")(function)


class Mode(enum.Enum):
    """Members with values that change."""

    A = [2.0]  # noqa: RUF012 -- class attributes that change are what is tested
    B = {"k": 3.0}  # noqa: RUF012 -- class attributes that change are what is tested
    C = 4

    def __init__(self, value: Any) -> None:
        self.weight = 1.0

    @property
    def scale(self):
        return self.weight * _factor[0]

    @property
    def counted(self):
        _seen.append(1)
        return 2.0


_factor = [1.0]
_seen: list[int] = []


def _restored(function):
    def test() -> None:
        try:
            function()
        finally:
            Mode.A.value[0], Mode.A.weight, _factor[0] = 2.0, 1.0, 1.0
            _seen.clear()

    return test


@_restored
def _values() -> None:
    compiled = eager(lambda x, m: x * m.value[0])
    for value in (2.0, 5.0, 7.0):
        Mode.A.value[0] = value
        assert compiled(np.ones(2), Mode.A)[0] == value


@_restored
def _attributes() -> None:
    compiled = eager(lambda x, m: x * m.weight + m.scale)
    for value in (2.0, 5.0, 7.0):
        Mode.A.weight, _factor[0] = value, value
        assert compiled(np.ones(2), Mode.A)[0] == value + value * value


@_restored
def _constant_members() -> None:
    compiled = eager(lambda x: x * Mode.A.weight)
    for value in (2.0, 5.0, 7.0):
        Mode.A.weight = value
        assert compiled(np.ones(2))[0] == value


@_restored
def _effects() -> None:
    compiled = eager(lambda x, m: x * m.counted)
    for number in range(1, 4):
        compiled(np.ones(2), Mode.A)
        assert len(_seen) == number


@_restored
def _identity() -> None:
    compiled = eager(lambda x, m: (x * 2, m.value, m))
    for _ in range(3):
        _, value, member = compiled(np.ones(2), Mode.A)
        assert value is Mode.A.value and member is Mode.A


@pytest.mark.parametrize("test", [_values, _attributes, _constant_members, _effects, _identity], ids=range(5))
def test_what_is_read_through_a_member_may_change(test) -> None:
    test()


class Kind(enum.IntFlag):
    """Members that combine."""

    ONE = 1
    TWO = 2


def test_plain_values_of_members_are_constant() -> None:
    def shaped(x, m):
        return x.sum() + np.zeros(m.value), m.name, m is Mode.C, m == Mode.C

    def combined(x):
        return x * (Kind.ONE | Kind.TWO).value

    check(shaped, np.ones(3), Mode.C, whole=True)
    check(combined, np.ones(3))


class Loud(enum.Enum):
    """Members with rules of their own."""

    A = 1
    B = 2

    def __eq__(self, other):
        return _factor[0] == 1.0

    def __hash__(self):
        return 1

    def __str__(self):
        return f"loud {_factor[0]}"


def test_members_with_rules_of_their_own() -> None:
    compared, shown = eager(lambda x, m: (x * 2, m == Loud.B)), eager(lambda x, m: (x * 2, f"{m}", str(m), "%s" % m))  # noqa: UP031 -- `%` is what is tested
    try:
        for value in (1.0, 2.0, 1.0):
            _factor[0] = value
            assert compared(np.ones(2), Loud.A)[1] is (value == 1.0)
            assert shown(np.ones(2), Loud.A)[1:] == (f"loud {value}",) * 3
    finally:
        _factor[0] = 1.0


def test_attributes_of_decorated_functions_may_change() -> None:
    @eager
    def inner(x):
        return x + 1

    inner.scale = 2.0
    compiled = eager(lambda x: x * inner.scale)
    for value in (2.0, 3.0, 4.0):
        inner.scale = value
        assert compiled(np.ones(2))[0] == value


class _Meta(type):
    @property
    def scale(cls):
        _seen.append(1)
        return _factor[0]


class _Descriptor:
    def __get__(self, instance, owner):
        _seen.append(1)
        return _factor[0]


class _WithCode(metaclass=_Meta):
    shift = _Descriptor()


def test_code_behind_attributes_of_classes_runs_once() -> None:
    for function in (lambda x: x * _WithCode.scale, lambda x: x + _WithCode.shift):
        compiled = eager(function)
        for number in range(1, 4):
            compiled(np.ones(2))
            assert len(_seen) == number
        _seen.clear()
