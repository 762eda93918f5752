"""Control flow, scopes, and what must be alive after a region."""

from __future__ import annotations

import contextlib
import functools
import warnings

import numpy as np
import pytest

import autojit as aj
from tests.attacks import asserted, asserted_data, rand, sequence
from tests.helpers import check

LOG: list = []


def note(value=None):
    """Something only Python can do."""
    LOG.append(value)
    return value


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


def test_return_inside_a_handler_with_finally() -> None:
    def f(x, log):
        y = np.zeros(3)
        try:
            note()
            raise KeyError(1)
        except KeyError:
            y = x * 2 + 1
            return y.sum()
        finally:
            log.append(y)

    def g(x, log):
        y = np.zeros(3)
        try:
            note()
            y = x * 2 + 1
            return y.sum()
        finally:
            log.append(y)

    def h(x, log):
        for k in range(3):
            try:
                note()
                y = x * k + 1
                if k == 1:
                    break
                y = y + 1
                continue
            finally:
                log.append(y)
        else:
            y = None
        return y

    for function in (f, g, h):
        check(function, rand(3), [])


def test_names_read_only_on_some_path() -> None:
    def f(x, flag):
        y = np.sum(x) * 2
        z = y + 1
        note()
        if flag:
            return z
        y = 3
        return y

    def walrus(x, flag):
        y = np.sum(x) * 2
        note()
        flag and (y := 2)
        note()
        return y * 1.5

    def conditional(x, flag):
        if flag:
            y = x * 2
        note()
        return y + 1 if flag else x

    def later(x, n):
        prev = x * 0
        out = []
        for k in range(n):
            note()
            out.append(prev.sum())
            note()
            prev = x * k + 1
        return out

    def nested(x):
        y = x * 2

        def g():
            return y + 1

        note()
        y = x * 3
        note()
        return g()

    def handler(x, n):
        y = x * 2
        note()
        try:
            y = x * 3 + 1
            z = [1, 2][n]
            y = x * 4 + z
        except IndexError:
            return y
        return y + 1

    for flag in (True, False):
        check(f, rand(3), flag)
        check(walrus, rand(3), flag)
        check(conditional, rand(3), flag)
    sequence(conditional, (rand(3), True), (rand(3), False), (rand(3), True))
    sequence(walrus, (rand(3), True), (rand(3), False), (rand(3), True))
    check(later, rand(3), 4)
    check(nested, rand(3))
    check(handler, rand(3), 1)
    check(handler, rand(3), 5)


def test_conditional_walrus_binds_only_sometimes() -> None:
    def f(x, flag):
        z = x * 2
        if flag or (y := 5) > 3:
            z = z + 1
        note()
        if not flag:
            return z + y
        return z

    def unbound(x, flag):
        z = x * 2
        flag and (y := 5)
        note()
        return z + y

    def inside(x):
        y = x * 0
        total = sum([(y := x * k).sum() for k in range(3)])
        return y, total

    def any_of(xs):
        found = any((last := v) > 3 for v in xs)
        return found, last

    for flag in (True, False):
        check(f, rand(3), flag)
        check(unbound, rand(3), flag)
    sequence(f, (rand(3), True), (rand(3), False), (rand(3), True))
    sequence(unbound, (rand(3), True), (rand(3), False))
    check(inside, rand(3))
    check(any_of, [1, 5, 2])


def test_locals_and_eval_see_all_names() -> None:
    def names(x):
        y = x * 2
        z = y.sum() + 1  # noqa: F841 -- it is what is tested
        note()
        return sorted(locals())

    def evaluated(x):
        y = x * 2  # noqa: F841 -- it is what is tested
        note()
        return eval("y + 1")

    def formatted(x):
        y = float(np.sum(x * 0))  # noqa: F841 -- it is what is tested
        note()
        return "{y}".format(**locals()), dict(vars())["y"], "y" in dir()

    for function in (names, evaluated, formatted):
        check(function, rand(3))


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


def test_comprehension_scopes() -> None:
    def f(x):
        k = 7
        ys = [x * k for k in range(3)]
        zs = [[i * j + k for j in range(i)] for i in range(3)]
        return ys, zs, k

    def shadow(x):
        x = [x * 2 for x in (x, x + 1)]
        return x

    def late(x):
        fs = [lambda: x * k for k in range(3)]
        gs = [lambda k=k: x * k for k in range(3)]
        return [g() for g in fs], [g() for g in gs]

    def loop(x):
        fs = []
        for k in range(3):
            fs.append(lambda y: y * k + x)
        x = x + 1
        return [g(x) for g in fs]

    def dicts(x):
        d = {k: x * k for k in range(3)}
        s = {k % 2 for k in range(4)}
        return d, s

    for function in (f, shadow, late, loop, dicts):
        check(function, rand(3))


