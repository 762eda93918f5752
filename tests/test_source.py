"""Functions whose source is theirs, although a second compilation gives another code object."""

import numpy as np

import autojit as aj
from autojit.capture.source import load
from tests.helpers import check


def power(a, n):
    if n == 0:
        return np.ones_like(a)
    return a * power(a, n - 1) + 1


def halved(a):
    if a.max() > 1:
        return halved(a / 2)
    return a


def scaled(a, kind):
    if kind in {"double", "twofold", "two", "zwei", "deux", "dos"}:
        return a * 2 + 1
    return a


class Holder:
    def power(self, a, n):
        return a if n == 0 else power(a, n) + self.power(a, n - 1)


def test_functions_of_a_module_that_call_themselves():
    check(power, np.arange(3.0), 3, whole=True)
    check(halved, np.arange(9.0))
    assert aj.autocluster(Holder.power).explain(Holder(), np.arange(3.0), 2).clusters


def test_sets_of_strings_have_no_order():
    check(scaled, np.arange(3.0), "two", whole=True)
    assert load(scaled).name == "scaled"
