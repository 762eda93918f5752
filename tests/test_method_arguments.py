"""Arguments that array methods do not take, and iterators that cannot be reversed."""

import numpy as np
import pytest

import autojit as aj

A = np.arange(6.0).reshape(2, 3)


def outcome(function, arguments):
    """What a call returns or raises, and its arguments afterwards."""
    given = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    try:
        return function(*given), given
    except Exception as error:
        return type(error), given


def is_equal(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(is_equal, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return one == other


def check(function, *calls):
    """Compare all calls with NumPy's, in both orders."""
    for ordered in (calls, calls[::-1]):
        fast = aj.autocluster(policy="eager")(function)
        for arguments in ordered * 2:
            assert is_equal(outcome(fast, arguments), outcome(function, arguments)), arguments


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
    assert isinstance(outcome(function, (A,))[0], type)
    check(function, (A,))


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
    check(function, (A,))
    fast = aj.autocluster(policy="eager")(function)
    fast(A.copy())
    assert fast.cache_info().hits and not fast.explain(A).native_statements
