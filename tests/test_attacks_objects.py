"""Objects from outside: attributes, classes, records, functions; what a plan must notice when they change."""

from __future__ import annotations

import collections
import copy
import dataclasses
import decimal
import enum
import fractions
import functools
import inspect
import pickle
import threading
import types
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

import autojit as aj
from tests.attacks import rand, sequence
from tests.helpers import check


def eager(function):
    return aj.autocluster(policy="eager")(function)


class Mode(enum.Enum):
    """Members of one type."""

    DOUBLE = 1
    TRIPLE = 2


class Flag(enum.IntEnum):
    """Members that are ints."""

    OFF = 0
    ON = 1
    MORE = 2


class Options(enum.Flag):
    """Members that combine."""

    A = 1
    B = 2


def test_enums() -> None:
    def equal(x, mode):
        if mode == Mode.DOUBLE:
            return x * 2
        return x * 3

    def identical(x, mode):
        return x * 2 if mode is Mode.DOUBLE else x * 3

    def value(x, mode):
        return x * mode.value

    def name(x, mode):
        return {"DOUBLE": x * 2, "TRIPLE": x * 3}[mode.name]

    def member(x, mode):
        return x * {Mode.DOUBLE: 2, Mode.TRIPLE: 3}[mode]

    def contained(x, mode):
        return x * 2 if mode in (Mode.DOUBLE,) else x * 3

    def integers(x, flag):
        return x * flag if flag else x + 1

    def bits(x, options):
        return x * 2 if Options.A in options else x * 3

    for function in (equal, identical, value, name, member, contained):
        sequence(function, (rand(3), Mode.DOUBLE), (rand(3), Mode.TRIPLE), (rand(3), Mode.DOUBLE))
        sequence(function, (rand(3), Mode.TRIPLE), (rand(3), Mode.DOUBLE))
    sequence(integers, (rand(3), Flag.OFF), (rand(3), Flag.ON), (rand(3), Flag.MORE), (rand(3), 2), (rand(3), True))
    sequence(bits, (rand(3), Options.A), (rand(3), Options.B), (rand(3), Options.A | Options.B))


def test_other_values() -> None:
    def compare(x, value, other):
        return x * 2 if value == other else x * 3

    def truth(x, value):
        return x * 2 if value else x * 3

    def length(x, value):
        return x * len(value)

    def contains(x, value):
        return x * 2 if 1 in value else x * 3

    def multiply(x, value):
        return x * float(value)

    sequence(compare, (rand(3), decimal.Decimal(1), 1), (rand(3), decimal.Decimal(2), 1), (rand(3), fractions.Fraction(1), 1))
    sequence(compare, (rand(3), (1, 2), (1, 2)), (rand(3), (1, 3), (1, 2)), (rand(3), [1, 2], [1, 2]))
    sequence(compare, (rand(3), {1, 2}, {1, 2}), (rand(3), {1, 3}, {1, 2}))
    sequence(compare, (rand(3), {"a": 1}, {"a": 1}), (rand(3), {"a": 2}, {"a": 1}), (rand(3), {"a": 2, "b": 1}, {"a": 2}))
    sequence(compare, (rand(3), "a", "a"), (rand(3), "a", "b"), (rand(3), b"a", "a"), (rand(3), None, None))
    sequence(truth, (rand(3), set()), (rand(3), {1}), (rand(3), decimal.Decimal(0)), (rand(3), decimal.Decimal(1)))
    sequence(truth, (rand(3), {}), (rand(3), {"a": 1}), (rand(3), []), (rand(3), [0]), (rand(3), 0.0), (rand(3), ""))
    sequence(truth, (rand(3), collections.deque()), (rand(3), collections.deque([1])))
    sequence(length, (rand(3), {1}), (rand(3), {1, 2}), (rand(3), {1: 2}), (rand(3), {1: 2, 3: 4}), (rand(3), "ab"))
    sequence(length, (rand(3), collections.deque([1])), (rand(3), collections.deque([1, 2])), (rand(3), range(4)))
    sequence(contains, (rand(3), {1}), (rand(3), {2}), (rand(3), [1]), (rand(3), [2]), (rand(3), {2: 1}), (rand(3), range(9)))
    sequence(contains, (rand(3), frozenset([1])), (rand(3), frozenset([2])))
    sequence(multiply, (rand(3), decimal.Decimal(2)), (rand(3), decimal.Decimal(3)), (rand(3), fractions.Fraction(1, 2)))


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


