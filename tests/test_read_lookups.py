"""Findings of a second reading: look-ups that run code, what is asked for its class, what reports change, and moving slices."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

import autojit as aj


class Lazily(classmethod):
    def __get__(self, obj, cls=None):
        return self.__func__(cls or type(obj))


class Static(staticmethod):
    def __get__(self, obj, cls=None):
        return self.__func__(obj)


def classes():
    class Heir:
        count, log = np.zeros(1000), []

        @Lazily
        def writer(cls):
            cls.count += 1.0
            return cls.log.append

    class OfAProperty:
        count, log = np.zeros(1000), []

        @classmethod
        @property
        def writer(cls):
            cls.count += 1.0
            return cls.log.append

    class Other:
        count, log = np.zeros(1000), []

        @Static
        def writer(self):
            self.count += 1.0
            return self.log.append

    return [Heir, OfAProperty, Other]


@pytest.mark.parametrize("number", range(3))
def test_a_lookup_that_runs_code_runs_it_once_and_first(number):
    def write(s):
        s.writer(s.count * 2.0)

    found = []
    for function in (write, aj.autocluster(write, policy="eager")):
        kind = classes()[number]
        try:
            for _ in range(3):
                function(kind())
        except TypeError:  # a property of a class is not read from Python 3.13 on
            found.append("TypeError")
            continue
        found.append(([a[0] for a in kind.log], kind.count[0]))
    assert found[0] == found[1]


def test_a_property_of_a_record_made_here_goes_first():
    sink = []

    @dataclass
    class Writer:
        buffer: np.ndarray

        @property
        def put(self):
            self.buffer[:] = 0.0
            return sink.append

    def write(x):
        w = Writer(x)
        w.put((x * 2.0).sum())

    for function in (write, aj.autocluster(write, policy="eager")):
        function(np.arange(5.0))
    assert sink == [0.0, 0.0]


class Proxy:
    def __init__(self, make):
        self.make = make

    @property
    def __class__(self):
        return type(self.make())

    def __call__(self, *args):
        return self.make()(*args)


def load():
    raise RuntimeError("not configured yet")


def test_a_proxy_is_not_loaded_before_it_is_called(monkeypatch):
    monkeypatch.setitem(globals(), "model", Proxy(load))

    def using(x, use=False):
        if use:
            return model(np.sin(x))  # noqa: F821 -- it is not there, or not yet
        for _ in range(3):
            x = np.sin(x) * 2
        return x

    fast, x = aj.autocluster(using), np.ones(100_000)
    for _ in range(300):
        fast(x)


def noise(rng):
    sink = 2.0
    return rng.normal(size=4) * sink


def test_nothing_is_drawn_before_a_function_is_found_missing():
    def write(rng):
        hook(rng.normal(size=4) * 2.0)  # noqa: F821 -- it is not there, or not yet

    def local(rng, use=False):
        if use:
            record = print
        record(rng.normal(size=4) * 2.0)

    def by_a_helper(rng):
        sink(noise(rng) * 2.0)  # noqa: F821 -- it is not there, but a local of the helper's is

    def seeding(rng):
        hook(np.random.seed(3))  # noqa: F821 -- it is not there, or not yet

    for function in (write, local, by_a_helper):
        states = []
        for one in (function, aj.autocluster(function, policy="eager")):
            rng = np.random.default_rng(0)
            with pytest.raises(NameError):
                one(rng)
            states.append(rng.random())
        assert states[0] == states[1]
    np.random.seed(0)
    with pytest.raises(NameError):
        aj.autocluster(seeding, policy="eager")(None)
    assert np.random.random() == np.random.RandomState(0).random_sample()


def test_what_a_function_given_as_an_argument_holds_is_freed():
    @aj.autocluster(policy="eager")
    def apply(g, x):
        return g(x) + 1.0

    def main():
        big = np.ones(100_000)
        apply(lambda x: x * big[0], np.ones(5))
        apply(lambda x, held=big: x * held[0], np.ones(5))
        return weakref.ref(big)

    big = main()
    gc.collect()
    assert big() is None


def test_functions_that_hold_each_other_are_kept():
    def main():
        def even(n):
            return n == 0 or odd(n - 1)

        def odd(n):
            return n != 0 and even(n - 1)

        return even

    even = main()

    @aj.autocluster(policy="eager")
    def apply(g, x):
        return np.sin(x) * 2 if g(4) else x

    np.testing.assert_allclose(apply(even, np.ones(5)), np.sin(np.ones(5)) * 2, rtol=1e-12)
    assert apply.explain(even, np.ones(5)).clusters


def test_many_functions_that_hold_each_other():
    def make(n):
        lines = ["def main():"]
        lines += [f"    def g{k}(x): return x if x < 1 else {' + '.join(f'g{j}(x - 9)' for j in range(n))}" for k in range(n)]
        exec("\n".join([*lines, "    return g0"]), names := {})
        return names["main"]()

    @aj.autocluster(policy="eager")
    def apply(g, x):
        return np.sin(x) * g(0.5)

    np.testing.assert_allclose(apply(make(14), np.ones(5)), np.sin(np.ones(5)) * 0.5, rtol=1e-12)


def test_explain_leaves_what_is_known_of_results_alone():
    def distinct(x):
        return np.sin(np.unique(x)) * 2

    fast = aj.autocluster(distinct, policy="eager")
    fast.explain(np.zeros(50))
    x = np.arange(50.0)
    for _ in range(3):
        np.testing.assert_allclose(fast(x), distinct(x), rtol=1e-12)
    assert fast.cache_info().traps == 0


# ---- moving slices


def window(x, m):
    for i in range(5):
        t = x[i : i + m].sum()
    return t


def window_that_ends(x, m):
    for i in range(10):
        if x[i] >= 0:
            return x[i : i + m].sum()
    return -1.0


@pytest.mark.parametrize("function", [window, window_that_ends])
@pytest.mark.parametrize("m", [-5, -2, -1, 0, 1, 3])
def test_windows_that_end_at_a_place_counted_from_the_end(function, m):
    x = np.arange(10.0)
    np.testing.assert_allclose(aj.autocluster(function, policy="eager")(x, m), function(x, m), rtol=1e-12)


def added(part):
    def function(x):
        s = 0.0
        for i in range(5, 20):
            s += part(x, i).sum()
        return s

    return function


@pytest.mark.parametrize(
    "part",
    [
        lambda x, i: np.fliplr(x[:i]),
        lambda x, i: np.flip(x[:i], 1),
        lambda x, i: np.flip(x[:i], axis=-3),
        lambda x, i: np.flip(x[:i], (0, 0)),
        lambda x, i: np.flip(x[:i], np.int64(0)),
        lambda x, i: x[:i].transpose(0),
        lambda x, i: x[:i].transpose(2, 3),
        lambda x, i: np.transpose(x[:i], (0, 1)),
    ],
)
@pytest.mark.parametrize("shape", [(20,), (20, 3)])
def test_axes_of_moving_slices(part, shape):
    function, x = added(part), np.arange(float(np.prod(shape))).reshape(shape)
    try:
        wanted = function(x)
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            aj.autocluster(function, policy="eager")(x)
        assert type(caught.value) is type(error) and str(caught.value) == str(error)
    else:
        np.testing.assert_allclose(aj.autocluster(function, policy="eager")(x), wanted, rtol=1e-12)
