"""What a plan assumes of a call it asks at every later one: found by reading the guards."""

import argparse
import enum
import math
import sys
import types
import weakref

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check, check_calls

X = np.arange(1.0, 5.0)


# ---- `min` and `max` give one of their arguments, of whatever type

BOUND = [
    lambda x, n, k: x * max(n > 3, k),
    lambda x, n, k: (x * 2, f"{max(n > 3, k)}"),
    lambda x, n, k: x * min(n > 3, k),
    lambda x, n, k: x * max(k, n > 3),
]


def counted(x, n, k):
    for _ in range(max(n > 3, k)):
        x = x + 1
    return x


def of_a_flag(x, flag, n):
    return x * min(flag, n)


@pytest.mark.parametrize("function", [*BOUND, counted])
def test_a_bool_that_is_a_number_later(function):
    check_calls(function, (X, 5, 0), (X, 5, 7), (X, 2, 3), (X, 5, 1))


def test_a_flag_that_is_a_number_later():
    check_calls(of_a_flag, (X, True, 5), (X, True, -3), (X, False, 4))


# ---- names that no text has


class Inner:
    scale = 2.0


class Owner:
    def __init__(self):
        self.w = Inner()


def named(x, o, name):
    return x * getattr(o, name)


@pytest.mark.parametrize("name", ["w.scale", "lambda", "learning-rate", "\N{LATIN SMALL LIGATURE FI}x", "µ", "a b"])
def test_attributes_whose_names_are_no_names(name):
    owner = Owner()
    setattr(owner, name, 5.0)
    owner.fix, owner.μ = 7.0, 9.0  # what Python reads for names of the same look
    check(named, X, owner, name)
    check(lambda x, args: x * getattr(args, "lambda"), X, argparse.Namespace(**{"lambda": 0.5}))


# ---- classes of classes


class Registry(type):
    def __len__(cls):
        cls.asked += 1
        return len(cls.items)

    def __contains__(cls, key):
        return key in cls.items

    def __iter__(cls):
        return iter(sorted(cls.items))

    def __add__(cls, other):
        return cls.extra + other


class Ops(metaclass=Registry):
    items, extra, asked = {"a"}, 1.0, 0


OF_CLASSES = [
    lambda x, k: x * len(Ops),
    lambda x, k: x + (k in Ops),
    lambda x, k: x * (2 if Ops else 3),
    lambda x, k: x + len([each for each in Ops]),
    lambda x, k: x * (Ops + 1),
]


@pytest.mark.parametrize("function", OF_CLASSES)
def test_classes_that_compute(function):
    fast = aj.autocluster(policy="eager")(function)
    for items, extra in (({"a"}, 1.0), ({"a", "b"}, 2.0), (set(), 3.0)):
        Ops.items, Ops.extra = items, extra
        np.testing.assert_array_equal(fast(X, "b"), function(X, "b"))
    Ops.asked = 0
    fast(X, "b")
    by_fast, Ops.asked = Ops.asked, 0
    function(X, "b")
    assert by_fast == Ops.asked


# ---- heirs of `str` and `int` among keys and items


class Name(str):
    __slots__ = ()


class Letter(str, enum.Enum):  # noqa: UP042 -- not the same as a StrEnum
    A = "a"


class Number(int):
    pass


KEYED = [
    lambda x, d: (x * 2, list(d), [type(key) for key in d]),
    lambda x, d: (x * 2, f"{list(d)}"),
    lambda x, d: (x * 2, {key: value * 2 for key, value in d.items()}),
]


@pytest.mark.parametrize("function", KEYED)
@pytest.mark.parametrize("later", [np.str_("a"), Letter.A, Name("a")])
def test_keys_that_only_equal_texts(function, later):
    for first, second in (({"a": 1.0}, {later: 1.0}), ({later: 1.0}, {"a": 1.0})):
        fast = aj.autocluster(policy="eager")(function)
        for d in (first, second):
            got, expected = fast(X, d), function(X, d)
            assert repr(got) == repr(expected)
            assert [*map(type, _keys(got[1]))] == [*map(type, _keys(expected[1]))]


def _keys(value):
    return value if isinstance(value, list | dict) else []


@pytest.mark.parametrize("later", [Number(1), True, 1.0, np.int64(1)])
def test_keys_that_only_equal_ints(later):
    def function(x, d):
        return x * 2, [type(key) for key in d], f"{list(d)}"

    fast = aj.autocluster(policy="eager")(function)
    for d in ({1: 2.0}, {later: 2.0}, {1: 3.0}):
        assert repr(fast(X, d)) == repr(function(X, d))