class MyList(list):
    """A list that iterates backwards."""

    def __iter__(self):
        return reversed(list(super().__iter__()))

    def __getitem__(self, key):
        return super().__getitem__(key) * 2


class MyDict(dict):
    """A dict with its own look-up."""

    def __getitem__(self, key):
        return super().__getitem__(key) * 2

    def __missing__(self, key):
        return 7.0

    def values(self):
        return [5.0]


class OnlyLonger(list):
    """A list by another name."""


def test_containers_of_other_types() -> None:
    functions = [
        lambda x, c: [x * v for v in c],
        lambda x, c: x * c[0],
        lambda x, c: x * len(c),
        lambda x, c: sum([x * v for v in c]),
        lambda x, c: x + np.array(c).sum(),
        lambda x, c: x[: len(c)],
        lambda x, c: np.sum(c) + x,
        lambda x, c: x if c else -x,
        lambda x, c: list(c) + [x * 2],
        lambda x, c: x * max(c),
    ]
    for function in functions:
        sequence(function, (rand(3), MyList([1.0, 2.0])), (rand(3), MyList([1.0, 3.0, 5.0])), (rand(3), MyList([2.0])))
        sequence(function, (rand(3), OnlyLonger([1.0])), (rand(3), OnlyLonger([1.0, 3.0])), (rand(3), OnlyLonger([4.0])))
        sequence(function, (rand(3), collections.deque([1.0])), (rand(3), collections.deque([3.0, 4.0])))
        sequence(function, (rand(3), (1.0, 2.0)), (rand(3), [1.0, 2.0]), (rand(3), [1.0]), (rand(3), [1, 2.0]))


def test_dicts_of_other_types() -> None:
    functions = [
        lambda x, d: x * d["a"],
        lambda x, d: x * d["b"],
        lambda x, d: [x * d[k] for k in d],
        lambda x, d: [x * v for v in d.values()],
        lambda x, d: {k: x * v for k, v in d.items()},
        lambda x, d: x * d.get("b", 3.0),
        lambda x, d: x * len(d),
        lambda x, d: x * 2 if "b" in d else x,
        lambda x, d: {**d, "x": x * 2},
        lambda x, d: list(d) + [x * 2],
        lambda x, d: helper(x, **d) if "k" in d else x * 3,
    ]
    dicts = [
        {"a": 1.0},
        {"a": 1.0, "b": 2.0},
        {"b": 2.0, "a": 1.0},
        MyDict(a=2.0),
        MyDict(a=2.0, b=5.0),
        collections.OrderedDict(a=1.0, b=3.0),
        collections.OrderedDict(b=3.0, a=1.0),
        collections.defaultdict(lambda: 9.0, a=4.0),
        collections.Counter("aab"),
        {"k": 3.0},
        {1: 2.0, "a": 3.0},
        {(1, 2): 2.0, "a": 3.0},
    ]
    for function in functions:
        try:
            sequence(function, *[(rand(3), d) for d in dicts[:7]], rounds=1)
            sequence(function, *[(rand(3), d) for d in dicts[7:]], rounds=1)
        except AssertionError as error:
            line = inspect.getsource(function).strip()
            raise AssertionError(f"{line}: {error}") from error


def test_keys_of_made_dicts() -> None:
    def f(x, k):
        return {1: x * 2, "b": x, (1, 2): 3, None: 4, k: x + 1, 2.5: x, np.int64(7): 1, Mode.DOUBLE: x, True: 5}

    check(f, rand(3), "key")
    sequence(f, (rand(3), "key"), (rand(3), "other"), (rand(3), 5), (rand(3), 6))


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


