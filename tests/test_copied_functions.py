"""Functions whose code or attributes the program copies before their first call, under the launcher."""

from __future__ import annotations

import pytest

from tests.test_launch import both

# Before its first call an armed function has code, and attributes, by which it is recognized.
COPIED = {
    "attributes": "functools.update_wrapper(tripled, added)",
    "a namespace": "tripled.__dict__.update(added.__dict__)",
    "codes": "tripled.__code__, added.__code__ = added.__code__, tripled.__code__",
    "a code": "tripled.__code__ = added.__code__",
    "a method": "A.m = functools.wraps(added)(A.n)",
}


@pytest.mark.parametrize("name", COPIED)
def test_what_is_copied_from_function_to_function_before_the_first_call(tmp_path, name):
    (tmp_path / "copied.py").write_text(
        f"""
import functools
import numpy as np
def added(x):
    for i in range(3):
        x = x + 1
    return x
def tripled(x):
    for i in range(3):
        x = x * 2
    return x
class A:
    def m(self):
        for i in range(2):
            x = i
        return x
    def n(self):
        for i in range(2):
            x = i * 2
        return x
{COPIED[name]}
for _ in range(2):
    print(tripled(np.ones(3)), added(np.ones(3)), A().m(), A().n())
"""
    )
    both(tmp_path, "copied.py")


def test_keywords_that_are_called_as_ours_are(tmp_path):
    (tmp_path / "keywords.py").write_text(
        """
import numpy as np
def total(x, **weights):
    for name in sorted(weights):
        x = x + weights[name]
    return x.sum()
def scaled(x, *, self=1.0, args=0, kwargs=0, first=0, stub=0):
    for _ in range(2):
        x = x * self + args + kwargs + first + stub
    return x.sum()
for _ in range(2):
    print(total(np.ones(3), self=2.0, args=1, kwargs=2, first=3, stub=4))
    print(scaled(np.ones(3), self=2.0), scaled(np.ones(3), args=2.0, kwargs=1, first=1, stub=1))
"""
    )
    both(tmp_path, "keywords.py")
