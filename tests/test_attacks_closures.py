"""Cells that nested functions share, annotations, and the order in which native calls evaluate their parts."""

from __future__ import annotations

import functools

import numpy as np

import autojit as aj
from tests import annotated
from tests.helpers import check

X = np.arange(3.0)


def check_then(function, use, *args) -> None:
    """`check` what is found after the decorated function has returned."""

    def decorate(_):
        decorated = aj.autocluster(policy="eager")(function)

        def both(*args):
            return use(decorated(*args))

        both.cache_info = decorated.cache_info
        return both

    check(lambda *args: use(function(*args)), *args, decorator=decorate)


def call(result):
    return result()


def test_a_cell_bound_anew_before_return() -> None:
    def nonlocal_counter(x):
        y = x * 2

        def g():
            nonlocal y
            y = y + 1
            return y

        y = y * 3
        return g, y

    def partial(x):
        y = x * 2
        g = functools.partial(lambda: y)
        y = y * 3
        return g

    def static(x):
        y = x * 2

        @staticmethod
        def g():
            return y

        y = y * 3
        return g

    def method(x):
        y = x * 2

        class Local:
            def read(self):
                return y

        g = Local().read
        y = y * 3
        return g

    def decorated(x):
        y = x * 2

        @functools.lru_cache
        def g():
            return y

        y = y * 3
        return g

    def comprehension(x):
        y = x * 2
        g = [lambda: y for _ in range(1)]
        y = y * 3
        return g[0]

    def generator(x):
        y = x * 2
        g = (y * k for k in range(3))
        y = y * 3
        return g

    for function in (partial, static, method, decorated, comprehension):
        check_then(function, call, X)
    check_then(nonlocal_counter, lambda result: (result[0](), result[0](), result[1]), X)
    check_then(generator, list, X)


def test_a_cell_of_an_outer_function() -> None:
    def maker():
        c = None

        def f(x):
            nonlocal c

            def g():
                nonlocal c
                c = c + 1
                return c

            c = x * 2
            g()
            y = c * 2
            g()
            c = c * 2
            return y, g

        def bound_only(x):
            nonlocal c
            c = x * 2
            return x + 1

        def without_return(x):
            nonlocal c
            c = x * 2
            x += 1

        return f, bound_only, without_return, lambda: c

    for number in (0, 1, 2):
        plain, other = maker(), maker()

        def run(x, made=plain, number=number):
            return made[number](x), made[3]

        def use(result, number=number):
            first, read = result
            return (first[0], first[1](), read()) if number == 0 else (read(),)

        fast = aj.autocluster(policy="eager")(other[number])
        for _ in range(3):
            expected, got = use(run(X.copy())), use((fast(X.copy()), other[3]))
            assert all(np.array_equal(a, b) for a, b in zip(expected, got, strict=True))


def test_a_cell_bound_anew_before_an_early_return() -> None:
    def by_data(x):
        y = x * 2
        g = lambda: y  # noqa: E731 -- what is tested
        if x[0] > 0:
            y = y * 5
            return g
        return g

    def implicit(x):
        y = x * 2
        g = lambda: y  # noqa: E731 -- what is tested
        if x[0] > 0:
            y = y * 5
            return g

    def in_loop(x, o):
        y = x * 2
        o.append(lambda: y)
        for i in range(3):
            y = y * 3
            if i == 1:
                return o[0]

    def in_data_loop(x, o):
        y = x * 2
        o.append(lambda: y)
        for i in range(3):
            y = y * 3
            if y[0] > 5:
                return i
            y = y + 1
        return -1

    def in_finally(x, o):
        y = x * 2
        try:
            o.append(lambda: y)
            if x[0] > 0:
                y = y * 5
                return y + 1
            y = y - 1
            return y * 2
        finally:
            y = y + 1

    check_then(by_data, call, X + 1)
    check_then(by_data, call, X)
    check_then(implicit, call, X + 1)
    for function in (in_loop, in_data_loop, in_finally):
        for x in (X, X + 1, X + 100):
            # A list of the call's own: clones of arguments keep no functions apart.
            def made(x, function=function):
                return function(x, [])

            check(made, x)
            got, expected = [], []
            fast = aj.autocluster(policy="eager")(function)
            for _ in range(3):
                fast(x.copy(), got)
                function(x.copy(), expected)
                assert np.array_equal(got[-1](), expected[-1]())


def test_a_generator_expression_reads_when_it_is_asked() -> None:
    def later(x):
        y = x * 2
        g = (y * k for k in range(3))
        y = y * 3
        print(end="")
        return list(g)

    def first_at_once(x):
        y = x * 2
        g = (k * 2 for k in y)
        y = y * 3
        print(end="")
        return list(g), y

    def binds(x):
        z = x * 2
        g = ((z := k * x) for k in range(3))
        print(end="")
        next(g)
        next(g)
        z = z + 1
        y = z * 2
        next(g)
        print(end="")
        return y, z * 3

    for function in (later, first_at_once, binds):
        check(function, X)


def test_annotations_are_evaluated() -> None:
    check(annotated.of_a_parameter, X)
    check(annotated.of_the_result, X)
    check(annotated.of_a_name_unbound_yet, X)
    check(annotated.with_an_effect, X, [])
    check(annotated.not_subscriptable, X)
    check(annotated.not_evaluated, X, whole=True)
    check(annotated.an_item, X)
    check(annotated.keyword_default, X)
    check(annotated.usual, X, whole=True)


