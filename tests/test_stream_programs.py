"""Random numbers in programs: draws in loops, under conditions, in helpers and displays, with arguments of all kinds."""

import numpy as np

from autojit.runtime.streams import same_states, save
from tests.helpers import assert_same
from tests.streams import EAGER, X, compare


def test_two_loops_and_helpers():
    def pair(rng, n):
        return rng.random(n) - rng.random(n)

    def f(rng, other, n, m):
        total = np.zeros(n)
        for _ in range(m):
            total += pair(rng, n)
        for _ in range(m):
            total += pair(other, n) * pair(rng, n)
            for j in range(9):
                total[0] += other.standard_normal() * j
        return total

    compare(f, np.random.default_rng(1), np.random.default_rng(2), 4, 11)
    shared = np.random.default_rng(1)
    compare(f, shared, shared, 4, 11)


def test_lengths_as_arguments():
    def f(n):
        total, row = 0.0, np.zeros(3)
        for _ in range(n):
            total += np.random.rand() * 2
        for _ in range(n):
            row += np.random.randn(3)
        return total, row

    compare(f, 12)


def test_the_same_line_again():
    def f(rng, n):
        out = np.zeros((n, 2))
        for i in range(n):
            out[i] = [rng.random() + rng.random(), rng.normal()]
        for i in range(n):
            out[i] *= rng.random() - rng.random()
        return out

    compare(f, np.random.default_rng(1), 10)


def test_a_type_that_settles_later():
    def f(rng, n):
        s = 0
        for _ in range(n):
            s = s * 0.5 + rng.integers(5)
        return s

    compare(f, np.random.default_rng(1), 20)


def test_what_is_drawn_may_be_changed():
    def f(rng):
        z = rng.normal(size=5)
        z[0] = 7
        w = rng.integers(0, 9, size=(2, 3))
        w += 1
        k = rng.permutation(6)
        return z, w, k, k[::-1], z * 2

    compare(f, np.random.default_rng(1))


def test_choices_and_arrays_as_arguments():
    def f(rng, x, lam):
        a = rng.choice(x, 4) * 2
        b = rng.poisson(lam) + 0.5
        c = rng.choice(5, size=3, replace=False, p=[0.1, 0.2, 0.3, 0.2, 0.2])
        d = rng.multinomial(10, [0.2, 0.8], size=2)
        e = rng.permutation(x) - x
        return a, b, c, d, e, rng.standard_normal((2, 2), dtype=np.float32) * 2

    compare(f, np.random.default_rng(1), X, X + 1)


def test_arguments_that_the_region_computes_stay_in_numpy():
    def f(rng, x):
        y = x * 2
        return rng.poisson(y) + y

    fast = compare(f, np.random.default_rng(1), X, compiled=False, calls=1)
    assert [reason.id for reason in fast.explain(np.random.default_rng(1), X).native_statements][:1] == ["effect"]

    def g(rng, x):
        x += 1
        return rng.poisson(x) + x

    compare(g, np.random.default_rng(1), X, compiled=False, calls=1)


def test_other_numbers_and_other_lengths():
    def f(rng, scale, n):
        return rng.normal(0, scale, n) * 2

    fast = EAGER(f)
    for scale, n in ((1.0, 5), (2.0, 5), (3.0, 6), (1, 5), (np.float64(2), 5)):
        one, other = np.random.default_rng(7), np.random.default_rng(7)
        assert_same(fast(one, scale, n), f(other, scale, n), 1e-12)
        assert same_states(save(one), save(other))


def test_loops_under_conditions():
    def burn_in(rng, x):
        total = 0.0
        for i in range(50):
            if i > 3:
                for _ in range(6):
                    total += rng.random()
        return total + x.sum()

    def sometimes(rng, x):
        total = 0.0
        if x[0] > 0:
            for _ in range(10):
                total += rng.random()
        return total + x.sum()

    def skipping(rng, x):
        total = 0.0
        for i in range(20):
            if x[i % 6] > 2:
                continue
            for _ in range(10):
                total += rng.random()
        return total + x.sum()

    def helper(rng):
        total = 0.0
        for _ in range(9):
            total += rng.random()
        return total

    def chosen(rng, x):
        return x * (helper(rng) if x[0] > 0 else 1.0) + (x[1] > 1 and helper(rng) > 3)

    def leaving(rng, x):
        total = 0.0
        for i in range(3):
            if x[i] > 1:
                break
            total += helper(rng)
        return total + x

    def early(rng, x):
        if x[0] > 0:
            return x * 2
        return x * helper(rng)

    for function in (burn_in, sometimes, skipping, chosen, leaving, early):
        for x in (X, X + 1, -X):
            compare(function, np.random.default_rng(3), x, compiled=False)


