"""Calls that stay in a function for long: regions in loops, before anything was captured."""

import ast
import os

import numpy as np
import pytest

import autojit as aj
from autojit.capture.early import early_regions, loops_with_rest, split_early
from autojit.capture.regions import RegionTree
from autojit.capture.source import source_of
from autojit.runtime.allowance import ALLOWANCE
from autojit.runtime.background import BACKGROUND, Background
from autojit.runtime.heat import LOST, Heat
from autojit.runtime.watch import Watch


def step(x):
    return np.sin(x) * 2 + x


def pure(x, n):
    for _ in range(n):
        x = np.sin(x) * 2 + x
    return x


def steps(x, n, log):
    log.append("begin")
    for k in range(n):
        x = step(x)
        if k % 7 == 3:
            log.append(k)
        x = np.cos(x) + k
    return x


def leaves(x, n):
    k = 0
    while True:
        x = np.sin(x) + 1
        k += 1
        if k >= n:
            return x, k


def nested(x, n):
    with open(os.devnull):
        if n > 2:
            for i in range(n):
                for j in range(3):
                    x = np.sin(x) + i * j
    return x




def texts(function):
    """The early regions that have probes, as text."""
    tree = RegionTree(source_of(function))
    split_early(tree)
    return ["; ".join(map(ast.unparse, r.statements)) for r in early_regions(tree.root) if not r.once]


def test_which_regions_there_are():
    def loops(x):
        y = x + 1
        for i in range(3):
            y = y * i
        if len(y):
            while y[0] > 3:
                y = np.sqrt(y)
        return y + x

    assert texts(loops) == ["y = y * i", "y = np.sqrt(y)"]

    def acts(x, log):
        for i in range(3):
            x = x.copy() * np.sin(i).sum()
            log.append(x)
            x = x + max(1, abs(i))
            print(x)
        return x

    assert texts(acts)[1:] == ["x = x.copy() * np.sin(i).sum()", "x = x + max(1, abs(i))"]

    def none(x):
        y = np.sin(x)
        return [v + 1 for v in y]

    assert texts(none) == []


@pytest.fixture
def pays(monkeypatch):
    """Compiling pays after the first run of a region, takes no time, and plans win."""
    monkeypatch.setattr(Watch, "add", lambda self, *call: None)
    monkeypatch.setattr(Background, "submit", lambda self, job: job() or True)
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr(Heat, "best", 1.0)


X = np.linspace(0.0, 1.0, 20_000)


@pytest.mark.usefixtures("pays")
@pytest.mark.parametrize("function", [pure, steps, leaves, nested])
def test_a_single_call_gains(function):
    aj.clear_cache()  # another test may have compiled the same program
    more = ([],) if function is steps else ()
    fast = aj.autocluster(function)
    found, expected = fast(X, 20, *more), function(X, 20, *more)
    if function is leaves:
        assert found[1] == expected[1]
        found, expected = found[0], expected[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    info = fast.cache_info()
    assert info.compiles >= 1 and info.plans >= 1 and info.hits >= 10
    if more:
        assert more[0] == ["begin", 3, 10, 17] * 2


@pytest.mark.usefixtures("pays")
def test_the_whole_goes_before_its_parts():
    def whole(x, n):
        for _ in range(n):
            x = np.sin(x) * 2 + x
        return x

    fast = aj.autocluster(whole)
    for _ in range(6):
        np.testing.assert_allclose(fast(X, 20), whole(X, 20), rtol=1e-12)
    root, body = (fast.__autojit_controller__.probes[number] for number in (0, 1))
    assert root.hits >= 4 and not body.on


def count(x, n):
    total = 0.0
    for i in range(n):
        total = total * 0.5 + x[i % 1000]
        x[i % 1000] = total * 0.5
    else:
        i += 0.5
    return total, x, i


def down(x, n):
    for i in range(n, 3, -2):
        if i % 5 == 3:
            continue
        k = i - 1
        x[k % 1000] += x[i % 1000]
    return x, i


def rows(x, n):
    total = 0
    for i in range(n):
        last = total
        total += i * i % 7
    return total, last, x


def until(x, n):
    k, total = 0, 0.0
    while k < n and total < 1e300:
        if k % 3 == 1:
            k += 2
            continue
        total += x[k % 1000]
        k += 1
    return k, total


def solve(x, n):
    found = 0
    for i in range(n):
        x *= 0.999999
        if x[-1] < 0.5:
            found = i
            break
    return i, found, x


def forever(x, n):
    k = 0
    while True:
        k += 1
        x[k % 1000] += 1
        if k == n:
            break
    return x, k


def no_convergence(x, n):
    for i in range(n):
        x[i % 1000] += 1
        if x[0] < -7:
            break
    else:
        i = -i
    return i, x


def asks_once(x, n):
    k = n
    while (k := k - 1) > 0:
        x[k % 1000] += k
    return k, x


def trades(x, n):
    v = x.copy()
    for i in range(n // 10):
        v[1:-1] = (x[:-2] + x[2:]) * 0.5
        v[0] = i % 7
        x, v = v, x
    return x, v, i


def trades_until(x, n):
    v, k = x.copy(), 0
    x[0] = v[0] = 3.0
    while k < n // 10:
        v[1:-1] = (x[:-2] + x[2:]) * 0.5
        k += 1
        x, v = v, x
    return x, v, k


def trades_before_break(x, n):
    v = x.copy()
    for i in range(n):
        v[1:-1] = (x[:-2] + x[2:]) * 0.5
        v[0] += 0.001
        if v[0] > 123.4567:
            break
        x, v = v, x
    else:
        i = -1
    return x, v, i


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize(
    "function",
    [count, down, rows, until, solve, forever, no_convergence, asks_once, trades, trades_until, trades_before_break],
)
def test_a_loop_is_taken_over_while_it_runs(function):
    n = 1_500_001
    fast, x = aj.autocluster(function), np.linspace(0.0, 1.0, 1000)
    y = x.copy()
    found, expected = fast(x, n), function(y, n)
    assert sum(takeover.probe.hits for takeover in fast.__autojit_controller__.probes[0].takeovers) >= 1
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other)
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(x, y)


@pytest.mark.usefixtures("watched")
def test_errors_in_a_loop_that_is_taken_over():
    def walk(x, n):
        for i in range(n):
            x[i] = x[i - 1] * 0.5 + 1
        return x

    fast, x = aj.autocluster(walk), np.ones(300_000)
    y = x.copy()
    for function, argument in ((walk, y), (fast, x)):
        with pytest.raises(IndexError, match="index 300000 is out of bounds for axis 0 with size 300000"):
            function(argument, 400_000)
    np.testing.assert_array_equal(x, y)


def test_the_end_of_a_loop_that_data_leaves_is_approached(monkeypatch):
    """A run in which the loop is left is NumPy's; shorter ones before it are the plan's, also in the next call."""
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-3)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr("autojit.runtime.watch.EVERY", 1e-3)
    monkeypatch.setattr("autojit.runtime.course.JUDGED", 1e-5)
    monkeypatch.setattr("autojit.runtime.takeover.Takeover._judge", lambda *given: None)
    monkeypatch.setattr(Background, "submit", lambda self, job: job() or True)
    fast, x = aj.autocluster(trades_before_break), np.linspace(0.0, 1.0, 1000)
    y = x.copy()
    found, expected = fast(x, 1 << 30), trades_before_break(y, 1 << 30)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    assert found[2] == expected[2] and (found[0] is x) == (expected[0] is y)
    (takeover,) = fast.__autojit_controller__.probes[0].takeovers
    assert takeover.probe.traps >= 1 and takeover.probe.hits >= 2 and takeover.is_at_work()


