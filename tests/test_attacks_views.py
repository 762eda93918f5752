"""Views and results: which functions give views, writes through them, the layout of results, `out=`."""

from __future__ import annotations

import numpy as np

import autojit as aj
from tests.attacks import rand
from tests.helpers import check


def test_views_are_not_the_array() -> None:
    def f(a):
        return a.T is a.T, a[:] is a, a.real is a, a.reshape(-1) is a, np.asarray(a) is a, a.view() is a, np.sum(a) + 1

    check(f, rand(4))


def test_views_of_views() -> None:
    def f(a):
        b = a[::-1]
        c = b[1::2]
        d = c[::-1].reshape(-1, 1)
        d += 10
        b[0] = -1
        e = a.reshape(2, 4).T[::-1, :][1:3]
        e *= 2
        a.reshape(2, 2, 2)[:, 1][:, ::-1][0] = 7
        return b, c, d, e

    check(f, rand(8))
    check(f, rand(16)[::2])
    check(f, rand(8)[::-1])


def test_reshape_of_a_transposed_array_is_a_copy() -> None:
    def f(a):
        b = a.T.reshape(-1)
        b[0] = 100
        c = a.T.ravel()
        c += 1
        d = a.ravel()
        d += 2
        e = a.flatten()
        e[:] = 0
        return b, c, d, e, a.sum()

    check(f, rand(3, 4))
    check(f, np.asfortranarray(rand(3, 4)))
    check(f, rand(6, 8)[::2, ::2])
    check(f, rand(3, 1))
    check(f, rand(1, 3))


def test_writes_through_parts() -> None:
    def parts(z):
        z.real[1:] = 5
        z.imag += 1
        z.real *= 2
        return z.real, z.imag, np.real(z).sum()

    def diagonal(a):
        d = a.diagonal()
        t = np.diagonal(a, 1)
        a[0, 0] = 9
        a[0, 1] = 8
        return d + 1, t * 2, d, np.trace(a)

    def write_diagonal(a):
        d = np.diagonal(a)
        d[0] = 1
        return a

    def eye(a):
        np.fill_diagonal(a, 3.0)
        return a + 1

    check(parts, rand(4) + 1j * rand(4))
    check(diagonal, rand(4, 4))
    check(write_diagonal, rand(3, 3))
    check(eye, rand(3, 3))


def test_results_are_views_of_arguments() -> None:
    def f(a, z):
        return a.T, a[None, :, 1], a[..., -1], a[::-1], z.real, a.ravel(), a.swapaxes(0, 1)[1:], np.squeeze(a), a

    check(f, rand(3, 4), rand(3) + 0j)
    check(f, rand(4, 3).T, rand(3) + 0j)


def test_layout_of_results() -> None:
    def f(a):
        b = (a * 2).T
        c = np.asfortranarray(a) if False else a + 1
        d = np.transpose(a, (1, 0)) + 0
        return b, c, d, a.T.copy(), np.copy(a.T), a[:, ::-1] * 2, np.zeros_like(a.T), np.ones_like(a[::-1])

    for array in (rand(3, 4), np.asfortranarray(rand(3, 4)), rand(4, 3).T, rand(6, 8)[::2, ::2]):
        expected = f(array)
        decorated = aj.autocluster(policy="eager")(f)
        for _ in range(2):
            for number, (got, wanted) in enumerate(zip(decorated(array), expected, strict=True)):
                np.testing.assert_array_equal(got, wanted)
                assert got.strides == wanted.strides, number


def test_ravel_in_memory_order() -> None:
    def f(a):
        b = (a + 1).T
        return b.ravel(order="K"), b.ravel(order="A"), b.ravel(), b.T.ravel(order="F"), b.flatten("K")

    check(f, rand(3, 4))
    check(f, np.asfortranarray(rand(3, 4)))


def test_out_arguments() -> None:
    def f(a, b, c):
        d = np.add(a, b, out=c)
        np.multiply(d, 2, out=d)
        np.sin(c[::2], c[::2])
        np.exp(a, out=a[...])
        e = np.maximum(a, b, out=(b,))
        return d is c, e is b, d

    def reductions(a, out, whole):
        np.sum(a, axis=0, out=out)
        np.cumsum(a, out=whole)
        a.mean(axis=0, out=out[:])
        return out

    def narrow(a, out):
        np.add(a, 1, out=out)
        np.sum(a, out=out[0:1].reshape(()))
        return out

    check(f, rand(6), rand(6) + 1, np.zeros(6))
    check(reductions, rand(3, 4), np.zeros(4), np.zeros(12))
    check(narrow, rand(3), np.zeros(3, np.float32))
    check(narrow, rand(3).astype(np.float32), np.zeros(3))
    check(narrow, np.arange(3), np.zeros(3))
    check(narrow, rand(3), np.zeros(3, int))
    check(narrow, rand(3), np.zeros((2, 3)))
    check(narrow, rand(1), np.zeros(3))


def test_views_at_computed_positions() -> None:
    def row(a, i):
        r = a[i[0]]
        r += 1
        r[0] = 5
        return a

    def column(a, i):
        c = a[:, i.max()]
        c *= 2
        s = a[i.argmin(), 1:]
        s -= 3
        return a.sum(), c * 1

    def returned(a, i):
        b = a * 2
        return a[i[1]], b[i[1]], b

    def swap(a, i):
        p = int(np.argmax(i))
        a[[0, p]] = a[[p, 0]]
        k = i.argmax()
        t = a[k].copy()
        a[k] = a[0]
        a[0] = t
        return a

    def elements(a, i):
        k = i[2]
        a[k, k] += 1
        a[k][1] = 4
        a[-k] = 0
        return a[k, 0] * 2

    for indices in (np.array([2, 0, 1]), np.array([-1, 2, 0]), np.array([0, 1, 3])):
        for function in (row, column, returned, swap, elements):
            check(function, rand(3, 3), indices)


