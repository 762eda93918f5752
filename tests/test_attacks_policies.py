"""Random numbers, printing and clocks, the same under every policy and when switched off."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

import autojit as aj
from tests.attacks import rand, sequence


def eager(function):
    return aj.autocluster(policy="eager")(function)


def test_random_numbers() -> None:
    def legacy(n):
        a = np.random.rand(n) * 2
        b = np.random.randn(n, 2).sum(axis=1)
        np.random.shuffle(a)
        c = np.random.randint(0, 10, n)
        d = np.random.choice(a, 2)
        return a + b + c, d, np.random.random(), np.random.normal(0, 1, 3), np.random.permutation(n)

    def generator(rng, n):
        x = rng.normal(size=n) * 2
        y = rng.integers(0, 5, n) + rng.random(n)
        return x + y, rng.standard_normal()

    def branches(n):
        x = np.random.rand(n)
        if x[0] > 0.5:
            x = x + np.random.rand(n)
        return x * np.random.rand()

    def loop(n):
        total = 0.0
        for _ in range(n):
            total = total + np.random.rand() * np.random.exponential(2.0)
        return total

    def state(seed):
        r = np.random.RandomState(seed)
        g = np.random.default_rng(seed)
        return r.rand(3) * 2, g.random(3) + 1

    def seeded(n):
        np.random.seed(n)
        return np.random.rand(3) * 2

    for function in (legacy, branches, loop, seeded):
        decorated = eager(function)
        for n in (3, 5, 3, 3, 40):
            np.random.seed(n)
            want = function(n), np.random.get_state()[1].tolist(), np.random.rand()
            np.random.seed(n)
            got = decorated(n), np.random.get_state()[1].tolist(), np.random.rand()
            assert got[1:] == want[1:], function.__name__
            flat_got = [np.asarray(v) for v in (got[0] if isinstance(got[0], tuple) else (got[0],))]
            flat_want = [np.asarray(v) for v in (want[0] if isinstance(want[0], tuple) else (want[0],))]
            for one, two in zip(flat_got, flat_want, strict=True):
                np.testing.assert_allclose(one, two)
    decorated = eager(generator)
    one, two = np.random.default_rng(3), np.random.default_rng(3)
    for n in (3, 3, 3, 4):
        for got, want in zip(decorated(one, n), generator(two, n), strict=True):
            np.testing.assert_allclose(got, want)
    assert one.bit_generator.state == two.bit_generator.state
    sequence(state, (3,), (4,), (3,))


def test_random_numbers_and_data_errors() -> None:
    def f(m, n):
        x = np.random.rand(n)
        y = np.linalg.inv(m) @ np.ones(2)
        return x[:2] * y

    def g(a, i):
        x = np.random.rand(3) * a
        return x[i] + np.random.rand()

    def run(function, *calls):
        np.random.seed(1)
        out = []
        for args in calls:
            try:
                out.append(np.asarray(function(*args)).tolist())
            except Exception as error:
                out.append(repr(error))
        return out, np.random.get_state()[1].tolist()

    good, bad = np.eye(2) * 2, np.zeros((2, 2))
    for function, calls in (
        (f, [(good, 3), (bad, 3), (good, 3), (bad, 3), (good, 3)]),
        (g, [(rand(3), np.array([0, 1])), (rand(3), np.array([0, 5])), (rand(3), np.array([2, 1]))]),
    ):
        got, want = run(eager(function), *calls), run(function, *calls)
        assert got[0] == want[0] or np.allclose([v for v in got[0] if not isinstance(v, str)], [v for v in want[0] if not isinstance(v, str)])
        assert [v for v in got[0] if isinstance(v, str)] == [v for v in want[0] if isinstance(v, str)]
        assert got[1] == want[1], "another state of the generator"


def test_printing_and_clocks(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("start", x.shape)
        y = x * 2
        print(f"{y.sum():.3f}", y[0] > 0)
        start = time.perf_counter()
        z = y + 1
        spent = time.perf_counter() - start
        assert spent >= 0
        print("end", random.random() < 2)
        return z

    decorated = eager(f)
    f(rand(3))
    want = capsys.readouterr().out
    for _ in range(3):
        decorated(rand(3))
        assert capsys.readouterr().out == want


def test_policies_agree() -> None:
    def f(x, n, log):
        y = np.sin(x) * n
        total = 0.0
        for k in range(n):
            y = y + k * 0.5
            y[0] += total
            total += float(y[1] > 0)
        x[0] = y.sum()
        log.append(total)
        return y, total, x

    for policy in ("eager", "measured", "native"):
        decorated = aj.autocluster(policy=policy)(f)
        for size in (5, 5000, 5, 5000, 5, 5):
            for n in (2, 3):
                one, two = rand(size), rand(size)
                log_one: list = []
                log_two: list = []
                for got, want in zip(decorated(one, n, log_one), f(two, n, log_two), strict=True):
                    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)
                assert log_one == log_two
                np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-13)


def test_measured_changes_nothing() -> None:
    def f(a, b):
        a += np.random.rand(a.size)
        b[:] = a * 2
        return a.sum()

    decorated = aj.autocluster(f)
    one, two = [np.zeros(200_000) for _ in range(2)], [np.zeros(200_000) for _ in range(2)]
    np.random.seed(0)
    want = [f(*two) for _ in range(12)]
    np.random.seed(0)
    got = [decorated(*one) for _ in range(12)]
    np.testing.assert_allclose(got, want)
    np.testing.assert_allclose(one, two)


def test_switching_off() -> None:
    def f(x):
        note = x.sum()
        return x * 2 + note

    decorated = eager(f)
    for mode in (True, False, True):
        aj.set_jit(mode)
        try:
            np.testing.assert_allclose(decorated(rand(3)), f(rand(3)))
        finally:
            aj.set_jit(True)
    decorated.clear_cache()
    np.testing.assert_allclose(decorated(rand(3)), f(rand(3)))
    aj.clear_cache()
    np.testing.assert_allclose(decorated(rand(3)), f(rand(3)))
