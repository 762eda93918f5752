"""Plans over many calls: shapes, constants and kinds of arguments that change; what is kept alive."""

from __future__ import annotations

import gc
import warnings
import weakref

import numpy as np
import pytest

import autojit as aj
from tests.attacks import rand
from tests.helpers import assert_same


def eager(function):
    return aj.autocluster(policy="eager")(function)


_seen: list[float] = []


def test_a_list_that_grows_beside_compiled_parts_is_no_storm() -> None:
    """What is not captured as a whole is asked about often, but its parts are compiled: there is nothing to warn of."""
    seen = _seen

    def f(u, n):
        for _ in range(n):
            u = np.sin(u) * 2 + np.cos(u)
            _seen.append(sorted(u.tolist())[0])
        return u

    decorated = aj.autocluster(policy="eager", max_plans=4, check=False)(f)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        got = decorated(rand(3000), 40)
    assert decorated.cache_info().hits >= 30
    first, seen[:] = seen[:], []
    np.testing.assert_allclose(got, f(rand(3000), 40))
    np.testing.assert_allclose(first, seen)


def test_many_shapes_and_constants() -> None:
    def f(x, n):
        return np.sum(x.reshape(n, -1), axis=0) * n

    decorated = eager(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=aj.AutojitWarning)
        for _ in range(3):
            for size in range(1, 14):
                np.testing.assert_allclose(decorated(rand(size * 2), 2), f(rand(size * 2), 2))
                np.testing.assert_allclose(decorated(rand(size * size), size), f(rand(size * size), size))
    assert len([w for w in caught if issubclass(w.category, aj.AutojitWarning)]) == 1


def test_too_many_plans_with_warnings_as_errors() -> None:
    def f(x):
        return x * 2

    decorated = eager(f)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        with pytest.raises(aj.AutojitWarning, match="too-many-plans"):
            for size in range(1, 20):
                decorated(rand(size))
        np.testing.assert_allclose(decorated(rand(30)), rand(30) * 2)


def test_kinds_of_one_argument() -> None:
    def f(x, k):
        if callable(k):
            return k(x) + 1
        if isinstance(k, str):
            return x * len(k)
        if k is None:
            return x
        return x * k

    def g(o, x):
        return x * o.v if hasattr(o, "v") else x

    class A:
        v = 2.0

    class B:
        def __init__(self):
            self.v = 3.0

    class C:
        pass

    calls = [np.sin, lambda v: v * 2, "ab", None, 2, rand(3), np.float32(2), len, [1, 2, 3], "abc", np.arange(3), rand(3) + 1]
    one = aj.autocluster(policy="eager", max_plans=64)(f)
    two = aj.autocluster(policy="eager", max_plans=64)(g)
    for _ in range(2):
        for k in calls:
            assert_same(one(rand(3), k), f(rand(3), k))
        for o in (A(), B(), C(), A(), 5, None, "text", rand(3)):
            np.testing.assert_allclose(two(o, rand(3)), g(o, rand(3)))
    before = one.cache_info().hits
    for k in calls[1:3]:
        one(rand(3), k)
    assert one.cache_info().hits == before + 2, "a guard of another plan failed with an exception"


def test_arguments_are_not_kept_alive() -> None:
    def f(x, y):
        z = x * 2 + y
        return z.sum(), z

    decorated = eager(f)
    for size in (10, 100_000):
        x, y = rand(size), rand(size)
        decorated(x, y)
        total, z = decorated(x, y)
        kept = [weakref.ref(a) for a in (x, y, z)]
        del x, y, z, total
        gc.collect()
        assert [ref() is None for ref in kept] == [True] * 3


def test_objects_are_not_kept_alive() -> None:
    class Model:
        def __init__(self):
            self.w = rand(5)

        def run(self, x):
            return x * self.w

    def f(model, x):
        return model.run(x) + model.w

    decorated = eager(f)
    for _ in range(3):
        model = Model()
        decorated(model, rand(5))
        decorated(model, rand(5))
        ref = weakref.ref(model)
        del model
        gc.collect()
        assert ref() is None


def test_memory_of_large_results_is_not_shared() -> None:
    def f(x, k):
        return x * k, (x + k)[::2], x[::-1] * 1

    decorated = eager(f)
    x = rand(150_000)
    kept = []
    for k in range(12):
        results = decorated(x, float(k))
        kept.append((k, results[k % 3] if k % 3 != 1 else results[1][1:]))
        if k % 4 == 3:
            del kept[0]
        results[0][:] = results[0]
        del results
    for k, array in kept:
        want = f(x, float(k))
        want = want[k % 3] if k % 3 != 1 else want[1][1:]
        np.testing.assert_allclose(array, want)


def test_writing_to_inputs_right_after_a_call() -> None:
    def f(x):
        return x * 2 + 1, x.copy()

    decorated = eager(f)
    for size in (100, 9000, 40_000, 1_000_000):
        for offset in (0, 1, 3):
            x = np.zeros(size + 8)[offset : offset + size]
            x[:] = 5
            for k in range(3):
                x[:] = k
                one, two = decorated(x)
                x[:] = -7
                assert (one == 2 * k + 1).all() and (two == k).all()
