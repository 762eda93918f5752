"""Calls: strict ones, tracebacks, calls in calls, recursion, generators, threads, functions that Python calls."""

from __future__ import annotations

import inspect
import threading
import traceback
import warnings

import numpy as np
import pytest

import autojit as aj
from tests.attacks import rand
from tests.helpers import check


def eager(function):
    return aj.autocluster(policy="eager")(function)


def test_strict_compilation() -> None:
    def f(a, b, n=2):
        a += b
        c = a[::-1]
        c[0] = n
        return a, c, (a * b).sum(), {"k": [b * n]}

    check(f, rand(4), rand(4), decorator=aj.jit_compile)
    check(f, rand(4), rand(4), 3.5, decorator=aj.jit_compile)
    strict = aj.jit_compile(f)
    base = rand(6)
    with pytest.raises(aj.UncompilableError, match="shape mismatch"):
        strict(rand(3), rand(4))
    plain = base.copy()
    want = f(plain[:4], plain[2:])
    got = strict(base[:4], base[2:])
    np.testing.assert_allclose(got[0], want[0])
    np.testing.assert_allclose(base, plain)


def test_tracebacks() -> None:
    def inner(a, n):
        b = a * 2
        return b[n]

    def f(a, n):
        c = a + 1
        d = inner(c, n)
        return d * 2

    decorated = eager(f)
    decorated(rand(3), 1)
    for _ in range(2):
        with pytest.raises(IndexError) as found:
            decorated(rand(3), 7)
        error = found.value
        frames = [(frame.name, frame.line) for frame in traceback.extract_tb(error.__traceback__)]
        assert ("inner", "return b[n]") in frames and ("f", "d = inner(c, n)") in frames
        assert error.__context__ is None and error.__cause__ is None


def _as_it_is(function):
    return function


def test_lines_below_decorators() -> None:
    """Code begins at the first decorator, and its lines are counted from there."""

    def plain(a, n):
        b = a + 1
        print("", end="")
        return b[n] * 2

    @eager
    def one(a, n):
        b = a + 1
        print("", end="")
        return b[n] * 2

    @eager
    @aj.autocluster(
        policy="eager",
        max_plans=3,
    )
    @_as_it_is
    def many(
        a,
        n,
    ):
        """Doubles."""
        b = a + 1
        print("", end="")
        return b[n] * 2

    for function in (one, many):
        assert inspect.getsource(function).lstrip().startswith("@eager")
        for n in (1, 1, 7, 7):
            try:
                assert function(np.ones(3), n) == plain(np.ones(3), n)
            except IndexError as error:
                assert n == 7
                last = traceback.extract_tb(error.__traceback__)[-1]
                assert (last.name, last.line) == (function.__name__, "return b[n] * 2")
            else:
                assert n == 1


def test_reentrant_calls() -> None:
    def f(x, callback):
        y = x * 2
        callback(y)
        return y + 1

    decorated = eager(f)
    seen = []

    def callback(y):
        seen.append(y.sum())
        if len(seen) < 4:
            decorated(y, callback)

    np.testing.assert_allclose(decorated(rand(4), callback), rand(4) * 2 + 1)
    np.testing.assert_allclose(seen, [rand(4).sum() * 2**k for k in range(1, 5)])


def test_recursion() -> None:
    @aj.autocluster(policy="eager")
    def depth(x, n):
        if n == 0:
            return x
        return depth(x * 1.5 + 1, n - 1) + 0.5

    def plain(x, n):
        return x if n == 0 else plain(x * 1.5 + 1, n - 1) + 0.5

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "autojit .too-many-plans", aj.AutojitWarning)  # answers are compared
        for n in (0, 1, 5, 40):
            np.testing.assert_allclose(depth(rand(3), n), plain(rand(3), n))


def test_generators_and_coroutines() -> None:
    @aj.autocluster(policy="eager")
    def numbers(x, n):
        y = x * 2
        for k in range(n):
            y = y + k
            sent = yield y.sum()
            if sent is not None:
                y = y * sent
        return y

    def run(function):
        g = function(rand(3), 4)
        out = [next(g), g.send(2.0), next(g), g.send(3.0)]
        try:
            next(g)
        except StopIteration as stop:
            out.append(stop.value.sum())
        return out

    np.testing.assert_allclose(run(numbers), run(numbers.__wrapped__))
    np.testing.assert_allclose(run(numbers), run(numbers.__wrapped__))

    async def compute(x):
        y = x * 2
        return y.sum()

    def drive(function):
        try:
            function(rand(3)).send(None)
        except StopIteration as stop:
            return stop.value
        return None

    np.testing.assert_allclose(drive(eager(compute)), drive(compute))


def test_threads_and_changing_shapes() -> None:
    def f(x, log):
        y = np.exp(-(x**2))
        log.append(y.shape)
        z = np.cumsum(y)
        z[1:] -= y[:-1]
        return z * 2, y

    decorated = eager(f)
    failures: list = []

    def work(seed):
        try:
            for k in range(25):
                x = rand((seed * 7 + k * 3) % 6 * 5000 + 5)
                log: list = []
                got = decorated(x, log)
                want = f(x, [])
                assert log == [x.shape]
                for one, two in zip(got, want, strict=True):
                    np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def counted(x):
    """Has state of its own."""
    counted.calls += 1
    return x * counted.calls


counted.calls = 0


def shifted(x, *, by=1):
    """A keyword-only default that may change."""
    return x + by


def test_functions_that_native_statements_call() -> None:
    def f(x, log):
        y = x * 2
        log.append(counted(y))
        z = shifted(y)
        log.append([shifted(v) for v in (z, y)])
        log.append({k: shifted(z, by=k) for k in range(2)})
        log.append(sum(shifted(v).sum() for v in (z, y)))
        log.append((lambda v: shifted(v) * 2)(z))
        log.append(list(map(shifted, [z, y])))
        return z

    def run(function):
        counted.calls = 0
        out = []
        try:
            for by in (1, 2, 3):
                shifted.__kwdefaults__ = {"by": by}
                log: list = []
                out.append((function(rand(3), log), log))
            shifted.__kwdefaults__["by"] = 10
            log = []
            out.append((function(rand(3), log), log))
        finally:
            shifted.__kwdefaults__ = {"by": 1}
        return repr(out)

    assert run(eager(f)) == run(f)
