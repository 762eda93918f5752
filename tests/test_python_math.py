"""Functions of the module `math` on numbers of arrays and loops: values, exceptions, branches, both rungs."""

import math

import numpy as np
import pytest

import autojit as aj
from autojit.ops.python_math import RAISING, ROWS
from tests.helpers import check

NAMES = [row.name.removeprefix("math.") for row in ROWS if row.name.startswith("math.")]
TWO = {"pow", "atan2", "hypot", "copysign"}
R = np.random.default_rng(5)
INSIDE = {"acosh": R.random(40) * 5 + 1, "atanh": R.random(40) * 1.8 - 0.9}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 710.0, -750.0, 1e300, -1e300, math.inf, -math.inf, math.nan, 1e-300, 4.0]


def over(function, two):
    def whole(x, y, out):
        for i in range(len(x)):
            out[i] = function(x[i], y[i]) if two else function(x[i])
        return out

    return whole


@pytest.mark.parametrize("name", NAMES)
def test_loops(name):
    x = INSIDE.get(name, R.random(40))
    check(over(getattr(math, name), name in TWO), x, R.random(40) * 2, np.zeros(40), whole=True, rtol=1e-14)
    check(over(getattr(math, name), name in TWO), x.astype(np.float32), x, np.zeros(40), whole=True, rtol=1e-14)


@pytest.mark.parametrize("number", SPECIAL)
@pytest.mark.parametrize("name", NAMES)
def test_special_numbers(name, number):
    """Values and exceptions, alone and as one of many."""
    function = getattr(math, name)
    for second in (2.0, -0.5) if name in TWO else (0.0,):
        two = name in TWO
        check(lambda x, y: (function(x[0], y[0]) if two else function(x[0])), np.array([number]), np.array([second]))
    x = np.full(40, INSIDE.get(name, [0.5])[0])
    x[33] = number
    check(over(function, name in TWO), x, np.full(40, -1.5), np.zeros(40), rtol=1e-14)


@pytest.mark.parametrize("name", [*RAISING])
def test_not_reached(name):
    """In a branch that is not taken nothing raises."""
    function = getattr(math, name)

    def guarded(x, out):
        for i in range(len(x)):
            if -1 < x[i] < 1:
                out[i] = x[i]
            else:
                out[i] = function(x[i], 0.5) if name == "pow" else function(x[i])
        return out

    x = R.random(40) * 1.8 - 0.9
    fast = check(guarded, x, np.zeros(40))
    assert fast.cache_info().hits, fast.cache_info()


@pytest.mark.parametrize(
    "expression",
    [
        "math.floor(x[i]) + math.ceil(x[i])", "math.sqrt(i)", "math.sin(n[i])", "math.hypot(x[i], n[i])",
        "math.log(x[i], 2)", "math.pi * x[i]", "math.isnan(x[i]) or math.isfinite(n[i])", "math.exp(-(x[i] ** 2))",
        "1.0 if math.isinf(x[i]) else math.fabs(x[i])", "math.sqrt(x[i] * x[i] + 1j)", "math.sin(x[i:i + 1])",
        "math.sqrt(x)", "math.sqrt(x[i].item()) / x[i].item()", "math.fmod(x[i], 0.3)", "math.pow(x[i], n[i] % 3)",
        "math.gcd(int(n[i]), 4)", "math.dist((x[i], 0.0), (n[i], 1.0))", "math.sqrt()", "math.sqrt(x[i], 2)",
        "math.exp(1000 * x[i])", "math.sqrt('a')", "math.trunc(x[i] * 10)",
    ],
)  # fmt: skip
def test_expressions(expression):
    scope = {}
    text = f"def f(x, n, out):\n    for i in range(len(x)):\n        out[i] = {expression}\n    return out\n"
    import linecache  # the interpreter reads the source

    file = f"<math {expression}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), {"math": math, "np": np}, scope)
    check(scope["f"], R.random(40), R.integers(-5, 5, 40), np.zeros(40), rtol=1e-14)


def test_one_operation_for_all_iterations():
    def f(x, out):
        for i in range(len(x)):
            v = x[i].item()
            if v > 0.5:
                out[i] = math.log(v) / v
            else:
                out[i] = math.sin(v) - 1.0 / (v + 1.0)
        return out

    x = R.random(50_000)
    fast = aj.jit_compile(f)
    np.testing.assert_allclose(fast(x, np.zeros_like(x)), f(x, np.zeros_like(x)), rtol=1e-13)
    (loop,) = fast.explain(x, np.zeros_like(x)).loops
    assert loop.rung == "vectorized"
    x[44_000] = -1.0
    with pytest.raises(ZeroDivisionError):
        fast(x, np.zeros_like(x))
    out = np.zeros_like(x)
    with pytest.raises(ZeroDivisionError):
        fast(x, out)
    assert out[43_999] and not out[44_000:].any()


def quadratic(u, n):
    x = float(u[0])
    for _ in range(n):
        x = x**2 - 0.3 * x + 0.1
    return x


def sums_of_powers(u, n):
    s = 0
    for i in range(n):
        s += i**2 + i**3
    return s


def squared(u, n):
    x = float(u[0])
    for _ in range(n):
        x = x**2
    return x


def roots(u, n):
    x = float(u[0]) - 1
    return x**0.5, abs(x) ** -1.5


def inverse(u, n):
    return (float(u[0]) * n) ** -1


def geometric(u, n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = (i + 1) ** 2 * 0.5**i
    return out


def of_ints(u, n):
    k = int(u[0] * 5)
    return k**2, k**3, k**2.0


def chain(u, n):
    rng, x, accepted = np.random.RandomState(0), float(u[0]), 0
    kept = np.zeros(n)
    for i in range(n):
        new = x + rng.normal(0, 1)
        if np.log(rng.uniform()) < -0.5 * new**2 + 0.5 * x**2:
            x = new
            accepted += 1
        kept[i] = x
    return kept, accepted


@pytest.mark.parametrize(
    "function", [quadratic, sums_of_powers, squared, roots, inverse, geometric, of_ints, chain], ids=lambda f: f.__name__
)
def test_powers_of_python_numbers(function, rng):
    fast = aj.autocluster(function, policy="eager")
    for n, first in ((50, 0.7), (20, 1.5), (0, 1.2), (3, 0.1), (50, 1.9)):
        u = rng.random(60) + 1
        u[0] = first
        results = []
        for one in (function, fast):
            try:
                results.append(one(u.copy(), n))
            except (OverflowError, ZeroDivisionError) as error:
                results.append((type(error), str(error)))
        expected, found = ([*r] if isinstance(r, tuple) else [r] for r in results)
        for one, other in zip(found, expected, strict=True):
            assert type(one) is type(other)
            if isinstance(one, np.ndarray | float | complex):
                np.testing.assert_allclose(one, other, rtol=1e-11)
            else:
                assert one == other
    assert fast.cache_info().plans >= 1