def test_which_loops_can_be_taken_over():
    def several(x, n, step, items):
        for i in range(n):
            x += i
        for i in range(n):
            if x[i] > 3:
                break
        for i in range(0, n, step):
            x += i
        for i in range(n, 0, -3):
            x += i
        for i in range(n, 0, -3):
            if x[0] > 7:
                return x
        for item in items:
            x += item
        for i in range(n):
            print(i)
        for x[0] in range(n):
            x += 1
        while x[0] > 3:
            x -= 1
        while x[0] < 3:
            x += 1
        else:
            x[0] = 2
        return x

    tree = RegionTree(source_of(several))
    split_early(tree)
    assert [loop.statement.lineno - tree.root.lines[0] for loop in loops_with_rest(tree.root)] == [0, 2, 7, 18]


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("wins", [True, False])
def test_later_processes_know_how_a_loop_did(monkeypatch, tmp_path, wins):
    monkeypatch.setattr("autojit.runtime.course.JUDGED", 0.0)
    monkeypatch.setattr("autojit.runtime.course.KEEP_BELOW", 1e9 if wins else 0.0)
    options = {"policy": "measured", "cache_dir": str(tmp_path), "disk_cache": True}
    first = aj.autocluster(count, **options)
    first(np.linspace(0.0, 1.0, 1000), 6_000_001)
    (takeover,) = first.__autojit_controller__.probes[0].takeovers
    (heat,) = takeover.probe.heats._kinds.values()
    assert takeover.probe.hits and heat.verdict.wins is wins
    BACKGROUND.wait()  # the verdict is saved
    second = aj.autocluster(count, **options)
    second(np.linspace(0.0, 1.0, 1000), 1)
    (takeover,) = second.__autojit_controller__.probes[0].takeovers
    with monkeypatch.context() as limited:
        limited.setattr(ALLOWANCE, "is_limited", True)
        limited.setattr(ALLOWANCE, "spent", 1e9)
        assert takeover.is_due_after(1.0)  # the program's thread is to look
        takeover.look()
        assert takeover.is_due_after(1.0) is wins  # what is known to win is not limited
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-2)
    second(np.linspace(0.0, 1.0, 1000), 1_500_001)
    assert takeover.probe.price if wins else takeover._patience == LOST or takeover.probe.price


@pytest.mark.usefixtures("watched")
def test_what_cannot_be_kept_is_not_the_programs_trouble(monkeypatch):
    def fail(*args):
        raise OSError("the disk is full")

    monkeypatch.setattr("autojit.runtime.course.JUDGED", 0.0)
    monkeypatch.setattr("autojit.runtime.warmup.WarmUp.remember", fail)
    fast = aj.autocluster(count, policy="measured")
    found, expected = fast(np.ones(1000), 1_500_001), count(np.ones(1000), 1_500_001)
    np.testing.assert_array_equal(found[1], expected[1])
    (takeover,) = fast.__autojit_controller__.probes[0].takeovers
    assert takeover.probe.hits
    monkeypatch.setattr("autojit.runtime.warmup.WarmUp.has_won", fail)
    takeover.look()
    assert takeover._outlook == (False, False)
