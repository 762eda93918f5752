"""What changes between two calls, where a plan might not look."""

import builtins
import functools
import math
import time
import types
import warnings

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check_calls

module = types.ModuleType("module")


class Model:
    def __init__(self, weights):
        self.weights = weights

    @functools.cached_property
    def total(self):
        return float(self.weights.sum())


class Lazy:
    def __get__(self, instance, owner):
        return instance.weights.sum()


class Other:
    total = Lazy()

    def __init__(self, weights):
        self.weights = weights


def step(model, x):
    model.weights += x
    return x * model.total


def either(model, x):
    if x.sum() > 0:
        y = x * model.total
    else:
        y = x * 1.0
    return y


def after_an_index(model, x):
    y = x[[9]]
    return y * model.total


@pytest.mark.parametrize("kind", [Model, Other])
@pytest.mark.parametrize("function", [step, either, after_an_index])
def test_what_a_class_computes_once_is_computed_where_python_does(function, kind):
    def run(f):
        seen = []
        for present in (True, True, False, True, False):
            for sign in (1.0, -1.0):
                model = kind(np.ones(3))
                if present:
                    vars(model)["total"] = 2.5
                try:
                    seen.append(f(model, np.ones(3) * sign).tolist())
                except IndexError as error:
                    seen.append(str(error))
                seen.append((model.weights.tolist(), vars(model).get("total")))
        return seen

    assert run(aj.autocluster(function, policy="eager")) == run(function)


def test_data_in_modules_that_do_not_change(monkeypatch):
    def function(x):
        return x * SCALE + np.OFFSET + math.SHIFT + np.pi + math.e  # noqa: F821 -- a test puts it into `builtins`

    decorated = aj.autocluster(function, policy="eager")
    values = [(1.0, 0, np.zeros(3)), (2.0, 0, np.zeros(3)), (np.ones(3), 100, 0.5), (True, 10**20, None)]
    for scale, offset, shift in values:
        monkeypatch.setattr(builtins, "SCALE", scale, raising=False)
        monkeypatch.setattr(np, "OFFSET", offset, raising=False)
        monkeypatch.setattr(math, "SHIFT", shift, raising=False)
        for _ in range(2):
            if shift is None:
                with pytest.raises(TypeError):
                    decorated(np.ones(3))
            else:
                np.testing.assert_array_equal(decorated(np.ones(3)), function(np.ones(3)))
    monkeypatch.delattr(builtins, "SCALE")
    with pytest.raises(NameError, match="SCALE"):
        decorated(np.ones(3))


@pytest.mark.parametrize("text", [lambda s: f"{s!r}", repr, str, lambda s: f"{[s]}"])
def test_texts_of_numbers_follow_the_print_options(text):
    def function(x, s):
        return x * 2, text(s)

    decorated = aj.autocluster(function, policy="eager")
    x, s = np.ones(3), np.float64(1 / 3)
    for legacy in (False, "1.25", False, "1.13", "1.25"):
        with np.printoptions(legacy=legacy):
            assert decorated(x, s)[1] == function(x, s)[1]


def test_a_module_is_asked_for_a_name_once(monkeypatch):
    asked = []

    def look_up(name):
        asked.append(name)
        raise AttributeError(name)

    def function(x, i):
        y = x[i]
        return y * 2 if hasattr(module, "fast") else y * 3

    monkeypatch.setattr(module, "__getattr__", look_up, raising=False)
    decorated = aj.autocluster(function, policy="eager")
    for count in (1, 2):
        decorated(np.ones(3), np.array([0]))
        assert len(asked) == count
    with pytest.raises(IndexError):
        decorated(np.ones(3), np.array([9]))
    assert len(asked) == 2


def quiet_logarithm(x, s):
    with np.errstate(all="ignore"):
        return x * np.log(s)


def quiet_overflow(x, s):
    with np.errstate(all="ignore"):
        return x * 1e300


def quiet_choice(x, s):
    with np.errstate(all="ignore"):
        return np.where(x > 1, np.float32(1e300), x)


def quiet_division(x, s):
    with np.errstate(divide="ignore", invalid="ignore"):
        return x * (np.float64(1) / np.float64(s))


def branch_not_taken(x, s):
    if x[0] > 0:
        y = x * np.log(s)
    else:
        y = x
    return y


@pytest.mark.parametrize("function", [quiet_logarithm, quiet_overflow, quiet_choice, quiet_division, branch_not_taken])
def test_plans_do_not_warn(function):
    decorated = aj.autocluster(function, policy="eager")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for dtype in (np.float64, np.float32):
            for s in (2.0, 0.0, 2.0):
                x = np.arange(3, dtype=dtype)
                got = decorated(x, s)
                with np.errstate(all="ignore"):
                    want = function(x, s)
                    np.testing.assert_allclose(got, want, rtol=1e-6 if want.dtype == np.float32 else 1e-12)
                assert got.dtype == want.dtype
    assert not seen


@pytest.mark.parametrize("compute", [lambda n: 3**n % 7, lambda n: (1 << n) % 7, lambda n: math.factorial(n) % 7])
def test_branches_that_are_not_taken_cost_nothing(compute):
    def function(x, n):
        if x[0] > 0:
            y = x * 2
        else:
            y = x * compute(n)
        return y

    check_calls(function, (np.ones(3), 3), (-np.ones(3), 5))
    decorated = aj.autocluster(function, policy="eager")
    decorated(np.ones(3), 3)
    start = time.perf_counter()
    for _ in range(3):
        decorated(np.ones(3), 10**7)
    assert time.perf_counter() - start < 1.0


def test_powers_with_a_modulus_are_compiled():
    def function(x, n):
        return x * pow(3, n, 1_000_003)

    check_calls(function, (np.ones(3), 3), (np.ones(3), 10**7))
    decorated = aj.autocluster(function, policy="eager")
    for n in (3, 10**7, 3):
        decorated(np.ones(3), n)
    assert decorated.cache_info().native == 0
