"""A `finally` through which control leaves a loop, or goes on to its next iteration: other names are read there."""

import numpy as np
import pytest

import autojit as aj
from autojit.runtime.background import BACKGROUND

A = np.linspace(0.0, 1.0, 1000)


def left_through(a, n):
    c = a
    for i in range(n):
        try:
            open("/dev/null").close()
            if i == 2:
                break
        finally:
            c = np.sin(a) + np.cos(a) * i
            e = np.cos(c) * 2
            open("/dev/null").close()
        c = a * 0 + e
        open("/dev/null").close()
    open("/dev/null").close()
    return c


def gone_on_through(a, n):
    c, total = a, 0.0
    for i in range(n):
        total = total + c
        try:
            open("/dev/null").close()
            if i % 2:
                continue
        finally:
            c = np.sin(a) + np.cos(a) * i
            open("/dev/null").close()
        c = a * 0
    return total


def left_in_another_loop(a, n):
    c = d = a
    for i in range(n):
        k = 0
        while k < 3:
            k += 1
            try:
                open("/dev/null").close()
                if k == 2:
                    break
            finally:
                d = np.sin(c) + k
                open("/dev/null").close()
            d = c * 0
        c = c + d * i
    return c, d


def left_by_a_handler(a, n):
    c, k = a, n
    while True:
        try:
            open("/dev/null").close()
            k += 200
            a[k]
        except IndexError:
            c = c * 2
            break
        finally:
            c = np.cos(c) + np.sin(a)
            open("/dev/null").close()
        c = a * 0
    return c


@pytest.mark.parametrize("policy", ["eager", "measured"])
@pytest.mark.parametrize("function", [left_through, gone_on_through, left_in_another_loop, left_by_a_handler])
def test_names_that_are_read_behind(function, policy, monkeypatch):
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr("autojit.runtime.heat.Heat.best", 1.0)
    fast = aj.autocluster(policy=policy)(function)
    for _ in range(6):
        for n in (5, 7):
            np.testing.assert_allclose(fast(A, n), function(A, n), rtol=1e-12)
            BACKGROUND.wait()
