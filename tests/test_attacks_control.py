"""Control flow: `break`, `continue`, `else`, long loops, iterators, statements of every kind."""

from __future__ import annotations

import functools
import warnings

import numpy as np

import autojit as aj
from tests.attacks import rand, sequence
from tests.helpers import check
from tests.notes import LOG, note


def test_break_keeps_what_was_bound() -> None:
    def f(x, n, last):
        y = None
        for k in range(n):
            note(k)
            y = x * 2 + k
            z = y + 1
            if k == last:
                break
        return y, z, k

    def skip(x, n):
        total = x * 0
        for k in range(n):
            note(k)
            y = x * 2 + k
            if k % 2:
                continue
            total = total + y
        return total, y

    def early(x, n):
        try:
            for k in range(n):
                note(k)
                y = x * 2 + k
                if k == 1:
                    return y
        finally:
            note(float(y.sum()))
        return None

    sequence(f, (rand(3), 4, 2), (rand(3), 4, 9), (rand(3), 4, 0))
    sequence(skip, (rand(3), 4))
    LOG.clear()
    sequence(early, (rand(3), 4))
    assert len(set(LOG)) == 3, LOG


def test_for_else_break_continue() -> None:
    def f(x, n, stop):
        for k in range(n):
            if k == 1:
                continue
            x = x + k
            if k == stop:
                break
        else:
            x = x * 10
        return x, k

    def nested(x):
        for i in range(3):
            for j in range(3):
                if j > i:
                    break
                x = x + i * j
            else:
                continue
            x = x * 2
        return x, i, j

    def while_else(x, n):
        k = 0
        while k < n:
            k += 1
            if k == 3:
                break
            x = x * 2
        else:
            x = -x
        return x, k

    def empty(x, n):
        k = "before"
        for k in range(n):
            x = x + k
        return x, k

    for stop in (2, 9):
        check(f, rand(3), 4, stop)
        check(while_else, rand(3), stop)
    check(nested, rand(3))
    sequence(empty, (rand(3), 0), (rand(3), 2), (rand(3), 0))


def test_long_loops() -> None:
    def rebinding(x, n):
        best = x
        for k in range(n):
            new = x * k
            if k % 50 == 0:
                best = new
            x = x * 0.99
        return best, x, new, k

    def index_after(a, n):
        for i in range(1, n):
            a[i] = a[i - 1] * 0.5 + i
        return a, i, a[i], a[i - n]

    def shapes(a, n):
        total = 0.0
        for i in range(n):
            total = total + a[: i + 1].sum() + np.zeros(i % 3).size
        return total

    def two(u, v, n):
        for k in range(n):
            u, v = v, u + k
            w = u
            w[0] = k
        return u, v, w

    def shadow(x, n):
        for x_i in range(n):
            y = x[x_i % 3]
            if y > 10:
                break
            x[x_i % 3] += x_i * 0.01
        return x, y, x_i

    def negative(a, n):
        for i in range(-1, -n, -1):
            a[i] += i
            a[i] -= a[i + 1]
        return a

    def out_of_range(a, n):
        for i in range(n):
            a[i] = i
        return a

    check(rebinding, rand(3), 200)
    check(index_after, rand(300), 300)
    check(shapes, rand(200), 200)
    check(two, rand(3), rand(3) + 1, 200)
    check(shadow, rand(3), 200)
    check(negative, rand(200), 150)
    check(out_of_range, rand(150), 160)
    sequence(index_after, (rand(300), 300), (rand(300), 2), (rand(300), 150))


def test_iterating_reads_lazily() -> None:
    def f(a):
        k = 0
        total = 0
        for v in a:
            total = total + v
            k += 1
            if k < 4:
                a[k] += v
        return a, total

    def enumerated(a):
        out = []
        for k, v in enumerate(a[:-1]):
            a[k + 1] = v * 2
            out.append(v)
        return out, a

    def zipped(a, b):
        out = []
        for v, w in zip(a, b, strict=True):
            a += 1
            b[:] = v
            out.append(v + w)
        return out

    def comprehension(a):
        def bump(v):
            a[:] = a + 1
            return v

        return [bump(v) for v in a]

    def growing(x):
        work = [1]
        for v in work:
            if len(work) < 5:
                work.append(v + 1)
            x = x * v
        return x, work

    def rows(a):
        out = []
        for row in a:
            a[-1] += row
            out.append(row.copy())
        return out

    def unpacked(a):
        x, y, z = a
        a[:] = 0
        return x + y, z

    def starred(a):
        first, *rest = a
        a += 1
        return first, rest

    check(f, rand(4))
    check(enumerated, rand(4))
    check(zipped, rand(3), rand(3))
    check(comprehension, rand(3))
    check(growing, rand(3))
    check(rows, rand(3, 3))
    check(unpacked, rand(3))
    check(starred, rand(3))
    check(starred, rand(3, 2))


