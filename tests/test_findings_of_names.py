"""Found by an adversarial reading: names that are dead, deleted or only annotated; circles of names; endless loops."""

import time

import numpy as np
import pytest

import autojit as aj
from tests.test_rows import agree

LOG = []


def dead_before_it_is_bound_now_and_then(x, n):
    t = 1.5
    b = x * 2
    LOG.append(n)
    t = x[1]
    for j in range(n):
        if x[0] > j:
            t = j
    LOG.append(n)
    return b, t


def dead_beside_a_break(x, n):
    u = 1
    y = x * 2
    for i in range(n):
        LOG.append(i)
        for j in range(n):
            if y[0] > j:
                u = y[j]  # noqa: F841 -- that nobody reads it is the point
            y = y + 1
        if n > 9:
            break
    return y


def only_raises(x, n):
    while True:
        x = x * 0.5
        if x[0] < n / 10:
            raise ValueError("x")


def only_raises_below(x, n):
    for _ in range(3):
        if n > 1:
            while True:
                x = x * 0.5
                if x[0] < n / 10:
                    raise ValueError("x")
    return x


def a_circle_beside_a_chain(x, n, y):
    a = x * 2
    b = a + 1
    for _ in range(1, n):
        a, x = x, a
        b, y = y, b
        b = a + 1
    a[0] = 99
    return a, x, b, y


def returned_in_the_second_iteration(x, n):
    old = x
    older = x
    for _ in range(50):
        older, old, x = old, x, x * 0.5
        if x[0] < n / 10:
            return older
    raise ValueError("no")


def returned_through_three_names(x, n, y):
    a = b = c = x
    for _ in range(50):
        a, b, c = b, c, c + y
        if a[1] + c[1] > n * 3:
            return a
    return y


def returned_where_a_break_was_possible(x, n, y):
    a = y
    b = a
    c = x * 3
    x = c * 0.5
    turn = 0
    while n:
        turn += 1
        if turn > 30:
            break
        b, y, x = (y, x, b)
        c, b, x = (b, x, c)
        if y[2] < n / 2:
            return y
    y = a
    x[1:] = n
    raise ValueError


def deleted_in_finally(x, n):
    z = x
    try:
        y = x * 2
        if n:
            LOG.append(3)
    finally:
        if n:
            del z
    y = y + 1
    if not n:
        y = y + z
    return y


def only_annotated(x, n):
    z = x * 2
    LOG.append(0)
    y = np.sin(x)
    z: float
    LOG.append(1)
    return y + z


def dead_behind_break(x, n, y):
    z = x * 0
    r = []
    for _ in range(n):
        if x[0] < -100:
            break
            r.append(1)
        if x.sum() > 0:
            x[0] = y[1]
        else:
            y = z
    return z


def dead_behind_continue(x, n, y):
    z = x * 0
    r = []
    for _ in range(n):
        if x[0] < -100:
            continue
            q = r  # noqa: F841 -- never reached
        if x.sum() > 0:
            x[0] = y[1]
        else:
            y = z
    return z


FUNCTIONS = [
    dead_behind_break, dead_behind_continue,
    dead_before_it_is_bound_now_and_then, dead_beside_a_break, only_raises, only_raises_below, a_circle_beside_a_chain,
    returned_in_the_second_iteration, returned_through_three_names, returned_where_a_break_was_possible,
    deleted_in_finally, only_annotated,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_same_as_python(function):
    fast = aj.autocluster(function, policy="eager")
    for n in (4, 1, 3, 0, 4):
        x = np.array([1.0, 2.0, 3.0, -1.0, 0.5])
        arguments = (x, n) if function.__code__.co_argcount == 2 else (x, n, x + 1)
        if function in (only_raises, only_raises_below) and n == 0:
            continue
        agree(function, fast, arguments)
    fast.explain(*arguments)


@pytest.mark.parametrize("vector", [0, 1])
def test_rows_of_the_same_array(vector, rng):
    def rows(x, mask, columns):
        x[mask] = x[0]
        x[mask, :] = x[1]
        x[:, columns] = x[::-1, :1]
        x[mask] = x[:1, ::-1]
        return x

    fast = aj.autocluster(rows, policy="eager")
    for _ in range(3):
        x, mask, columns = rng.standard_normal((4, 6)), rng.random(4) < 0.5, rng.random(6) < 0.5
        mask[0] = vector
        np.testing.assert_array_equal(fast(x.copy(), mask, columns), rows(x.copy(), mask, columns))
    assert fast.explain(x, mask, columns).is_whole


def test_products_know_no_where(rng):
    def product(x, y, out, mask):
        return np.matmul(x, y, out=out, where=mask)

    x = rng.standard_normal((3, 3))
    with pytest.raises(TypeError, match="where"):
        aj.autocluster(product, policy="eager")(x, x, np.zeros((3, 3)), x > 0)


def test_many_exchanges_are_captured_in_linear_time():
    def exchanges(x, limits):
        b, c = x * 2, x * 3
        for k in limits:
            if x[0] > k:
                b, c = c, b
        return b - c

    fast, x = aj.autocluster(exchanges, policy="eager"), np.arange(1.0, 9.0)
    start = time.perf_counter()
    np.testing.assert_array_equal(fast(x, tuple(range(25))), exchanges(x, tuple(range(25))))
    assert time.perf_counter() - start < 20
