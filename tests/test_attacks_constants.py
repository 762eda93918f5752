"""Constants, texts and sets: what is made in a region is made once, and what Python shows of it is seen."""

from __future__ import annotations

import collections
from typing import NamedTuple

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check

_factor = [1.0]


def eager(function):
    return aj.autocluster(policy="eager")(function)


def same(function, *args, calls=3):
    """Compare the texts of the results of several calls."""
    compiled = eager(function)
    for _ in range(calls):
        expected = repr(function(np.ones(3), *args))
        assert repr(compiled(np.ones(3), *args)) == expected


# ---- one object for each name


def _split(x, change):
    one = "a b".split()
    two = one
    y = x * 2
    change(one)
    return y * len(two), one is two


def _lines(x, change):
    one = "a\nb".splitlines()
    two = [one, one]
    y = x * 2
    change(one)
    return y * len(two[1]), one is two[0], two


def _ordered(x, change):
    one = sorted([2, 1])
    two = {"k": one}
    y = x * 2
    change(one)
    return y, two, two["k"] is one


def _ordered_items(x, change):
    inner = [3]
    one = sorted([inner, [1]])
    y = x * 2
    change(inner)
    return y, one, one[1] is inner


def _joined(x, change):
    inner = [3]
    one = {"a": inner} | {"b": 1}
    y = x * 2
    change(inner)
    return y, one, one["a"] is inner


def _sliced(x, change):
    one = "a b".split()
    two, three, four = one[:], one + [], one * 1
    y = x * 2
    change(one)
    return y, two, three, four, one


def _listed(x, change):
    one = "a b".split()
    two, three = list(one), tuple(one)
    y = x * 2
    change(one)
    return y, two, three, one


@pytest.mark.parametrize(
    "function", [_split, _lines, _ordered, _ordered_items, _joined, _sliced, _listed], ids=lambda f: f.__name__
)
def test_a_list_that_is_made_in_a_region_is_one_object(function) -> None:
    same(function, lambda one: one.append("c"))


def test_a_set_that_is_made_in_a_region_is_one_object() -> None:
    def changed(x):
        s = set()
        t = {"k": s}
        y = x + 1
        s.add(1)
        return y, t, t["k"] is s

    def twice(x):
        s = {1, 2}
        return x * 2, s, [s]

    def frozen(x):
        s = frozenset([1, 2])
        return x * 2, s, (s, s)

    same(changed)
    same(frozen)
    compiled = eager(twice)
    for _ in range(3):
        _, one, two = compiled(np.ones(3))
        assert one is two[0]
        one.add(5)


def test_assignments_in_place_are_seen_by_other_names() -> None:
    def union(x):
        one = {"a": 1}
        two = one
        one |= {"b": 2}
        return x * len(two), two is one

    def sets(x):
        one = {1}
        two = one
        one |= {2}
        return x * len(two), two is one

    def lists(x):
        one = "a b".split()
        two = one
        one += ["c"]
        two *= 2
        return x * len(one), one

    def keys(x):
        one = [1]
        one += {"a": 5}
        return x, one

    for function in (union, sets, lists, keys):
        same(function)


def test_tuples_that_python_does_not_copy() -> None:
    def copies(x, t):
        return x * 2, tuple(t) is t, t[:] is t, t * 1 is t, (t + ()) is t, ((), *t) is t

    def made(x):
        t = (1, [2])
        return x * 2, tuple(t) is t, t[:] is t, t * 1 is t, (t + ()) is t, (() + t) is t

    same(copies, (1, 2))
    same(made)


class _Scale:
    values = "a b".split()


@pytest.mark.parametrize(
    ("function", "wanted"),
    [(lambda x: (x * 2, _Scale.values), _Scale.values), (lambda x: (x * 2, np.__all__), np.__all__)],
    ids=["of a class", "of NumPy"],
)
def test_lists_of_classes_and_modules_are_themselves(function, wanted) -> None:
    compiled = eager(function)
    for _ in range(3):
        assert compiled(np.ones(3))[1] is wanted


# ---- texts


class Pair(NamedTuple):
    """A tuple with a text of its own."""

    a: int
    b: int

    def __str__(self):
        return f"pair {_factor[0]}"


class Own(dict):
    """A dict with a text of its own."""

    def __repr__(self):
        return "own"


