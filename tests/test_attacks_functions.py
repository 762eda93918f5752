"""Decorated functions: wrapped, decorated twice, as methods, without source, in threads; what others see of them."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
import threading
import types

import numpy as np

import autojit as aj
from tests.attacks import rand
from tests.helpers import check


def eager(function):
    return aj.autocluster(policy="eager")(function)


def test_wrapped_decorated_functions() -> None:
    def twice(function):
        @functools.wraps(function)
        def inner(*args):
            return 2 * function(*args)

        return inner

    @twice
    @aj.autocluster(policy="eager")
    def g(x):
        return x + 1

    def f(x):
        return g(x) * 10

    x = rand(3)
    np.testing.assert_allclose(g(x), 2 * (x + 1))
    np.testing.assert_allclose(eager(f)(x), 20 * (x + 1))
    np.testing.assert_allclose(eager(g)(x), 2 * (x + 1))
    np.testing.assert_allclose(aj.jit_compile(lambda v: g(v) + 0)(x), 2 * (x + 1))


def test_decorated_twice() -> None:
    def f(x, k=2):
        return x * k

    once = eager(f)
    twice = eager(once)
    x = rand(3)
    once.__defaults__ = (5,)
    np.testing.assert_allclose(once(x), x * 5)
    np.testing.assert_allclose(twice(x), x * 2)
    np.testing.assert_allclose(aj.jit_compile(eager(aj.jit_compile(f)))(x, 3), x * 3)


def module_level(x, k=2, *args, flag=False, **rest):
    """Text."""
    return x * k + len(args) + len(rest) + flag


module_level_decorated = aj.autocluster(policy="eager")(module_level)
module_level_decorated.__qualname__ = module_level_decorated.__name__ = "module_level_decorated"


def test_what_others_see_of_a_decorated_function() -> None:
    decorated = eager(module_level)
    decorated(rand(3))
    assert inspect.signature(decorated) == inspect.signature(module_level)
    assert inspect.getsource(decorated) == inspect.getsource(module_level)
    assert inspect.isfunction(decorated) and decorated.__doc__ == "Text." and decorated.__name__ == "module_level"
    assert decorated.__module__ == module_level.__module__
    assert pickle.loads(pickle.dumps(module_level_decorated)) is module_level_decorated
    for again in (copy.copy(decorated), copy.deepcopy(decorated)):
        np.testing.assert_allclose(again(rand(3), 3, 4, flag=True, z=1), module_level(rand(3), 3, 4, flag=True, z=1))
    assert decorated == decorated and hash(decorated) == hash(decorated)
    clone = types.FunctionType(
        decorated.__code__, decorated.__globals__, "clone", decorated.__defaults__, decorated.__closure__
    )
    clone.__kwdefaults__ = decorated.__kwdefaults__
    np.testing.assert_allclose(clone(rand(3), 5), rand(3) * 5)


class Methods:
    """Decorated methods of all kinds."""

    k = 3.0

    def __init__(self):
        self.w = rand(3)

    @aj.autocluster(policy="eager")
    def plain(self, x, n=2):
        self.w += 1
        return x * self.k + self.w * n

    @staticmethod
    @aj.autocluster(policy="eager")
    def inner_static(x):
        return x * 2

    @aj.autocluster(policy="eager")
    @staticmethod
    def outer_static(x):
        return x * 3

    @classmethod
    @aj.autocluster(policy="eager")
    def inner_class(cls, x):
        return x * cls.k

    @aj.autocluster(policy="eager")
    @classmethod
    def outer_class(cls, x):
        return x * cls.k + 1

    @property
    @aj.autocluster(policy="eager")
    def size(self):
        return np.sum(self.w) * 2

    @aj.autocluster(policy="eager")
    def __call__(self, x):
        return self.plain(x) + self.outer_static(x)

    @aj.autocluster(policy="eager")
    def private(self, x):
        __y = x * 2
        self.__w = __y
        return self.__w + __y


class MoreMethods(Methods):
    """Inherits decorated methods."""

    k = 5.0

    @aj.autocluster(policy="eager")
    def plain(self, x, n=3):
        return super().plain(x, n) * 2


def test_methods() -> None:
    x = rand(3)
    for kind in (Methods, MoreMethods):
        for _ in range(2):
            m = kind()
            k = kind.k
            factor = 1 if kind is Methods else 2
            np.testing.assert_allclose(m.plain(x, 2), factor * (x * k + (rand(3) + 1) * 2))
            np.testing.assert_allclose(m.inner_static(x), x * 2)
            np.testing.assert_allclose(kind.outer_static(x), x * 3)
            np.testing.assert_allclose(m.inner_class(x), x * k)
            np.testing.assert_allclose(kind.outer_class(x), x * k + 1)
            np.testing.assert_allclose(m.size, np.sum(rand(3) + 1) * 2)
            np.testing.assert_allclose(m.private(x), x * 4)
            m = kind()
            got = m(x)
            n = 2 if kind is Methods else 3
            np.testing.assert_allclose(got, factor * (x * k + (rand(3) + 1) * n) + x * 3)


def test_functions_in_loops_and_on_one_line() -> None:
    made = []
    for k in range(4):

        @aj.autocluster(policy="eager")
        def f(x, k=k):
            return x * k + LOOP["k"]

        made.append(f)
    x = rand(3)
    for k, f in enumerate(made):
        np.testing.assert_allclose(f(x), x * k + 1)
    a, b = eager(lambda x: x + 1), eager(lambda x: x + 2)
    c, d = (eager(g) for g in (lambda x, k=3: x * k, lambda x, k=4: x * k))
    for g, want in ((a, x + 1), (b, x + 2), (c, x * 3), (d, x * 4)):
        np.testing.assert_allclose(g(x), want)


LOOP = {"k": 1}


def test_functions_without_source() -> None:
    space: dict = {"np": np}
    exec("def f(x, k=2):\n    y = x * k\n    return np.sum(y), y\n", space)
    decorated = eager(space["f"])
    for got, want in zip(decorated(rand(3)), space["f"](rand(3)), strict=True):
        np.testing.assert_allclose(got, want)

    def caller(x):
        return space["f"](x)[1] + 1

    check(caller, rand(3))
    text = "def f(x):\n    return x * 2\n"
    exec(compile(text, __file__, "exec"), space)
    np.testing.assert_allclose(eager(space["f"])(rand(3)), rand(3) * 2)


def test_threads() -> None:
    def f(x, n):
        y = np.sin(x) * n
        z = np.zeros_like(x)
        z[1:] = y[:-1]
        for k in range(3):
            z = z + y * k
        return z, y.sum()

    decorated = eager(f)
    sizes = [3, 50, 1000, 20_000, 100_000]
    inputs = [rand(size) for size in sizes]
    wanted = [f(x, 2.0) for x in inputs]
    failures: list = []

    def work(seed):
        order = np.random.default_rng(seed).integers(0, len(sizes), 40)
        try:
            kept = []
            for number in order:
                kept.append((number, decorated(inputs[number], 2.0)))
            for number, got in kept:
                np.testing.assert_allclose(got[0], wanted[number][0], rtol=1e-12, atol=1e-12)
                np.testing.assert_allclose(got[1], wanted[number][1])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_threads_with_splits_and_effects() -> None:
    def f(x, out):
        y = np.cos(x) * 2
        out.append(threading.get_ident() == 0)
        z = y + x
        z[0] = y.sum()
        out.append(float(z.sum()))
        return z * y

    decorated = eager(f)
    wanted_log: list = []
    wanted = f(rand(5000), wanted_log)
    failures: list = []

    def work():
        for _ in range(20):
            log: list = []
            got = decorated(rand(5000), log)
            try:
                np.testing.assert_allclose(got, wanted, rtol=1e-12)
                np.testing.assert_allclose(log, wanted_log, rtol=1e-12)
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
