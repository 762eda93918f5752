"""What loops change on ways that are taken back, and flags of many kinds that others set while a loop runs: read, mended."""

from __future__ import annotations

import enum
import threading
import time
import types

import numpy as np
import pytest
from numpy.testing import assert_allclose

import autojit as aj
from tests.helpers import check


def fill(a, b, both):
    for i in range(len(a)):
        a[i] = a[i] * 0.5 + 1.0
        if both:
            b[i] = 7.0


def fills_or_raises(a, b, x):
    for k in range(10):
        if x[k] > 100.0:
            fill(a, b, True)
            raise ValueError("too big")
        fill(a, b, False)
    return a.sum()


def add(v, w, both):
    for _ in range(20):
        v = v * 0.5 + w
        if both:
            w = w + 1.0
    return v, w


def adds_or_raises(a, b, x):
    if x[0] > 100.0:
        v, w = add(a, b, True)
        raise ValueError("too big")
    v, w = add(a, b, False)
    return v, w


def binds_or_not(a, b, x, both=False):
    for _ in range(20):
        a = a * 0.5 + x[0]
        if both:
            b = a
    return a, b


@pytest.mark.parametrize("function", [fills_or_raises, adds_or_raises, binds_or_not])
@pytest.mark.parametrize("first", [True, False])
def test_what_only_another_way_changes_is_not_written(function, first):
    fast, x = aj.autocluster(policy="eager")(function), np.ones(10)
    for is_writeable in (first, not first, first):
        b = np.ones(30)
        b.flags.writeable = is_writeable
        assert_allclose(np.sum(fast(np.ones(30), b, x)), np.sum(function(np.ones(30), b, x)))
    assert fast.cache_info().hits >= 3 or not first
    assert "that is written is writeable (line 3" not in str(fast.explain(np.ones(30), np.ones(30), x))


def count(o, x, both):
    for _ in range(20):
        x = x * 0.5
        if both:
            o.count += x.sum()
    return x


def keep(o, x, both):
    for _ in range(20):
        x = x * 0.5
        if both:
            o.count = x.sum()
    return x


def counts_or_raises(o, x, step):
    if x[0] > 100.0:
        step(o, x, True)
        raise ValueError("too big")
    return step(o, x, False)


@pytest.mark.parametrize("step", [count, keep])
def test_an_attribute_that_only_another_way_sets_is_left_alone(step):
    fast, number = aj.autocluster(policy="eager")(counts_or_raises), float("2.5")
    for _ in range(2):
        holder = types.SimpleNamespace(count=number)
        assert_allclose(fast(holder, np.ones(5), step), np.ones(5) * 0.5**20)
        assert holder.count is number
    assert fast.cache_info().hits == 2


class State(enum.Enum):
    """Of a job."""

    RUNNING, STOPPED = 1, 2


class Job:
    """Another thread ends it."""

    def __init__(self):
        self.state, self.ticket, self.level, self.limit = State.RUNNING, 1, 0, 3
        self.flags, self.stops, self.waiting = {"go": True, 3: True}, [False], {"me"}

    def end(self):
        self.state, self.ticket, self.level = State.STOPPED, 2, 5
        self.flags["go"] = self.flags[3] = False
        self.stops[0] = True
        self.waiting.clear()


def while_running(job, x, n):
    while job.state == State.RUNNING:
        x = np.sin(x) + 1.0
        n += 1
    return n, x.sum()


def while_ticket(job, x, n):
    ticket = job.ticket
    while job.ticket == ticket:
        x = np.sin(x) + 1.0
        n += 1
    return n, x.sum()


def while_below(job, x, n):
    while job.level < job.limit:
        x = np.sin(x) + 1.0
        n += 1
    return n, x.sum()


def while_waiting(job, x, n):
    while "me" in job.waiting:
        x = np.sin(x) + 1.0
        n += 1
    return n, x.sum()


def while_item(job, x, n, key="go"):
    flags = job.flags
    while flags[key]:
        x = np.sin(x) + 1.0
        n += 1
    return n, x.sum()


def while_number(job, x, n):
    while job.flags[3]:
        x = np.sin(x) + 1.0
        n += 1
    return n, x.sum()


def until_first(job, x, n):
    stops = job.stops
    while not stops[0]:
        x = np.sin(x) + 1.0
        n += 1
    return n, x.sum()


def breaks_by_state(job, x, n):
    for n in range(50_000_000):
        x = np.sin(x) + 1.0
        if job.state is State.STOPPED:
            break
    return n, x.sum()


POLLING = [while_running, while_ticket, while_below, while_waiting, while_item, while_number, until_first, breaks_by_state]


@pytest.mark.parametrize("function", POLLING)
def test_a_flag_of_any_kind_that_another_thread_sets_ends_a_loop(function):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(9):  # while a capture outlasts the timer there are no iterations, rightly
        job = Job()
        timer = threading.Timer(0.5, job.end)
        timer.start()
        start = time.perf_counter()
        count, _ = fast(job, np.ones(1000), 0)
        assert time.perf_counter() - start < 5.0
        timer.join()
        if count:
            break
    assert 0 < count < 49_999_999
    assert "another thread" in str(fast.explain(Job(), np.ones(1000), 0))


def counts_to(x, job):
    k, seen = 0, []
    while k < job.limit:
        seen.append(str(k))
        x = x * 0.5
        k += 1
    return x, seen


