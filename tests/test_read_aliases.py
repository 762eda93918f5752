"""What a name may mean in the next iteration, items that are named arrays, memory orders, Python's numbers: read, mended."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import autojit as aj
from tests.helpers import check, check_call


def forgets_a_copy(x, steps):
    trial = x.copy()
    best = x * 1.0
    least = (best**2).sum()
    for k in range(len(steps)):
        trial += steps[k]
        cost = (trial**2).sum()
        if cost < least:
            best = trial
            least = cost
    return best, least


def forgets_a_copy_of_its_own(x, steps):
    trial, least = x * 1.0, np.inf
    best = trial * 2.0
    for k in range(len(steps)):
        trial = trial * 0.5 + steps[k]
        trial[0] += 1.0
        cost = (trial**2).sum()
        if cost < least:
            best, least = trial, cost
    return best, least


def writes_by_another_name(a, steps):
    u = a * 1.0
    w = a * 2.0
    for i in range(len(steps)):
        w[0] += 1.0
        w = u if steps[i, 0] > 0 else w * 0.5
    return u


def writes_by_a_third_name(a, steps):
    u = a * 1.0
    b, c = a * 2.0, a * 3.0
    for i in range(len(steps)):
        c[0] += 1.0
        old = b
        b = u if steps[i, 0] > 0 else b * 0.5
        c = old if steps[i, 1] > 0 else c * 0.5
    return u


@pytest.mark.parametrize(
    "function", [forgets_a_copy, forgets_a_copy_of_its_own, writes_by_another_name, writes_by_a_third_name]
)
def test_what_the_data_decides_in_one_iteration_holds_in_the_next(function):
    steps = np.array([[-1.0, 1.0]] * 3 + [[1.0, 1.0]] * 7)
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(2):
        check_call(fast, function, np.array([3.0, 3.0]), steps)


def best_of_copies(x, steps):
    best, least = x * 1.0, np.inf
    for k in range(len(steps)):
        x = x * 0.5 + steps[k]
        cost = (x**2).sum()
        if cost < least:
            best, least = x, cost
    return best, least


def test_new_arrays_are_chosen_in_rolled_loops():
    fast = aj.jit_compile(best_of_copies)
    check_call(fast, best_of_copies, np.ones(4), np.random.default_rng(0).standard_normal((50, 4)))


def appends_a_name(a, x):
    u, xs = a * 1.0, []
    for i in range(200):
        xs.append(u if x[i] > 0 else a * x[i])
    u[0] = 100.0
    return xs


def lists_a_name(a, x):
    u = a * 1.0
    xs = [u if x[i] > 0 else a * x[i] for i in range(200)]
    u[0] = 100.0
    return xs, u


@pytest.mark.parametrize("function", [appends_a_name, lists_a_name])
def test_an_item_may_be_a_named_array(function):
    xs = check(function, np.ones(3), np.where(np.arange(200) % 3, 1.0, -1.0))(np.ones(3), np.ones(200))
    xs = xs[0] if isinstance(xs, tuple) else xs
    assert xs[0] is xs[1] and xs[0][0] == 100.0


def fills_one_list_twice(x):
    for xs in [[]] * 2:
        for i in range(200):
            xs.append(x[i] * 2)
    return xs


def test_a_list_that_a_loop_goes_over():
    check(fills_one_list_twice, np.arange(200.0))


def fills_like(x, n):
    k = int(n[0]) % 10
    y = np.full_like(x.T, k)
    y.ravel()[0] = 99.0
    return y


def chooses_by_order(x, n):
    k = int(n[0]) % 10
    y = np.where(x.T > 0, x.T, k)
    y.ravel()[0] = 99.0
    return y, np.clip(x.T, 0, k)


def fills_in_a_loop(x, n):
    s = 0.0
    for i in range(int(n.size)):
        y = np.full_like(x.T, i)
        y.reshape(-1)[0] = -1.0
        s += y[0, 0]
    return s


@pytest.mark.parametrize("function", [fills_like, chooses_by_order, fills_in_a_loop])
def test_memory_orders_beside_ints_of_the_run(function):
    check(function, np.arange(6.0).reshape(2, 3), np.arange(3, 40))


def divides_an_index(x, out):
    n = int(x[0])
    for i in range(len(out)):
        _, r = divmod(i, n)
        out[i] = 1 / r if i % n else -1.0
    return out


def divides_by_a_complex_number(z, out):
    w = complex(z[0])
    for i in range(len(out)):
        out[i] = i / w
    return out


def lists_complex_numbers(z, out):
    w = complex(z[0])
    return [i * w for i in range(len(out))]


def returns_a_quotient(z, out):
    q, r = divmod(int(z[0].real) + 10**9, int(out.size) % 7 + 1)
    return q, r, q * 10**12 * 10**12, np.real(int(z[0].real) % 7), complex(z[0]) * (int(z[0].real) % 7)


@pytest.mark.parametrize("value", [3.0, 0.0])
@pytest.mark.parametrize(
    "function", [divides_an_index, divides_by_a_complex_number, lists_complex_numbers, returns_a_quotient]
)
def test_indices_beside_python_s_numbers(function, value):
    fast = aj.autocluster(policy="eager")(function)
    given = np.full(1, value, float if function is divides_an_index else complex)
    for _ in range(2):
        check_call(fast, function, given, np.zeros(100, given.dtype))


def squares_by_index(z, out):
    for i in range(6):
        out[i] = z**i
    return out


def test_zeros_of_complex_squares_in_a_vectorized_loop():
    z = np.full(2000, complex(-0.0, 0.0))
    fast = aj.autocluster(policy="eager")(squares_by_index)
    for _ in range(2):
        got = fast(z, np.empty((6, 2000), complex))
        wanted = squares_by_index(z, np.empty((6, 2000), complex))
        assert got.tobytes() == wanted.tobytes()


def asks_for_a_generator(rng, x):
    if isinstance(rng.bit_generator, np.random.MT19937):
        return x * 2 + 1
    return x * 3


def asks_for_a_method(rng, x):
    if getattr(rng, "integers", None) is None:
        return x * 2 + 1
    return x * 3


def test_attributes_of_generators():
    x = np.arange(4.0)
    for rng in (np.random.Generator(np.random.MT19937(0)), np.random.default_rng(0)):
        fast = aj.autocluster(policy="eager")(asks_for_a_generator)
        assert_array_equal(fast(rng, x), asks_for_a_generator(rng, x))
    for rng in (np.random.RandomState(0), np.random.default_rng(0)):
        fast = aj.autocluster(policy="eager")(asks_for_a_method)
        assert_array_equal(fast(rng, x), asks_for_a_method(rng, x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, order: x[x > 0].flatten(order).sum() + 1,
        lambda x, order: x[x > 0].copy(order).sum() + 1,
        lambda x, order: x[x > 0].copy(spam=1).sum() + 1,
        lambda x, order: (x > 0).nonzero(spam=1)[0].sum() + 1,
        lambda x, order: float(x[0])[...],
        lambda x, order: float(x[0])[()],
        lambda x, order: x.sum().item()[None],
    ],
)
def test_what_numpy_refuses(function):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(2):
        check_call(fast, function, np.arange(-3.0, 4.0), "Z")


def test_files_are_written_by_each_call(tmp_path):
    path = tmp_path / "scale.bin"

    @aj.autocluster(policy="eager")
    def writes(s, x):
        s.tofile(path)
        return x * 2 + s

    for _ in range(3):
        writes(np.float64(3.0), np.arange(1000.0))
        path.unlink()


K = 2**60 + 2**36 + 1


def test_ints_that_no_double_holds():
    check(lambda c, x: np.where(c, x, K), np.array([False, True]), np.zeros(2, np.float32), whole=True, rtol=0.0)
    zeros = np.zeros(1, np.float32)
    check(lambda x: x + np.array([2**54 + 2**30 + 1], np.float32), zeros, whole=True, rtol=0.0)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-6), (np.float16, 2e-3), (np.float64, 1e-12)])
def test_quantiles_near_the_end(dtype, rtol):
    x = np.array([-1000.0, 0.0], dtype)

    def near_the_end(x):
        return np.quantile(x, 0.999), np.percentile(x, 99.9)

    check(near_the_end, x, decorator=aj.jit_compile, whole=True, rtol=rtol)


def test_isclose_of_ints_to_the_bit():
    r, a = 0.1, (1 - 0.1 * 7) - 2.0**-54
    fast = aj.jit_compile(lambda x, y: np.isclose(x, y, rtol=r, atol=a), exact=True)
    x, y = np.full(2000, 8), np.full(2000, 7)
    assert np.isclose(x, y, rtol=r, atol=a).all() and fast(x, y).all()
