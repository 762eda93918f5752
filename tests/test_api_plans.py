"""Plans of decorated functions: how many are kept, when `measured` makes them, what happens when one fails."""

from __future__ import annotations

import re
import time
import warnings

import numpy as np
import pytest

import autojit as aj
from autojit.runtime import compiler, maker, plan_writer
from autojit.runtime.background import BACKGROUND
from autojit.runtime.heat import Heat
from tests.helpers import clone
from tests.warned import warned

EAGER = aj.autocluster(policy="eager")


def poly(x, y=2.0):
    """The document string."""
    return x * x * 3 + y


# ---- cache


def test_cache_info_and_clear_cache():
    decorated = aj.autocluster(policy="eager")(poly)
    assert decorated.cache_info() == aj.CacheInfo(nbytes=decorated.cache_info().nbytes)
    for n in (3, 3, 4):
        decorated(np.arange(n) * 1.25)
    info = decorated.cache_info()
    assert (info.hits, info.misses, info.captures, info.plans, info.traps) == (3, 2, 2, 2, 0)
    assert info.compile_seconds >= 0 and info.nbytes > 0
    decorated.clear_cache()
    assert decorated.cache_info().plans == decorated.cache_info().hits == 0
    np.testing.assert_allclose(decorated(np.ones(3)), 5)
    assert decorated.cache_info().captures == 1
    aj.clear_cache(decorated)
    assert decorated.cache_info().captures == 0
    with pytest.raises(TypeError, match="is not decorated, and has no plans"):
        aj.clear_cache(poly)
    np.testing.assert_allclose(decorated(np.ones(3)), 5)
    aj.clear_cache()
    assert decorated.cache_info().plans == 0 and decorated.cache_info().nbytes == 0
    np.testing.assert_allclose(decorated(np.ones(3)), 5)
    assert decorated.cache_info().compiles == 1


def test_too_many_plans():
    decorated = aj.autocluster(policy="eager", max_plans=2)(poly)
    with warned("more than 2 combinations of shapes") as caught:
        for n in (2, 3, 4, 5, 2):
            np.testing.assert_allclose(decorated(np.ones(n)), 5)
    assert caught[0].filename == __file__
    assert str(caught[0].message).endswith("others run in NumPy unless they come often; `x` was float64[2], float64[3], float64[4]")
    assert decorated.cache_info().hits == 3 and decorated.cache_info().plans == 2
    huge = aj.autocluster(policy="eager", max_plans=2)(lambda x, n: x * 2 if n else x)
    with warned("`n` was 3, int"):  # Python does not print numbers of so many digits
        for n in (1, 2, 3):
            np.testing.assert_array_equal(huge(np.ones(n), 3 if n == 1 else 10**5000 + n), 2)
    strict = aj.jit_compile(max_plans=2)(poly)
    with warned("the oldest is compiled again when it is back"):
        for n in (2, 3, 4, 5, 2):
            np.testing.assert_allclose(strict(np.ones(n)), 5)
    assert strict.cache_info().hits == 5 and strict.cache_info().plans == 2


def calls(function, *arguments):
    """Call with each argument, compare, and give the number of answers by plans."""
    before = function.cache_info().hits
    for each in arguments:
        np.testing.assert_allclose(function(*each), function.__wrapped__(*each))
    return function.cache_info().hits - before


@pytest.mark.filterwarnings("ignore:autojit .too-many-plans")  # that many kinds of calls come is the point
def test_when_a_storm_of_shapes_is_over_the_new_ones_are_compiled():
    decorated = aj.autocluster(policy="eager", max_plans=2)(poly)
    shapes = [(np.ones(n),) for n in range(2, 30)]
    assert calls(decorated, *shapes) == 2  # those with plans
    assert calls(decorated, *shapes[:2] * 5) == 10
    new = shapes[20]
    assert calls(decorated, *[new] * 14) == 0 and calls(decorated, *[new] * 10) == 10
    compiles = decorated.cache_info().compiles
    assert calls(decorated, *shapes * 10) == 20 and decorated.cache_info().compiles == compiles
    other = shapes[21]
    assert calls(decorated, *[other] * 40) == 40 - 20  # eleven of them before; the price has doubled