@pytest.mark.parametrize("later", [np.str_("a"), Name("a")])
def test_items_that_only_equal_texts(later):
    def function(x, s):
        return x * 2, [type(item) for item in sorted(s)], sorted(s)

    fast = aj.autocluster(policy="eager")(function)
    for s in ({"a"}, {later}, {"a"}, {"a", "b"}):
        assert repr(fast(X, s)) == repr(function(X, s))


# ---- attributes that `format` reads


class Config:
    scale = 2


class Mode(enum.Enum):
    A = 1


def test_format_of_a_class():
    def of_class(x):
        return x * 2, "{0.scale}".format(Config), "{c.scale:03d}".format(c=Config)  # noqa: UP030, UP032 -- the method is meant

    fast = aj.autocluster(policy="eager")(of_class)
    for scale in (2, 3):
        Config.scale = scale
        assert repr(fast(X)) == repr(of_class(X))


def test_format_of_a_member():
    def of_member(x):
        return x * 2, "{0.weight}".format(Mode.A)  # noqa: UP030, UP032 -- as above

    fast = aj.autocluster(policy="eager")(of_member)
    for weight in (2, 3):
        Mode.A.weight = weight
        assert repr(fast(X)) == repr(of_member(X))


# ---- bound methods of builtins


def test_methods_of_other_builtins():
    def function(x, m):
        return x * m(5)

    check_calls(function, (X, types.MethodType(max, 3)), (X, types.MethodType(min, 3)), (X, types.MethodType(max, 7)))


# ---- what gave internal warnings, or ran code of the user's


def test_hasattr_of_a_generator():
    def function(x):
        rng = np.random.default_rng(0)
        n = rng.integers(5) if hasattr(rng, "integers") else 0
        return x * rng.normal(size=x.size) + n

    check(function, X)


HUGE = [
    lambda x, n: x * (n < math.factorial(2000)),
    lambda x, n: x * (n in (1, 2)),
    lambda x, n: x[: n] * 2,
    lambda x, n: x * (n % 7),
]


@pytest.mark.parametrize("function", HUGE)
def test_ints_of_many_digits(function):
    check_calls(function, (X, 3), (X, 10**5000), (X, -(10**5000)), (X, 1))
    s = slice(None, 10**5000)
    check(lambda x, s: x[s] * 2, X, s)


def test_objects_are_called_without_their_hash():
    class Unhashable(Exception):
        pass

    class Model:
        def __call__(self, x):
            return x * 2

        def __hash__(self):
            raise Unhashable

    check(lambda x, m: m(x) + 1, X, Model())


def test_a_module_that_makes_its_names_is_asked_once(monkeypatch):
    asked = []
    module = types.ModuleType("lazy_for_autojit")

    def make(name):
        asked.append(name)
        return 5.0

    module.__getattr__ = make
    monkeypatch.setitem(sys.modules, "lazy_for_autojit", module)

    def function(x):
        from lazy_for_autojit import value

        return x * value

    function(X)
    expected = asked.copy()
    asked.clear()
    np.testing.assert_array_equal(aj.autocluster(policy="eager")(function)(X), X * 5)
    assert asked == expected


def test_proxies():
    owner = Inner()
    decorated = check(lambda x, p: x * p.scale, X, weakref.proxy(owner))
    decorated(X, weakref.proxy(owner))
    before = decorated.cache_info().captures
    for _ in range(5):
        decorated(X, weakref.proxy(owner))
    assert decorated.cache_info().captures == before


def test_a_class_that_stands_for_a_dtype():
    class Precision:
        dtype = np.dtype("f4")

    def function(x):
        return x.astype(Precision) * 2

    fast = aj.autocluster(policy="eager")(function)
    for dtype in ("f4", "f8"):
        Precision.dtype = np.dtype(dtype)
        got, expected = (_of(each) for each in (fast, function))
        assert got == expected


def _of(function):
    try:
        return function(X).dtype
    except Exception as error:
        return type(error)


# ---- what the guards must not cost


def of_keys(x, p):
    return x * p["a"] + p["b"] * len(p) + (1.0 if "c" in p else 2.0)


def test_a_dict_is_asked_once():
    fast = aj.autocluster(policy="eager")(of_keys)
    fast(X, {"a": 1.0, "b": 2.0})
    (plan,) = [plan for probe in fast.__autojit_controller__.probes.values() for plan in probe.plans]
    assert plan.source.count("tuple(") == 1 and plan.source.count("map(type") == 1


def test_formats_that_look_into_nothing():
    check(lambda x: (x * 2, "{} {:>8}".format(Mode.A, "a"), "{}".format(Config)), X, whole=True)  # noqa: UP032 -- the method is meant


def test_classes_that_compute_are_classes():
    class Kept(metaclass=Registry):
        scale = 3.0
        items, asked = (), 0

    check(lambda x, o: x * (Kept.scale if isinstance(o, Owner) else 1.0), X, Owner(), whole=True)
