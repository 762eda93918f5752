"""What the text of a region promises."""

from __future__ import annotations

import ast
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import signal

import autojit as aj
from autojit.capture.promise import fusable, operations
from autojit.runtime import twins, warmup
from autojit.runtime.allowance import ALLOWANCE
from autojit.runtime.background import BACKGROUND
from autojit.runtime.heat import EACH, MANY, SHORT, Heat, HeatMap
from tests.measuring import X, compiling_pays  # noqa: F401 -- a fixture

NAMES = {"np": np, "math": math, "signal": signal, "other": lambda x: x, "K": 3}


def count(text, **callees):
    functions = {name: [(ast.parse(one).body, NAMES) for one in bodies] for name, bodies in callees.items()}
    return fusable(ast.parse(text).body, NAMES, functions)


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("", 0),
        ("y = x * 2 + 1", 2),
        ("x += 1\ny = -x < 3", 3),
        ("y = np.sin(x) + np.add.outer(x, x)", 3),
        ("y = np.where(x > 0, x, 0.0).sum()", 3),
        ("y = x.T.copy()", 1),
        ("for k in range(len(x)):\n    x[k] = x[k] * 2", 1),
        ("y = x * float(K)", 1),
        ("def inner():\n    return np.sort(x)\ny = x + 1", 1),
        ("y = x + unknown(x) + self.step(x) + other(x) + f()(x)", 4),
        ("y = math.sin(3) * x", 1),
        ("y = x @ x", None),
        ("x @= x", None),
        ("y = np.sort(x) + 1", None),
        ("y = np.linalg.solve(x, x)", None),
        ("y = np.random.rand(3) * 2", None),
        ("y = np.einsum('ij,i->j', x, x) * 2", 2),
        ("y = rng.normal(size=n) * 2", None),
        ("y = rng.normal(mean, 1.0) * 2", None),
        ("y = rng.normal(*shape) * 2", None),
        ("y = rng.random((3, 3)) * 2", None),
        ("y = rng.integers(0, 8, 1000) * 2", None),
        ("y = rng.normal(0.0, 2 * -np.pi) * x", 3),
        ("y = rng.normal(0.0, K.pi) * x", None),
        ("y = rng.uniform(low + 1, high, 2) * x if rng.random() < 0.5 else x", 3),
        ("y = np.random.normal(size=3) * 2", 1),
        ("x.sort()", None),
        ("y = sorted(x)", None),
        ("print(x)", None),
        ("y = np.nothing(x)", 0),
        ("y = np.float64(3) * x.argsort", 1),
        ("y = np.shape(x)[0] + np.add.reduce(x)", 2),
        ("np.add.at(x, 0, 1)", None),
        ("y = x.argmax()", None),
        ("y = str(3)", None),
        ("y = testing(x) + f2py(x)", 1),
        ("for k in reversed(range(3)):\n    x[k] = k * 2", 1),
        ("y = signal.detrend(x) * 2", None),
    ],
)
@pytest.mark.filterwarnings("error")
def test_operations_are_counted(text, operations):
    assert count(text) == operations


def test_functions_of_the_users_are_looked_into():
    assert count("y = f(x) + 1", f=["return x * 2 * 3"]) == 3
    assert count("y = self.f(x) + 1", f=["return x * 2 * 3"]) == 3
    assert count("y = f(x) + 1", f=["return np.sort(x)"]) is None
    assert count("y = f(x)", f=["return f(x) + 1"]) == 3  # so deep, and no deeper
    assert count("y = layer.f(x) + 1", f=["return x", "return x * 2"]) == 2
    assert count("y = layer.f(x) + 1", f=["return x @ x", "return x * 2"]) is None
    many = "\n".join(["y = g(x) + g(x)"] * 100)
    assert count(many.replace("g", "f"), f=[many], g=[many.replace("g", "h")], h=["return x * 2"]) == 100 + 200 * (
        100 + 200 * 300
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("y = w @ r[i]\ne = x[i] - y\nw = w + 2 * s * e * r[i]", 6),
        ("y = np.linalg.norm(x) + np.argmin(x) + x.argmax() + np.sort(x)", 7),
        ("y = rng.normal(mean, 1.0) * 2 + np.random.rand(3)", 4),
        ("y = x.append(3)", 0),
        ("print(x)", None),
        ("y = sorted(x)", None),
        ("y = signal.detrend(x) * 2", None),
    ],
)
def test_operations_of_all_kinds_are_counted(text, number):
    assert operations(ast.parse(text).body, NAMES, {}) == number


