"""Names that are read in the frame of a function by what it calls, as numexpr, pandas and debuggers do."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import autojit as aj


def evaluate(text):
    frame = sys._getframe(1)
    return eval(text, dict(frame.f_globals), dict(frame.f_locals))


class Table:
    def query(self, text):
        frame = sys._getframe(1)
        return eval(text.replace("@", ""), dict(frame.f_globals), dict(frame.f_locals))


def damped(x, y, n):
    total = 0.0
    for _ in range(n):
        r2 = x * x + y * y
        weight = np.exp(-r2)
        x = x - 1e-2 * weight * r2 * x
        total += float(evaluate("(weight * r2).sum()"))
    return total, x


def asked(x, n):
    found, table = [], Table()
    for k in range(n):
        limit = x.mean() + k
        x = np.sin(x) + limit
        found.append(float(table.query("@limit + k")))
    return found, x


def replaced(x):
    """The names that a plan would let go of, and those that it binds only."""
    y = np.sin(x)
    z = y + 1
    y = z * 2
    first = evaluate("y.sum() + z.sum()")
    w = x * y  # noqa: F841 -- its frame is asked for it
    return first + evaluate("w.sum()")


ONES = np.ones(30_000)
CASES = [(damped, (ONES, ONES, 30)), (asked, (ONES, 20)), (replaced, (ONES,))]


@pytest.mark.parametrize("policy", ["eager", "measured"])
@pytest.mark.parametrize(("function", "given"), CASES, ids=lambda each: getattr(each, "__name__", ""))
def test_they_are_as_in_numpy(monkeypatch, function, given, policy):
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    fast, wanted = aj.autocluster(function, policy=policy), function(*given)
    for _ in range(4):
        found = fast(*given)
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-12)
    assert policy == "measured" or fast.cache_info().hits