def test_annotations_are_postponed() -> None:
    def function(x):
        def g(y: undefined):  # noqa: F821 -- what is tested
            return y * 2

        return g(x)

    check(function, X, whole=True)


class Swaps:
    """An object whose parts change while arguments are evaluated."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.cb = self.first
        self.x = np.zeros(1)

    def first(self, x):
        return x * 2

    def second(self, x):
        return x * 3

    def swap(self, x):
        self.cb = self.second
        return x + 1

    @property
    def prop(self):
        self.log.append("looked up")
        return self.first

    @property
    def by_content(self):
        return self.first if self.x[0] == 0 else self.second


def _add_in_place(x):
    for i in range(200):
        x[i] = x[i] + 1
    return x


def _first(x):
    return x * 5


def _second(x):
    return x * 7


hh = _first


def _swap_global(x):
    global hh
    hh = _second
    with_state(x)
    return x


def with_state(x):
    print(end="")


def test_the_function_of_a_native_call_is_looked_up_first() -> None:
    global hh

    def attribute(x):
        o = Swaps()
        print(end="")
        return o.cb(o.swap(x + 1))

    def missing(x):
        return x.nosuch(np.linalg.inv(x))

    def undefined(x, y):
        return undefined_thing(x + y)  # noqa: F821 -- what is tested

    def unbound(x, y, c):
        if c:
            z = 1
        print(z, x + y, end="")

    def unbound_function(x, y, c):
        if c:
            z = print
        z(x + y, end="")

    def property_of(x, y, o):
        return o.prop(x + y)

    def written_meanwhile(x, o):
        o.x = x
        return o.by_content(np.add(x, 1, out=x))

    def written_by_a_loop(x, o):
        o.x = x
        return o.by_content(_add_in_place(x))

    def nested(x, y):
        return undefined_thing(with_state(x * 2), with_state(x + y))  # noqa: F821 -- what is tested

    check(attribute, X)
    check(missing, np.ones((2, 2)))
    check(undefined, X, np.arange(4.0))
    check(undefined, X, X)
    for function in (unbound, unbound_function):
        check(function, X, np.arange(4.0), False)
        check(function, X, np.arange(4.0), True)
        check(function, X, X, True)
    check(property_of, X, np.arange(4.0), Swaps())
    check(property_of, X, X, Swaps())
    check(written_meanwhile, X, Swaps())
    check(written_by_a_loop, np.arange(200.0), Swaps())
    check(nested, X, np.arange(4.0))

    def rebound(x):
        return hh(_swap_global(x + 1))

    fast = aj.autocluster(policy="eager")(rebound)
    for function in (rebound, fast, fast, fast):
        hh = _first
        assert np.array_equal(function(X), (X + 1) * 5)


def test_arguments_are_still_taken_out_of_native_calls() -> None:
    def appends(x, results):
        y = x * 2
        results.append(np.sum(y * x))
        results.append(y + 1)
        return y

    def prints(x):
        y = x * 2
        print((y * x).sum(), np.zeros(3), end="")
        return y - 1

    def two(x, log):
        log.append((with_state(x + 1), np.zeros(3) + 1))
        log.insert(with_state(x + 1) or 0, np.ones(3) * 2)
        return x

    def kwargs(x, log, more):
        y = x * 2
        log.append(dict(a=y * 2, **more))
        return y

    decorated = check(appends, X, [])
    assert len(decorated.explain(X, []).clusters) == 2
    assert len(check(prints, X).explain(X).clusters) >= 2
    check(two, X, [])
    check(kwargs, X, [], {"b": 1})


ROWS = np.arange(63).reshape(7, 9)


def test_the_target_of_a_loop_beside_a_nested_function() -> None:
    """A nested function sees the names of the moment: what a loop binds is not what it was before."""

    def nothing(a, b):
        row = np.repeat(b, 2)

        def inner(x):
            return x

        for row in a:
            pass
        return row.size, row, inner(b)

    def counted(a, b):
        n, row = 17, np.repeat(b, 2)
        inner = lambda x: x * 2  # noqa: E731 -- it is about lambdas
        for n, row in enumerate(a):
            b = b + 1
        return n, row, inner(b)

    def pairs(a, b):
        x, y = b.sum(), b[:3]
        inner = lambda x: x * 2  # noqa: E731 -- as above
        for x, y in zip(a, a[::-1]):
            b = b + x
        return x, y, inner(b)

    def seen(a, b):
        row = b[:2]
        inner = lambda: row.sum()  # noqa: E731 -- as above
        for row in a:
            b = b + inner()
        return row, inner(), b

    def changed(a, b):
        row = b[:2]
        inner = lambda x: row.sum() + x  # noqa: E731 -- as above
        for row in a:
            row = row * 2
            b = inner(b)
        return row, inner(b)

    def nested(a, b):
        row, k = b[:2], b[0]
        inner = lambda x: x  # noqa: E731 -- as above
        for row in a:
            for k in row:
                b = b + k
        return row, k, inner(b)

    def none(a, b):
        row = np.repeat(b, 2)
        inner = lambda x: x  # noqa: E731 -- as above
        for row in a[:0]:
            pass
        return row, inner(b)

    def left(a, b):
        row = np.repeat(b, 2)
        inner = lambda x: x  # noqa: E731 -- as above
        for row in a:
            if row.sum() > 100:
                break
        return row, inner(b)

    for function in (nothing, counted, pairs, seen, changed, nested, none, left):
        check(function, ROWS, np.arange(9))
        check(function, ROWS[:1], np.arange(9))
