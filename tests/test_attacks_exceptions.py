"""Exceptions: handlers, `finally`, assertions, what was done before; warnings and floating-point errors; deleted names."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest

import autojit as aj
from tests.attacks import asserted, asserted_data, rand, sequence
from tests.helpers import check
from tests.notes import note


def test_return_inside_a_handler_with_finally() -> None:
    def f(x, log):
        y = np.zeros(3)
        try:
            note()
            raise KeyError(1)
        except KeyError:
            y = x * 2 + 1
            return y.sum()
        finally:
            log.append(y)

    def g(x, log):
        y = np.zeros(3)
        try:
            note()
            y = x * 2 + 1
            return y.sum()
        finally:
            log.append(y)

    def h(x, log):
        for k in range(3):
            try:
                note()
                y = x * k + 1
                if k == 1:
                    break
                y = y + 1
                continue
            finally:
                log.append(y)
        else:
            y = None
        return y

    for function in (f, g, h):
        check(function, rand(3), [])


def test_exceptions_in_the_middle() -> None:
    def effects(a, n):
        a += 1
        b = a[:n]
        b *= 2
        c = a.reshape(2, n)
        c -= 1
        return c

    def caught(a, n):
        out = []
        try:
            a *= 2
            out.append(a[n])
            a += 1
        except IndexError as error:
            a -= 5
            out.append(str(error))
        else:
            a *= 7
        finally:
            a += 0.5
        return out, a

    def raised(a, flag):
        a += 1
        if flag:
            raise ValueError(f"flag {flag}")
        return a

    def division(a, n):
        a += 1
        return a * (1 / n)

    def nested(a, keys):
        total = a * 0
        for key in keys:
            try:
                total = total + {"x": a, "y": a * 2}[key]
            except KeyError:
                total = total - 1
                continue
            total *= 2
        return total

    check(effects, rand(6), 3)
    check(effects, rand(6), 4)
    check(caught, rand(3), 1)
    check(caught, rand(3), 5)
    check(raised, rand(3), False)
    check(raised, rand(3), True)
    check(asserted_data, rand(3))
    check(asserted, rand(3), 3)
    check(asserted, rand(3), 4)
    sequence(asserted, (rand(3), 3), (rand(3), 4), (rand(3), 3))
    sequence(division, (rand(3), 3), (rand(3), 0), (rand(3), 3), (rand(3), 0), (rand(3), 2))
    check(nested, rand(3), ["x", "z", "y"])


def test_exception_names_and_deletion() -> None:
    def f(x, n):
        error = "none"
        try:
            y = x * 2
            [1][n]
        except IndexError as error:  # noqa: F841 -- it is what is tested
            y = x * 3
        try:
            return y, error
        except UnboundLocalError:
            return y, "deleted"

    def deleted(x):
        y = x * 2
        z = y + 1
        del y
        note()
        return z, "y" in dir()

    def deleted_in_loop(x, n):
        y = x * 2
        for k in range(n):
            note()
            x = x + 1
            if k == 1:
                del y
        note()
        return x if n > 1 else x + y

    def deleted_items(x):
        d = {"a": x, "b": x * 2}
        xs = [x, x + 1, x + 2]
        del d["a"], xs[0]
        return d, xs

    sequence(f, (rand(3), 0), (rand(3), 5))
    check(deleted, rand(3))
    sequence(deleted_in_loop, (rand(3), 1), (rand(3), 2))
    check(deleted_items, rand(3))


def test_warnings_as_errors() -> None:
    def f(x):
        y = 1 / x
        z = np.log(x)
        return y + z

    decorated = aj.autocluster(policy="eager")(f)
    zeros = np.zeros(3)
    with np.errstate(all="ignore"):
        decorated(zeros)
    decorated(rand(3) ** 2 + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            decorated(zeros)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        decorated(zeros)
    calls = []
    with np.errstate(all="call"):
        old = np.seterrcall(lambda kind, flag: calls.append(kind))
        try:
            decorated(zeros)
        finally:
            np.seterrcall(old)
    assert calls


def test_error_state_set_inside() -> None:
    def f(x):
        y = x * 2
        old = np.seterr(all="raise")
        try:
            z = 1 / y
        finally:
            np.seterr(**old)
        return z

    check(f, rand(3))
    check(f, np.zeros(3))


def test_swallowed_exceptions() -> None:
    def f(x, xs):
        y = x * 1
        with contextlib.suppress(IndexError):
            y = x * 2 + 1
            note(xs[1])
            y = x * 3
        return y + 1

    def unbound(x, xs):
        with contextlib.suppress(IndexError):
            note(xs[1])
            y = x * 3
        return y + 1

    for xs in ([], [1, 2]):
        check(f, rand(3), xs)
        check(unbound, rand(3), xs)