def long_chain(x):
    return np.exp(-x) * x + np.sin(x) * 3 - x / (1 + x * x)


def short_chain(x):
    return x * 2 + 1


def sorts(x):
    return np.sort(np.exp(-x) * x + np.sin(x) * 3 - x / (1 + x * x))


@pytest.mark.usefixtures("pays")
@pytest.mark.parametrize(
    ("function", "argument", "captures"),
    [(long_chain, X, 1), (short_chain, X, 0), (sorts, X, 0), (long_chain, np.arange(1000), 0)],
)
def test_what_promises_to_be_faster_has_an_advance(monkeypatch, function, argument, captures):
    monkeypatch.setattr(ALLOWANCE, "is_limited", True)
    monkeypatch.setattr(ALLOWANCE, "spent", ALLOWANCE.saved * 0.5 + 0.05 * 1e9)
    monkeypatch.setattr("autojit.runtime.allowance.ADVANCE", 1e9)
    monkeypatch.setattr("autojit.runtime.allowance.OF_PROMISED", 1e15)
    fast = aj.autocluster(function)
    for _ in range(3):
        np.testing.assert_allclose(fast(argument), function(argument), rtol=1e-14)
        BACKGROUND.wait()
    assert fast.cache_info().captures == captures


def test_calls_that_take_microseconds_promise_nothing(monkeypatch):
    fast = aj.autocluster(long_chain, policy="measured")
    fast(X)
    (probe,) = fast.__autojit_controller__.probes.values()
    for mean, promises in ((EACH, False), (EACH * 20, False), (2 * SHORT, True)):
        monkeypatch.setattr(Heat, "mean", mean)
        heat = Heat(((X.dtype, X.shape),))
        assert fast.__autojit_controller__.warm_up.promises(probe, heat) is promises
    assert MANY < fast.__autojit_controller__.warm_up.fusable(probe) < 20


def test_calls_that_return_at_once_say_nothing_of_the_others():
    heat = Heat()
    for seconds in (1e-6, 1e-2) * 4:
        heat.add(seconds)
    assert heat.mean == pytest.approx(5e-3, rel=1e-3) and heat.best == 1e-6
    heat.seconds += 1.0  # in a nap
    assert heat.mean == pytest.approx(5e-3, rel=1e-3)
    heat.cool()
    assert heat.mean == 0.0


@pytest.mark.parametrize(
    ("values", "may_hold"),
    [
        ([X], True),
        ([X.astype(complex), np.arange(3)], True),
        ([np.arange(3), "abc"], False),
        ([np.arange(3) > 1, object()], False),
        (["abc", 3, [1.0], np.float64(1), None], False),
        ([object()], True),
        ([SimpleNamespace(cells=np.zeros(3, np.uint8), name="a")], False),
        ([SimpleNamespace(cells=np.zeros(3, np.uint8), inner=SimpleNamespace(x=X))], True),
        ([SimpleNamespace(cells=[X])], True),
        ([SimpleNamespace(cells=np.zeros(3, int)), X], True),
        ([], False),
    ],
)
def test_kinds_of_calls_with_arrays_of_floats(values, may_hold):
    assert HeatMap().of(values).is_of_floats is may_hold


def cut(x):
    y = np.exp(-x) * x
    print("", end="")
    return y * 2


def whole(x):
    return np.exp(-x) * x


def calls_cut(x, n):
    for _ in range(n):
        print("", end="")
        x = cut(x)
    return x * 2


def calls_whole(x, n):
    for _ in range(n):
        print("", end="")
        x = whole(x)
    return x * 2


