"""Arguments, results and closures that share memory, and writes through views."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.attacks import rand, sequence
from tests.helpers import check

SHARED = np.arange(6.0)


def test_identity_of_arguments() -> None:
    def f(a, b):
        if a is b:
            return np.sum(a) * 2
        return np.sum(a) + np.sum(b) * 3

    x, y = rand(5), rand(5) + 1
    sequence(f, (x, x), (x, y), (x, x))
    sequence(f, (x, y), (x, x))


def test_identity_of_objects() -> None:
    class Box:
        def __init__(self, w):
            self.w = w

    def f(a, b, x):
        if a is b:
            return x * 2 + a.w
        return x * 3 + b.w

    one, two = Box(1.0), Box(2.0)
    sequence(f, (one, one, rand(3)), (one, two, rand(3)), (one, one, rand(3)))


def test_identity_of_lists_and_strings() -> None:
    def f(a, b, x):
        y = x * 2
        return y if a is b else y + 1

    one, two = [1], [1]
    sequence(f, (one, one, rand(3)), (one, two, rand(3)))
    sequence(f, (one, two, rand(3)), (one, one, rand(3)))


def test_views_are_not_the_array() -> None:
    def f(a):
        return a.T is a.T, a[:] is a, a.real is a, a.reshape(-1) is a, np.asarray(a) is a, a.view() is a, np.sum(a) + 1

    check(f, rand(4))


def test_in_place_on_names_of_one_array() -> None:
    def bound(x):
        a = x * 2
        b = a
        a += 1
        c = b
        c -= 3
        a = a + 1
        a *= 5
        return a, b, c

    def argument(x):
        y = x
        y += 1
        x = x * 2
        x += 1
        return x, y

    def swap(u, v):
        u, v = v, u
        u += 1
        v[:] = u * 2
        return u, v

    def loop(u, un, n):
        for _ in range(n):
            u, un = un, u
            un[:] = u * 0.5 + 1
        return u, un

    check(bound, rand(4))
    check(argument, rand(4))
    check(swap, rand(4), rand(4) + 1)
    check(loop, rand(4), rand(4) + 1, 3)
    check(loop, rand(4), rand(4) + 1, 4)


def test_the_same_array_twice() -> None:
    def f(a, b):
        a += 1
        b *= 2
        return a + b

    def g(a, b):
        a[1:] = b[:-1]
        return a.sum()

    x = rand(6)
    sequence(f, (x, x), (x, rand(6) + 1), (x, x))
    sequence(g, (x, rand(6) + 1), (x, x), (x, x))


def test_overlapping_views() -> None:
    def f(a, b):
        a += b
        b -= 0.5
        return a * b

    base = rand(12)
    grid = rand(4, 4)
    sequence(f, (base[:6], base[6:]), (base[:6], base[3:9]), (base[:6], base[5::-1]), (base[::2], base[1::2]))
    sequence(f, (grid, grid.T), (grid, rand(4, 4)), (grid[:, :2], grid[:, 2:]), (grid[0], grid[:, 0]))


def test_shift_within_one_array() -> None:
    def f(a):
        a[1:] = a[:-1]
        a[:-1] += a[1:]
        a[::-1][1:] = a[:-1] * 2
        return a

    check(f, rand(7))


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


def test_constants_are_made_anew() -> None:
    def f(x):
        a = np.array([1.0, 2.0, 3.0])
        a[0] += x[0]
        return a

    def g(x):
        return np.array([1, 2, 3]), np.array([[1.0], [2.0]]), x * 2, np.asarray((4, 5)), np.arange(3)

    def grid(x):
        g = np.mgrid[0:3, 0:2]
        o = np.ogrid[0:3]
        o += 1
        g[0, 0, 0] += 5
        return g, o, x + 1

    for function in (f, g, grid):
        check(function, rand(3))
        decorated = aj.autocluster(policy="eager")(function)
        first = decorated(rand(3))
        for array in first if isinstance(first, tuple) else (first,):
            if isinstance(array, np.ndarray):
                array += 100
        check_again = decorated(rand(3))
        wanted = function(rand(3))
        for got, want in zip(
            check_again if isinstance(check_again, tuple) else (check_again,),
            wanted if isinstance(wanted, tuple) else (wanted,),
            strict=True,
        ):
            np.testing.assert_array_equal(got, want)


def test_containers_are_made_anew() -> None:
    def f(x):
        seen = set()
        order = sorted([3, 1, 2])
        names = list("abc")
        table = dict(a=1)
        y = x * 2
        print(end="")
        seen.add(len(seen))
        order.append(len(order))
        names.append("d")
        table[len(table)] = 2
        return seen, order, names, table, y

    sequence(f, (rand(3),), (rand(3),), (rand(3),))


def test_list_aliases() -> None:
    def f(a):
        x = [a]
        y = x
        y.append(a + 1)
        z = x + [a]
        x += [a * 2]
        w = list(x)
        w.append(None)
        return x, y, z, len(w), x is y, x is z

    def multiplied(a):
        x = [a]
        y = x
        x *= 2
        return len(y), y, x is y

    def items(a):
        x = [a, a * 2]
        y = x
        x[0] = x[1]
        y[1] = y[1] + 1
        pair = (x, y)
        pair[0].append(3)
        return x, y, pair

    def rows(a):
        x = [a * 1] * 3
        x[0] += 1
        return x

    check(f, rand(3))
    check(multiplied, rand(3))
    check(items, rand(3))
    check(rows, rand(3))


def test_list_of_an_argument_is_changed() -> None:
    def f(arrays, x):
        arrays[0] += x
        arrays.append(x * 2)
        arrays[1] = x
        return arrays

    def g(params, x):
        params["w"] -= x
        params["n"] = params["w"].sum()
        return params

    check(f, [rand(3), rand(3) + 1], rand(3))
    check(g, {"w": rand(3)}, rand(3))


def test_default_mutable_arguments() -> None:
    def make():
        def f(x, seen=[], total=np.zeros(3)):  # noqa: B006 -- it is what is tested
            seen.append(x.sum())
            total += x
            return total * 2, len(seen), list(seen)

        return f

    plain, decorated = make(), aj.autocluster(policy="eager")(make())
    for _ in range(4):
        for got, want in zip(decorated(rand(3)), plain(rand(3)), strict=True):
            np.testing.assert_allclose(got, want)


def test_global_arrays_and_closures() -> None:
    held = np.zeros(4)

    def f(x):
        held[1:] += x
        SHARED[:3] = x
        return held * 2, SHARED, held

    def outer():
        inner = np.zeros(3)

        def g(x):
            inner[...] += x
            return inner

        return g

    def again(x):
        return outer()(x), outer()(x)

    held[:] = 0
    want = [(f(rand(3) + k)[0], SHARED.copy()) for k in range(3)]
    held[:] = 0
    decorated = aj.autocluster(policy="eager")(f)
    for k in range(3):
        got = decorated(rand(3) + k)
        np.testing.assert_allclose(got[0], want[k][0])
        np.testing.assert_allclose(SHARED, want[k][1])
        assert got[1] is SHARED and got[2] is held
    check(again, rand(3))


def test_argument_overlaps_a_global() -> None:
    def f(x):
        x += SHARED[:3]
        SHARED[3:] = x
        return x + 1

    plain = SHARED.copy()
    for view in (slice(0, 3), slice(2, 5), slice(3, 6)):
        SHARED[:] = np.arange(6.0)
        want = f(SHARED[view])
        after = SHARED.copy()
        decorated = aj.autocluster(policy="eager")(f)
        decorated(rand(3))
        SHARED[:] = np.arange(6.0)
        np.testing.assert_allclose(decorated(SHARED[view]), want)
        np.testing.assert_allclose(SHARED, after)
    SHARED[:] = plain


def test_results_do_not_change_later() -> None:
    def f(x, n):
        y = x * n
        z = np.zeros_like(x)
        z[1:] = y[:-1]
        return y, z, y[::2], x.sum() * n

    for size in (3, 10_000, 70_000, 300_000):
        decorated = aj.autocluster(policy="eager")(f)
        x = rand(size)
        kept = [decorated(x, float(n)) for n in range(6)]
        for n, results in enumerate(kept):
            for got, want in zip(results, f(x, float(n)), strict=True):
                np.testing.assert_allclose(got, want)
        views = [results[2] for results in kept]
        kept[0][0][:] = -1
        assert kept[0][2][0] == -1
        del kept
        for n in range(6):
            decorated(x, float(n + 10))
        for n, view in enumerate(views[1:], 1):
            np.testing.assert_allclose(view, f(x, float(n))[2])


def test_writes_to_results_and_arguments_afterwards() -> None:
    def f(x, y):
        return x + y, x, x.reshape(-1)

    decorated = aj.autocluster(policy="eager")(f)
    for size in (5, 20_000, 200_000):
        x, y = rand(size), rand(size) + 1
        total, same, flat = decorated(x, y)
        want = total.copy()
        x += 5
        y[:] = 0
        np.testing.assert_array_equal(total, want)
        assert same is x and flat.base is x
        total += 3
        np.testing.assert_allclose(decorated(x, y)[0], x + y)


def test_self_overlapping_argument() -> None:
    def f(a):
        a += 1
        return a.sum()

    def strided(shape, strides):
        return np.lib.stride_tricks.as_strided(np.zeros(4), shape, strides)

    decorated = aj.autocluster(policy="eager")(f)
    f_result = [f(strided(*s)) for s in (((3,), (8,)), ((3,), (0,)), ((3, 2), (8, 8)), ((2, 2), (16, 8)))]
    got = [decorated(strided(*s)) for s in (((3,), (8,)), ((3,), (0,)), ((3, 2), (8, 8)), ((2, 2), (16, 8)))]
    assert got == f_result


def test_broadcast_arguments() -> None:
    def f(a, b):
        return a * b + a.T.sum(), a

    def write(a):
        a += 1
        return a

    wide = np.broadcast_to(rand(3), (3, 3))
    check(f, wide, rand(3, 3))
    check(write, wide)
    with pytest.raises(ValueError, match="read-only"):
        aj.autocluster(policy="eager")(write)(wide)


def test_memory_given_by_others() -> None:
    def f(a):
        a[1:] *= 2
        return a + 1

    memory = bytearray(rand(8).tobytes())
    one = np.frombuffer(memory)
    want = one.copy()
    f(want)
    aj.autocluster(policy="eager")(f)(one)
    np.testing.assert_allclose(np.frombuffer(memory), want)
    check(f, np.frombuffer(bytes(memory)))


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
