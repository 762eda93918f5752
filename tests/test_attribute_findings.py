"""What a reader of the capture of attributes has found, and what lay beside it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check, outcome


class Box:
    """A plain object."""

    def __init__(self, sign=1.0):
        self.x, self.v = np.arange(1.0, 6) * sign, np.ones(5)
        self.t, self.count = 0.0, 0

    def bump(self):
        self.x = self.x * 2
        self.count += 1
        return 1.0

    def three(self):
        self.count += 1
        return 3

    def advance(self):
        self.t += 1
        return self.t

    def fill(self, n, x):
        for k in range(n):
            self.log.append(x[0] * k)

    def leaves(self):
        if self.x.sum() > 0:
            self.t = 5.0
            return self.x
        return self.v


def early(b):
    y = b.x * 2
    if b.x.sum() > 0:
        b.t = 5.0
        return y
    return y + 1


def in_a_loop(b):
    for _ in range(20):
        b.x = b.x + 1
        if b.x[0] > 9:
            b.t = 5.0
            break
    return b.x


def goes_on(b):
    for _ in range(20):
        if b.x[0] > 9:
            b.t = 5.0
            b.x = b.x + 2
            continue
        b.x = b.x + 1
    return b.x


def returns(b):
    for _ in range(20):
        b.x = b.x + 1
        if b.x[0] > 9:
            b.t = 5.0
            return b.v
    return b.x


def called(b):
    return b.leaves() + 1


def called_in_a_loop(b):
    y = b.v
    for _ in range(12):
        y = y + b.leaves()
        b.x = b.x - 1
    return y


def adds_what_assigns(b):
    b.x += b.bump()
    return b.x


def counted_by_an_attribute(b):
    y = b.x
    for b.count in range(9):
        y = y + b.count
        b.count = 0
    return y


def counted_by_an_item(b):
    places, y = np.zeros(2, int), b.x
    for places[0] in range(9):
        y = y + places[0]
        places[0] = 0
    return y, places


def asks_first(b):
    if b.x.sum() > 0:
        had = hasattr(b, "energy")
        b.energy = 1.0
    else:
        had = hasattr(b, "energy")
        b.energy = 2.0
    return had


def reads_what_is_not_there(b):
    if b.x.sum() > 0:
        e = b.energy  # noqa: F841 -- what is tested
        b.energy = 1.0
    else:
        b.energy = 2.0
    return b.energy


def iterates_over_a_call(b):
    y = b.x
    for _ in range(b.three()):
        y = y + 1
    return y


def iterates_long_over_a_call(b, n):
    def steps():
        b.x[0] += 1
        return n

    y = b.v
    for _ in range(steps()):
        y = y * 0.5 + b.x
    return y


def fills_a_list_elsewhere(b):
    out = 0
    if b.x.sum() > 0:
        for _ in range(50):
            b.log = []
            b.fill(10, b.x)
            out = out + len(b.log)
        b.log = None
    else:
        b.log = None
    return out


def fills_from_within(b):
    log = []

    def fill():
        for k in range(10):
            log.append(b.x[0] * k)

    fill()
    return len(log), sum(log)


def fills_through_a_lambda(b):
    log = []
    add = lambda value: log.append(value)  # noqa: E731 -- what is tested
    for k in range(10):
        add(b.x * k)
    return len(log)


def new_ones_in_any_order(b):
    if b.x.sum() > 0:
        b.aa = 1.0
        b.bb = 2.0
    else:
        b.bb = 1.0
        b.aa = 2.0


def in_the_test(b):
    while b.advance() < 50.0:
        pass
    return b.x * b.t


def asks_others(b):
    b.x = b.x + 1
    return hasattr(np, "x"), hasattr(None, "x"), hasattr(b, "x"), b.x


class WithRule(Box):
    def __getattr__(self, name):
        if name == "norm":
            return 3.0
        raise AttributeError(name)


def new_beside_a_rule(b):
    if b.x.sum() > 0:
        b.x = b.x * 2
        b.norm = 1.0
    return b.x + 1


@pytest.mark.parametrize(
    "function",
    [
        early, in_a_loop, goes_on, returns, called, called_in_a_loop, adds_what_assigns, counted_by_an_attribute,
        counted_by_an_item, asks_first, reads_what_is_not_there, iterates_over_a_call, fills_a_list_elsewhere,
        fills_from_within, fills_through_a_lambda, new_ones_in_any_order, in_the_test, asks_others,
    ],
)  # fmt: skip
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_attributes_are_what_they_are_in_numpy(function, sign) -> None:
    decorated = check(function, Box(sign))
    for other in (-sign, sign):
        one, two = Box(other), Box(other)
        wanted, got = outcome(function, (one,), {}), outcome(decorated, (two,), {})
        assert list(vars(wanted.arguments[0])) == list(vars(got.arguments[0]))
        assert (wanted.arguments[0].t, wanted.arguments[0].count) == (got.arguments[0].t, got.arguments[0].count)


@pytest.mark.parametrize("n", [0, 2, 3, 50])
def test_what_is_iterated_over_is_evaluated_once(n) -> None:
    check(iterates_long_over_a_call, Box(), n)


def test_a_loop_whose_test_assigns_ends() -> None:
    decorated = check(in_the_test, Box(), whole=True)
    assert decorated.cache_info().traps == 0


def test_classes_with_a_rule_for_what_is_not_there() -> None:
    check(new_beside_a_rule, WithRule())


class Slots:
    __slots__ = ("x",)


Slots.alias = Slots.__dict__["x"]


def test_a_slot_under_a_second_name() -> None:
    def function(s):
        s.alias = s.x * 2
        return s.x + 1

    decorated = aj.autocluster(policy="eager")(function)
    for _ in range(3):
        s = Slots()
        s.x = np.ones(2)
        np.testing.assert_array_equal(decorated(s), [3.0, 3.0])


def test_in_place_operators_heed_classes_that_change() -> None:
    class Late(Box):
        pass

    def function(b, y):
        b.x += y

    seen = []
    decorated = aj.autocluster(policy="eager")(function)
    b = Late()
    decorated(b, np.ones(5))
    Late.__setattr__ = lambda self, name, value: (seen.append(name), object.__setattr__(self, name, value))[0]
    decorated(b, np.ones(5))
    assert seen == ["x"]
    np.testing.assert_array_equal(b.x, np.arange(1.0, 6) + 2)


def with_a_friend(b, friend):
    b.friend = friend
    b.x = b.x * 2
    return b.x


@pytest.mark.parametrize("kind", ["itself", "child", "stream"])
def test_the_check_runs_nothing_twice_where_it_cannot_compare(kind) -> None:
    decorated = aj.autocluster(policy="eager", check=True)(with_a_friend)
    b = Box()
    friend = b if kind == "itself" else Box() if kind == "child" else sys.stdout
    if kind == "child":
        friend.children = [b]
    for n in range(3):
        decorated(b, friend)
        np.testing.assert_array_equal(b.x, np.arange(1.0, 6) * 2 ** (n + 1))


def keeps_all_kinds(b):
    b.parts = {"x": b.x + 1, "n": [b.t, None]}
    b.pair = (b.x * 2, b"bytes")
    b.x = b.x + 1


def test_the_check_finds_nothing_where_nothing_differs(recwarn) -> None:
    decorated = aj.autocluster(policy="eager", check=True)(keeps_all_kinds)
    fast, plain = Box(), Box()
    for _ in range(3):
        decorated(fast)
        keeps_all_kinds(plain)
    assert decorated.cache_info().hits >= 2
    np.testing.assert_array_equal(fast.parts["x"], plain.parts["x"])
    assert not [warning for warning in recwarn if issubclass(warning.category, aj.AutojitWarning)]


def returns_what_it_keeps(b, x, n):
    b.x = np.zeros(5)
    for _ in range(n):
        if b.x.min() != 0:
            return b.x
        b.x = x * 0.5
    raise ValueError("not found")


def test_a_loop_that_returns_an_attribute_returns_its_object() -> None:
    fast, x = aj.autocluster(policy="eager")(returns_what_it_keeps), np.arange(1.0, 6)
    for _ in range(3):
        b = Box()
        assert fast(b, x, 1500) is b.x
    check(returns_what_it_keeps, Box(), x, 1500)
    check(returns_what_it_keeps, Box(), x * 0, 1500)
