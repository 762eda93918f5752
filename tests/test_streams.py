"""Random numbers: drawn in program order before the array work; the same numbers and end state as in NumPy."""

import threading

import numpy as np
import pytest

import autojit as aj
from autojit.capture.streams import _BLOCKS
from autojit.runtime.streams import same_states, save
from tests.helpers import assert_same
from tests.streams import EAGER, LEGACY, X, compare

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


def returned(n, x):
    for _ in range(n):
        x = np.sin(x) + x.sum()
    return x, np.random.randint(1000)


def test_an_integer_that_no_array_work_takes():
    compare(returned, 5, X)


def test_another_generator_is_the_same_plan():
    fast = EAGER(prices)
    for seed in range(4):
        one, other = np.random.default_rng(seed), np.random.default_rng(seed)
        assert_same(fast(9, 0.3, one), prices(9, 0.3, other), 1e-12)
    assert fast.cache_info().captures == 1
    bits = np.random.Generator(np.random.SFC64(5)), np.random.Generator(np.random.SFC64(5))
    assert_same(fast(9, 0.3, bits[0]), prices(9, 0.3, bits[1]), 1e-12)
    assert fast.cache_info().captures == 1


def test_strict_functions_refuse():
    with pytest.raises(aj.UncompilableError, match=r"\[host-op\] `Generator.standard_normal`"):
        aj.jit_compile(prices)(5, 0.1, np.random.default_rng(1))


def test_explain_names_the_draws():
    explanation = EAGER(prices).explain(5, 0.1, np.random.default_rng(1))
    assert [reason.id for reason in explanation.host_nodes] == ["host-op"] and not explanation.is_whole
    assert "`Generator.standard_normal` runs in NumPy, before the program" in " ".join(str(explanation).split())
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
