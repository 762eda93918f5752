"""Records made in a region: what their constructors take and leave, defaults; classes derived, or told otherwise."""

from __future__ import annotations

import abc
import collections
import enum
import weakref
from dataclasses import KW_ONLY, InitVar, dataclass, field

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check

X = np.arange(1.0, 4.0)


def eager(function):
    return aj.autocluster(policy="eager")(function)


@dataclass
class Plain:
    a: object
    b: object = 2.0


@dataclass
class WithInitVar:
    c: InitVar[int]
    b: object


@dataclass
class KeywordOnly:
    a: object
    _: KW_ONLY
    b: object = 3


@dataclass(kw_only=True)
class AllKeywordOnly:
    a: object
    b: object = 3


@dataclass
class NotGiven:
    a: object
    b: object = field(default=4, init=False)


@dataclass
class Doubling:
    a: object

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


@dataclass
class Tripling:
    a: object

    def __getattribute__(self, name):
        return object.__getattribute__(self, name) * 3 if name == "a" else object.__getattribute__(self, name)


@dataclass(frozen=True)
class Frozen:
    a: object
    b: object = 2


@dataclass(init=False)
class Heir(Plain):
    c: object = 5


@dataclass
class Subclass(Plain):
    c: object = 5


class Property(Plain):
    @property
    def a(self):
        return self.kept * 2

    @a.setter
    def a(self, value):
        self.kept = value


def _reads(x):
    one, two = Plain(x), Plain(b=x, a=3)
    return one.a * one.b, two.a * two.b, Frozen(x).a * Frozen(x).b, Subclass(x, c=x * 2).c, KeywordOnly(x, b=4).b * x


RECORDS = [
    lambda x: WithInitVar(x, 2).b * x,
    lambda x: WithInitVar(c=x, b=2).b * x,
    lambda x: AllKeywordOnly(x).a * 2,
    lambda x: AllKeywordOnly(a=x).b * x,
    lambda x: KeywordOnly(x, 2).a * 2,
    lambda x: NotGiven(x, b=2).a * 2,
    lambda x: NotGiven(x * 2),
    lambda x: Plain(x, 2, 3).a * 2,
    lambda x: Plain(x, b=2, a=3).a * x,
    lambda x: Plain(x, c=2).a * 2,
    lambda x: Plain().a * x,
    lambda x: Doubling(x).a * 2,
    lambda x: Tripling(x).a * 2,
    lambda x: Heir(x * 2),
    lambda x: Heir(x * 2).c * x,
    lambda x: Property(x).a * 2,
    lambda x: Property(x * 2),
    lambda x: Plain(x * 2),
    lambda x: (Frozen(x * 2), Subclass(x, 1), AllKeywordOnly(a=x)),
    _reads,
]


@pytest.mark.parametrize("number", range(len(RECORDS)))
def test_records_made_in_the_region(number) -> None:
    check(RECORDS[number], X)


def test_simple_records_are_captured() -> None:
    check(_reads, X, whole=True)


DEFAULT = [1.0]
Defaults = collections.namedtuple("Defaults", "a b", defaults=[DEFAULT])


class Box:
    pass


@dataclass
class Holder:
    a: object
    b: object = Box()


class Renamed(collections.namedtuple("Base", "a b")):
    a = property(lambda self: 2.0)


class Logged(collections.namedtuple("LoggedBase", "a")):
    def __init__(self, a):
        DEFAULT.append(0.0)


def test_defaults_are_the_objects_themselves() -> None:
    def named(x):
        return Defaults(x * 2)

    def record(x):
        return Holder(x * 2)

    d = eager(named)
    for _ in range(3):
        assert d(X).b is DEFAULT
    d = eager(record)
    for _ in range(3):
        assert d(X).b is Holder.__init__.__defaults__[0]


def test_defaults_that_are_changed() -> None:
    P = collections.namedtuple("P", "a b", defaults=[2.0])

    def f(x):
        p = P(x)
        return p.a * p.b

    d = eager(f)
    assert np.array_equal(d(X), X * 2)
    P.__new__.__defaults__ = (5.0,)
    assert np.array_equal(d(X), X * 5)


def test_heirs_of_named_tuples() -> None:
    def f(x):
        r = Renamed(x, 1)
        return r.a * x

    def logged(x):
        return Logged(x).a * 2

    check(f, X)
    before = len(DEFAULT)
    d = eager(logged)
    for n in range(3):
        d(X)
        assert len(DEFAULT) == before + n + 1
    del DEFAULT[before:]


def test_callable_records() -> None:
    check(lambda x: x * 2 if callable(Called(x)) else x * 3, X)


@dataclass
class Called:
    a: object

    def __call__(self):
        return self.a


class Telling(np.float64):
    def __mul__(self, other):
        return "mul"

    __rmul__ = __mul__


class Color(np.float64, enum.Enum):
    RED = 2.0

    def __mul__(self, other):
        return "red"


class Pretender:
    __class__ = int


class Asked:
    def __getattribute__(self, name):
        return int if name == "__class__" else object.__getattribute__(self, name)


class Meta(type):
    def __instancecheck__(cls, instance):
        return True


class Everything(metaclass=Meta):
    pass


class Ruled(abc.ABC):
    @classmethod
    def __subclasshook__(cls, kind):
        return True


@pytest.mark.parametrize("value", [Telling(2.0), Color.RED])
def test_classes_derived_from_numpys_scalars(value) -> None:
    def f(x, v):
        return v * x, x + 1

    def inside(x, values):
        return values[0] * x, x + 1

    def reversed_operands(x, v):
        return x * v

    for one in (f, reversed_operands):
        assert_equal(eager(one)(X, value), one(X, value))
        d = eager(one)
        assert_equal(d(X, np.float64(2)), one(X, np.float64(2)))
        assert_equal(d(X, value), one(X, value))
    assert_equal(eager(inside)(X, [value]), inside(X, [value]))


def assert_equal(got, expected) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(got, expected, strict=True):
            assert_equal(one, other)
    else:
        assert type(got) is type(expected)
        assert np.array_equal(got, expected)


@pytest.mark.parametrize(
    "value",
    [Pretender(), Asked(), weakref.proxy(Telling), 3, 2.5, np.float64(1), np.int32(1)],
    ids=["pretender", "asked", "proxy", "int", "float", "float64", "int32"],
)
def test_objects_that_tell_their_class(value) -> None:
    def f(x, o):
        return x * 2 if isinstance(o, int) else x * 3

    def union(x, o):
        return x * 2 if isinstance(o, int | type) else x * 3

    def everything(x, o):
        return x * 2 if isinstance(o, (int, Everything)) else x * 3

    def ruled(x, o):
        return x * 2 if isinstance(o, Ruled) else x * 3

    def of_the_array(x, o):
        return x * 2 if isinstance(x, Everything) else x * 3

    for one in (f, union, everything, ruled, of_the_array):
        d = eager(one)
        for _ in range(3):
            assert_equal(d(X, value), one(X, value))
