"""What NumPy computes exactly where a last bit decides: edges of domains, comparisons, masks that are read twice."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check_call

RNG = np.random.default_rng(5)
A, B, C = RNG.random(1000), RNG.random(1000), RNG.random(1000)


def half_circle(x, r):
    return np.sqrt(r**2 - x**2)


def eccentricity(a, b):
    return np.sqrt(a * a - b * b) / a


def logarithm(a, b, c):
    return np.log(a * b - c)


def winner(a, b, c):
    p = a * b
    x = p + c
    return np.where(x == x.max(), p, 0.0)


def steps(a, b):
    p = a * b + 0.1
    return np.floor((p - p.min()) / 0.01).astype(int)


def plateaus(x):
    return np.diff(x * 0.1) == 0


def orientation(x, y):
    return np.sign((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]))


def angle(x, y, u, v):
    return np.arctan2(x * v - y * u, x * u + y * v)


def masked(a, b, c, values):
    m = a * 0.3 + b > c
    out = np.zeros_like(a)
    out[m] = values[: m.sum()]
    return out


def mean_where(a, b, c):
    return np.mean(c, where=a * b - c >= 0)


def branch(a, b, c, x, y):
    u, v = x * 2, y * 2
    if a[0] * b[0] - c[0] > 0:
        u = u + 1
        v = v - 1
    return u * v


def loop(x, r, n):
    total = 0.0
    for _ in range(n):
        x = x * 0.9
        y = r * r - x * x
        total = total + np.where(y > 0, y, 1.0).sum()
    return x, total


def counted(x, t):
    s, k = 0.0, 0
    for i in range(x.size):
        s = s * 0.7 + x[i]
        if s > t:
            k += 1
            s = s - t
    return s, k


def squares(a):
    return np.cross(a, a), np.cross(a, 3 * a)


def scaled(x):
    y = x * 0.1
    s = y.std()
    return (y - y.mean()) / np.where(s == 0, 1.0, s)


def guarded(a, b):
    return np.sqrt(np.maximum(a * a - b * b, 0)), np.maximum(a * a - b * b, 0) > 0


def signed(a, b):
    return np.abs(a * a - b * b) > 0, (a * a - b * b) ** 2 > 0, np.log(np.abs(a * a - b * b))


def roots(a, b):
    return np.cbrt(a * a - b * b)


def turned(x, y, out):
    for i in range(x.size):
        out[i] = math.atan2(x[i] * -y[i] - y[i] * -x[i], x[i] * -x[i] + y[i] * -y[i])
    return out


def degrees(t):
    return np.degrees(t) - 45.0 == 0


def outer(a, b, c, d):
    return np.outer(a * b - c, d) > 0


def chosen(m, a, b):
    return np.where(m, a * b, 0.0) - 1.0 == 0, np.conjugate(a * b) - 1.0 == 0


EXACT = [
    (half_circle, (np.linspace(-0.7, 0.7, 101), 0.7)),
    (half_circle, (np.full(5, 0.1), 0.1)),
    (eccentricity, (A, A)),
    (logarithm, (A, B, A * B)),
    (winner, (A, B, C)),
    (steps, (A, B)),
    (plateaus, (np.repeat(A, 3),)),
    (orientation, (np.array([0.1, 0.3, 0.7]), np.array([0.1, 0.3, 0.7]))),
    (angle, (A, B, -A, -B)),
    (masked, (A, B, C, A)),
    (mean_where, (A, B, A * B)),
    (branch, (A, B, A * B, C, C)),
    (loop, (np.full(100, 0.7), 0.7 * 0.9, 1)),
    (counted, (A, 1.3)),
    (squares, (RNG.random((50, 3)),)),
    (scaled, (np.full(8, 0.7),)),
    (guarded, (A, A)),
    (signed, (A, A)),
    (roots, (A, A)),
    (turned, (A, B, np.zeros(1000))),
    (degrees, (np.full(8, np.pi / 4),)),
    (outer, (A, B, A * B, C)),
    (chosen, (np.full(8, True), np.full(8, 0.1), np.full(8, 10.0))),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of the logarithms of zero
@pytest.mark.parametrize(("function", "arguments"), EXACT)
def test_what_is_exact_in_numpy_is(function, arguments):
    fast = aj.autocluster(policy="eager", min_cluster_size=1)(function)
    check_call(fast, function, *arguments, rtol=0.0)
    assert fast.cache_info().hits >= 1


def divided(a, b, c):
    return 1.0 / (float(a[0]) * float(b[0]) - float(c[0]))


def test_python_divides_by_no_zero():
    fast = aj.jit_compile(divided)
    with pytest.raises(ZeroDivisionError):
        fast(np.array([0.1]), np.array([10.0]), np.array([1.0]))
    assert fast(np.array([0.5]), np.array([10.0]), np.array([1.0])) == 0.25


def test_what_no_last_bit_decides_is_contracted():
    for function in (lambda x, y: np.sqrt(x * x + y * y), lambda x, y: x * y + 1.0, lambda x, y: 0.25 * x - y > 0):
        fast = aj.autocluster(policy="eager", min_cluster_size=1)(function)
        fast(A, B)
        (plan,) = fast.__autojit_controller__.probes[0].plans
        (executable,) = plan.executables.values()
        names = [node.op.name for node in executable.lowered.graph.nodes]
        assert names and "uncontracted" not in names


@pytest.mark.parametrize("shape", [(5, 4), (5, 1)])
def test_vectors_of_other_lengths_have_no_product(shape):
    with pytest.raises(ValueError, match="dimension"):
        aj.autocluster(policy="eager")(lambda a, b: np.cross(a, b))(np.ones(shape), np.ones((5, 3)))


def test_histograms_have_the_least_in_the_first_bin():
    def function(a, b, c):
        return np.histogram(a * b + c, bins=10)

    for seed in range(20):
        a, b, c = np.random.default_rng(seed).random((3, 200))
        got, want = aj.jit_compile(function)(a, b, c), function(a, b, c)
        np.testing.assert_allclose(got[1], want[1], rtol=1e-14)
        assert got[0][0] >= 1 and got[0][-1] >= 1 and got[0].sum() == 200


def test_the_time_is_asked_for_at_each_call():
    def stamped(x):
        return np.datetime64("now", "us"), np.datetime64("NOW"), np.datetime64("today"), np.sqrt(x) * 2

    def dated(x):
        return np.datetime64("2020-01-01"), np.sqrt(x) * 2

    fast = aj.autocluster(policy="eager")(stamped)
    first = fast(A)[0]
    time.sleep(1.1)  # NumPy counts seconds
    assert fast(A)[0] > first
    assert aj.jit_compile(dated)(A)[0] == np.datetime64("2020-01-01")
    with pytest.raises(aj.UncompilableError, match="time"):
        aj.jit_compile(stamped)(A)


def test_matrices_that_are_positive_definite_up_to_rounding_are_numpys():
    def root(x):
        centred = x - x.mean(axis=0)
        return np.linalg.cholesky(centred.T @ centred / (len(x) - 1))

    fast = aj.jit_compile(check=False)(root)  # a small pivot before the last one amplifies what rounding leaves
    for seed in range(20):
        x = np.random.default_rng(seed).random((5, 5))
        try:
            want = root(x)
        except np.linalg.LinAlgError:
            with pytest.raises(np.linalg.LinAlgError):
                fast(x)
        else:
            np.testing.assert_allclose(fast(x) @ fast(x).T, want @ want.T, rtol=1e-12, atol=1e-14)


def test_factors_of_what_has_a_lower_rank_are_numpys():
    def finder(a, omega):
        return np.linalg.qr(a @ omega)

    a = RNG.random((40, 3)) @ RNG.random((3, 30))
    check_call(aj.jit_compile(finder), finder, a, RNG.random((30, 6)), rtol=0.0)


def test_functions_of_scipy_that_draw_are_no_pure_ones():
    linalg = pytest.importorskip("scipy.linalg", reason="SciPy is optional")

    def noisy(a):
        found = linalg.logm(a)
        return np.exp(-found * found) + np.random.standard_normal(a.shape)

    fast, a = aj.autocluster(policy="eager")(noisy), 5 * np.eye(5) + 0.1 * RNG.random((5, 5))
    np.random.seed(0)
    want = [noisy(a) for _ in range(3)]
    np.random.seed(0)
    for one in want:
        np.testing.assert_allclose(fast(a), one, rtol=1e-12)
