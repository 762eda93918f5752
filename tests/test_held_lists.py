"""Lists that loops fill while something else holds them, too: a method, a function, an iterator."""

import numpy as np
import pytest

import autojit as aj


def method_behind(n):
    r = []
    p = r.append
    for i in range(n):
        r.append(i)
    p(3)
    return len(r)


def method_inside(n):
    r = []
    p = [r.append]
    for i in range(n):
        r.append(i)
        p[0](-i)
    return r[:6], len(r)


def method_of_a_holder(n):
    r = []
    get = {0: r}.get
    for i in range(n):
        r.append(i)
    return get(0) is r


def function_in_a_list(n):
    r = []
    fs = [lambda: len(r)]
    t = 0
    for i in range(n):
        r.append(i)
        t += fs[0]()
    return len(r), t


def function_in_a_dict(n):
    r = []
    fs = {"a": lambda v: r.append(v)}
    for i in range(n):
        r.append(i)
        fs["a"](-i)
    return len(r)


def length_of(r):
    return lambda: len(r)


def function_of_another_frame(n):
    r = []
    fs = (length_of(r),)
    t = 0
    for i in range(n):
        r.append(i)
        t += fs[0]()
    return t


def default_argument(n):
    r = []
    fs = [lambda q=r: q]
    for i in range(n):
        r.append(i)
    return fs[0]() is r, len(fs[0]())


def vectorized(n):
    r = []
    f = np.vectorize(lambda v, q=r: len(q))
    for i in range(n):
        r.append(i)
    return f(np.arange(2))


def iterator(n):
    r = []
    m = map(r.append, [1, 2, 3])
    for i in range(n):
        r.append(i)
    next(m)
    return len(r)


def fill(r, n):
    for i in range(n):
        r.append(i)


def of_the_caller(n):
    r = []
    q = [r.append]
    fill(r, n)
    q[0](1)
    return len(r)


def nan_by_identity(n):
    nan = float("nan")
    r = []
    for _ in range(n):
        r.append(nan)
    s = [nan for _ in range(n)]
    return nan in r, r.count(nan), nan in s


FUNCTIONS = [
    method_behind, method_inside, method_of_a_holder, function_in_a_list, function_in_a_dict, function_of_another_frame,
    default_argument, vectorized, iterator, of_the_caller, nan_by_identity,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_both_see_the_same_list(function):
    fast = aj.autocluster(function, policy="eager")
    for n in (200, 3, 0, 200):
        np.testing.assert_equal(fast(n), function(n))
