"""Indexing: reading and writing by slices, masks, arrays and arguments; what is out of bounds."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import autojit as aj
from tests.attacks import rand
from tests.each import each
from tests.helpers import check


def test_reading_by_index() -> None:
    functions = [
        lambda a, i: a[1],
        lambda a, i: a[-1],
        lambda a, i: a[1:-1],
        lambda a, i: a[::-2],
        lambda a, i: a[5:2],
        lambda a, i: a[100:],
        lambda a, i: a[-100:2],
        lambda a, i: a[None, 1:3, None],
        lambda a, i: a[..., 0],
        lambda a, i: a[1, ..., -1],
        lambda a, i: a[:, 0],
        lambda a, i: a[i],
        lambda a, i: a[i, i],
        lambda a, i: a[i, 0],
        lambda a, i: a[0, i],
        lambda a, i: a[:, i],
        lambda a, i: a[i[:, None], i],
        lambda a, i: a[i, None],
        lambda a, i: a[None, i],
        lambda a, i: a[[0, -1]],
        lambda a, i: a[[0, 1], [1, 0]],
        lambda a, i: a[a[:, 0] > 0],
        lambda a, i: a[a > 0],
        lambda a, i: a[np.array([True, False, True])],
        lambda a, i: a[[True, False, True]],
        lambda a, i: a[True],
        lambda a, i: a[False],
        lambda a, i: a[np.True_],
        lambda a, i: a[np.array(1)],
        lambda a, i: a[i[0]],
        lambda a, i: a[i[0] : i[0] + 2],
        lambda a, i: a[np.ix_([0, 1], [1, 2])],
        lambda a, i: a[3],
        lambda a, i: a[0, 0, 0],
        lambda a, i: a[1.0],
        lambda a, i: a[i + 10],
        lambda a, i: a[-i],
        lambda a, i: a[np.array([], int)],
        lambda a, i: a[i.astype(np.uint8)],
        lambda a, i: a.take(i),
        lambda a, i: a.take(i, axis=1),
        lambda a, i: np.take(a, i, axis=0, mode="clip"),
        lambda a, i: np.take(a, i + 2, axis=0, mode="wrap"),
        lambda a, i: np.take_along_axis(a, i[:, None], 1),
        lambda a, i: a[(1, 2)],
        lambda a, i: a[slice(1, None), slice(None, None, -1)],
        lambda a, i: a[np.newaxis].shape,
        lambda a, i: a.flat[2],
        lambda a, i: a[np.nonzero(a > 0)],
        lambda a, i: np.argwhere(a > 0),
        lambda a, i: a[a.argmax() % 3],
        lambda a, i: a[int(a.argmax()) % 3],
        lambda a, i: np.choose(i, a),
        lambda a, i: a[i == 1, 1:],
        lambda a, i: a[..., i][..., ::-1],
        lambda a, i: a[1:][i[:1]],
        lambda a, i: a.T[i].T,
        lambda a, i: a[:, ::-1][:, i],
        lambda a, i: np.delete(a, 1, 0),
        lambda a, i: np.insert(a, 1, 5.0, axis=0),
        lambda a, i: a["x"],
        lambda a, i: np.diag(a[i][:, i]),
        lambda a, i: np.tril(a) + np.triu(a, 1),
    ]
    each(functions, (rand(3, 3), np.array([2, 0, 1])), (np.asfortranarray(rand(3, 3)), np.array([2, 2, 0])))


def test_writing_by_index() -> None:
    def key(k):
        def write(a, v):
            a[k] = v
            return a

        return write

    def add(k):
        def write(a, v):
            a[k] += v
            return a

        return write

    keys = [
        1, -1, slice(1, 3), slice(None, None, -1), (0, 1), (slice(None), 0), Ellipsis, None, (None, 1), [0, 2],
        np.array([0, 2]), (np.array([0, 2]), np.array([1, 1])), [0, 0, 1], np.array([True, False, True]), (slice(None), [2, 0]),
        True, False, np.array([[True] * 3] * 3), (Ellipsis, 1), 5, -4, [5], (0, 0, 0), (), np.int8(1), (1, slice(0, 0)),
        ([0, 1], slice(None)), (np.array([[0], [1]]), np.array([0, 2])), np.array([], int), slice(2, 0), 1.5,
    ]  # fmt: skip
    values = [5.0, 7, rand(3), rand(3, 3), np.float32(2), rand(1, 3), rand(2), np.array(4), [1.0, 2.0, 3.0], 1j, "x", None]
    generator = np.random.default_rng(9)
    for k in keys:
        for make in (key, add):
            for number in generator.choice(len(values), 2, replace=False):
                try:
                    with warnings.catch_warnings():
                        # NumPy's floating point warnings, which compiled code does not repeat.
                        warnings.simplefilter("ignore", RuntimeWarning)
                        check(make(k), rand(3, 3), values[number])
                except Exception as error:
                    raise AssertionError(f"{make.__name__} a[{k!r}] by {values[number]!r}: {str(error)[:900]}") from error


def test_writing_by_computed_index() -> None:
    def duplicates(a, i, v):
        a[i] = v
        return a

    def accumulated(a, i, v):
        a[i] += v
        return a

    def add_at(a, i, v):
        np.add.at(a, i, v)
        return a

    def maximum_at(a, i, v):
        np.maximum.at(a, i, v)
        np.subtract.at(a, (i,), 1)
        return a

    def masked(a, i, v):
        a[a > 0] = v[0]
        a[a < -0.5] *= 2
        a[i > 1] = v[i > 1]
        return a

    def mask_of_values(a, i, v):
        m = a > 0
        a[m] = a[m] ** 2 + v[: m.sum()]
        return a

    def put(a, i, v):
        np.put(a, i, v)
        a.put([0], 9)
        np.place(a, a > 8, [1.0])
        np.putmask(a, a < 0, v)
        np.copyto(a, v, where=a > 0.2)
        return a

    def along(a, i, v):
        np.put_along_axis(a, i[:1], 3.0, 0)
        return a

    def swapped(a, i, v):
        a[[0, 1]] = a[[1, 0]]
        a[0], a[1] = a[1], a[0]
        a[i] = a[i[::-1]]
        return a

    def rows(a, i, v):
        b = np.tile(a, (5, 1))
        b[i, i] = v
        b[i] += v
        b[[0, 1]] = b[[1, 0]]
        b[0], b[1] = b[1], b[0]
        b[:, i] = b
        return b

    indices = [np.array([0, 0, 1, 4, 2]), np.array([4, 3, 2, 1, 0]), np.array([-1, 0, 0, 0, 0]), np.array([0, 1, 2, 3, 5])]
    for function in (duplicates, accumulated, add_at, maximum_at, masked, mask_of_values, put, along, swapped, rows):
        each([function], *[(rand(5), i, np.arange(5.0)) for i in indices])
        each([function], (np.arange(5), indices[0], np.arange(5)), (rand(5).astype(np.float32), indices[1], rand(5)))


def test_index_by_argument() -> None:
    functions = [
        lambda a, n: a[n],
        lambda a, n: a[n:],
        lambda a, n: a[:n],
        lambda a, n: a[::n] if n else a,
        lambda a, n: a[n] * 2 + n,
        lambda a, n: np.zeros(abs(n)) + n,
        lambda a, n: a[n : n + 2],
        lambda a, n: a.reshape(n, -1) if n > 0 else a,
        lambda a, n: a.sum(axis=n),
        lambda a, n: np.roll(a, n),
        lambda a, n: np.eye(abs(n), k=n),
        lambda a, n: a * n,
        lambda a, n: np.arange(n),
        lambda a, n: range(n)[-1] * a if n > 0 else a,
        lambda a, n: [a * k for k in range(n)],
        lambda a, n: np.repeat(a, abs(n)),
        lambda a, n: a**n,
        lambda a, n: (1, 2, 3)[n] * a,
    ]
    for function in functions:
        decorated = aj.autocluster(policy="eager", max_plans=64)(function)
        for _ in range(2):
            for n in (0, 1, 2, -1, -2, 3, True, np.int64(2), np.int8(1), 4, 7, 1.0):
                try:
                    want = function(np.arange(6.0), n), None
                except Exception as error:
                    want = None, error
                try:
                    got = decorated(np.arange(6.0), n), None
                except Exception as error:
                    got = None, error
                text = f"{inspect.getsource(function).strip()} of {n!r}"
                assert type(got[1]) is type(want[1]), f"{text}: {got[1]!r} instead of {want[1]!r}"
                assert str(got[1]) == str(want[1]), text
                np.testing.assert_array_equal(got[0], want[0], err_msg=text)
                assert type(got[0]) is type(want[0]), text


def test_index_changes_from_call_to_call() -> None:
    def f(a, n):
        a[n] = n * 2
        return a[n] + a[n - 1]

    decorated = aj.autocluster(policy="eager")(f)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "autojit .too-many-plans", aj.AutojitWarning)  # answers are compared
        for n in range(20):
            one, two = np.arange(20.0), np.arange(20.0)
            assert decorated(one, n) == f(two, n)
            np.testing.assert_array_equal(one, two)
        with pytest.raises(IndexError):
            decorated(np.arange(20.0), 20)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_a_view_that_nobody_reads_is_still_checked(dtype):
    def straight(A, i):
        _row = A[i[0]]
        return A[1] * 2

    def turning(A, i):
        for k in range(i.size):
            _row = A[:, i[k]]
        return A[1] * 2

    def under(A, i):
        if A[0, 0] >= 0:
            _row = A[i[0] // 1]
        return A[1] * 2

    A = np.arange(12.0).reshape(3, 4)
    for function in (straight, turning, under):
        for number in (1, 2, 100, 5, -1, -4, -7):
            if number >= 0 or np.dtype(dtype).kind == "i":
                check(function, A, np.full(3, number, dtype))
    check(straight, A, np.array([2**64 - 1, 2**63], "uint64"))