def test_what_a_loop_runs_over_is_drawn_once():
    def short(rng, x):
        total = 0.0
        for value in rng.random(3):
            total += value
        for i, value in enumerate(rng.random(4)):
            total += value * i
        for one, value in zip(x, rng.random(2)):
            total += one * value
        return total

    def listed(rng, x):
        found = []
        for value in rng.random(20):
            found.append(value * 2)
        return x + sum(found)

    def in_place(rng, x):
        for i in rng.permutation(4):
            x[i] = x[i - 1] * 0.5
        return x

    def epochs(rng, x):
        w = 0.0
        for _ in range(3):
            for i in rng.integers(0, 6, 3):
                w = w * 0.9 + x[i]
        return w

    def bound(rng, x):
        def count():
            return 3 + 0 * int(rng.integers(1, 2))

        def three():
            rng.random()
            return 3

        t = x * 1
        for i in range(three()):
            t = t + i
        for i in range(count()):
            t = t + i
        return t

    for function in (short, listed, in_place, epochs, bound):
        compare(function, np.random.default_rng(3), X, compiled=False)


def test_no_axes():
    def f(rng, n):
        total = 0.0
        for _ in range(n):
            value = rng.normal(size=())
            total = total + value
            value += 1
        return total, value

    compare(f, np.random.default_rng(3), 9)


def test_draws_in_displays():
    def f(rng):
        def name():
            return "a" if rng.random(2).shape == (2,) else "b"

        return {name(): rng.random(6) * 2}

    compare(f, np.random.default_rng(3))


def test_branches_and_loops_that_data_decides():
    def f(rng, x):
        y = x * 2
        if y[0] > 1:
            y = y + rng.random(6)
        return y

    def g(rng, x):
        total = 0.0
        while total < 5:
            total += rng.random()
        return x * total

    def h(rng, x):
        total = 0.0
        for _ in range(50):
            total += rng.random()
            if total > 5:
                break
        return x * total

    def j(rng, x):
        total = x * 0
        for i in range(20):
            if x[i % 6] > 2:
                continue
            total += rng.random(6)
        return total

    for function in (f, g, h, j):
        for x in (X, X + 1):
            one, other = np.random.default_rng(3), np.random.default_rng(3)
            assert_same(EAGER(function)(one, x), function(other, x), 1e-12)
            assert same_states(save(one), save(other))


def test_draws_after_a_branch_that_stays_in_python():
    def after_a_loop(x, y):
        for i in range(40):
            if x[i] > 0.5:
                print(end="")
            y[i] = x[i] ** 2
        z = np.exp(x)
        np.random.seed(3)
        return np.random.rand(50) * z, np.random.default_rng(4).normal(size=3)

    def after_a_branch(x, y):
        z = x * 2
        if x.sum() > 3:
            z = z * 2
            print(end="")
        return np.random.rand(50) * y + z

    def after_a_return(x, y):
        for i in range(3):
            if x[i] > 5:
                return y
            y = y + x[i]
            print(end="")
        return np.random.rand(50) * y

    for function, native in ((after_a_loop, [3]), (after_a_branch, [4]), (after_a_return, [2, 5])):
        x = np.random.default_rng(0).random(50)
        fast = EAGER(function)
        told = [
            reason.source.line - function.__code__.co_firstlineno for reason in fast.explain(x, x).native_statements
        ]
        assert told == native
        compare(function, x, x * 3, compiled=False)
        fast(x, x * 3), fast(x, x * 3)
        assert fast.cache_info().hits >= 2


def test_iterating_over_draws():
    def f(rng):
        total = 0.0
        for value in rng.random(30):
            total += value
        for i in range(rng.integers(3, 5)):
            total += i * rng.random()
        return total

    one, other = np.random.default_rng(3), np.random.default_rng(3)
    assert_same(EAGER(f)(one), f(other), 1e-12)
    assert same_states(save(one), save(other))
