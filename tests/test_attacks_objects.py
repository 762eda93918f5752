"""Objects of classes: special methods, inheritance, bound methods, and functions given as arguments."""

from __future__ import annotations

import functools

import numpy as np

import autojit as aj
from tests.attacks import rand, sequence
from tests.helpers import check


def eager(function):
    return aj.autocluster(policy="eager")(function)


class Sized:
    """Objects with Python's special methods."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __bool__(self):
        return self.n > 1

    def __eq__(self, other):
        return self.n == other

    __hash__ = None

    def __contains__(self, item):
        return item < self.n

    def __float__(self):
        return float(self.n)

    def __index__(self):
        return self.n

    def __str__(self):
        return f"sized {self.n}"

    def __mul__(self, other):
        return other * self.n

    __rmul__ = __mul__

    def __call__(self, x):
        return x * self.n

    def __getitem__(self, key):
        if key >= self.n:
            raise IndexError(key)
        return self.n * key

    def __iter__(self):
        return iter(range(self.n))


def test_special_methods_of_objects() -> None:
    functions = [
        lambda x, s: x * len(s),
        lambda x, s: x * 2 if s else x * 3,
        lambda x, s: x * 2 if s == 1 else x * 3,
        lambda x, s: x * 2 if 1 in s else x * 3,
        lambda x, s: x * float(s),
        lambda x, s: x * 2 if str(s) == "sized 1" else x * 3,
        lambda x, s: x * 2 if f"{s}" == "sized 1" else x * 3,
        lambda x, s: s(x),
        lambda x, s: s * 3 + x,
        lambda x, s: 3 * s + x,
        lambda x, s: x[s],
        lambda x, s: x * sum(s),
        lambda x, s: x * s[0] + x,
        lambda x, s: np.zeros(s) + x[0],
        lambda x, s: [x * k for k in s],
        lambda x, s: x * 2 if not s else x,
        lambda x, s: x * sorted(s)[0] if len(sorted(s)) < 2 else x,
        lambda x, s: x * 2 if hasattr(s, "extra") else x * 3,
        lambda x, s: x * getattr(s, "extra", 7),
        lambda x, s: x * 2 if s.n and s.n > 1 else x * 3,
    ]
    more = Sized(1)
    more.extra = 5
    for function in functions:
        sequence(function, (rand(3), Sized(1)), (rand(3), Sized(2)), (rand(3), more), (rand(3), Sized(0)))
        sequence(function, (rand(3), more), (rand(3), Sized(2)))


class Base:
    """Methods that subclasses override."""

    scale = 2.0
    __hidden = 3.0

    def __init__(self):
        self.w = rand(3)
        self.__own = 5.0

    def run(self, x):
        return self.step(x) * self.scale

    def step(self, x):
        return x + self.w

    def private(self, x):
        return x * self.__hidden + self.__own + self.__method(x)

    def __method(self, x):
        y = x * 2
        __z = y + 1
        return __z * y

    @property
    def norm(self):
        return np.sqrt(np.sum(self.w**2))

    @staticmethod
    def fixed(x):
        return x * 7

    @classmethod
    def of_class(cls, x):
        return x * cls.scale

    def all(self, x):
        return self.fixed(x) + self.of_class(x) + self.norm + Base.fixed(x) + type(self).of_class(x)

    def __call__(self, x):
        return self.run(x)


class Derived(Base):
    """Calls of `super()`."""

    scale = 3.0

    def step(self, x):
        return super().step(x) * 2 + super(Derived, self).step(x)


class Slotted:
    """An object without a `__dict__`."""

    __slots__ = ("rate", "w")

    def __init__(self, w, rate):
        self.w, self.rate = w, rate


def test_classes() -> None:
    def run(m, x):
        return m.run(x), m(x)

    def private(m, x):
        return m.private(x)

    def everything(m, x):
        return m.all(x)

    def slots(w, rate, x):
        s = Slotted(w, rate)
        s.w += 1
        return x * s.rate + s.w

    def slots_of(s, x):
        s.w += 1
        return x * s.rate + s.w

    for model in (Base(), Derived()):
        for function in (run, private, everything, type(model).run, type(model).step, Base.private, Base.all):
            check(function, model, rand(3))
    sequence(run, (Base(), rand(3)), (Derived(), rand(3)), (Base(), rand(3)))
    sequence(Base.run, (Base(), rand(3)), (Derived(), rand(3)))
    sequence(slots, (rand(3), 2, rand(3)), (rand(3), 2.5, rand(3)))
    decorated = eager(slots_of)
    for rate in (2, 3, 2.5):
        one, two = Slotted(rand(3), rate), Slotted(rand(3), rate)
        np.testing.assert_allclose(decorated(one, rand(3)), slots_of(two, rand(3)))
        np.testing.assert_allclose(one.w, two.w)


def test_bound_methods_and_functions_as_arguments() -> None:
    class Model:
        def __init__(self, k):
            self.k = k

        def a(self, x):
            return x * self.k

        def b(self, x):
            return x - self.k

        @classmethod
        def c(cls, x):
            return x * 9

        @staticmethod
        def d(x):
            return x * 11

    def apply(x, g):
        return g(x) * 2

    def make(k, m=1):
        def inner(x, p=k):
            return x * k + p * m

        return inner

    one, two = Model(1), Model(2)
    sequence(
        apply, (rand(3), one.a), (rand(3), one.b), (rand(3), two.a), (rand(3), one.c), (rand(3), one.d), (rand(3), one.a)
    )
    sequence(apply, (rand(3), make(1)), (rand(3), make(2)), (rand(3), make(1.5)), (rand(3), make(1, 4)))
    sequence(apply, (rand(3), np.sin), (rand(3), np.cos), (rand(3), abs), (rand(3), np.sum), (rand(3), Sized(3)))
    sequence(
        apply,
        (rand(3), functools.partial(np.multiply, 2)),
        (rand(3), functools.partial(np.multiply, 3)),
        (rand(3), functools.partial(np.add, 3)),
    )
    sequence(apply, (rand(3), lambda x: x * 2), (rand(3), lambda x: x * 3), (rand(3), lambda x: x + 2))
