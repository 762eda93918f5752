"""Floating point error states: what ignores errors is compiled, what asks for them is NumPy's."""

import warnings

import numpy as np
import pytest

import autojit as aj


def ignores(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(x > 0, np.log(x), -np.inf)
    return y.max(), np.isfinite(y).sum()


def ignores_all(x):
    with np.errstate(all="ignore"):
        for _ in range(3):
            if x.sum() > 1e9:
                return x * 2
            x = np.sqrt(x) / (x - 1)
    return x


def beside_the_host(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        values, counts = np.unique(1 / x, return_counts=True)
        return values, counts, np.partition(np.log(x - 2), 3)


def raises(x):
    with np.errstate(divide="raise"):
        return 1 / x


def warns(x):
    with np.errstate(under="warn"):
        return x * 1e-300 * 1e-300


def of_a_name(x, how):
    with np.errstate(divide=how):
        return 1 / x


def with_a_target(x):
    with np.errstate(divide="ignore") as state:
        return 1 / x, state


X = np.linspace(0.0, 2.0, 101)


def call(function, *arguments):
    try:
        result = function(*arguments)
    except FloatingPointError as error:
        return type(error), str(error)
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("function", [ignores, ignores_all, beside_the_host, raises, warns, with_a_target])
@pytest.mark.parametrize("around", ["default", "ignore", "raise"])
def test_the_same_as_numpy(function, around):
    fast = aj.autocluster(function, policy="eager")
    state = {} if around == "default" else {"all": around}
    for _ in range(3):
        with warnings.catch_warnings(record=True) as found_warnings, np.errstate(**state):
            warnings.simplefilter("default")
            found = call(fast, X)
        with warnings.catch_warnings(record=True) as expected_warnings, np.errstate(**state):
            warnings.simplefilter("default")
            expected = call(function, X)
        for one, other in zip(found, expected, strict=True):
            if isinstance(one, np.ndarray):
                np.testing.assert_allclose(one, other, rtol=1e-15)
            else:
                assert one == other
        # Fewer warnings where it is compiled, but none that NumPy would not give.
        assert {str(one.message) for one in found_warnings} <= {str(one.message) for one in expected_warnings}


@pytest.mark.parametrize("function", [ignores, ignores_all])
def test_one_program(function):
    fast = aj.autocluster(function, policy="eager")
    fast(X)
    assert fast.explain(X).is_whole and fast.cache_info().hits == 1


def test_around_a_call():
    fast = aj.autocluster(lambda x: 1 / x + np.log(x), policy="eager")
    with np.errstate(all="ignore"):
        fast(X)
        fast(X)
    assert fast.cache_info().hits == 2
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        fast(X)
    calls = []
    with np.errstate(all="call", call=lambda kind, flag: calls.append(kind)):
        fast(X)
    assert calls and fast.cache_info().hits == 2


def test_a_state_that_is_an_argument():
    fast = aj.autocluster(of_a_name, policy="eager")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's own, where it is told to warn
        for how in ("ignore", "warn", "ignore", "raise"):
            found, expected = call(fast, X, how), call(of_a_name, X, how)
            assert type(found[0]) is type(expected[0]) and np.array_equal(found[0], expected[0])


def test_numpy_is_not_heard_while_a_call_is_captured():
    fast = aj.autocluster(lambda x: np.unique(1 / x), policy="eager")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        fast(X)
    assert fast.cache_info().hits == 1 and not seen