def test_scalar_attributes() -> None:
    def f(x, s):
        return x * s.real + s.imag, x * s.numerator if isinstance(s, int) else x

    def g(x, s):
        return x * s.T, s.item() * x, s.dtype.name

    def conjugate(x, s):
        return x * s.conjugate(), x * s.bit_length() if isinstance(s, int) else x

    sequence(f, (rand(3), 2), (rand(3), 3), (rand(3), 2.5), (rand(3), 1 + 2j), (rand(3), 2 + 5j))
    sequence(g, (rand(3), np.float64(2)), (rand(3), np.float64(3)), (rand(3), np.int8(3)))
    sequence(conjugate, (rand(3), 2), (rand(3), 3), (rand(3), 7), (rand(3), 1j), (rand(3), 2j))


def test_wrapped_decorated_functions() -> None:
    def twice(function):
        @functools.wraps(function)
        def inner(*args):
            return 2 * function(*args)

        return inner

    @twice
    @aj.autocluster(policy="eager")
    def g(x):
        return x + 1

    def f(x):
        return g(x) * 10

    x = rand(3)
    np.testing.assert_allclose(g(x), 2 * (x + 1))
    np.testing.assert_allclose(eager(f)(x), 20 * (x + 1))
    np.testing.assert_allclose(eager(g)(x), 2 * (x + 1))
    np.testing.assert_allclose(aj.jit_compile(lambda v: g(v) + 0)(x), 2 * (x + 1))


def test_decorated_twice() -> None:
    def f(x, k=2):
        return x * k

    once = eager(f)
    twice = eager(once)
    x = rand(3)
    once.__defaults__ = (5,)
    np.testing.assert_allclose(once(x), x * 5)
    np.testing.assert_allclose(twice(x), x * 2)
    np.testing.assert_allclose(aj.jit_compile(eager(aj.jit_compile(f)))(x, 3), x * 3)


def module_level(x, k=2, *args, flag=False, **rest):
    """Text."""
    return x * k + len(args) + len(rest) + flag


module_level_decorated = aj.autocluster(policy="eager")(module_level)
module_level_decorated.__qualname__ = module_level_decorated.__name__ = "module_level_decorated"


def test_what_others_see_of_a_decorated_function() -> None:
    decorated = eager(module_level)
    decorated(rand(3))
    assert inspect.signature(decorated) == inspect.signature(module_level)
    assert inspect.getsource(decorated) == inspect.getsource(module_level)
    assert inspect.isfunction(decorated) and decorated.__doc__ == "Text." and decorated.__name__ == "module_level"
    assert decorated.__module__ == module_level.__module__
    assert pickle.loads(pickle.dumps(module_level_decorated)) is module_level_decorated
    for again in (copy.copy(decorated), copy.deepcopy(decorated)):
        np.testing.assert_allclose(again(rand(3), 3, 4, flag=True, z=1), module_level(rand(3), 3, 4, flag=True, z=1))
    assert decorated == decorated and hash(decorated) == hash(decorated)
    clone = types.FunctionType(
        decorated.__code__, decorated.__globals__, "clone", decorated.__defaults__, decorated.__closure__
    )
    clone.__kwdefaults__ = decorated.__kwdefaults__
    np.testing.assert_allclose(clone(rand(3), 5), rand(3) * 5)


class Methods:
    """Decorated methods of all kinds."""

    k = 3.0

    def __init__(self):
        self.w = rand(3)

    @aj.autocluster(policy="eager")
    def plain(self, x, n=2):
        self.w += 1
        return x * self.k + self.w * n

    @staticmethod
    @aj.autocluster(policy="eager")
    def inner_static(x):
        return x * 2

    @aj.autocluster(policy="eager")
    @staticmethod
    def outer_static(x):
        return x * 3

    @classmethod
    @aj.autocluster(policy="eager")
    def inner_class(cls, x):
        return x * cls.k

    @aj.autocluster(policy="eager")
    @classmethod
    def outer_class(cls, x):
        return x * cls.k + 1

    @property
    @aj.autocluster(policy="eager")
    def size(self):
        return np.sum(self.w) * 2

    @aj.autocluster(policy="eager")
    def __call__(self, x):
        return self.plain(x) + self.outer_static(x)

    @aj.autocluster(policy="eager")
    def private(self, x):
        __y = x * 2
        self.__w = __y
        return self.__w + __y