def test_nested_functions() -> None:
    def late(x):
        def g(a):
            return a * scale

        scale = 2
        y = g(x)
        scale = 3
        return y, g(x)

    def nonlocal_name(x):
        count = 0

        def g(a):
            nonlocal count
            count += 1
            return a * count

        return g(x), g(x), count

    def recursive(x):
        def g(a, n):
            return a if n == 0 else g(a * 2, n - 1)

        return g(x, 5)

    def arguments(x):
        def g(a, b=2, *more, c, **rest):
            return a * b + c + len(more) + len(rest)

        return g(x, c=1), g(x, 3, 4, 5, c=x, d=3)

    def returned(x):
        y = x * 2

        def g(z):
            return y + z

        return g

    def doubled(x):
        def g(a, b=1):
            return a + b

        return g(x, a=3)

    def mutual(x):
        def even(n):
            return x if n == 0 else odd(n - 1)

        def odd(n):
            return -x if n == 0 else even(n - 1)

        return even(4), odd(4)

    for function in (late, nonlocal_name, recursive, arguments, doubled, mutual):
        check(function, rand(3))
    g = aj.autocluster(policy="eager")(returned)(rand(3))
    np.testing.assert_allclose(g(1), rand(3) * 2 + 1)


def test_nonlocal_and_global_in_the_function() -> None:
    def make():
        counter = 0
        state = np.zeros(3)

        def f(x):
            nonlocal counter, state
            counter = counter + 1
            state = state * 0.5 + x
            y = x * counter
            note()
            counter += 1
            state = state + y
            return y, state

        def read():
            return counter, state

        return f, read

    plain, read_plain = make()
    other, read_other = make()
    decorated = aj.autocluster(policy="eager")(other)
    for _ in range(4):
        for got, want in zip(decorated(rand(3)), plain(rand(3)), strict=True):
            np.testing.assert_allclose(got, want)
        assert read_other()[0] == read_plain()[0]
        np.testing.assert_allclose(read_other()[1], read_plain()[1])


COUNT = 0
FIELD = np.zeros(3)


def test_global_assignment() -> None:
    def f(x):
        global COUNT, FIELD
        y = x * 2 + COUNT
        COUNT += 1
        FIELD = FIELD + y
        return FIELD * COUNT

    def run(function):
        global COUNT, FIELD
        COUNT, FIELD = 0, np.zeros(3)
        return [function(rand(3)) for _ in range(4)], COUNT, FIELD

    for got, want in zip(run(aj.autocluster(policy="eager")(f))[0], run(f)[0], strict=True):
        np.testing.assert_allclose(got, want)


def made(x):
    return x


def test_declarations_execute_nothing() -> None:
    def reads(x):
        global COUNT
        y = np.exp(x) * COUNT
        if y.ndim:
            global FIELD
        return y + 1

    def defines(x):
        global made

        def made(x):
            return x * 3

        return made(x) + 1

    def counts(x):
        global COUNT
        for COUNT in range(3):
            x = x + COUNT
        return x * COUNT

    def outer():
        scale = 2.0

        def inner(x):
            nonlocal scale
            y = x * scale
            return y + 1

        return inner

    def calls(x):
        return reads(x) + inner(x)

    inner, first = outer(), made
    for function, is_whole in ((reads, True), (inner, True), (calls, True), (defines, False), (counts, False)):
        found = []
        for each in (function, aj.autocluster(policy="eager")(function)):
            globals().update(COUNT=3, FIELD=np.zeros(3), made=first)
            found.append([each(rand(3)), each(rand(3)), COUNT, made(2.0), made(2.0)])
        for got, want in zip(*found, strict=True):
            np.testing.assert_allclose(got, want)
        globals().update(COUNT=3, made=first)
        assert aj.autocluster(policy="eager")(function).explain(rand(3)).is_whole is is_whole


