"""`exact=True`: NumPy's results bit for bit, from plans that compute them, not from plans that give up."""

from __future__ import annotations

import random

import numpy as np
import pytest

import autojit as aj
from tests.exact_judge import judge_bits, same_outcome
from tests.helpers import outcome
from tests.programs_strategy import make_program

RNG = np.random.default_rng(3)


def exactly(function, *arguments, traps=0, decorator=None):
    """Compare the bits of a whole compiled function with NumPy's; the data must be left to NumPy `traps` times."""
    decorated = (decorator or aj.jit_compile(exact=True))(function)
    for _ in range(2):
        same_outcome(outcome(decorated, arguments, {}), outcome(function, arguments, {}))
    info = decorated.cache_info()
    assert info.traps == traps, info
    assert traps or info.hits, info
    return decorated


def numbers(shape, dtype=np.float64):
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_products_are_not_contracted(dtype):
    def f(x, y, z):
        a = x * y + z
        b = z - x * y
        return a, b, x * x - y * y, (a * b + x) / 3, -(x * y) - z

    x, y, z = numbers((3, 2000), dtype)
    exactly(f, x, y, z)
    got = aj.jit_compile(f)(x, y, z)
    contracted = any((one != other).any() for one, other in zip(got, f(x, y, z), strict=True))
    # Those of float16 never are, whatever the processor has.
    assert contracted == (dtype != np.float16), "nothing was at stake"


def test_no_contraction_in_rolled_loops():
    def f(u, un, c, steps):
        for _ in range(steps):
            un[:] = u
            u[1:-1] = un[1:-1] + c * (un[2:] - 2 * un[1:-1] + un[:-2])
        return u

    exactly(f, numbers(300), np.zeros(300), 0.23, 50)
    exactly(f, numbers(300, np.float32), np.zeros(300, np.float32), 0.23, 50)


def test_no_contraction_of_single_numbers():
    def f(x, n):
        s = 1.0
        for i in range(n):
            s = s * 0.7 + x[i]
        return s

    def g(x, y):
        return x[0] * y[0] + x[1], float(x[2]) * 3.3 + float(y[1])

    exactly(f, numbers(200), 200)
    exactly(g, numbers(5), numbers(5))


def test_recurrences_are_not_summed_at_once():
    def f(x, y, n):
        total = 0.0
        for i in range(n):
            total += x[i] * y[i]
        return total

    exactly(f, numbers(500), numbers(500), 500)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_subnormal_inputs_are_left_to_numpy(dtype):
    tiny = np.finfo(dtype).tiny

    def f(x):
        return x + x, x > 0

    exactly(f, np.array([tiny, 1, 0], dtype))
    exactly(f, np.array([tiny / 2, 1, 0], dtype), traps=2)
    exactly(f, np.array([1, 0, -np.finfo(dtype).smallest_subnormal], dtype), traps=2)


def test_subnormal_results_are_left_to_numpy():
    def product(x, y):
        return x * y * 1e300

    def difference(x, y):
        return (x - y) * 2.0**60

    def quotient(x, y):
        return x / y * 1e300

    def cast(x, y):
        return x.astype(np.float32) * y.astype(np.float32)

    small = np.array([1e-200, 1.0, 0.0, -0.0, np.inf, np.nan])
    assert exactly(product, small, small[::-1]).cache_info().hits
    exactly(product, small, small, traps=2)
    close = np.array([2.3e-308, 1.0, np.inf])
    exactly(difference, close, np.array([2.25e-308, 1.0, 1.0]), traps=2)
    exactly(difference, close, np.array([2.3e-308, -3.0, 1.0]))
    exactly(quotient, np.array([1e-200, 0.0, 1.0]), np.array([1e150, 1.0, np.inf]), traps=2)
    exactly(quotient, np.array([1e-100, 0.0, 1.0]), np.array([1e150, 1.0, np.inf]))
    exactly(cast, np.array([1e-40, 1.0]), np.ones(2), traps=2)
    exactly(cast, np.array([1e-30, 1.0]), np.ones(2))


def test_underflow_in_a_rolled_loop():
    def f(x, n):
        for _ in range(n):
            x = x * 0.5
        return x * 2.0**1000

    exactly(f, numbers(50), 900)
    exactly(f, numbers(50), 1060, traps=2)


