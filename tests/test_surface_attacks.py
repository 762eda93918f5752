"""Programs against what writes to some elements, views of windows, flat elements, joined blocks, and one bound of a clip."""

import numpy as np
import pytest

from tests.evaluated import evaluated
from tests.helpers import check

A = np.arange(12.0).reshape(3, 4) - 5
V = np.array([3.0, -1.0, np.nan, 0.0, -0.0, 2.5])
I = np.array([3, -1, 2, 0, -2], np.int64)  # noqa: E741 -- a letter for an array of integers
B = I.astype(np.int8)
Z = A + 1j


def flat(a):
    b = a.flat[2]
    a.flat[3] = 7
    a.flat[[0, 1, 0]] = 2.5
    a.flat[-2:] = [1, 2]
    first = a.flat[:3]
    first[0] = 100.0
    return b, a.flat[::-1], first, [x for x in a.flat][:2]


def flat_of_a_view(a):
    b = a[:, 1:3]
    c = a.T
    return c.flat[1], b.flat[3], sum(b.flat)


def put_in_turn(a, i):
    np.put(a, i, 2.5)
    np.put(a, [1, 1, -1], [4.0, 5.0, 6.0])
    a.put([0], 9)
    return a


def put_outside(a):
    np.put(a, [99], 1.0)
    return a


def put_cycled(a):
    np.put(a, [0, 1, 2, 3], [1.0, 2.0])
    return a


def masks(a, b):
    np.putmask(a, a > 0, b)
    np.place(b, b < 0, 0.5)
    np.copyto(a, b, where=a < 1)
    np.copyto(b, 3, where=[True, False, True, False])
    return a, b


def narrow_masks(b):
    np.putmask(b, b > 0, 5)
    np.copyto(b, 1, where=b < 0)
    return b


def narrow_overflow(b):
    np.putmask(b, b > 0, 500)
    return b


def diagonals(a):
    np.fill_diagonal(a, 1)
    c = np.zeros((4, 3))
    np.fill_diagonal(c, [1, 2, 3])
    d = np.zeros((2, 2, 2))
    np.fill_diagonal(d, 3.5)
    np.fill_diagonal(c.T, 2)
    return a, c, d


def parts(z):
    z.real = 2
    z.imag += z.real
    z.imag[0] = 5.0
    z.real *= -1
    return z, z.imag


def windows(v):
    w = np.lib.stride_tricks.sliding_window_view(v, 3)
    before = w.sum(axis=1)
    v[1] = 50.0
    return w, before, w.max(axis=-1), w[::2, 1]


def windows_are_read_only(v):
    w = np.lib.stride_tricks.sliding_window_view(v, 3)
    w[0, 0] = 1.0
    return w


def windows_too_long(v):
    return np.lib.stride_tricks.sliding_window_view(v, 30)


def windows_of_new_arrays(v):
    return np.lib.stride_tricks.sliding_window_view(v + 1, (2, 2), (0, 0)), np.lib.stride_tricks.sliding_window_view(
        v * 2, 2
    )


def joined(a, v):
    return (
        np.r_[v, 0, v[::-1], 1:3], np.r_["0,2", v, v], np.c_[v, v + 1], np.r_[0:1:4j, 2.5], np.r_[1, 2],
        np.block([[a, a + 1], [np.zeros((1, 8))]]), np.block([v, 2.0]), np.block([[1, 2], [3, 4]]), a[np.index_exp[1:, 0]],
    )  # fmt: skip


def small_types(b):
    return np.r_[b, 1], np.r_[b, 1.5], np.r_[b, True], np.c_[b, b.astype(np.float32)]


def clipped(a, i, b):
    return (
        np.clip(a, None, 1), np.clip(a, 0, None), a.clip(max=2), a.clip(min=-1.5), np.clip(i, 0, None), np.clip(b, None, 2),
        np.clip(a, max=0.5), np.clip(a, min=a[::-1], max=None), i.clip(None, 1.5),
    )  # fmt: skip


def clipped_oddly(a, b):
    return np.clip(b, None, 500), np.clip(b, -500, None), np.clip(a, a_min=0, a_max=1)


def clipped_into(a):
    np.clip(a, None, 1, out=a)
    a.clip(-2, out=a)
    return a


def members(v, i):
    return 3 in i, 3.5 in i, np.nan in v, 0 in v, 99 not in v, (2 if i[0] in i else 3), -1 not in i


def divided(i, v):
    q, r = divmod(i, 2)
    return q, r, divmod(v, 2.0), pow(v, 2), pow(i, i * i)


def orders(a):
    f = np.asfortranarray(a)
    g = np.array(a, order="F")
    h = a.copy("F")
    f[0] = 1
    return (
        f,
        g.ravel(),
        h.ravel("K"),
        h.ravel("F"),
        h.reshape(2, 6),
        h.reshape((6, 2), order="F"),
        np.asarray(h, order="C"),
    )


def fortran_views(a):
    r = a.ravel(order="F")
    t = a.T.ravel(order="F")
    t[0] = 99.0
    s = a.reshape((4, 3), order="F")
    s[0, 0] = -7
    return r, t, s


CASES = [
    (flat, A), (flat_of_a_view, A), (put_in_turn, A, I), (put_outside, A), (put_cycled, A), (masks, A, A - 2), (narrow_masks, B),
    (narrow_overflow, B), (diagonals, A), (parts, Z), (windows, V), (windows_are_read_only, V), (windows_too_long, V),
    (windows_of_new_arrays, V), (joined, A, V), (small_types, B), (clipped, A, I, B), (clipped_oddly, A, B), (clipped_into, A),
    (members, V, I), (divided, I, V), (orders, A), (fortran_views, A), (orders, A.T), (fortran_views, A.T), (flat, A[:, ::-1]),
    (put_in_turn, A[::2], I), (masks, A.T, A.T + 1), (diagonals, np.asfortranarray(A)), (fortran_views, A[:, ::2]),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_as_numpy(case):
    with evaluated():
        check(*case)


@pytest.mark.parametrize("case", CASES[::3], ids=lambda case: case[0].__name__)
def test_compiled(case):
    check(*case)
