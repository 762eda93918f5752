"""Arguments, results, lists, globals and closures that share memory, or must not."""

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
