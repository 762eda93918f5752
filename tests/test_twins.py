"""Functions that native statements call: who asks for their probes, and who needs not ask any more."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from autojit import config as flags
from autojit.launch import arm as arming
from autojit.launch import hook
from autojit.launch.arm import arm
from autojit.runtime import twins as module
from autojit.runtime.twins import Twins


def plain(x):
    return x + 1


def other(x):
    return x + 2


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
    asks = []
    twins = Twins(lambda function: function, lambda ask: asks.append(ask) or True)
    settled(twins, plain)
    assert asks == [False] and watch.napping == [twins]
    twins.rouse()
    assert asks == [False, True]
    for number in range(11):
        assert twins.of(plain if number < 9 else other) is (plain if number < 9 else other)
    assert asks == [False, True]  # what is new is looked at for a while
    settled(twins, plain, other)
    assert asks[:3] == [False, True, False]
    twins.close()
    settled(twins, plain)
    twins.rouse()
    assert len(watch.napping) == asks.count(False)


def test_naps_grow(watch):
    twins = Twins(lambda function: function, lambda ask: True)
    naps = []
    for _ in range(9):
        naps.append(twins._nap)
        settled(twins, plain)
        twins.rouse()
    assert naps == [1, 2, 4, 8, 16, 32, 64, 64, 64]


def test_where_nobody_can_wake_it_asking_goes_on(watch):
    watch.takes, asks = False, []
    twins = Twins(lambda function: function, lambda ask: asks.append(ask) or True)
    settled(twins, plain)
    assert asks == [False, True]


def test_real_twins_are_always_asked_for(watch):
    asks, twin = [], other
    twins = Twins(lambda function: twin, lambda ask: asks.append(ask) or True)
    for _ in range(30):
        assert twins.of(plain) is twin
    assert not asks


@pytest.mark.parametrize("error", [RecursionError, MemoryError, SyntaxError])
def test_a_failure_to_rest_is_nobodys(watch, error):
    def fail(asks):
        raise error("no room")

    twins = Twins(lambda function: function, fail)
    settled(twins, plain)
    settled(twins, plain, other)
    assert not watch.napping


def test_an_exception_of_the_programs_while_code_is_exchanged_is_the_programs(watch):
    class Late(Exception):
        pass

    def fail(asks):
        raise Late

    with pytest.raises(Late):
        settled(Twins(lambda function: function, fail), plain)


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
    assert controller._twin(shifted) is shifted  # as where two threads come at once
    assert shifted.__autojit_original__.__code__ is plain_code and len(controller.callees) == 1
    assert watch.napping == [controller.twins]
    assert controller.twins not in iterate.__code__.co_consts
    controller.twins.rouse()
    assert controller.twins in iterate.__code__.co_consts
    for _ in range(2):
        np.testing.assert_array_equal(iterate(np.ones(4), 30, lambda x, k: doubled(x)), expected[1])


def test_functions_of_the_users_stay_as_they_are_where_one_is_decorated(watch):
    code, fast = doubled.__code__, aj.autocluster(iterate, policy="measured")
    for _ in range(3):
        np.testing.assert_array_equal(fast(np.ones(4), 30, shifted), iterate(np.ones(4), 30, shifted))
    assert doubled.__code__ is code
