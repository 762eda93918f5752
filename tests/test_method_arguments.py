"""Arguments that array methods do not take, and iterators that cannot be reversed."""

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check_calls

A = np.arange(6.0).reshape(2, 3)


def pairs(a):
    s = 0.0
    for x, y in reversed(zip(a, a)):
        s += x[0] * y[1]
    return s


def twice(a):
    s = 0.0
    for x in reversed(reversed(a)):
        s += x[0]
    return s


def numbered(a):
    s = 0.0
    for i, x in reversed(enumerate(a)):
        s += x[0] * i
    return s


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a.swapaxes(0, axis2=1) * 1,
        lambda a: a.transpose(axes=(1, 0)) * 1,
        lambda a: a.fill(value=3),
        lambda a: a.reshape(shape=(2, 3)) * 1,
        lambda a: a.reshape(6, "C") * 1,
        lambda a: a.reshape((2, 3), "F") * 1,
        lambda a: a.diagonal(0, offset=1) * 1,
        lambda a: a.view(np.ndarray, np.ndarray) * 1,
        lambda a: a.conj(order=1) * 1,
        pairs,
        twice,
        numbered,
    ],
)
def test_what_numpy_refuses(function):
    said, fast = [], aj.autocluster(policy="eager")(function)
    for call in (function, fast, fast):
        x = A.copy()
        with pytest.raises((TypeError, ValueError)) as caught:
            call(x)
        np.testing.assert_array_equal(x, A)
        # Python says `ndarray.fill()` where a method is not bound before it is called.
        said.append((caught.type, str(caught.value).replace("ndarray.", "")))
    assert said[0] == said[1] == said[2]


def mirrored(a):
    s = 0.0
    for i, x in enumerate(reversed(a)):
        s += x[0] * i
    for i, x in zip(range(3), reversed(a)):
        s += x[0] * i
    return s


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a.swapaxes(0, 1) * 1,
        lambda a: a.transpose(1, 0) * 1,
        lambda a: a.reshape(3, 2, order="F") * 1,
        lambda a: a.reshape((6,)) * 1,
        lambda a: a.diagonal(offset=1) * 1,
        lambda a: a.view(np.ndarray) * 1,
        lambda a: a.squeeze(axis=None) * 1,
        lambda a: a.ravel(order="F") * 1,
        lambda a: a.flatten("F") * 1,
        mirrored,
    ],
)
def test_what_numpy_takes(function):
    check_calls(function, (A,))
    fast = aj.autocluster(policy="eager")(function)
    fast(A.copy())
    assert fast.cache_info().hits and not fast.explain(A).native_statements
