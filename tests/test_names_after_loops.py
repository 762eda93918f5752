"""Names that the function itself never reads after a loop, and others do: what a `break` leaves in them is kept."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check
from tests.notes import note


def a_lambda(n):
    w = 0
    see = lambda: w + 1  # noqa: E731 -- what is tried
    while True:
        if w >= n:
            break
        w += 1
    return see()


def a_function_in_a_list(n):
    w = np.zeros(3)

    def see():
        return w + 1

    seen = [see]
    for i in range(7):
        if i >= n:
            break
        w = w * 2 + i
    return seen[0]()


def a_function_in_a_function(n):
    w = 0

    def make():
        return lambda: w + 1

    for _ in range(7):
        if w >= n:
            break
        w += 1
    return make()()


def a_default(n):
    w = 0

    def use(see=lambda: w + 1):
        return see()

    while True:
        if w >= n:
            break
        w += 1
    return use()


def a_partial(n):
    w = 0
    see = partial(lambda x: x + w, 1)
    while True:
        if w >= n:
            break
        w += 1
    return see()


class Keeps:
    """An object that keeps a function."""

    def run(self, n):
        """A loop whose names the function sees."""
        w = 0
        self.see = lambda: w
        while True:
            if w >= n:
                break
            w += 1
        return self.see()


def an_attribute(n):
    keeps = Keeps()
    return keeps.run(n) + keeps.see()


def in_a_helper(n):
    def helper(n):
        w = 0

        def see():
            return w + 1

        while True:
            if w >= n:
                break
            w += 1
        return see()

    return helper(n) + 1


def made_by_python(n):
    w = 0
    see = lambda: w + 1  # noqa: E731 -- what is tried
    note()
    while True:
        if w >= n:
            break
        w += 1
    note()
    return see()


def a_loop_over_functions(n):
    w, found = 0, 0
    for see in [lambda: w, lambda: w + 1, lambda: w + 2]:
        found = found * 10 + see()
        w = 0
        while True:
            if w >= n + found:
                break
            w += 1
    return found


def a_generator_expression(n):
    w, found = 0, 0
    for v in (w + k for k in range(3)):
        found = found * 10 + v
        w = 0
        while True:
            if w >= n * (v + 1):
                break
            w += 1
    return found


def a_map(n):
    w, found = 0, [0, 0]
    for v, u in zip(map(lambda k: k + w, [1, 2, 3]), (w * k for k in range(1, 4)), strict=True):
        found[0] = found[0] * 10 + v + u
        w = 0
        while True:
            if w >= n * (v + 1):
                break
            w += 1
    return found


@pytest.mark.parametrize(
    "function",
    [
        a_lambda, a_function_in_a_list, a_function_in_a_function, a_default, a_partial, an_attribute, in_a_helper,
        made_by_python, a_loop_over_functions, a_generator_expression, a_map,
    ],
)  # fmt: skip
def test_functions_that_see_the_name(function):
    decorated = check(function, 2)
    assert decorated.cache_info().hits > 0


def asked_no_more(x, n):
    w = 5
    see = lambda: w  # noqa: E731 -- what is tried
    a = x + see()
    note()
    for v in range(n):
        for w in range(3):  # noqa: B007 -- binds it now and then
            if w + v >= n:
                break
    a = a + n
    note()
    return a


@pytest.mark.parametrize("n", [2, 0, 5])
def test_a_function_of_an_earlier_plan_that_nobody_asks_again(n):
    """It is not there, but the loop cannot know, and keeps what its name was."""
    decorated = check(asked_no_more, np.arange(2.0), n)
    assert decorated.cache_info().hits > 0


def left_early(decorate):
    w = 0

    @decorate
    def run(n):
        nonlocal w
        w = 0
        while True:
            if w >= n:
                break
            w += 1

    return run, lambda: w


def returned_from(decorate):
    w = 0

    @decorate
    def run(n):
        nonlocal w
        w = 0
        while True:
            if w >= n:
                return n
            w += 1

    return run, lambda: w


def counted(decorate):
    w = 0

    @decorate
    def run(n):
        nonlocal w
        w = 0
        for i in range(9):
            if i >= n:
                break
            w = w + i

    return run, lambda: w


def bound_last(decorate):
    w = 0

    @decorate
    def run(n):
        nonlocal w
        w = 0
        for i in range(9):
            w = i * n

    return run, lambda: w


@pytest.mark.parametrize("make", [left_early, returned_from, counted, bound_last])
def test_a_name_of_the_function_around(make):
    plain, seen = make(lambda function: function)
    decorated, found = make(aj.autocluster(policy="eager"))
    for n in (2, 3, 2):
        assert (decorated(n), found()) == (plain(n), seen())
    assert decorated.cache_info().hits > 0
