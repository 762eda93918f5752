"""Arguments that Python refuses or places in its own way: keywords, also of builtins, and defaults that change."""
# ruff: noqa: PIE804 -- keywords in dicts are what is tested

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check

X = np.arange(1.0, 4.0)


def eager(function):
    return aj.autocluster(policy="eager")(function)


def _twice_by_name(x):
    return _scaled(x, k=2, **{"k": 3})


def _twice_by_dicts(x):
    d = {"k": 3}
    return _scaled(x, **d, **d)


def _twice_in_a_sum(x):
    return np.sum(x, axis=0, **{"axis": 0})


def _twice_in_a_nested_function(x):
    def g(y):
        return y * 2

    return x * g(x, y=3)


def _twice_in_a_lambda(x):
    return x * (lambda y: y * 2)(x, y=3)


def _pairs_for_keywords(x):
    return _scaled(x, **[("k", 2)])


def _pairs_for_a_dict(x):
    return {**[("k", x * 2)]}


def _keywords_that_are_no_strings(x):
    return _scaled(x, **{1: 2})


def _keyword_of_get(x):
    d = {"a": x}
    return x * 2, d.get("b", default=1)


def _three_for_get(x):
    d = {"a": x}
    return d.get("a", 1, 2) * 2


def _keyword_of_append(x):
    items = [x * 2]
    items.append(x, object=3)
    return items


def _vectorize_twice(x):
    return np.vectorize(lambda v: v * 2, [float], otypes=[float])(x)


def _scaled(x, k=1):
    return x * k


@pytest.mark.parametrize(
    "function",
    [
        _twice_by_name, _twice_by_dicts, _twice_in_a_sum, _twice_in_a_nested_function, _twice_in_a_lambda,
        _pairs_for_keywords, _pairs_for_a_dict, _keywords_that_are_no_strings, _keyword_of_get, _three_for_get,
        _keyword_of_append, _vectorize_twice,
    ],
)  # fmt: skip
def test_keywords_given_twice(function) -> None:
    check(function, X)


def test_keywords_given_once() -> None:
    def f(x):
        d = {"k": 3}
        return _scaled(x, **d), np.sum(x, **{"axis": 0}), (lambda y, z=2: y * z)(x, z=4), {**d, "k": 5}

    check(f, X, whole=True)


BUILTINS = [
    lambda x: len(value=x) * x,
    lambda x: x * abs(value=x),
    lambda x: x * float(value=3),
    lambda x: x * bool(value=1),
    lambda x: x * complex(value=1),
    lambda x: x * round(value=x[0]),
    lambda x: x * round(2.5, digits=0),
    lambda x: x * sum(sequence=x),
    lambda x: x * sum([], ""),
    lambda x: x * len(list(sequence=x)),
    lambda x: x * len(tuple(sequence=x)),
    lambda x: x * isinstance(value=x, kinds=np.ndarray),
    lambda x: x * callable(value=x),
    lambda x: x * any(sequence=x),
    lambda x: x * getattr(x, "ndim", 1, 2),
    lambda x: pow(base=x, exponent=2),
    lambda x: [x * n for n, _ in enumerate(sequence=x)],
    lambda x: [x * n for n in map(function=float, iterable=x)],
    lambda x: [x * n for n in reversed(value=x)],
]
KEYWORDS = [
    lambda x: x * round(number=2.5, ndigits=0),
    lambda x: sum([x, x], start=x * 2),
    lambda x: [x * n for n, _ in enumerate(iterable=[1, 2], start=3)],
    lambda x: x * int("11", base=2),
    lambda x: x * complex(real=1, imag=2),
    lambda x: x * max([1, 2], key=lambda v: -v),
    lambda x: x * min([], default=4),
    lambda x: pow(base=x, exp=2),
    lambda x: x * pow(base=3, exp=2, mod=5),
]


@pytest.mark.parametrize("number", range(len(BUILTINS)))
def test_builtins_take_no_other_keywords(number) -> None:
    check(BUILTINS[number], X)


@pytest.mark.parametrize("number", range(len(KEYWORDS)))
def test_keywords_of_builtins(number) -> None:
    check(KEYWORDS[number], X)


@pytest.mark.parametrize("digits", [-1, 0, 2, None, True, -2])
def test_round_of_a_loop_variable(digits) -> None:
    def f(x, digits):
        for i in range(60):
            x[i] = round(i, digits)
        return x

    def constant(x):
        for i in range(60):
            x[i] = round(i, -1) + round(i) + round(i, 3)
        return x

    check(f, np.zeros(60), digits)
    check(constant, np.zeros(60))


LOG: list[int] = []


def _native(x, *, z=1):
    LOG.append(1)
    y = x * z
    return y + 1


def _captured(x, *, z=1.0):
    return x * z


def _positional(x, a=1.0, b=2.0):
    return x * a + b


@pytest.mark.parametrize("callee", [_native, _captured])
def test_keyword_only_defaults_that_are_changed(callee) -> None:
    def f(x):
        y = x + 1
        return callee(y)

    before = callee.__kwdefaults__
    callee.__kwdefaults__ = dict(before)
    try:
        d = eager(f)
        for change in (
            lambda: None,
            lambda: callee.__kwdefaults__.update(z=5),
            lambda: callee.__kwdefaults__.update(z=2.5),
            lambda: setattr(callee, "__kwdefaults__", {"z": 7}),
        ):
            change()
            for _ in range(2):
                assert np.array_equal(d(X), f(X))
        callee.__kwdefaults__ = None
        with pytest.raises(TypeError, match="required keyword-only"):
            d(X)
    finally:
        callee.__kwdefaults__ = before


def test_keyword_only_defaults_of_the_function_itself() -> None:
    def f(x, *, z=1):
        return x * z

    d = eager(f)
    for z in (1, 5, 2.5):
        f.__kwdefaults__["z"] = z
        assert np.array_equal(d(X), f(X))


def test_defaults_whose_number_is_changed() -> None:
    def f(x):
        y = x + 1
        return _positional(y)

    before = _positional.__defaults__
    try:
        d = eager(f)
        for defaults in (before, (9.0, 3.0, 4.0), (5.0, 6.0)):
            _positional.__defaults__ = defaults
            for _ in range(2):
                assert np.array_equal(d(X), f(X))
        _positional.__defaults__ = (5.0,)
        with pytest.raises(TypeError, match="missing"):
            d(X)
    finally:
        _positional.__defaults__ = before