@pytest.mark.filterwarnings("ignore:autojit .too-many-plans")  # that many kinds of calls come is the point
@pytest.mark.parametrize("decorate", [aj.autocluster(policy="eager", max_plans=3), aj.jit_compile(max_plans=3)])
def test_what_is_not_used_makes_room(decorate):
    decorated = decorate(poly)
    shapes = [(np.ones(n),) for n in range(2, 20)]
    calls(decorated, *shapes[:3])
    assert calls(decorated, shapes[0], shapes[2]) == 2
    calls(decorated, *[shapes[4]] * 20)
    captures = decorated.cache_info().captures
    assert captures == 4 and calls(decorated, shapes[0], shapes[2], shapes[4]) == 3
    assert decorated.cache_info().captures == captures and decorated.cache_info().plans == 3


@pytest.mark.filterwarnings("ignore:autojit .too-many-plans")  # that many kinds of calls come is the point
def test_combinations_of_constants():
    decorated = aj.autocluster(lambda x, n: np.zeros(n).sum() + x, policy="eager", max_plans=2)
    x = np.ones(3)
    assert calls(decorated, *[(x, n) for n in range(100)]) == 2
    assert calls(decorated, *[(x, 0), (x, 1)] * 3) == 6
    assert decorated.cache_info().compiles <= 2


@pytest.mark.filterwarnings("ignore:autojit .too-many-plans")  # that many kinds of calls come is the point
def test_the_body_of_a_loop_is_not_asked_for_ever():
    def shrink(x, steps):
        total = 0.0
        for n in range(steps):
            y = x[: len(x) - n]
            id(y)
            total += (np.tanh(y) * y + np.exp(y)).sum()
        return total

    decorated = aj.autocluster(shrink, policy="eager", max_plans=2)
    x = np.linspace(0.0, 1.0, 20_000)
    np.testing.assert_allclose(decorated(x, 120), shrink(x, 120))
    misses = decorated.cache_info().misses
    assert decorated.cache_info().compiles == 2 and 64 < misses < 120
    np.testing.assert_allclose(decorated(x, 120), shrink(x, 120))
    assert decorated.cache_info().misses == misses


# ---- the measured policy


def stencil(u, out):
    out[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]) * np.exp(-u[1:-1, 1:-1] ** 2)
    return np.sin(out).sum() + np.tanh(out).mean()


def test_measured_is_right_while_it_switches_to_the_compiled_program(monkeypatch):
    monkeypatch.setattr(Heat, "best", 0.2)  # whatever the load of the machine, NumPy loses
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 0.02)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    decorated = aj.autocluster(stencil)
    rng = np.random.default_rng(0)
    for turn in range(40):
        u = rng.standard_normal((700, 700))
        out, expected_out = np.zeros_like(u), np.zeros_like(u)
        expected = stencil(u, expected_out)
        np.testing.assert_allclose(decorated(u, out), expected, rtol=1e-10)
        np.testing.assert_allclose(out, expected_out, rtol=1e-12)
        if turn == 15:
            BACKGROUND.wait()
        if decorated.cache_info().hits >= 6:
            break
    info = decorated.cache_info()
    assert info.misses >= 2 and info.compiles == 1 and info.hits >= 6
    final = next(iter(decorated.__autojit_controller__.probes.values())).plans[0]
    assert not final.is_native, final.reason


def test_measured_keeps_numpy_for_tiny_arrays():
    decorated = aj.autocluster(lambda x: x + 1)
    x = np.ones(3)
    start = time.perf_counter()
    while time.perf_counter() - start < 1.5:
        np.testing.assert_array_equal(decorated(x), 2)
        if decorated.cache_info().compiles:
            break
    for _ in range(50):
        np.testing.assert_array_equal(decorated(x), 2)
    (probe,) = decorated.__autojit_controller__.probes.values()
    assert decorated.cache_info().compiles == 0 or probe.plans[0].reason.id == "slower"
    assert decorated.cache_info().hits < 20


