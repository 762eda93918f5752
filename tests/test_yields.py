"""Array expressions that a generator yields."""

from __future__ import annotations

import asyncio
import traceback
import weakref
from typing import Any

import numpy as np
import pytest

import autojit as aj
from tests.helpers import Outcome, _compare_outcomes


def batches(x, count):
    for number in range(count):
        y = x * number + 1
        got = yield 3.0 * np.exp(np.cumsum(y * 0.01))
        if got is not None:
            x = got * 2
    yield x + 1
    return 5


def delegates(x):
    rest = yield from batches(x, 2)
    yield x * rest


def caught(x):
    try:
        yield x - 1 if x.sum() < 1e9 else x
        yield x[1000]
    except IndexError as error:
        yield str(error)
    finally:
        x += 1
    yield np.add(x, 1), x * 2
    y = yield
    yield (yield y * 2)


def unbound(x):
    if x[0] > 1e9:
        y = x * 2
    yield y + 1


def drive(function: Any, *args: Any) -> list[Any]:
    """All that a generator gives when it is sent arrays now and then."""
    made, given = function(*args), []
    try:
        given.append(next(made))
        while True:
            given.append(made.send(args[0] * 0.1 if len(given) % 2 else None))
    except StopIteration as end:
        given.append(end.value)
    except Exception as error:
        given.append((type(error), str(error)))
    return [*given, args[0]]


def assert_same(got: Any, wanted: Any) -> None:
    _compare_outcomes(Outcome(got, None, ()), Outcome(wanted, None, ()), 1e-13)


@pytest.mark.parametrize("policy", ["eager", "measured"])
@pytest.mark.parametrize(
    ("function", "more"),
    [(batches, (3,)), (delegates, ()), (caught, ()), (unbound, ())],
    ids=["batches", "delegates", "caught", "unbound"],
)
def test_generators_give_what_they_give_in_numpy(function, more, policy):
    x, decorated = np.random.default_rng(1).random(50), aj.autocluster(policy=policy)(function)
    for _ in range(3):
        assert_same(drive(decorated, x.copy(), *more), drive(function, x.copy(), *more))


def test_what_is_yielded_is_compiled():
    x, decorated = np.random.default_rng(1).random(50), aj.autocluster(policy="eager")(batches)
    for _ in range(3):
        drive(decorated, x, 3)
    assert decorated.cache_info().hits
    explanation = str(decorated.explain(x, 3))
    line = batches.__code__.co_firstlineno + 3
    assert any(f"| {line:4} " in row and "cluster" in row for row in explanation.splitlines()), explanation


def test_views_that_are_yielded():
    def function(x):
        yield x[1:]
        yield x * 2
        yield x.reshape(2, -1)
        yield np.exp(x)

    decorated = aj.autocluster(policy="eager")(function)
    for _ in range(3):
        pair = np.arange(4.0), np.arange(4.0)
        for got, wanted in zip(decorated(pair[0]), function(pair[1]), strict=True):
            assert_same(got, wanted)
            got += 1
            wanted += 1
        assert_same(*pair)


def test_a_generator_that_waits_does_not_hold_what_it_gave():
    decorated = aj.autocluster(policy="eager")(batches)
    for _ in range(3):
        waiting = decorated(np.ones(1000), 3)
        given = weakref.ref(next(waiting))
        assert given() is None


def test_an_exception_thrown_into_it_has_its_line():
    decorated = aj.autocluster(policy="eager")(batches)
    for _ in range(3):
        waiting = decorated(np.ones(1000), 3)
        next(waiting)
        with pytest.raises(ValueError, match="thrown") as thrown:
            waiting.throw(ValueError("thrown"))
        last = traceback.extract_tb(thrown.value.__traceback__)[-1]
        assert (last.lineno, last.name) == (batches.__code__.co_firstlineno + 3, "batches")


def test_asynchronous_generators():
    async def steps(x):
        yield x * 2 + 1
        yield np.sin(x), x

    async def collected(function):
        return [given async for given in function(np.arange(5.0))]

    decorated = aj.autocluster(policy="eager")(steps)
    for _ in range(3):
        assert_same(asyncio.run(collected(decorated)), asyncio.run(collected(steps)))


def test_an_error_of_what_is_yielded():
    def function(x, y):
        x += 1
        yield x + y
        yield 1

    x, decorated = np.zeros(3), aj.autocluster(policy="eager")(function)
    for number in range(3):
        with pytest.raises(ValueError, match="broadcast") as raised:
            next(decorated(x, np.ones(4)))
        line = traceback.extract_tb(raised.value.__traceback__)[-1].lineno
        assert (line, x[0]) == (function.__code__.co_firstlineno + 2, number + 1)