def test_iterators_are_used_up() -> None:
    def generator(x):
        g = (x * k for k in range(3))
        return sum(g), sum(g)

    def zipped(a, b):
        z = zip(a, b, strict=True)
        one = [p + q for p, q in z]
        two = [p + q for p, q in z]
        return one, two

    def returned(a):
        m = map(lambda v: v * 2, [a, a + 1])
        e = enumerate([a])
        r = reversed([1, a])
        return [type(v).__name__ for v in (m, e, r, zip([a]), (v for v in [a]), {"a": a}.items(), {"b": 1}.keys())]

    def escaping(a):
        return zip([a * 2], [a], strict=True), map(abs, [a]), (v for v in [a + 1]), reversed([a]), enumerate([a])

    def taken(a):
        g = (a * k for k in range(3))
        return next(g), next(g)

    def passed(a):
        return functools.reduce(lambda p, q: p + q, (a * k for k in range(1, 3)))

    def interrupted(a):
        z = enumerate([a, a + 1, a + 2])
        for _, v in z:
            break
        return [w for _, w in z], v

    check(generator, rand(3))
    check(zipped, rand(3), rand(3))
    check(returned, rand(3))
    decorated = aj.autocluster(policy="eager")(escaping)
    for _ in range(2):
        for got, want in zip(decorated(rand(2)), escaping(rand(2)), strict=True):
            assert type(got) is type(want)
    check(taken, rand(3))
    check(passed, rand(3))
    check(interrupted, rand(3))


def test_statements() -> None:
    def matched(x, kind):
        match kind:
            case "a":
                y = x * 2
            case ("b", n) if n > 1:
                y = x * n
            case {"k": k}:
                y = x + k
            case _:
                y = -x
        return y + 1

    def with_blocks(x):
        with np.errstate(divide="raise"):
            y = x * 2
            z = y + 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            w = z * y
        return w + x

    def raising(x):
        with np.errstate(divide="raise"):
            return 1 / x

    def pass_only(x):
        """Only a docstring."""

    def annotated(x):
        y: np.ndarray = x * 2
        z: int
        z = 3
        return y * z

    def starred(x, *args, **kwargs):
        a, *b = args
        first, *_, last = [*args, x]
        return a, b, first, last, {**kwargs, "x": x * 2}

    def chained(x):
        a = b = x * 2
        a += 1
        (c, d), e = (a, b), x
        c[0] = 7
        return a, b, c is d, e

    def conditions(x, n):
        y = x if n else x * 2
        z = (n and x.sum()) or x.max()
        return y, z, 0 < n < 5, not n, n in (1, 2), n not in [3], n is None

    for kind in ("a", ("b", 3), ("b", 0), {"k": 5}, 7):
        check(matched, rand(3), kind)
    sequence(matched, (rand(3), "a"), (rand(3), ("b", 3)), (rand(3), ("b", 4)), (rand(3), {"k": 1}), (rand(3), {"k": 2}))
    check(with_blocks, rand(3))
    check(raising, np.array([1.0, 0.0]))
    check(raising, np.array([1.0, 2.0]))
    check(pass_only, rand(3))
    check(annotated, rand(3))
    check(starred, rand(3), 1, rand(2), "z", k=rand(2))
    check(chained, rand(3))
    for n in (0, 2, 3, 9):
        check(conditions, rand(3), n)


def test_the_one_way_on_out_of_an_unrolled_turn() -> None:
    """What follows a turn that ends with `break` or `raise` for the rest is the way of its `continue`."""

    def breaks(a, A):
        for i in range(5):
            A[i:-1][A[i:-1] > 0] *= 2  # keeps the loop from being rolled
            if a[i] == -1:
                continue
            break
        return i

    def returns(a, A):
        for i in range(5):
            A[i:-1][A[i:-1] > 0] *= 2
            if a[i] == -1:
                continue
            return A[i] * 3, i
        return None

    def raises(a, A):
        for i in range(5):
            A[i:-1][A[i:-1] > 0] *= 2
            if a[i] == -1:
                continue
            raise ValueError(i)
        return i

    for row in ([-1.0, 1, 4, 6, -4], [-1.0, -1, -1, -1, -1], [2.0, 1, 1, 1, 1], [-1.0, -1, -1, -1, 0]):
        for program in (breaks, returns, raises):
            check(program, np.array(row), np.arange(25.0).reshape(5, 5) - 3)