def test_exceptions_in_the_middle() -> None:
    def effects(a, n):
        a += 1
        b = a[:n]
        b *= 2
        c = a.reshape(2, n)
        c -= 1
        return c

    def caught(a, n):
        out = []
        try:
            a *= 2
            out.append(a[n])
            a += 1
        except IndexError as error:
            a -= 5
            out.append(str(error))
        else:
            a *= 7
        finally:
            a += 0.5
        return out, a

    def raised(a, flag):
        a += 1
        if flag:
            raise ValueError(f"flag {flag}")
        return a

    def division(a, n):
        a += 1
        return a * (1 / n)

    def nested(a, keys):
        total = a * 0
        for key in keys:
            try:
                total = total + {"x": a, "y": a * 2}[key]
            except KeyError:
                total = total - 1
                continue
            total *= 2
        return total

    check(effects, rand(6), 3)
    check(effects, rand(6), 4)
    check(caught, rand(3), 1)
    check(caught, rand(3), 5)
    check(raised, rand(3), False)
    check(raised, rand(3), True)
    check(asserted_data, rand(3))
    check(asserted, rand(3), 3)
    check(asserted, rand(3), 4)
    sequence(asserted, (rand(3), 3), (rand(3), 4), (rand(3), 3))
    sequence(division, (rand(3), 3), (rand(3), 0), (rand(3), 3), (rand(3), 0), (rand(3), 2))
    check(nested, rand(3), ["x", "z", "y"])


def test_exception_names_and_deletion() -> None:
    def f(x, n):
        error = "none"
        try:
            y = x * 2
            [1][n]
        except IndexError as error:  # noqa: F841 -- it is what is tested
            y = x * 3
        try:
            return y, error
        except UnboundLocalError:
            return y, "deleted"

    def deleted(x):
        y = x * 2
        z = y + 1
        del y
        note()
        return z, "y" in dir()

    def deleted_in_loop(x, n):
        y = x * 2
        for k in range(n):
            note()
            x = x + 1
            if k == 1:
                del y
        note()
        return x if n > 1 else x + y

    def deleted_items(x):
        d = {"a": x, "b": x * 2}
        xs = [x, x + 1, x + 2]
        del d["a"], xs[0]
        return d, xs

    sequence(f, (rand(3), 0), (rand(3), 5))
    check(deleted, rand(3))
    sequence(deleted_in_loop, (rand(3), 1), (rand(3), 2))
    check(deleted_items, rand(3))


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


def test_order_of_evaluation_around_native_calls() -> None:
    def f(x):
        out = []

        def bump(v):
            global COUNT
            COUNT += 1
            return v

        for _ in range(3):
            out.append((COUNT, float(np.sum(x))))
            note((COUNT, bump(x * 2)))
            record(out, COUNT, bump(np.sum(x)))
        return out

    def record(out, count, value):
        out.append((count, value))

    def run(function):
        global COUNT
        COUNT = 0
        return function(rand(3))

    wanted = run(f)
    got = run(aj.autocluster(policy="eager")(f))
    assert [c for c, _ in got] == [c for c, _ in wanted]


def test_warnings_as_errors() -> None:
    def f(x):
        y = 1 / x
        z = np.log(x)
        return y + z

    decorated = aj.autocluster(policy="eager")(f)
    zeros = np.zeros(3)
    with np.errstate(all="ignore"):
        decorated(zeros)
    decorated(rand(3) ** 2 + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            decorated(zeros)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        decorated(zeros)
    calls = []
    with np.errstate(all="call"):
        old = np.seterrcall(lambda kind, flag: calls.append(kind))
        try:
            decorated(zeros)
        finally:
            np.seterrcall(old)
    assert calls


def test_error_state_set_inside() -> None:
    def f(x):
        y = x * 2
        old = np.seterr(all="raise")
        try:
            z = 1 / y
        finally:
            np.seterr(**old)
        return z

    check(f, rand(3))
    check(f, np.zeros(3))


def test_unbound_names() -> None:
    def f(x, flag):
        if flag:
            y = x * 2
        return y + 1

    def closure(x):
        def g(n):
            if n > 100:
                return helper(n)
            return x * n + 1

        decorated = aj.autocluster(policy="eager")(g)
        first = decorated(2)

        def helper(n):
            return n

        return first, decorated(3)

    check(f, rand(3), False)
    check(f, rand(3), True)
    sequence(f, (rand(3), True), (rand(3), False))
    for got, want in zip(closure(rand(3)), (rand(3) * 2 + 1, rand(3) * 3 + 1), strict=True):
        np.testing.assert_allclose(got, want)


def test_swallowed_exceptions() -> None:
    def f(x, xs):
        y = x * 1
        with contextlib.suppress(IndexError):
            y = x * 2 + 1
            note(xs[1])
            y = x * 3
        return y + 1

    def unbound(x, xs):
        with contextlib.suppress(IndexError):
            note(xs[1])
            y = x * 3
        return y + 1

    for xs in ([], [1, 2]):
        check(f, rand(3), xs)
        check(unbound, rand(3), xs)


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
