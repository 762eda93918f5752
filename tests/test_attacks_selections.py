"""What Python asks of selected elements, lists and overlapping vectors: found by attack."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import check

X = np.arange(4.0)


def is_instance(x):
    v = x[x > 1]
    return v.sum() if isinstance(v, np.ndarray) else -1.0


def types_in_a_loop(x):
    s = 0
    for i in range(3):
        v = x[x > i]
        if type(v) is np.ndarray and v.size:
            s = s + v.mean()
    return s, type(np.nonzero(x > 1)[0]) is np.ndarray, callable(x[x > 1])


def truth(x):
    v = x[x > 1]
    return "yes" if v else "no"


def truth_of_places(x):
    if np.where(x > 1)[0]:
        return 1
    return 0


def asserted(x):
    v = x[x > 1]
    assert v
    return v.sum()


def negated(x):
    return not x[x > 2], any([x[x > 1] > 2])


def attribute_of_a_list(x):
    v = [x * 2, x]
    try:
        v.shape
        return v[0]
    except AttributeError:
        return v[0] + v[1]


def attribute_of_a_dict(x):
    d = {"a": x * 2}
    try:
        d.ndim
        return 1
    except AttributeError:
        return d["a"]


def attribute_of_a_tuple(x):
    t = (x * 2, x)
    return t[0] if t.size is None else t[1]


def axis_of_a_selection(x):
    return x[x > 1].sum(axis=1)


def float_axis_of_a_selection(x):
    return x[x > 1].prod(axis=1.0)


def axis_given_twice(x):
    return x[x > 1].sum(axis=(0, 0))


def axes_of_a_selection(x):
    return x[x > 1].sum(axis=0), x[x > 1].mean(axis=-1), x[x > 1].max(axis=(0,))


def overlapping(x):
    x[::2] = x[:2]
    return x


def overlapping_copyto(x):
    np.copyto(x[1:], x[:3])
    np.copyto(x[::2], x[:2])
    return x


def overlapping_columns(x):
    a = np.outer(x, x + 1)
    a[1] = a[:, 2]
    a[:, 0] = a[:, 1]
    return a


def overlapping_in_a_loop(x):
    a = np.outer(x, x + 1)
    for i in range(3):
        a[i] = a[:, i + 1]
    return a


def overlapping_with_equal_steps(x):
    x[1:] = x[:-1]
    x[::-1] = x
    x[:-1] += x[1:]
    return x


def raveled(x):
    v = x[x > 1]
    return v.ravel() is v, v.ravel().sum()


@pytest.mark.parametrize(
    "function",
    [
        is_instance,
        types_in_a_loop,
        truth,
        truth_of_places,
        asserted,
        negated,
        attribute_of_a_list,
        attribute_of_a_dict,
        attribute_of_a_tuple,
        axis_of_a_selection,
        float_axis_of_a_selection,
        axis_given_twice,
        axes_of_a_selection,
        overlapping,
        overlapping_copyto,
        overlapping_columns,
        overlapping_in_a_loop,
        overlapping_with_equal_steps,
        raveled,
    ],
)
def test_selections_and_overlaps(function):
    check(function, X)
    check(function, np.array([2.0, 0.0, 1.0, 1.0]))


@pytest.mark.parametrize("out", [np.zeros((4, 4), order="F"), np.zeros((4, 8))[:, ::2], np.zeros((4, 4))])
def test_products_into_arrays(out):
    def f(x, out):
        return np.dot(np.outer(x, x), np.outer(x, x), out=out)

    check(f, X, out)


def test_integers_that_fit_nowhere():
    def f(x, k):
        a = x + k  # noqa: F841 -- raises, although nobody reads it
        return x * 2

    check(f, np.arange(3), 2**64)
    check(f, np.arange(3), 5)
