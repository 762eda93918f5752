"""Functions that native statements call: who asks for their probes, and who needs not ask any more."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import autojit as aj
from autojit import config as flags
from autojit.compile.persistent import disk_cache
from autojit.launch import arm as arming
from autojit.launch import hook
from autojit.launch.arm import arm
from autojit.runtime import heat
from autojit.runtime import twins as module
from autojit.runtime.remembered import Remembered, Verdict, key_of
from autojit.runtime.twins import Known, Twins


def plain(x):
    return x + 1


def other(x):
    return x + 2


class Owner:
    """Stands for a controller."""

    def __init__(self, twin=lambda function: function) -> None:
        self.twin, self.known = twin, Known()

    def may_wait(self, function) -> bool:
        return False


class Napping:
    """Stands for the watch: naps end when the test says so."""

    def __init__(self, takes: bool) -> None:
        self.takes, self.napping = takes, []

    def rouses(self, one) -> bool:
        self.napping.append(one)
        return self.takes


@pytest.fixture
def watch(monkeypatch):
    made = Napping(True)
    monkeypatch.setattr(module, "WATCH", made)
    monkeypatch.setattr(module, "_SETTLED", 10)
    return made


def settled(twins, *functions):
    for _ in range(12):
        for function in functions:
            assert twins.of(function) is function


def test_asking_rests_when_nothing_new_comes(watch):
    owner = Owner()
    twins = Twins(owner, rests=True)
    settled(twins, plain)
    assert not twins.asks and watch.napping == [twins]
    settled(twins, plain)  # a statement that has begun
    assert watch.napping == [twins]
    twins.rouse()
    assert twins.asks
    for number in range(11):
        assert twins.of(plain if number < 9 else other) is (plain if number < 9 else other)
    assert twins.asks  # what is new is looked at for a while
    settled(twins, plain, other)
    assert not twins.asks


def test_naps_grow(watch):
    owner = Owner()
    twins = Twins(owner, rests=True)
    naps = []
    for _ in range(9):
        naps.append(twins._nap)
        settled(twins, plain)
        twins.rouse()
    assert naps == [1, 2, 4, 8, 16, 32, 64, 64, 64]


def test_where_nobody_can_wake_it_asking_goes_on(watch):
    watch.takes, owner = False, Owner()
    twins = Twins(owner, rests=True)
    settled(twins, plain)
    assert watch.napping == [twins] and twins.asks


def test_real_twins_are_always_asked_for(watch):
    twin = other
    owner = Owner(lambda function: twin)
    twins = Twins(owner, rests=True)
    for _ in range(30):
        assert twins.of(plain) is twin
    assert twins.asks and not watch.napping


def test_some_ask_for_ever(watch):
    owner = Owner()
    twins = Twins(owner)
    settled(twins, plain)
    assert twins.asks and not watch.napping


def shifted(x, k):
    return x * 0.5 + k


def doubled(x):
    return x * 2


def iterate(x, n, step):
    """Its loop stays Python's."""
    for k in range(n):
        print("", end="")
        x = step(x, k)
    return x


def test_functions_of_launched_programs_get_probes_in_place(watch, monkeypatch):
    monkeypatch.setattr(module, "_EARLY", 0.0)
    expected = iterate(np.ones(4), 30, shifted), iterate(np.ones(4), 30, lambda x, k: doubled(x))
    config = hook.measured(flags.current())
    arm(iterate, config)
    iterate(np.ones(4), 2, shifted)
    assert not iterate.__autojit_controller__.callees  # its module is not armed
    monkeypatch.setattr(arming, "FILES", {__file__})
    iterate.__autojit_controller__.twins._known.clear()
    plain_code = shifted.__code__
    for _ in range(3):
        np.testing.assert_array_equal(iterate(np.ones(4), 30, shifted), expected[0])
    controller = iterate.__autojit_controller__
    assert [each.original.__qualname__ for each in controller.callees] == ["shifted"]
    assert shifted.__code__ is not plain_code and shifted.__autojit_controller__ is controller.callees[0]
    assert controller.twin(shifted) is shifted  # as where two threads come at once
    assert shifted.__autojit_original__.value.__code__ is plain_code and len(controller.callees) == 1
    assert watch.napping == [controller.twins]
    assert not controller.twins.asks
    np.testing.assert_array_equal(iterate(np.ones(4), 30, shifted), expected[0])
    controller.twins.rouse()
    for _ in range(2):
        np.testing.assert_array_equal(iterate(np.ones(4), 30, lambda x, k: doubled(x)), expected[1])


