"""What has a state, or is a part of an array that the data or a loop selects, does what NumPy's objects do."""

import numpy as np
import pytest
from scipy import linalg, special

from tests.helpers import check_calls

X = np.arange(1.0, 7)
LONG = np.arange(1.0, 81)
ROWS = np.array([[1.0, 2], [-1, 2], [3, 4]])


def moving(change):
    def function(x):
        for i in range(1, 30):
            change(x, i)
        return x

    return function


def written(array):
    array[:] = 0


@pytest.mark.parametrize(
    "change",
    [
        lambda x, i: written(np.ascontiguousarray(x[::-1][:i])),
        lambda x, i: written(x[::2][:i].ravel()),
        lambda x, i: written(np.ravel(x[::2][:i])),
        lambda x, i: written(np.ascontiguousarray(x[:i])),
        lambda x, i: written(np.ravel(x[:i])),
        lambda x, i: written(x[:i].ravel()),
        lambda x, i: written(np.ascontiguousarray(x.reshape(40, 2)[:i, 0])),
        lambda x, i: written(np.ascontiguousarray(x.reshape(40, 2)[:i, :1])),
        lambda x, i: written(np.ascontiguousarray(x.reshape(40, 2)[:i])),
        lambda x, i: x[:i].fill([2.0]),
        lambda x, i: x[:i].fill(i),
        lambda x, i: np.size(x[:i], None),
    ],
)
def test_moving_slices(change):
    check_calls(moving(change), (LONG,), rtol=1e-12)


def test_the_identity_of_moving_slices():
    def counted(x):
        for i in range(1, 30):
            r = x[:i]
            q, t, s = r.real, r.ravel(), np.ascontiguousarray(r)
            if q is r:
                x[0] += 1
            if t is r:
                x[1] += 1
            if s is r:
                x[2] += 1
        return x

    check_calls(counted, (LONG,), rtol=1e-12)


def columns(a):
    y = a[a[:, 0] > 0]
    b = y[:, 0].ravel()
    b += 100
    return y.sum(0)


def conjugated(x):
    y = x[x > 1]
    z = y.conj()
    z += 1
    return y.sum()


def stored(value):
    def function(x):
        y = x[x > 4]
        y[:] = value
        return y.sum()

    return function


def filled(x):
    y = x[x > 4]
    y.fill([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    return y.sum()


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (columns, ROWS),
        (conjugated, X),
        (stored([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), X),
        (stored((1.0, 2.0)), X),
        (stored(7.0), X),
        (filled, X),
        (lambda x: x[x > 2].argmax(keepdims=True), X),
        (lambda x: np.argmin(x[x > 2], keepdims=True), X),
        (lambda x: x[x > 2].argmax(), X),
        (lambda x: x[x > 2].var(correction=1), X),
        (lambda x: x[x > 2].std(ddof=1), X),
        (lambda x: x[x > 2].clip(a_min=3, a_max=4), X),
        (lambda x: x[x > 2].clip(3, 4).sum(), X),
    ],
)
def test_selected_elements(function, argument):
    check_calls(function, (argument,), rtol=1e-12)


def test_the_identity_of_selected_elements():
    def compared(x):
        y = x[x > 2]
        return y.real is y, y.T is y, y.conj() is y, y.ravel() is y, y.sum()

    check_calls(compared, (X,), rtol=1e-12)


def in_pairs(x):
    f = x.flat
    return list(zip(f, f))


def twice(x):
    f = x.flat
    return sum(f), [v for v in f]


def left_early(x):
    f = x.flat
    for v in f:
        if v > 2:
            break
    return list(f)


def in_a_loop(x):
    f = x.flat
    return [list(f) for _ in range(3)]


def unpacked(x):
    f = x.flat
    a = max(f)
    b, *c = f
    return a, b, c


def once(x):
    total = 0.0
    for v in x.flat:
        total += v * 2
    return total, list(x.T.flat)


@pytest.mark.parametrize("function", [in_pairs, twice, left_early, in_a_loop, unpacked, once])
def test_flat_is_an_iterator(function):
    check_calls(function, (X,), rtol=1e-12)
    check_calls(function, (X.reshape(2, 3).T,), rtol=1e-12)


def test_a_vectorized_function_that_writes():
    def function(x):
        def f(a):
            x[-1] += 1.0
            return a * 2

        return np.vectorize(f)(x), np.vectorize(f, otypes=[float])(x)

    check_calls(function, (X,), rtol=1e-12)


def test_a_list_is_extended_item_by_item():
    def function(x):
        xs = [0]
        xs.extend(len(xs) for _ in range(3))
        xs.extend(xs)
        return xs, x * 2

    check_calls(function, (X,), rtol=1e-12)


def test_a_mask_of_two_axes_behind_dots():
    def function(a):
        m = np.ones((2, 2), bool)
        for i in range(8):
            a[..., m, i, :] = i
        return a.sum()

    def fits(a):
        m = np.ones((2, 2), bool)
        for i in range(5):
            a[..., m, i, :] = i
        return a.sum(), a[..., m, 1:3, :].shape

    def of_lists(a):
        for i in range(8):
            a[..., [[True, True], [False, True]], i, :] = i
        return a.sum(), a[..., [True, False], :].shape

    check_calls(of_lists, (np.zeros((2, 2, 2, 5, 9)),), (np.zeros((2, 2, 2, 9, 2, 9)),), rtol=1e-12)
    check_calls(function, (np.zeros((2, 2, 2, 5, 9)),), rtol=1e-12)
    check_calls(fits, (np.zeros((2, 2, 2, 5, 9)),), rtol=1e-12)


def test_sums_of_python_floats():
    def function(x, a, b, c):
        return x * sum([a, b, c]), sum([a, x[0]])

    check_calls(
        function,
        (
            X,
            1e100,
            1.0,
            -1e100,
        ),
        rtol=1e-12,
    )
    check_calls(
        function,
        (
            X,
            0.1,
            0.2,
            0.3,
        ),
        rtol=1e-12,
    )


def test_scipy_overwrites_by_place():
    def inverted(a):
        y = linalg.inv(a.T, True)
        return a * 2, y

    def solved(a, b):
        y = linalg.solve(a, b, False, True, True)
        return a * 1, b * 1, y

    a = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 5]])
    check_calls(inverted, (a,), rtol=1e-12)
    check_calls(
        solved,
        (
            np.asfortranarray(a),
            np.array([1.0, 2, 3]),
        ),
        rtol=1e-12,
    )


def test_scipy_draws_random_numbers():
    def function(a):
        np.random.seed(0)
        return linalg.clarkson_woodruff_transform(a, 2) * 1, np.random.rand()

    check_calls(function, (np.arange(8.0).reshape(4, 2),), rtol=1e-12)


def test_scipy_has_settings():
    def function(x):
        old = special.seterr(all="raise")
        y = x * 2
        special.seterr(**old)
        return y, special.geterr()["loss"]

    check_calls(function, (X,), rtol=1e-12)
    assert special.geterr()["loss"] == "ignore"
