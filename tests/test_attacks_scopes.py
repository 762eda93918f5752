"""Names: bound on some path, in closures, comprehensions and `nonlocal` and `global` statements; what must be alive after a region."""

from __future__ import annotations

import numpy as np

import autojit as aj
from tests.attacks import rand, sequence
from tests.helpers import assert_same, check
from tests.notes import note


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

    assert_same(run(aj.autocluster(policy="eager")(f)), run(f))


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
    assert_same(run(aj.autocluster(policy="eager")(f)), wanted)


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