def test_functions_of_the_users_stay_as_they_are_where_one_is_decorated(watch):
    code, fast = doubled.__code__, aj.autocluster(iterate, policy="measured")
    for _ in range(3):
        np.testing.assert_array_equal(fast(np.ones(4), 30, shifted), iterate(np.ones(4), 30, shifted))
    assert doubled.__code__ is code


def conditional(x, n, f):
    """Statements of all kinds that call what the caller gives."""
    k = 0
    while f(k) < n:
        try:
            y = f(x)
            x = y if f(k) % 2 else [f(k), y][1]
            assert f(k) >= 0, f("never")
            del y
            k += 1
        finally:
            print(f(""), end="")
        for value in f([1.0]):
            x = x + value
        if f(k) > 100:
            return None
    return f(x)


@pytest.mark.parametrize("asks", [True, False])
def test_statements_are_the_same_whether_they_ask_or_not(watch, asks):
    def same(value):
        calls.append(value)
        return value

    calls: list = []
    expected = conditional(np.ones(3), 5, same), calls
    calls = []
    fast = aj.autocluster(conditional, policy="measured")
    fast.__autojit_controller__.twins.asks = asks
    np.testing.assert_array_equal(fast(np.ones(3), 5, same), expected[0])
    assert len(calls) == len(expected[1])
    for got, want in zip(calls, expected[1], strict=True):
        np.testing.assert_array_equal(got, want)


def raises(x, f):
    y = f(
        x,
        f(x, 1),
    )
    print("", end="")
    return f(y, 1 / 0)


@pytest.mark.parametrize("asks", [True, False])
def test_tracebacks_name_the_same_places_whether_they_ask_or_not(watch, asks):
    def places(function):
        with pytest.raises(ZeroDivisionError) as caught:
            function(np.ones(3), lambda x, y: x)
        frames = traceback.extract_tb(caught.value.__traceback__)
        return [(one.lineno, one.end_lineno, one.colno, one.end_colno) for one in frames if one.name == "raises"]

    fast = aj.autocluster(raises, policy="measured")
    fast.__autojit_controller__.twins.asks = asks
    assert places(fast) == places(raises)


def callee(x):
    return x * 2


def calls(x, n):
    total = 0.0
    for _ in range(n):
        print(end="")
        total = total + callee(x).sum()
    return total


def test_functions_that_are_not_called_for_long_get_no_twin(monkeypatch):
    monkeypatch.setattr(heat, "PAYS_AFTER", 1e9)
    monkeypatch.setattr(module, "_EARLY", 1e9)
    fast, x = aj.autocluster(policy="measured")(calls), np.ones(3)
    assert fast(x, 5) == calls(x, 5)
    controller = fast.__autojit_controller__
    assert not controller.callees and [*controller.known.seen] == [callee.__code__]
    monkeypatch.setattr(module, "_EARLY", 0.0)
    assert fast(x, 5) == calls(x, 5)
    assert [each.original for each in controller.callees] == [callee]


def test_functions_that_earlier_processes_have_measured_get_a_twin_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_EARLY", 1e9)
    fast = aj.autocluster(policy="measured", disk_cache=True, cache_dir=str(tmp_path))(calls)
    controller = fast.__autojit_controller__
    remembered = Remembered(disk_cache(controller.config), key_of(callee, repr(controller.config)))
    remembered.put("some kind of call", Verdict(True, 1.0, 0.5, 0.1))
    remembered.save()
    fast(np.ones(3), 2)
    assert [each.original for each in controller.callees] == [callee]


def test_functions_of_libraries_wait_for_nothing(monkeypatch):
    monkeypatch.setattr(module, "_EARLY", 1e9)
    twins = Twins(Owner(), rests=True)
    assert twins.of(np.hstack) is np.hstack