class MoreMethods(Methods):
    """Inherits decorated methods."""

    k = 5.0

    @aj.autocluster(policy="eager")
    def plain(self, x, n=3):
        return super().plain(x, n) * 2


def test_methods() -> None:
    x = rand(3)
    for kind in (Methods, MoreMethods):
        for _ in range(2):
            m = kind()
            k = kind.k
            factor = 1 if kind is Methods else 2
            np.testing.assert_allclose(m.plain(x, 2), factor * (x * k + (rand(3) + 1) * 2))
            np.testing.assert_allclose(m.inner_static(x), x * 2)
            np.testing.assert_allclose(kind.outer_static(x), x * 3)
            np.testing.assert_allclose(m.inner_class(x), x * k)
            np.testing.assert_allclose(kind.outer_class(x), x * k + 1)
            np.testing.assert_allclose(m.size, np.sum(rand(3) + 1) * 2)
            np.testing.assert_allclose(m.private(x), x * 4)
            m = kind()
            got = m(x)
            n = 2 if kind is Methods else 3
            np.testing.assert_allclose(got, factor * (x * k + (rand(3) + 1) * n) + x * 3)


def test_functions_in_loops_and_on_one_line() -> None:
    made = []
    for k in range(4):

        @aj.autocluster(policy="eager")
        def f(x, k=k):
            return x * k + LOOP["k"]

        made.append(f)
    x = rand(3)
    for k, f in enumerate(made):
        np.testing.assert_allclose(f(x), x * k + 1)
    a, b = eager(lambda x: x + 1), eager(lambda x: x + 2)
    c, d = (eager(g) for g in (lambda x, k=3: x * k, lambda x, k=4: x * k))
    for g, want in ((a, x + 1), (b, x + 2), (c, x * 3), (d, x * 4)):
        np.testing.assert_allclose(g(x), want)


LOOP = {"k": 1}


def test_functions_without_source() -> None:
    space: dict = {"np": np}
    exec("def f(x, k=2):\n    y = x * k\n    return np.sum(y), y\n", space)
    decorated = eager(space["f"])
    for got, want in zip(decorated(rand(3)), space["f"](rand(3)), strict=True):
        np.testing.assert_allclose(got, want)

    def caller(x):
        return space["f"](x)[1] + 1

    check(caller, rand(3))
    text = "def f(x):\n    return x * 2\n"
    exec(compile(text, __file__, "exec"), space)
    np.testing.assert_allclose(eager(space["f"])(rand(3)), rand(3) * 2)


def test_threads() -> None:
    def f(x, n):
        y = np.sin(x) * n
        z = np.zeros_like(x)
        z[1:] = y[:-1]
        for k in range(3):
            z = z + y * k
        return z, y.sum()

    decorated = eager(f)
    sizes = [3, 50, 1000, 20_000, 100_000]
    inputs = [rand(size) for size in sizes]
    wanted = [f(x, 2.0) for x in inputs]
    failures: list = []

    def work(seed):
        order = np.random.default_rng(seed).integers(0, len(sizes), 40)
        try:
            kept = []
            for number in order:
                kept.append((number, decorated(inputs[number], 2.0)))
            for number, got in kept:
                np.testing.assert_allclose(got[0], wanted[number][0], rtol=1e-12, atol=1e-12)
                np.testing.assert_allclose(got[1], wanted[number][1])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_threads_with_splits_and_effects() -> None:
    def f(x, out):
        y = np.cos(x) * 2
        out.append(threading.get_ident() == 0)
        z = y + x
        z[0] = y.sum()
        out.append(float(z.sum()))
        return z * y

    decorated = eager(f)
    wanted_log: list = []
    wanted = f(rand(5000), wanted_log)
    failures: list = []

    def work():
        for _ in range(20):
            log: list = []
            got = decorated(rand(5000), log)
            try:
                np.testing.assert_allclose(got, wanted, rtol=1e-12)
                np.testing.assert_allclose(log, wanted_log, rtol=1e-12)
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
