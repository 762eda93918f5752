"""Numbers that are Python's or NumPy's, as the data decides, where the program asks of which type they are."""

import numpy as np
import pytest

from tests.helpers import check_calls

UP = np.arange(1.0, 5)
DOWN = -UP


FEW, SINGLE = np.array([1, 2, 3], np.uint8), np.array([1, 2, 3], np.float32)


def number(a):
    s = 0.0
    if a[0] > 0:
        s = a[1]
    return s


def whole(a):
    return a[0] if a[0] > 0 else 0


def greatest(a):
    m = 0.0
    for i in range(4):
        m = max(m, a[i] - 3.0)
    return m


def total(a):
    s = 0
    for i in range(4):
        if a[i] > 2:
            s += a[i]
    return s


def norm(x):
    if isinstance(x, np.generic):
        return x * 2
    return float(x) + 100


@pytest.mark.parametrize(
    "function",
    [
        lambda a: norm(number(a)) * a,
        lambda a: number(a).dtype,
        lambda a: number(a).shape,
        lambda a: number(a).T * a,
        lambda a: (type(number(a)), a * 2),
        lambda a: ({float: 1, np.float64: 3}[type(number(a))], a * 2),
        lambda a: (number(a).__class__, a * 2),
        lambda a: (type(greatest(a)), a * 2),
        lambda a: (isinstance(total(a), int), a * 2),
        lambda a: (isinstance(number(a), np.floating), a * 2),
        lambda a: (np.result_type(whole(a), np.int8), a * 2),
        lambda a: (np.array(whole(a)), np.atleast_1d(whole(a)), np.full(3, whole(a)), np.array([whole(a), 1])),
        lambda a: (
            np.full_like(a, whole(a)),
            np.sum(whole(a)),
            np.add(whole(a), np.int8(1)),
            a.astype("f4") * whole(a),
        ),
        lambda a: (np.shape(whole(a)), np.ndim(whole(a)), hasattr(whole(a), "dtype"), np.isscalar(whole(a)), a * 2),
        lambda a: (repr(whole(a)), f"{whole(a)}", a * 2),
        lambda a: (bool(whole(a)), int(whole(a)), round(whole(a)), divmod(whole(a), 2), whole(a) // 2, whole(a) ** 2),
        lambda a: ([whole(a)], {whole(a): 1}, (whole(a), a * 2)),
        lambda a: np.apply_along_axis(lambda v: v.sum() if v[0] > 0 else 0, 0, a),
    ],
)
def test_types_are_pythons(function):
    check_calls(function, (UP,), (DOWN,))


def test_asarray_of_one():
    def made(a, k):
        s = 1
        if a[0] > 0:
            s = k[2]
        return np.asarray(s), a * 2

    check_calls(made, (UP, FEW), (DOWN, FEW))
    check_calls(made, (UP, SINGLE), (DOWN, SINGLE))


def test_along_an_axis():
    def sums(a):
        return np.apply_along_axis(lambda v: v.sum() if v[0] > 0 else 0, 1, a)

    check_calls(sums, (np.array([[-1.0, 2.5], [1.0, 2.5]]),), (np.array([[1.0, 2.5], [1.0, 2.5]]),))