def test_measured_leaves_data_errors_to_numpy(monkeypatch):
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr(Heat, "best", 1.0)

    def f(a, i):
        a[0] = 7
        return a[i] * 2

    decorated = aj.autocluster(f)
    for turn in range(12):
        a = np.arange(5.0)
        index = np.array([1, 9 if turn % 3 == 2 else 2])
        if turn % 3 == 2:
            with pytest.raises(IndexError, match="index 9 is out of bounds"):
                decorated(a, index)
        else:
            np.testing.assert_array_equal(decorated(a, index), [2, 4])
        assert a[0] == 7
        BACKGROUND.wait()
    assert decorated.cache_info().hits and decorated.cache_info().traps


# ---- failures inside autojit


@pytest.mark.parametrize(
    ("module", "name"),
    [(maker, "capture_varying"), (maker, "prepare"), (compiler, "partition"), (compiler, "compile_step"), (compiler, "build")],
)
def test_a_failure_of_ours_is_never_the_users(monkeypatch, module, name):
    def broken(*args, **kwargs):
        raise KeyError("a mistake of ours")

    monkeypatch.setattr(module, name, broken)

    def f(a, log):
        a += 1
        log.append(a.sum())
        a *= 2
        return a

    decorated = EAGER(f)
    a, log = np.arange(3.0), []
    with warned(r"\[internal\].*KeyError.*a mistake of ours"):
        for _ in range(4):
            assert decorated(a, log) is a
    expected = np.arange(3.0)
    expected_log = []
    for _ in range(4):
        f(expected, expected_log)
    assert log == expected_log
    np.testing.assert_array_equal(a, expected)
    with pytest.raises(aj.AutojitError, match="a mistake of ours"):
        aj.jit_compile(poly)(np.ones(3))


def test_a_plan_that_fails_has_written_nothing(monkeypatch):
    def f(a, b):
        a += 1
        b *= 2
        return a.sum() + b.sum()

    monkeypatch.setattr(plan_writer, "to_scalar", lambda *_: 1 / 0)
    decorated = EAGER(f)
    a, b = np.ones(4), np.ones(4)
    with warned(r"a plan of .*failed: ZeroDivisionError"):
        assert decorated(a, b) == 16
    np.testing.assert_array_equal(a, 2)
    np.testing.assert_array_equal(b, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", aj.AutojitWarning)  # one was enough
        assert decorated(clone(a), clone(b)) == 12 + 16


def test_a_failing_lowering(monkeypatch):
    def broken(*args):
        raise RuntimeError("no program")

    monkeypatch.setattr("autojit.compile.executable.Program", broken)
    decorated = EAGER(lambda x: x * 1234.5 + 1)
    with warned("no program"):
        np.testing.assert_allclose(decorated(np.ones(3)), 1235.5)
    np.testing.assert_allclose(decorated(np.ones(3)), 1235.5)


def test_what_a_plan_makes_has_names_of_its_own():
    """A view and its base, a tuple and its parts: each is made under another name, the same in every process."""

    def parts(x):
        y = x * 2
        return y, y[1:], [y[::-1], (y.reshape(2, 2), y.sum())]

    texts = set()
    for _ in range(3):
        decorated = aj.autocluster(policy="eager", check=False)(parts)
        decorated(np.arange(4.0))
        (plan,) = decorated.__autojit_controller__.probes[0].plans
        made = re.findall(r"^    (x\d+) = ", plan.source, re.MULTILINE)
        assert len(made) == len(set(made)) >= 6
        texts.add(plan.source)
    assert len(texts) == 1


def test_a_plan_that_another_thread_has_forgotten_at_once():
    decorated = aj.autocluster(policy="eager", check=False)(poly)
    controller = decorated.__autojit_controller__
    make, made = controller._make_for, []

    def make_and_forget(probe, values, heat):
        made.append(make(probe, values, heat))
        if len(made) == 1:
            decorated.clear_cache()
        return made[-1]

    controller._make_for = make_and_forget
    with warnings.catch_warnings():
        warnings.simplefilter("error", aj.AutojitWarning)
        np.testing.assert_allclose(decorated(np.ones(3)), 5)
    assert len(made) == 2 and decorated.cache_info().plans == 1
