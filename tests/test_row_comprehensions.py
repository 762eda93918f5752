"""List comprehensions of more items than are made one by one."""

import numpy as np
import pytest

import autojit as aj
from tests.test_rows import agree


def windows(u, n):
    return np.array([u[k : k + 5].sum() for k in range(n)])


def twice(u, n):
    return [x * 2 for x in u]


def some(u, n):
    return [k for k in range(n) if u[k] > 0.5]


def pairs(u, n):
    return np.array([np.sqrt(x) + y for x, y in zip(u, u[::-1])])


def reductions(u, n):
    return [np.sum(u * x) for x in u]


def of_a_function(u, n):
    f = lambda v: v * 2 + n  # noqa: E731 -- a lambda is meant
    return np.array([f(x) for x in u])


def lengths(u, n):
    return np.array([u * x for x in u]).sum(0), len([x for x in u])


def of_an_outer_name(u, n):
    x = 5
    result = [x * 2 for x in u]
    return result, x


def python_numbers(u, n):
    return [float(x) for x in u], [int(x * 5) for x in u]


def in_a_dict(u, n):
    return {"a": [x + 1 for x in u]}


def in_a_loop(u, n):
    total = 0.0
    for i in range(3):
        total += np.array([x * i for x in u]).sum()
    return total


WHOLE = [
    windows, twice, some, pairs, reductions, of_a_function, lengths, of_an_outer_name, python_numbers, in_a_dict,
    in_a_loop,
]  # fmt: skip


def nested(u, n):
    return np.array([x for x in u for y in u[:2]])


def of_lists(u, n):
    return np.array([[x, x**2] for x in u])


def of_tuples(u, n):
    return [(x, 1) for x in u]


def of_one_object(u, n):
    return [u for x in u]


def beyond_the_end(u, n):
    return [u[k * 2] for k in range(n)]


def of_two_types(u, n):
    return [u[k] if u[k] > 0.5 else 0.0 for k in range(n)]


def with_a_walrus(u, n):
    return [(y := x * 2) for x in u], y


@pytest.mark.parametrize(
    "function", [*WHOLE, nested, of_lists, of_tuples, of_one_object, beyond_the_end, of_two_types, with_a_walrus]
)
def test_the_same_as_python(function, rng):
    fast = aj.autocluster(function, policy="eager")
    for n in (300, 300, 3, 1):
        agree(function, fast, (rng.random(n + 20), n))


@pytest.mark.parametrize("function", WHOLE)
def test_one_program(function, rng):
    fast = aj.autocluster(function, policy="eager")
    for _ in range(2):
        agree(function, fast, (rng.random(320), 300))
    assert fast.explain(rng.random(320), 300).is_whole and fast.cache_info().hits == 2
