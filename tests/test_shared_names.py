"""Names that a function shares with others: with functions and coroutines inside it, around it, copied from it."""

from __future__ import annotations

import asyncio
import types

import numpy as np
import pytest

import autojit as aj

data = np.zeros(1000)


def run(coroutine):
    return asyncio.run(coroutine)


def shadowed(x):
    async def inner(data):
        data = data * 2 + 1
        return data.sum()

    return run(inner(x + 2))


def written(x):
    async def inner(data):
        data[:] = data * 2 + 1
        return data

    return run(inner(x + 2))


def documented(x):
    async def inner(y):
        """What it does."""
        return np.sin(y) * 2

    return inner.__doc__, run(inner(x))


def lost(x):
    async def inner(y):
        y = y * 2
        await asyncio.sleep(0)
        return y + 1

    y = x + 1
    return run(inner(y)), y


@pytest.mark.parametrize("function", [shadowed, written, documented, lost])
def test_the_body_of_a_coroutine_inside_has_names_of_its_own(function):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(3):
        expected, before = function(np.ones(1000)), data.copy()
        found = fast(np.ones(1000))
        assert repr(found) == repr(expected)
        assert np.array_equal(data, before)


def outcome(function, *args):
    try:
        return function(*args)
    except NameError as error:
        return type(error)


def emptied_inside(a, takes):
    k = 2.0

    def take():
        nonlocal k
        del k

    if takes:
        take()
    a += 5
    return a * k


def read_on_one_way(a, takes):
    k = 2.0

    def take():
        nonlocal k
        del k

    if takes:
        take()
    return a * 2 if takes else a * k


@pytest.mark.parametrize("policy", ["eager", "measured"])
@pytest.mark.parametrize("function", [emptied_inside, read_on_one_way])
def test_a_name_that_a_function_inside_deletes(function, policy):
    fast = aj.autocluster(policy=policy)(function)
    for takes in (False, True, False, True):
        ours, theirs = np.ones(1000), np.ones(1000)
        assert np.array_equal(outcome(fast, ours, takes), outcome(function, theirs, takes))
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("policy", ["eager", "measured"])
def test_a_name_that_the_function_around_deletes(policy):
    def results(decorate):
        k = 2.0

        @decorate
        def scaled(x, uses):
            y = np.sin(x) + 1
            return y * k if uses else y * 3  # noqa: F821 -- deleted below

        found = [scaled(np.ones(1000), True).sum(), scaled(np.ones(1000), False).sum()]
        del k
        return [*found, scaled(np.ones(1000), False).sum(), outcome(scaled, np.ones(1000), True)]

    assert results(aj.autocluster(policy=policy)) == results(lambda f: f)


def test_the_first_call_of_a_copy_with_another_closure():
    def make(k):
        def scaled(x):
            print(end="")
            return x * k

        return scaled

    fast = aj.autocluster(policy="eager")(make(2.0))
    other = types.FunctionType(fast.__code__, fast.__globals__, "scaled", None, make(3.0).__closure__)
    assert [other(np.ones(3))[0], fast(np.ones(3))[0], other(np.ones(3))[0]] == [3.0, 2.0, 3.0]


async def stepwise(x):
    for k in range(3):
        y = np.sin(x) * k + 1
        yield y.sum()
        if k == 1:
            return


@pytest.mark.parametrize("policy", ["eager", "measured"])
def test_an_asynchronous_generator_that_returns(policy):
    async def collect(function):
        return [each async for each in function(np.ones(1000))]

    fast = aj.autocluster(policy=policy)(stepwise)
    for _ in range(2):
        assert run(collect(fast)) == run(collect(stepwise))
