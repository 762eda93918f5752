"""Random numbers: drawn in program order before the array work; the same numbers and end state as in NumPy."""

import copy
import threading
from unittest import mock

import numpy as np
import pytest

import autojit as aj
from autojit.capture.streams import _BLOCKS
from autojit.runtime.streams import same_states, save
from tests.helpers import assert_same, outcome

EAGER = aj.autocluster(policy="eager")
LEGACY = np.random.mtrand._rand
X = np.arange(6.0)


def compare(function, *args, compiled=True, calls=2, decorator=EAGER):
    """NumPy and autojit on copies of the arguments: results, arguments, exceptions, and the streams afterwards."""
    fast = decorator(function)
    for call in range(calls):
        plain, mine = copy.deepcopy((args, args))
        np.random.seed(call)
        expected = outcome(function, plain, {})
        state = save(LEGACY, *streams_in(expected.arguments))
        np.random.seed(call)
        got = outcome(fast, mine, {})
        assert type(got.error) is type(expected.error) and str(got.error) == str(expected.error)
        assert_same(without_streams(got.result), without_streams(expected.result), 1e-12)
        assert_same(without_streams(got.arguments), without_streams(expected.arguments), 1e-12)
        assert same_states(state, save(LEGACY, *streams_in(got.arguments))), "the streams are left in other states"
    info = fast.cache_info()
    assert not compiled or (info.hits > 0 and not info.native), info
    return fast


def streams_in(value):
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return [value]
    return [found for part in value for found in streams_in(part)] if isinstance(value, list | tuple) else []


def without_streams(value):
    if isinstance(value, list | tuple):
        return [without_streams(part) for part in value if not streams_in([part])]
    return value


# ---- blocks


def parameters_of(method):
    return {"normal": [(), (2.0, 0.5)], "uniform": [(), (-3.0, 4)], "exponential": [(), (0.3,)]}.get(method) or {
        "integers": [(7,), (-5, 1000), (0, 2**40)],
        "randint": [(7,), (-5, 1000), (0, 2**40)],
        "rand": [()],
        "randn": [()],
    }.get(method, [()])


@pytest.mark.parametrize("kind, method", [(kind, method) for kind in _BLOCKS for method in sorted(_BLOCKS[kind])])
def test_one_block_is_many_draws(kind, method):
    make = np.random.RandomState if kind is np.random.RandomState else np.random.default_rng
    for seed in range(20):
        for parameters in parameters_of(method):
            for shape in ((), (3,), (2, 5)):
                one, other = make(seed), make(seed)
                for stream in (one, other):  # half of a 64-bit number, or one of two normals, may be left over
                    if seed % 2:
                        stream.standard_normal()
                    if seed % 3 == 1:
                        (stream.randint if kind is np.random.RandomState else stream.integers)(10, dtype=np.int32)
                sizes = (shape, (7, *shape))
                if method in ("rand", "randn"):
                    singles = [getattr(one, method)(*shape) for _ in range(7)]
                    block = getattr(other, method)(*sizes[1])
                else:
                    singles = [getattr(one, method)(*parameters, size=shape or None) for _ in range(7)]
                    block = getattr(other, method)(*parameters, size=sizes[1])
                assert np.array_equal(np.asarray(singles), block) and np.asarray(singles).dtype == block.dtype
                assert same_states(save(one), save(other))


# ---- whole functions


def prices(n, sigma, rng):
    price = 100 * np.exp(-0.5 * sigma**2 + sigma * rng.standard_normal(n))
    return np.maximum(price - 100, 0).mean(), price


def walk(n, steps):
    x = np.zeros(n)
    for _ in range(steps):
        x = x + np.random.normal(0.0, np.sqrt(0.1), size=n)
        x *= 0.9
    return x


def inside(n, rng):
    count = 0
    for _ in range(n):
        x = rng.random()
        y = rng.random()
        if x * x + y * y < 1:
            count += 1
    return 4 * count / n


