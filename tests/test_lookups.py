"""How the function of a native call is looked up: before the arguments, whatever that does."""

from __future__ import annotations

import ast
import types

import numpy as np
import pytest

import autojit as aj
from autojit.capture.known_lookups import is_plain_in
from autojit.capture.lookups import lookup_of
from autojit.capture.values import Items, Known


class Steps:
    """A look-up that changes what the arguments read."""

    def __init__(self):
        self.state = np.zeros(1000)
        self.step = 1.0
        self.log = []
        self.logs = {"a": self.log}

    @property
    def writer(self):
        self.state += 1
        return self.log.append

    @property
    def doubler(self):
        self.step *= 2
        return self.log.append

    def __getitem__(self, key):
        self.state[:] = key + 1
        return self.log

    def keep(self, x):
        self.log.append(x)


def by_property(s):
    s.writer(s.state * 2.0)


def by_number(s):
    s.doubler(s.state + s.step)


def by_item(s):
    s[1].append(s.state * 3.0)


def by_own_name(s):
    t = s
    t.writer(s.state * 2.0)


def by_a_call(s):
    [s, s.writer][0].keep(s.state * 2.0)


def plainly(s):
    s.log.append(s.state * 2.0 + 1.0)


def by_key(s, name="a"):
    s.logs[name].append(s.state * 2.0 + 1.0)


def by_method(s):
    s.keep(np.sin(s.state) * 2.0 + 1.0)


def of_a_new_list(s):
    found = []
    found.append(np.sin(s.state) + 1.0)
    s.log += found


@pytest.mark.parametrize("policy", ["eager", "measured"])
@pytest.mark.parametrize("function", [
    by_property, by_number, by_item, by_own_name, by_a_call, plainly, by_key, by_method, of_a_new_list,
])  # fmt: skip
def test_the_arguments_are_what_they_are_after_the_look_up(function, policy):
    def run(one):
        s = Steps()
        for _ in range(4):
            one(s)
        return [float(array[0]) for array in s.log]

    assert run(aj.autocluster(policy=policy)(function)) == run(function)


@pytest.mark.parametrize("function", [plainly, by_key, by_method])
def test_what_only_looks_leaves_the_arguments_to_a_plan(function):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(3):
        fast(Steps())
    assert fast.cache_info().hits >= 2


def test_a_class_that_runs_code_is_met_later():
    class Plain:
        def __init__(self):
            self.state, self.log = np.zeros(1000), []

    def sink(s):
        s.log.append(s.state * 2.0)

    class Watched(Plain):
        def __getattribute__(self, name):
            if name == "log":
                self.state[:] += 1
            return super().__getattribute__(name)

    fast = aj.autocluster(policy="eager")(sink)
    for kind in (Plain, Plain, Watched, Watched, Plain):
        ours, theirs = kind(), kind()
        fast(ours), sink(theirs)
        assert [each[0] for each in ours.log] == [each[0] for each in theirs.log]


def seen(text, **values):
    lookup = lookup_of(ast.parse(text, mode="eval").body)
    return lookup and lookup.checked(frozenset(values), {"np": np})(
        *(values[n] for n in lookup.given(frozenset(values)))
    )


class Slots:
    __slots__ = ("items",)

    @staticmethod
    def still(x):
        return x


class Lazy(types.ModuleType):
    def __getattr__(self, name):
        return print


def test_what_is_plain():
    slots = Slots()
    slots.items = [1]
    assert seen("print")
    assert seen("np.sin") and seen("np.linalg.inv") and not seen("np.nothing") and not seen("nothing.here")
    assert seen("x.append", x=[]) and not seen("x.nothing", x=[])
    assert seen("x[0].append", x=[[]]) and seen("x[-1].append", x=([],)) and not seen("x[1].append", x=[[]])
    assert seen("x[k].append", x={"a": []}, k="a") and not seen("x[k].append", x={"a": []}, k=object())
    assert seen("x.items.append", x=slots) and seen("x.still", x=slots) and seen("x.still", x=Slots)
    assert seen("x.sum", x=np.ones(3)) and not seen("x[0].sum", x=np.ones(3))
    assert not seen("x.real", x=1.0)
    assert not seen("x.anything", x=Lazy("lazy"))
    assert lookup_of(ast.parse("x[f()].append", mode="eval").body) is None
    assert lookup_of(ast.parse("x()", mode="eval").body) is None


def test_what_a_capture_knows_to_be_plain():
    append = lookup_of(ast.parse("x.append", mode="eval").body)
    assert is_plain_in(append, {"x": Items(list, [])}) and not is_plain_in(append, {"x": Items(tuple, [])})
    assert is_plain_in(append, {"x": Known([])}) and not is_plain_in(append, {"x": Known(Steps())})
    assert not is_plain_in(append, {})
