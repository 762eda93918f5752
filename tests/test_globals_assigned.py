"""Assignments to names that a function declares `global` or `nonlocal`, in every way that Python has."""

from __future__ import annotations

import types

import numpy as np
import pytest

import autojit as aj
from tests.programs_strategy import load

PROGRAMS = {
    "in place": "C += 1\nreturn x * C",
    "one of several": "C, y = 5.0, x * 2\nreturn y + C",
    "in a test": "if (C := 7.0) > 3:\n    y = x * C\nreturn y",
    "in a comprehension": "ys = [(C := i) for i in range(3)]\nreturn x * C + sum(ys)",
    "an array in place": "A += x[:4]\nreturn A * 2",
    "an array's elements": "A[:] = x[:4] * 2\nreturn A.sum()",
    "an array anew": "A = A + x[:4]\nreturn A * 2",
    "one array twice": "C = A = x[:4] * 3\nreturn C + A",
    "by a loop": "for C in range(4):\n    x = x + C\nreturn x",
    "an exception": "try:\n    y = x[99]\nexcept IndexError as C:\n    y = x * 2\nreturn y",
    "the rest": "*C, last = x[:3]\nreturn x * last",
    "in a function inside": "def h(y):\n    global C\n    C = 9.0\n    return y * C\nz = h(x)\nreturn z + C",
    "in a block": "with np.errstate(all='ignore'):\n    C = float(x[0])\nreturn x * C",
    "deleted first": "del C\nC = 2.0\nreturn x * C",
    "a local array": "C = x * 2\nz = C + 1\nreturn z",
}


def module(body: str) -> types.FunctionType:
    lines = "\n".join(f"    {line}" for line in ["global C, A", *body.split("\n")])
    return load(f"import numpy as np\n\nC = 3.0\nA = np.ones(4)\n\n\ndef program(x):\n{lines}\n")


@pytest.mark.parametrize("name", PROGRAMS)
def test_globals_are_as_in_python(name: str) -> None:
    found = []
    for function in (module(PROGRAMS[name]), aj.autocluster(module(PROGRAMS[name]), policy="eager")):
        names, seen = function.__globals__, []
        for _ in range(3):
            result = function(np.arange(1.0, 6.0))
            value = names.get("C", "gone")
            seen.append((np.asarray(result).tolist(), type(value), np.asarray(value).tolist(), names["A"].tolist()))
        found.append(seen)
    assert found[0] == found[1]


def test_nonlocal_names_are_as_in_python() -> None:
    def count(x):
        k = 1.0

        def step(y):
            nonlocal k
            k += 1
            return y * k

        return step(x) + step(x) + k

    x = np.arange(4.0)
    fast = aj.autocluster(count, policy="eager")
    for _ in range(2):
        np.testing.assert_array_equal(fast(x), count(x))