def goes_through(x, job):
    seen = []
    for k in range(6):
        seen.append(str(k))
        x = x * 0.5
        if k == job.limit:
            break
    return x, seen


def looks_up(x, job):
    k, keys = 0, job.keys
    while keys[k]:
        x = x * len(str(k))
        k += 1
    return x


def counts_in_rolled_loops(x, job):
    k = 0
    while k < job.limit and x.shape[0] == job.size:
        x = x * 0.5
        k += 1
    return x


@pytest.mark.parametrize("function", [counts_to, goes_through, looks_up, counts_in_rolled_loops])
def test_what_a_loop_counts_itself_is_no_flag(function):
    job = types.SimpleNamespace(limit=3, keys=[True, True, False], size=2000)
    fast = check(function, np.ones(2000), job)
    assert fast.cache_info().hits > 0


def stops_by_item(x, stops, u):
    seen = []
    for _ in range(20):
        seen.append(str(len(seen)))
        x = np.sin(x) + 1.0
        u[0] = 0.0
        if stops[0]:
            break
    return len(seen), x.sum() + u[0]


def stops_by_key(x, stops, u, key=0, place=1):
    seen = []
    for _ in range(20):
        seen.append(str(len(seen)))
        x = np.sin(x) + 1.0
        if stops[key]:
            break
        u[place] = 0.0
    return len(seen), x.sum() + u[0]


def sets_it_itself(x, stops, u):
    seen = []
    for _ in range(20):
        seen.append(str(len(seen)))
        x = np.sin(x) + 1.0
        if stops[0]:
            break
        stops[0] = len(seen) > 7
    return len(seen), x.sum() + u[0]


@pytest.mark.parametrize("function", [stops_by_item, stops_by_key, sets_it_itself])
def test_an_item_that_another_thread_sets_is_not_one_of_what_the_loop_fills(function):
    fast = check(function, np.ones(10), [False], np.ones(3))
    is_left = "python ([long-loop]" in str(fast.explain(np.ones(10), [False], np.ones(3)))
    assert is_left == (function is not sets_it_itself)


class Level:
    """Of a grid."""

    def __init__(self, n, coarse=None):
        self.n, self.name, self.coarse = n, f"level {n}", coarse


class Kind(enum.Enum):
    """Of a sum."""

    SINGLE, DOUBLE = 1, 2


class Modes:
    """Of a step."""

    ONE, ALL = 0, 1


def goes_down(x, grid, kind):
    level = grid.top
    while level.n > grid.n_min:
        x = x * len(level.name)
        level = level.coarse
    return x


def finds(x, grid, kind):
    for k in range(len(grid.layers)):
        x = x * 0.5
        if grid.layers[k].name == kind:
            return x
    return x + 1.0


def ends_by_kind(x, grid, kind):
    for k in range(1000):
        x = np.sin(x) + k
        if kind == Kind.SINGLE:
            break
        if kind in (Modes.ONE, Modes.ALL):
            return x
    return x


def ends_by_norm(x, grid, kind):
    for k in range(1000):
        x = np.sin(x) + k
        if kind == np.inf:
            return x
    return x


def refuses_schemes(x, grid, kind):
    for k in range(1000):
        if grid.scheme not in ("euler", "rk4"):
            raise ValueError(grid.scheme)
        x = np.sin(x) + k
    return x


GOING = [(goes_down, 0), (finds, "level 8"), (ends_by_kind, Kind.DOUBLE), (ends_by_kind, Kind.SINGLE)]
GOING += [(ends_by_kind, 3), (ends_by_norm, 2.0), (ends_by_norm, np.inf), (refuses_schemes, 0)]


@pytest.mark.parametrize(("function", "kind"), GOING)
def test_what_a_loop_goes_through_and_constants_are_no_flags(function, kind):
    top = Level(16, Level(8, Level(4, Level(2))))
    layers = [Level(n) for n in range(12)]
    grid = types.SimpleNamespace(top=top, n_min=2, layers=layers, scheme="rk4")
    fast = check(function, np.ones(200), grid, kind)
    assert fast.cache_info().hits > 0
    assert "another thread" not in str(fast.explain(np.ones(200), grid, kind))


class Held:
    """By another object."""

    def __init__(self):
        self.job = types.SimpleNamespace(flags=[True], data=[True], max=2)


HELD = Held()


def while_flags(held, x, n):
    while held.job.flags[0]:
        x = np.sin(x) + 1.0
        n += 1
    return n, x.sum()


def while_data(held, x, n):
    while HELD.job.data[0]:
        x = np.sin(x) + 1.0
        n += 1
    return n, x.sum()


def while_max(held, x, n, last=2):
    while HELD.job.max == last:
        x = np.sin(x) + 1.0
        n += 1
    return n, x.sum()


def end(job):
    job.flags[0] = job.data[0] = False
    job.max = 3


@pytest.mark.parametrize("function", [while_flags, while_data, while_max])
def test_flags_that_are_called_as_what_arrays_have(function):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(9):  # see above
        HELD.__init__()
        timer = threading.Timer(0.5, end, (HELD.job,))
        timer.start()
        start = time.perf_counter()
        count, _ = fast(HELD, np.ones(1000), 0)
        assert time.perf_counter() - start < 5.0
        timer.join()
        if count:
            break
    assert count > 0