def test_subnormal_constants_and_scalars():
    def f(x):
        return x * 1e-310

    def g(x, c):
        return x + c

    with pytest.raises(aj.UncompilableError, match="subnormal constant"):
        aj.jit_compile(f, exact=True)(np.ones(3))
    x = numbers(100, np.float32)
    exactly(g, x, 0.1)
    exactly(g, x, 1e-40, traps=2)
    exactly(g, numbers(5), 1e-310, traps=2)


def test_what_the_compiler_folds_itself():
    def f(x, y):
        small = np.where(x > 0, 1e-155, 1.0) * 1e-155
        return small * y, (np.where(x > 0, 2.3e-308, 1.0) - 2.25e-308) * y

    exactly(f, np.array([1.0, -1.0]), np.array([1e300, 1.0]), traps=2)


def test_zeros_of_both_signs():
    def f(x, y):
        return np.maximum(x, y), np.minimum(x, y), x.max(), np.clip(x, -1.0, 1.0)

    exactly(f, numbers(50), numbers(50))
    exactly(f, np.array([0.0, -1.0]), np.array([0.0, 2.0]))
    exactly(f, np.array([0.0, -1.0]), np.array([-0.0, 2.0]), traps=2)

    def g(x):
        return x + -0.0, 0.0 - x, x * -1.0, np.rint(x), -x, np.abs(x), np.floor(x), np.sqrt(x), np.copysign(1.0, x)

    exactly(g, np.array([0.0, -0.0, 0.4, np.nan, np.inf]), decorator=aj.autocluster(policy="eager", exact=True))


def test_masks_and_branches():
    def f(x, t):
        y = np.where(x > t, x * x + t, x / 3)
        y[y > 1] *= 0.1
        if x[0] > 0:
            y = y * 3 + x
        return y

    for sign in (1, -1):
        exactly(f, np.abs(numbers(500)) * sign, 0.3)


INEXACT = {
    "np.exp": lambda x: np.exp(x) + 1,
    "np.sum": lambda x: x.sum() * 2,
    "np.matmul": lambda x: x @ x.T,
    "np.power": lambda x: np.abs(x) ** 1.3,
    "np.multiply": lambda x: (x + 1j) * (x + 2j),
    "np.cumsum": lambda x: np.cumsum(x),
    "np.linspace": lambda x: np.linspace(0.0, 1.0, 7) * 2,
}


@pytest.mark.parametrize("name", INEXACT)
def test_what_is_not_exact_has_a_reason(name):
    x = numbers((6, 7))
    with pytest.raises(aj.UncompilableError, match=rf"(?s)inexact\].*`{name}` of") as caught:
        aj.jit_compile(INEXACT[name], exact=True)(x)
    assert [reason.id for reason in caught.value.reasons] == ["inexact"]
    decorated = aj.autocluster(INEXACT[name], exact=True, policy="eager")
    for _ in range(3):
        same_outcome(outcome(decorated, (x,), {}), outcome(INEXACT[name], (x,), {}))


def test_integers_are_always_exact():
    def f(x):
        return x.sum(), np.cumsum(x), x @ x, x**2, np.dot(x, x), x // 3

    exactly(f, RNG.integers(-99, 99, (20, 20)))


def test_memory_order_of_what_numpy_sums():
    def f(x):
        y = x.T * 2 + 1
        return y.sum(), y.sum(axis=0), np.exp(y)

    decorated = aj.autocluster(f, exact=True, policy="eager")
    x = numbers((57, 91))
    for _ in range(3):
        same_outcome(outcome(decorated, (x,), {}), outcome(f, (x,), {}))
    assert decorated.cache_info().compiles


def test_exact_and_other_plans_do_not_mix():
    def f(x, y, z):
        return x * y + z

    x, y, z = numbers((3, 2000))
    for _ in range(2):
        assert (aj.jit_compile(f)(x, y, z) != f(x, y, z)).any()
        assert (aj.jit_compile(f, exact=True)(x, y, z) == f(x, y, z)).all()


def test_measured_tiers_agree():
    def f(x, y, z):
        return x * y + z

    decorated = aj.autocluster(f, exact=True)
    x, y, z = numbers((3, 300, 300))
    for _ in range(20):
        assert (decorated(x, y, z) == f(x, y, z)).all()


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    judge_bits(make_program(random.Random(seed)))