def mixed(n, rng):
    total, kinds = 0.0, np.zeros(3)
    for i in range(2, n, 3):
        x = rng.normal(1, 2)
        k = rng.integers(3)
        kinds[k] += x
        for _ in range(2):
            total += rng.exponential(0.5) * i
        total -= np.random.randint(4)
    return total, kinds, rng.random(2)


def test_whole_functions():
    compare(prices, 50, 0.2, np.random.default_rng(1))
    compare(prices, 50, 0.2, np.random.RandomState(1))
    compare(walk, 20, 12)
    compare(inside, 300, np.random.default_rng(2))
    compare(mixed, 20, np.random.default_rng(3))
    compare(mixed, 2, np.random.default_rng(3))


def test_another_generator_is_the_same_plan():
    fast = EAGER(prices)
    for seed in range(4):
        one, other = np.random.default_rng(seed), np.random.default_rng(seed)
        assert_same(fast(9, 0.3, one), prices(9, 0.3, other), 1e-12)
    assert fast.cache_info().captures == 1
    bits = np.random.Generator(np.random.SFC64(5)), np.random.Generator(np.random.SFC64(5))
    assert_same(fast(9, 0.3, bits[0]), prices(9, 0.3, bits[1]), 1e-12)
    assert fast.cache_info().captures == 1


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


def test_another_function_in_the_place_of_numpys():
    def f(n):
        return np.random.normal(size=n) * 2

    fast = EAGER(f)
    fast(3)
    with mock.patch("numpy.random.normal", lambda size: np.full(size, 21.0)):
        assert np.all(fast(3) == 42) and np.all(fast(3) == 42)
    np.random.seed(1)
    expected = f(3)
    np.random.seed(1)
    assert_same(fast(3), expected, 1e-12)


def test_warnings_are_numpys():
    def f(rng):
        return rng.multivariate_normal([0, 0], [[1, 2], [2, 1.0]]) * 2

    with pytest.warns(RuntimeWarning) as found:
        EAGER(f)(np.random.default_rng(1))
    assert len(found) == 1 and found[0].filename == __file__


# ---- streams made in the function


def seeded(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n) * 2
    return x.sum(), rng


def test_a_generator_made_in_the_function():
    fast = EAGER(seeded)
    for seed in (1, 2, 1):
        (mine, left), (theirs, there) = fast(seed, 30), seeded(seed, 30)
        assert abs(mine - theirs) < 1e-12 and same_states(save(left), save(there))
    assert fast.cache_info().captures == 1 and fast.cache_info().hits == 3
    assert fast(5, 30)[1] is not fast(5, 30)[1]


def test_the_identity_of_a_generator_made_in_the_function():
    def noise(x, rng=None):
        if rng is None:
            rng = np.random.default_rng(0)
        return x + rng.random(x.size)

    def f(x, seed):
        rng = np.random.default_rng(seed)
        other = np.random.default_rng(seed)
        return noise(x, rng), noise(x), rng is other, rng is not None

    compare(f, X, 3)


def test_the_seed_set_in_the_function():
    def f(seed, n):
        np.random.seed(seed)
        x = np.random.rand(n) + np.random.randn(n)
        np.random.seed(seed + 1)
        return x * np.random.rand(n)

    compare(f, 5, 8)

    def g(seed):
        state = np.random.RandomState(seed)
        return state.rand(3) + state.normal(size=3)

    compare(g, 5)


def test_without_a_seed_each_call_draws_anew():
    @EAGER
    def f(n):
        return np.random.default_rng().random(n) * 2

    assert not np.array_equal(f(5), f(5)) and f.cache_info().hits == 2


# ---- what goes wrong


def test_traps_give_the_state_back():
    def f(rng, x, i):
        y = rng.normal(size=3) + x[i]
        return y * rng.random()

    fast = EAGER(f)
    for i in (1, 9, 2, -7):
        one, other = np.random.default_rng(3), np.random.default_rng(3)
        got, expected = outcome(fast, (one, X, i), {}), outcome(f, (other, X, i), {})
        assert type(got.error) is type(expected.error) and str(got.error) == str(expected.error)
        assert same_states(save(one), save(other))