def test_every_view_function() -> None:
    """Writing to the argument afterwards, or to the result, shows which functions give views."""
    functions = [
        lambda a: a.T, lambda a: a[:], lambda a: a.reshape(-1), lambda a: a.ravel(), lambda a: a.flatten(),
        lambda a: np.ravel(a.T), lambda a: np.squeeze(a[None]), lambda a: np.diag(a), lambda a: np.diag(a, 1),
        lambda a: np.diagonal(a), lambda a: a.diagonal(1), lambda a: np.real(a), lambda a: np.imag(a), lambda a: a.real,
        lambda a: np.flip(a), lambda a: np.fliplr(a), lambda a: np.rot90(a), lambda a: np.rot90(a, 2), lambda a: np.roll(a, 1),
        lambda a: np.expand_dims(a, 1), lambda a: np.atleast_3d(a), lambda a: np.swapaxes(a, 0, 1),
        lambda a: np.moveaxis(a, 0, 1), lambda a: np.rollaxis(a, 1), lambda a: np.broadcast_to(a, (2, 3, 3)),
        lambda a: np.broadcast_arrays(a, a[0])[0], lambda a: np.split(a, 3)[1], lambda a: np.hsplit(a, 3)[0],
        lambda a: np.array_split(a, 2)[0], lambda a: np.asarray(a), lambda a: np.array(a), lambda a: np.copy(a),
        lambda a: np.array(a, copy=False), lambda a: np.array(a, copy=None), lambda a: np.asarray(a, float),
        lambda a: np.asarray(a, np.float32), lambda a: a.astype(float), lambda a: a.astype(float, copy=False),
        lambda a: np.ascontiguousarray(a), lambda a: np.ascontiguousarray(a.T), lambda a: np.asfortranarray(a),
        lambda a: np.require(a), lambda a: np.nan_to_num(a), lambda a: np.nan_to_num(a, copy=False), lambda a: a.view(),
        lambda a: a.view(np.int64), lambda a: np.take(a, [0, 1], 0), lambda a: a[[0, 1]], lambda a: a[a > 0],
        lambda a: np.compress([True, False, True], a, 0), lambda a: np.delete(a, 0, 0), lambda a: np.tile(a, 1),
        lambda a: np.repeat(a, 1, 0), lambda a: np.concatenate([a]), lambda a: np.stack([a])[0], lambda a: np.vstack([a]),
        lambda a: np.atleast_2d(a), lambda a: np.triu(a), lambda a: np.positive(a), lambda a: +a, lambda a: np.conj(a),
        lambda a: a.conj(), lambda a: np.conjugate(a), lambda a: a * 1, lambda a: np.sort(a), lambda a: np.where(True, a, 0),
        lambda a: np.trim_zeros(a[0]), lambda a: np.real_if_close(a), lambda a: np.lib.stride_tricks.as_strided(a, (3,), (8,)),
        lambda a: np.lib.stride_tricks.sliding_window_view(a[0], 2), lambda a: np.matrix_transpose(a), lambda a: a.mT,
        lambda a: np.linalg.diagonal(a), lambda a: np.pad(a, 0), lambda a: np.resize(a, (3, 3)), lambda a: a.squeeze(),
        lambda a: np.clip(a, None, 100), lambda a: np.round(a), lambda a: np.abs(a), lambda a: np.asarray_chkfinite(a),
        lambda a: np.meshgrid(a[0], a[1])[0], lambda a: a[..., None],
        lambda a: a.swapaxes(0, 1)[::-1], lambda a: np.reshape(a.T, (9,)), lambda a: np.reshape(a, (9,), order="F"),
        lambda a: a.reshape(3, 3), lambda a: a.reshape(3, 3, copy=True), lambda a: a.take([0]), lambda a: a.transpose(0, 1),
        lambda a: a.repeat(1), lambda a: np.unstack(a)[0], lambda a: list(a)[1], lambda a: [*a][0], lambda a: a[1],
        lambda a: a[-1:], lambda a: a[1, 1:2], lambda a: a[(0,)], lambda a: a[0:1][0], lambda a: a[...],
        lambda a: np.ix_(a[0] > 0)[0], lambda a: np.select([a > 0], [a]), lambda a: np.choose([0], [a[0]]),
        lambda a: np.extract(a > 0, a), lambda a: np.unique(a), lambda a: np.insert(a, 0, 1.0), lambda a: np.append(a, 1.0),
        lambda a: np.fromiter(a[0], float), lambda a: np.array([a, a])[0], lambda a: np.asarray([a[0], a[1]]),
        lambda a: np.einsum("ij->ji", a), lambda a: np.einsum("ii->i", a), lambda a: np.partition(a, 1), lambda a: a[0].T,
    ]  # fmt: skip
    failed = []
    for function in functions:

        def later(a, function=function):
            v = function(a)
            a += 1
            return v

        def through(a, function=function):
            v = function(a)
            v[...] = 7
            return a

        for program in (later, through):
            try:
                check(program, np.abs(rand(3, 3)) + 0.5)
            except Exception as error:
                failed.append(f"{program.__name__} {functions.index(function)}: {' '.join(str(error).split())[:160]}")
    assert not failed, "\n".join(failed)
