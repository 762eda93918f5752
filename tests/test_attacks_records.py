"""Attributes: of records, named tuples, namespaces and modules, and those with code behind them."""

from __future__ import annotations

import collections
import dataclasses
import types
from typing import ClassVar, NamedTuple

import numpy as np

import autojit as aj
from tests.attacks import rand, sequence
from tests.helpers import check


def eager(function):
    return aj.autocluster(policy="eager")(function)


@dataclasses.dataclass
class Plain:
    """A record with defaults, methods and a property."""

    a: np.ndarray
    b: float = 2.0
    kind: ClassVar[str] = "plain"

    def scaled(self, k):
        return self.a * self.b * k

    @property
    def big(self):
        return self.b > 10

    def get(self, key):
        return self.b * 1000

    def values(self):
        return self.a * 3

    def __len__(self):
        return 17


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A record that cannot change."""

    a: np.ndarray
    n: int = 3

    def with_a(self, a):
        return dataclasses.replace(self, a=a)


@dataclasses.dataclass
class Checked:
    """A record with its own rules."""

    a: np.ndarray
    b: float = 1.0
    parts: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.b = self.b * 2


@dataclasses.dataclass(kw_only=True)
class Keywords(Plain):
    """Inherits, with keywords."""

    c: float = 5.0


class Vec(NamedTuple):
    """A named tuple with operators of its own."""

    x: float
    y: float = 4.0

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    @property
    def length(self):
        return self.x + self.y

    def scaled(self, k):
        return self.x * k


class Reordered(collections.namedtuple("Reordered", "a b")):
    """A named tuple that changes its arguments."""

    __slots__ = ()

    def __new__(cls, a, b=1):
        return super().__new__(cls, b, a)


def test_dataclasses_made_inside() -> None:
    def fields(x):
        s = Plain(x * 2)
        t = Plain(b=3.0, a=s.a)
        return s.a, s.b, t.a is s.a, t

    def methods(x):
        s = Plain(x * 2, 20.0)
        return s.scaled(2), s.get("b"), s.values(), len(s), s.kind

    def truth(x):
        s, t = Plain(x * 2, 20.0), Plain(x, 1.0)
        y = x * 2 if s.big else x * 3
        return y, x * 2 if t.big else x * 3, bool(s)

    def equality(x):
        one, two = Frozen(None, 1), Frozen(None, 1)
        return x * 2 if one == two else x, one is two, isinstance(one, Frozen), type(one) is Frozen

    def frozen(x):
        s = Frozen(x * 2)
        s.n = 5
        return s

    def replaced(x):
        return Frozen(x).with_a(x * 2)

    def checked(x):
        s, t = Checked(x * 2), Checked(x)
        s.parts.append(1)
        return s, t

    def keywords(x):
        return Keywords(a=x * 2, c=3.0), Keywords(a=x)

    def changed(x):
        s = Plain(x * 2)
        s.b = 7.0
        s.a += 1
        s.a = s.a * s.b
        return s

    def shared(x):
        s = Plain(x * 2)
        return s, [s], {"s": s}, s.a

    def iterated(x):
        return list(Plain(x))

    for function in (fields, methods, truth, equality, frozen, replaced, checked, keywords, changed, shared, iterated):
        check(function, rand(3))
    got = eager(shared)(rand(3))
    assert got[0] is got[1][0] is got[2]["s"]


def test_dataclasses_as_arguments() -> None:
    def methods(s):
        return s.scaled(2), s.get("b"), s.values(), len(s), s.kind, s.b if s.big else s.a

    def in_place(s):
        s.a += 1
        s.a *= s.b
        return s.a.sum(), s

    def assigned(s):
        s.a = s.a * 2
        s.b += 1
        return s

    def frozen(s, x):
        s.a[0] = 5
        s.a += x
        return s

    sequence(methods, (Plain(rand(3)),), (Plain(rand(3), 20.0),), (Plain(rand(3)),))
    sequence(in_place, (Plain(rand(3)),), (Plain(rand(3), 20.0),))
    sequence(assigned, (Plain(rand(3)),), (Plain(rand(3), 20.0),))
    check(frozen, Frozen(rand(3)), rand(3))


def test_named_tuples() -> None:
    def made(x):
        v = Vec(x * 2, x)
        w = v * 3
        return w, v + w, v.length, v.scaled(2), v[0], v.x, v._replace(x=1), v._fields, len(v), v._asdict()

    def unpacked(v):
        a, b = v
        return a + b, v * 2, v + v, v.length, Vec(1, 2) * 3, v

    def default(x):
        return Vec(x), Vec(y=x, x=1), Vec(1, 2) == (1, 2), isinstance(Vec(1), tuple)

    def reordered(x):
        return Reordered(x, 2), Reordered(x * 2).a

    check(made, rand(3))
    check(unpacked, Vec(rand(3), rand(3)))
    check(default, rand(3))
    check(reordered, rand(3))


def test_namespaces_and_modules() -> None:
    module = types.ModuleType("settings")
    module.rate, module.w = 2.0, np.ones(3)
    space = types.SimpleNamespace(rate=2.0, w=np.ones(3))

    def f(m, x):
        return x * m.rate + m.w

    def g(x):
        module.w += 1
        return x * module.rate + module.w + space.rate

    decorated, second = eager(f), eager(g)
    x = rand(3)
    for rate in (2.0, 3.0, 3, np.ones(3)):
        module.rate = space.rate = rate
        for target in (module, space):
            np.testing.assert_allclose(decorated(target, x), f(target, x))
        got = second(x)
        module.w -= 1
        np.testing.assert_allclose(got, g(x))


class Guarded:
    """Attribute access with effects."""

    def __init__(self):
        self.reads = 0
        self._w = np.ones(3)
        self.sets = 0

    @property
    def w(self):
        return self._w

    @property
    def counted(self):
        self.reads += 1
        return self._w * self.reads

    @property
    def settable(self):
        return self._w

    @settable.setter
    def settable(self, value):
        self.sets += 1
        self._w = value

    def __getattr__(self, name):
        if name == "made":
            return 5.0
        raise AttributeError(name)


class Shared:
    """An array that belongs to the class."""

    w = np.ones(3)


def test_attribute_protocols() -> None:
    def read(g, x):
        return x * g.counted + g.made + g.w

    def no_setter(g, x):
        g.w += x
        return g

    def setter(g, x):
        g.settable += x
        return g.sets

    def pair(v, x):
        v.x += x
        return v

    def from_class(s, x):
        s.w += x
        return vars(s)

    check(read, Guarded(), rand(3))
    check(no_setter, Guarded(), rand(3))
    check(setter, Guarded(), rand(3))
    check(pair, Vec(rand(3), 1.0), rand(3))
    saved = Shared.w.copy()
    check(from_class, Shared(), rand(3))
    Shared.w[:] = saved
