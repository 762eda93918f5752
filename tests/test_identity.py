"""`is` between arrays, numbers and tuples that loops and branches choose."""

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check_calls

UP = np.arange(1.0, 5)
DOWN = -UP


INF = float("inf")


def begins_as_an_argument(x, n=6):
    x0 = x
    for _ in range(n):
        if x is not x0:
            x = x * 0.5
        else:
            x = x + 1
    return x


def chosen(a):
    y, w = a * 2, a + 1
    z = y if a[0] > 0 else w
    if z is y:
        w = w * 100
    return z * 1, w


def is_still_a_global(a):
    best = INF
    for v in a:
        if v < best and v > 0.5:
            best = v
    return best is INF, a * 2


def trades(u, n=7):
    v, u0, count = u * 0, u, 0
    for _ in range(n):
        v[1:] = u[:-1] * 0.5
        u, v = v, u
        if u is u0:
            count += 1
    return count


def one_of_two_numbers(a):
    x, y = 1.5, 2.5
    s = x
    if a[0] > 0:
        s = y
    return s is y, s is x, a + 1


def one_of_two_elements(a):
    x = a[1]
    y = x
    if a[0] > 0:
        y = a[2]
    return y is x, a + 1


def one_of_two_tuples(a):
    t, u = (a * 2, 1), (a * 3, 2)
    z = t if a[0] > 0 else u
    return z is t, a + 1


def the_largest(a):
    y = None
    for i in range(3):
        z = a * i
        if y is None or z.sum() > y.sum():
            y = z
    return y is z, a + 1


def of_a_filled_list(a):
    xs = []
    for i in range(50):
        xs.append(a[0] * i)
    return xs[-1] is xs[-1], a + 1


def of_equal_constants(a):
    x, y = 1.5, 1.5
    return x is y, a + 1


def of_a_loop_variable(a):
    k = 3
    for i in range(40):
        if i is k:
            a = a + 1
    return a


def views_made_twice(a):
    v = a[1:]
    if a[0] > 0:
        z = v
    else:
        z = a[1:]
    return z is v, z * 1


def views_written(a):
    v = a[1:]
    z = v if a[0] > 0 else a[1:]
    k = 1 if z is v else 0
    z += k
    return z


def given(x, a):
    s = x
    if a[0] > 0:
        s = a[1]
    return s is x, a * 2


@pytest.mark.parametrize(
    "function",
    [
        begins_as_an_argument, chosen, is_still_a_global, trades, one_of_two_numbers, one_of_two_elements,
        one_of_two_tuples, the_largest, of_a_filled_list, of_equal_constants, of_a_loop_variable, views_made_twice,
        views_written,
    ],
)  # fmt: skip
def test_it_is_pythons(function):
    check_calls(function, (UP,), (DOWN,), (np.zeros(4),))


def test_of_an_argument():
    check_calls(given, (1.5, UP), (1.5, DOWN), (UP[0], DOWN))


def test_two_views_are_two_results():
    def views(a):
        v = a[1:]
        if a[0] > 0:
            z = v
        else:
            z = a[1:]
        return z, v

    fast = aj.autocluster(policy="eager")(views)
    for a in (UP, DOWN, UP):
        z, v = fast(a)
        assert (z is v) == (a[0] > 0) and z.base is a and v.base is a


def test_what_needs_no_refusal():
    def usual(x, out=None):
        if out is None:
            out = x * 2
        y = x + 1
        return out if out is not y and out is not x else y

    fast = aj.autocluster(policy="eager")(usual)
    np.testing.assert_array_equal(fast(UP), UP * 2)
    assert fast.cache_info().hits == 1 and not fast.explain(UP).native_statements


class Owner:
    def method(self):
        return 1


OWNER = Owner()


def test_of_methods_and_lists_that_hold_themselves():
    def methods(a):
        return OWNER.method is OWNER.method, a * 2

    def holds_itself(a):
        xs = [a * 2]
        xs.append(xs)
        return xs[1] is xs, xs[0] + 1

    def no_key(a):
        return {1: a}[[1]]

    for function in (methods, holds_itself, no_key):
        check_calls(function, (UP,))


def test_a_list_that_holds_itself_is_returned():
    def holds_itself(a):
        xs = [a * 2]
        xs.append(xs)
        return xs

    xs = aj.autocluster(policy="eager")(holds_itself)(UP)
    assert xs[1] is xs and xs[0].tolist() == [2, 4, 6, 8]