def test_data_that_raises_after_draws():
    def f(rng, x):
        y = rng.normal(size=3) * 2
        z = y + x[int(x[0])]
        return z + rng.random()

    for first in (2.0, 80.0):
        compare(f, np.random.default_rng(1), np.array([first, 2.0, 3.0]), compiled=first < 5)


@pytest.mark.parametrize("scale", [-1.0, float("nan")])
def test_draws_that_raise(scale):
    def f(rng, x, scale):
        y = x * 2 + rng.random(6)
        x[:] = 7
        return y + rng.normal(0, scale, 6)

    fast = EAGER(f)
    for each in (1.0, scale, 1.0):
        one, other, mine, theirs = np.random.default_rng(3), np.random.default_rng(3), X.copy(), X.copy()
        got, expected = outcome(fast, (one, mine, each), {}), outcome(f, (other, theirs, each), {})
        assert type(got.error) is type(expected.error) and str(got.error) == str(expected.error)
        assert same_states(save(one), save(other))
        assert_same(mine, theirs, 0.0)


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

    for function, native in ((after_a_loop, [3]), (after_a_branch, [4]), (after_a_return, [5, 2])):
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


def test_what_changes_more_than_the_stream_stays_in_numpy():
    def f(rng, x):
        y = x * 2
        rng.shuffle(y)
        return y + 1

    one, other = np.random.default_rng(3), np.random.default_rng(3)
    assert_same(EAGER(f)(one, X), f(other, X), 0.0)

    def g(rng, x):
        out = np.empty(6)
        rng.random(out=out)
        return out + x

    assert_same(EAGER(g)(one, X), g(other, X), 0.0)
    assert same_states(save(one), save(other))


def test_subclasses_and_foreign_methods_stay_in_numpy():
    class Loud(np.random.Generator):
        def normal(self, *args, **kwargs):
            return np.full(3, 42.0)

    def f(rng):
        return rng.normal(size=3) + 1

    assert np.all(EAGER(f)(Loud(np.random.PCG64(1))) == 43)


def test_too_many_numbers_for_one_draw():
    def f(rng, n, m):
        total = np.zeros(n)
        for _ in range(m):
            total += rng.random(n)
        return total

    one, other = np.random.default_rng(3), np.random.default_rng(3)
    fast = EAGER(f)
    assert_same(fast(one, 300_000, 60), f(other, 300_000, 60), 1e-12)
    assert same_states(save(one), save(other))


def test_strict_functions_refuse():
    with pytest.raises(aj.UncompilableError, match=r"\[host-op\] `Generator.standard_normal`"):
        aj.jit_compile(prices)(5, 0.1, np.random.default_rng(1))


def test_explain_names_the_draws():
    explanation = EAGER(prices).explain(5, 0.1, np.random.default_rng(1))
    assert [reason.id for reason in explanation.host_nodes] == ["host-op"] and not explanation.is_whole
    assert "`Generator.standard_normal` runs in NumPy, before the program" in str(explanation)
    stream = np.random.default_rng(1)
    before = save(stream)
    EAGER(mixed).explain(20, stream)
    assert same_states(before, save(stream))


def test_the_policy_that_measures():
    decorator = aj.autocluster(policy="measured")
    fast = decorator(walk)
    for call in range(12):
        np.random.seed(call)
        expected, state = walk(2000, 30), save(LEGACY)
        np.random.seed(call)
        assert_same(fast(2000, 30), expected, 1e-12)
        assert same_states(state, save(LEGACY))


def test_exact():
    compare(walk, 20, 12, decorator=aj.autocluster(policy="eager", exact=True))


def test_threads_with_their_own_generators():
    def f(n, rng):
        total = np.zeros(4)
        for _ in range(n):
            total += rng.normal(size=4) * rng.integers(3)
        return total, rng.random(2)

    fast, found = EAGER(f), {}

    def run(seed):
        found[seed] = [fast(20, np.random.default_rng(seed))[1] for _ in range(5)]

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, results in found.items():
        for result in results:
            assert np.array_equal(result, f(20, np.random.default_rng(seed))[1])
