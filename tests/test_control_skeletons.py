"""Loops whose turns end in every way: all short bodies of a few statements, by number."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest

from tests.helpers import check
from tests.programs_strategy import load

STATEMENTS = (
    "x = x * 2 + i",
    "if a[i] > 0:\n    continue",
    "if a[i] < 0:\n    break",
    "if a[i] == 5:\n    return x, i",
    "if a[i] > 1:\n    x = x + 1\n    break\nelse:\n    x = x - 1",
    "if a[i] > -2:\n    x = x + 3\nelse:\n    if x[0] > 4:\n        continue\n    x = -x",
    "if a[i] == 6:\n    raise ValueError(i)",
    "A[i:-1][A[i:-1] > 0] *= 2",
    "for j in range(2):\n    if a[i] > j:\n        break\n    x = x + j\nelse:\n    x = x * 3",
    "if k:\n    break",
    "if k == 0:\n    continue\nx = x + 5",
    "break",
    "continue",
    "return x * 3, i",
)
HEADERS = (
    "for i in range(4):",
    "for i in (0, 1, 3):",
    "for i in [3, 0, 2, 1]:",
    "i = -1\nwhile i < 3:\n    i = i + 1",
    "i = -1\nwhile x[0] < 50 and i < 3:\n    i = i + 1",
)
ENDS = ("", "else:\n    x = x + 100", "else:\n    return A, x")
BODIES = [body for length in (1, 2, 3) for body in itertools.product(range(len(STATEMENTS)), repeat=length)]
PLANS = len(BODIES) * len(HEADERS) * len(ENDS)
INPUTS = ([-1.0, 1, 4, 6], [0.0, 0, -3, 5], [5.0, 2, -1, 0], [-2.0, -2, -2, -2], [0.0, 6, 1, 1])


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def skeleton(number: int) -> str:
    """The text of one function."""
    rest, end = divmod(number, len(ENDS))
    body, header = divmod(rest, len(HEADERS))
    loop = HEADERS[header] + "\n" + "".join(indented(STATEMENTS[one]) for one in BODIES[body])
    if ENDS[end]:
        loop += ENDS[end]
    return "def program(a, A, x, k):\n" + indented(loop) + "    return A, x, i\n"


def run(number: int) -> None:
    program = load(skeleton(number))
    for count, row in enumerate(INPUTS):
        check(program, np.array(row), np.arange(16.0).reshape(4, 4) - 3, np.array([1.0, -2]), count % 2)


#: `AUTOJIT_SKELETONS=first:count` runs others than the default ones.
FIRST, _, COUNT = os.environ.get("AUTOJIT_SKELETONS", "0:40").partition(":")
STEP = 997  # has no factor in common with the number of plans, so that neighbours differ in everything


@pytest.mark.parametrize("number", range(int(FIRST), int(FIRST) + int(COUNT)))
def test_skeleton(number: int) -> None:
    run(number * STEP % PLANS)
