"""Stores of a loop's body that XLA makes in place: which they are, and that nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from autojit.ops import loop_order


def pair(a, b, n):
    for _ in range(1, n):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


def fields(u, v, n):
    for _ in range(n):
        v[1:] = v[1:] - 0.1 * (u[1:] - u[:-1])
        u[:-1] -= 0.1 * (v[1:] - v[:-1])


def itself(a, b, n):
    """What is stored is computed from other elements of the array."""
    for _ in range(n):
        a[1:-1] = a[1:-1] + 0.1 * (a[:-2] - 2 * a[1:-1] + a[2:])
        b[:-1] = a[:-1] * 2


def change(a, b, n):
    """The old elements are read after the store."""
    for _ in range(n):
        old = a.copy()
        a[1:-1] = 0.5 * (b[:-2] + b[2:])
        b[2:-2] = np.abs(a[2:-2] - old[2:-2])


def twice(a, b, n):
    """One item is stored in two arrays, and used after that."""
    for k in range(n):
        item = np.sin(b[2:] * 0.5) + k
        a[1:-1] = item
        b[:-2] = item * 0.5 + a[:-2]
        a[2:] = b[2:] - item


def broadcast(a, b, n):
    for k in range(n):
        a[1:-1] = k * 0.5
        a[::2] = b[::2] + k
        b[1:] = a[1:].astype(np.float32)
        b[:-1] = a[:-1]


loop_order_made = loop_order.made_in_place
#: How many stores are made in place.
PROGRAMS = {pair: 2, fields: 2, itself: 1, change: 1, twice: 3, broadcast: 3}


@pytest.mark.parametrize("size", [7, 300, 12_000, 200_000])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_they_are_numpys(monkeypatch, program, size):
    found = []

    def noted(body):
        made = loop_order_made(body)
        found.append(made)
        return made

    monkeypatch.setattr(loop_order, "made_in_place", noted)
    rng = np.random.default_rng(size)
    mine = [rng.random(size), rng.random(size)]
    wanted = [each.copy() for each in mine]
    fast = aj.autocluster(program, policy="eager", disk_cache=False)
    program(*wanted, 9)
    fast(*mine, 9)
    for one, other in zip(mine, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    if found and size > 7:  # short loops are NumPy's, or unrolled
        assert {len(made) for made in found} == {PROGRAMS[program] if size * 8 <= 1 << 20 else 0}, found


def test_of_more_axes_they_are_divided_among_cores(monkeypatch):
    def smooth(a, b, n):
        for _ in range(n):
            b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
            a[1:-1, 1:-1] = b[1:-1, 1:-1] * 0.5

    found = []
    monkeypatch.setattr(loop_order, "made_in_place", lambda body: found.append(loop_order_made(body)) or found[-1])
    a, b = np.random.rand(60, 50), np.random.rand(60, 50)
    wanted = a.copy(), b.copy()
    aj.autocluster(smooth, policy="eager", disk_cache=False)(a, b, 40)
    smooth(*wanted, 40)
    np.testing.assert_allclose((a, b), wanted, rtol=1e-12)
    assert found and not any(found)