@pytest.mark.parametrize(
    "value",
    [
        collections.defaultdict(int, a=1), collections.OrderedDict(a=1), collections.Counter("ab"), Pair(1, 2),
        Own(a=1), collections.deque([1]),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_texts_of_containers_of_other_types(value) -> None:
    def shown(x, d):
        return x * 2, f"{d}", f"{d!r}", str(d), repr(d), "%s" % (d,), "{}".format(d), f"{[d]}"  # noqa: UP031, UP032 -- `%` and `format` are what is tested

    def equal(x, d):
        return x * 2, d == {"a": 1}, d == (1, 2)

    same(shown, value)
    same(equal, value)


def test_a_union_keeps_the_type_of_its_dicts() -> None:
    same(lambda x, d: (x * 2, d | {"b": 2}, {"b": 2} | d), collections.defaultdict(int, a=1))


# ---- sets


def _colliding():
    """Equal sets with other orders."""
    return {0, 8}, {8, 0}


@pytest.mark.parametrize(
    "read",
    [
        lambda x, s: (x * 2, f"{s}"),
        lambda x, s: (x * 2, str(s), repr(s), "%s" % s),  # noqa: UP031 -- `%` is what is tested
        lambda x, s: (x * 2, list(s)),
        lambda x, s: (x * 2, tuple(s)),
        lambda x, s: (x * 2, frozenset(s)),
        lambda x, s: (x * 2, sorted(s, key=lambda v: 0)),
        lambda x, s: (x * 2, max(s, key=lambda v: 0)),
        lambda x, s: (x * 2, bytes(s)),
        lambda x, s: (x * 2, [v for v in s]),
        lambda x, s: (x * 2, "{}".format(s)),  # noqa: UP032 -- `format` is what is tested
        lambda x, s: (x * 2, s | {16}),
        lambda x, s: (x * 2, [s, s]),
        lambda x, s: (x * 2, f"{[s]}"),
    ],
    ids=range(13),
)
def test_the_order_of_a_set_is_seen(read) -> None:
    compiled = eager(read)
    for _ in range(2):
        for given in _colliding():
            assert repr(compiled(np.ones(2), given)[1:]) == repr(read(np.ones(2), given)[1:])


def test_the_order_of_numbers_that_are_added() -> None:
    import math

    def added(x, s):
        return x * 2, sum(s), math.prod(s)

    compiled = eager(added)
    for given in ({1e16, 1.0, -1e16}, {-1e16, 1e16, 1.0}):
        assert compiled(np.ones(2), given)[1:] == added(np.ones(2), given)[1:]


def test_what_does_not_show_the_order_of_a_set_is_captured() -> None:
    def asked(x, s):
        y = x * 2 if "a" in s else x
        for name in sorted(s):
            y = y + len(name)
        return y * len(s) * len(s | {"q"}) * len(s & {"a"}), s == {"a", "b"}, s < {"a"}, bool(s)

    check(asked, np.ones(3), {"a", "b"}, whole=True)


# ---- NaN


def test_the_identity_of_nan_decides() -> None:
    nan, other = float("nan"), float("nan")

    functions = [
        lambda x, a, b: (x * 2, a in (b,)),
        lambda x, a, b: (x * 2, a in [b]),
        lambda x, a, b: (x * 2, [a] == [b]),
        lambda x, a, b: (x * 2, (a, 1) != (b, 1)),
        lambda x, a, b: (x * 2, sorted([(a, 2), (b, 1)])[0][1]),
        lambda x, a, b: (x * 2, len({a: 1, b: 2})),
        lambda x, a, b: (x * 2, len({a, b})),
        lambda x, a, b: (x * 2, a in {b: 1}),
        lambda x, a, b: (x * 2, {a: 1}.get(b, 5)),
    ]

    for function in functions:
        compiled = eager(function)
        for a, b in ((nan, nan), (nan, other), (nan, nan), (other, nan)):
            assert repr(compiled(np.ones(2), a, b)[1:]) == repr(function(np.ones(2), a, b)[1:])


# ---- functions that sort


def test_keys_of_sorted_are_asked_at_every_call() -> None:
    def function(x, names):
        return x * 2, sorted(names, key=_weight), sorted(names, key=lambda n: -len(n), reverse=True)

    compiled = eager(function)
    try:
        for value in (1.0, -1.0, 1.0):
            _factor[0] = value
            names = ["bb", "a", "cc"]
            assert compiled(np.ones(2), names)[1:] == function(np.ones(2), names)[1:]
    finally:
        _factor[0] = 1.0


def _weight(name):
    return len(name) * _factor[0]


def test_the_larger_list_is_one_of_the_lists() -> None:
    def function(x, a, b):
        c = max(a, b)
        return x * 2, c is a, c is b

    same(function, [1, 2], [1, 0])
    same(function, (1, 2), (1, 3))


def test_there_is_one_empty_tuple() -> None:
    def function(x, t):
        e = ()
        return x * 2, e is tuple([]), e * 3 is e, t is e

    same(function, ())