@pytest.mark.usefixtures("pays")
@pytest.mark.parametrize(
    ("function", "long", "left"), [(calls_cut, 0.5, True), (calls_cut, 2.0, False), (calls_whole, 0.5, False)]
)
def test_long_calls_are_left_to_functions_whose_captures_were_cut(monkeypatch, function, long, left):
    monkeypatch.setattr(warmup, "LONG_CALL", long)  # each takes a second
    monkeypatch.setattr(ALLOWANCE, "is_limited", True)
    monkeypatch.setattr(ALLOWANCE, "spent", -1e9)
    fast = aj.autocluster(function, policy="measured")
    controller = fast.__autojit_controller__
    for _ in range(4):
        np.testing.assert_allclose(fast(X, 3), function(X, 3), rtol=1e-14)
        BACKGROUND.wait()
    (callee,) = controller.callees
    assert callee.original in (cut, whole) and any(inner.price for inner in callee.probes.values())
    heat = Heat(((X.dtype, X.shape),))
    found = [controller.warm_up._is_left_to_callees(one, heat) for one in controller.probes.values()]
    assert any(found) is left


def multiplies(x):
    return x @ x


def passes_on(x):
    print("", end="")
    return multiplies(x) * 2


def calls_deeply(x, n):
    for _ in range(n):
        print("", end="")
        x = passes_on(x) / np.abs(x).max() + np.exp(-x) * x + np.sin(x) * 3 - x / (1 + x * x)
    return x


def test_functions_that_functions_call_are_looked_into(monkeypatch):
    monkeypatch.setattr(twins, "_EARLY", 0.0)
    fast = aj.autocluster(calls_deeply, policy="measured")
    fast(np.eye(3), 2)
    warm_up = fast.__autojit_controller__.warm_up
    assert {"passes_on", "multiplies"} <= warm_up._others().keys()
    assert [warm_up.fusable(probe) for probe in fast.__autojit_controller__.probes.values()][0] is None


def test_loops_of_small_operations_promise():
    def least_squares(x, w, n):
        for k in range(n):
            error = x[k] @ w - 1.0
            w = w - 0.1 * error * x[k]
        return w

    for small in (True, False):
        fast = aj.autocluster(least_squares, policy="measured")
        controller = fast.__autojit_controller__
        (takeover,) = [found for probe in controller.probes.values() for found in probe.takeovers]
        heat = takeover.body.heats.of([np.eye(3), np.ones(3), 3])
        heat.add(5e-6 if small else 5e-5)
        assert takeover._promises() is small


def test_what_a_loop_promises_is_known_when_it_has_begun(monkeypatch):
    def walk(x, n):
        for k in range(n):
            x = x * 0.5 + np.sin(x) - x
        return x

    fast = aj.autocluster(walk, policy="measured")
    (takeover,) = fast.__autojit_controller__.probes[0].takeovers
    takeover.look()
    assert takeover._outlook is None
    takeover.body.heats.of([X, 0]).add(1e-6)
    takeover.look()
    assert takeover._outlook == (False, True)


class Asked:
    """Its attributes are nobody's business."""

    @property
    def __dict__(self):
        raise AssertionError("asked")

    @property
    def __class__(self):
        raise AssertionError("asked")

    def __getattribute__(self, name):
        raise AssertionError("asked")


def test_nothing_is_asked_of_objects_to_see_what_they_hold():
    assert HeatMap().of([Asked()]).is_of_floats
    assert HeatMap().of([SimpleNamespace(a=Asked(), b=3)]).is_of_floats
    assert not HeatMap().of([SimpleNamespace(a=Asked(), b=np.zeros(3, int).view(np.matrix))]).is_of_floats


class Answers:
    """It has something to say whatever it is asked for."""

    def __getattr__(self, name):
        raise AssertionError(f"asked for {name}")


def test_objects_that_are_called_are_asked_for_nothing():
    names = {**NAMES, "asked": Answers()}
    assert fusable(ast.parse("y = asked(x) + 1").body, names, {}) is None
    assert operations(ast.parse("y = asked(x) + 1").body, names, {}) is None
