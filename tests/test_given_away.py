"""A frame does not hold what it has given to a function that Python calls."""

import weakref

import numpy as np
import pytest

import autojit as aj

CALLS = []


def same(z):
    CALLS.append(1)
    return z


class Holder:
    def method(self, x):
        CALLS.append(x)
        return x * 1


def resized(a):
    y = same(a * 2)
    y.resize(12)
    return y.tolist()


def of_a_base(a):
    y = a * 2 + 1
    z = same(y[1:])
    r = weakref.ref(y)
    del y, z
    return r() is None


def in_a_loop(a):
    gone = []
    for i in range(3):
        y = same(a * i)
        r = weakref.ref(y)
        y = same(None)
        gone.append(r() is None)
    return gone


def of_a_method(a):
    holder = Holder()
    r = weakref.ref(holder)
    y = holder.method(a * 2)
    holder = None
    return r() is None, y.tolist()


def of_a_keyword(a):
    found = dict(k=a * 2, j=same(a + 1))
    r = weakref.ref(found["k"])
    found = None
    return r() is None


def never_bound(a):
    def reference(z):
        return weakref.ref(z)

    return reference(a * 2)() is None


@pytest.mark.parametrize("function", [resized, of_a_base, in_a_loop, of_a_method, of_a_keyword, never_bound])
def test_what_was_given_is_let_go(function):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(3):
        assert fast(np.arange(3.0)) == function(np.arange(3.0))
    assert fast.cache_info().captures
