"""What a declared function gives: arrays of their own, or Python goes on with them."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj

X = np.linspace(0.0, 1.0, 1000)


@aj.host_op
def halves(x):
    both = np.stack([x, x + 1])
    return both[0], both.ravel()


@aj.host_op
def apart(x):
    both = np.stack([x, x + 1])
    return both[0], both[1]


@aj.host_op
def frozen(x):
    y = x + 1
    y.flags.writeable = False
    return y


@aj.host_op
def spread(x):
    return np.broadcast_to(x[:1] + 1, x.shape)


def shared(x):
    a, b = halves(x * 2)
    a += 100
    return a, b * 1


def not_shared(x):
    a, b = apart(x * 2)
    a += 100
    return a + 1, b * 2


def written(x):
    y = frozen(x * 2)
    y *= 3
    return y


def asked(x):
    y = frozen(x * 2)
    return y.flags.writeable, y + 1


def returned(x):
    return spread(x * 2)


def outcome(function):
    try:
        found = function(X.copy())
    except ValueError as error:
        return str(error)
    parts = found if isinstance(found, tuple) else (found,)
    return [(part.tolist(), part.flags.writeable) if isinstance(part, np.ndarray) else part for part in parts]


@pytest.mark.parametrize("function", [shared, not_shared, written, asked, returned])
def test_as_in_numpy(function):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(3):
        assert outcome(fast) == outcome(function)
    assert fast.cache_info().traps == 0
    if function is not_shared:
        assert fast.cache_info().hits >= 2
