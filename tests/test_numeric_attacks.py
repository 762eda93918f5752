"""Numbers on which compilers go wrong: infinities, NaN, signed zeros, huge and tiny numbers, casts, half precision."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.exact_judge import same_outcome
from tests.helpers import check, outcome

INF, NAN = np.inf, np.nan
SPECIAL = np.array([0.0, -0.0, 1, -1, INF, -INF, NAN, 2.5, -2.5, 1e308, -1e308, 3, 1e-300, 0.5])
X, Y = (part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL))
Z = np.empty(X.shape, complex)
Z.real, Z.imag = X, Y
RNG = np.random.default_rng(5)
W = RNG.permutation(Z)
HALF = np.arange(65536, dtype=np.uint16).view(np.float16)
SOME, MORE = (RNG.standard_normal(5000) * size for size in (1, 30))
LIMITS = np.array([INF, -INF, INF, -INF, NAN, 1]), np.array([INF, -INF, -INF, INF, 1, -INF])
UNSIGNED = np.array([0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 1025], np.uint64)
SIGNED = np.array([0, 1, 2**53 + 1, 2**63 - 1, -(2**63), -(2**53) - 1])


def halves_in_a_loop(x, y):
    a = x.copy()
    for _ in range(50):
        a = a * y + x
        a = a / np.float16(3)
    return a


#: Name: function and arguments. Equal to NumPy bit by bit without `exact=True`, too, ...
SAME = {
    "sums of negative zeros": (lambda x: (x.sum(), x.sum(axis=0), x.mean(), np.cumsum(x)), (np.full((3, 4), -0.0),)),
    "empty sums": (lambda x: (x[:0].sum(), x[:0].prod()), (SPECIAL,)),
    "products with zeros": (lambda x: (x.prod(), np.cumprod(x)), (np.array([-0.0, 1, -1, 2]),)),
    "complex by real": (lambda a, b: a * b, (Z, X)),
    "complex by scalar": (lambda a: a * 2.5 - 1j * a, (Z,)),
    "complex squares": (lambda a: a * a, (Z,)),
    "hypot": (lambda a, b: np.hypot(a, b), (X, Y)),
    "logaddexp": (lambda a, b: (np.logaddexp(a, b), np.logaddexp2(a, b)), LIMITS),
    "remainders": (lambda a, b: (a % b, a // b, np.fmod(a, b), np.divmod(a, b)), (X, Y)),
    "remainders by constants": (lambda a: (a % 3, a // 3, a % -2.5, a // -2.5, a % 0.0, a // 0.0, a % INF, a // -INF), (X,)),
    "remainders of constants": (lambda a: (3 % a, 3.5 // a, -0.0 % a, 0.0 // a), (X,)),
    "powers of constants": (lambda a: (2**a, 0.0**a, 1.0**a, (-1.0) ** a, INF**a), (X,)),
    "rounding": (lambda a: (np.round(a), np.rint(a), np.trunc(a), np.floor(a), np.ceil(a), np.fix(a), np.sign(a)), (X,)),
    "rounding to decimals": (lambda a: (np.round(a, 1), np.round(a, -2)), (SPECIAL,)),
    "signs": (lambda a, b: (np.copysign(a, b), np.nextafter(a, b), np.heaviside(a, b)), (X, Y)),
    "choices": (lambda a, b: np.where(a > b, a, -b), (X, Y)),
    "functions at limits": (
        lambda a: (np.exp(a), np.expm1(a), np.log1p(a), np.log(a), np.tanh(a), np.arctan(a), np.sinh(a), np.arcsinh(a)),
        (np.array([0.0, -0.0, INF, -INF, NAN]),),
    ),
    "minima and maxima": (lambda a, b: (np.maximum(a, b) + 1, np.minimum(a, b) + 1, np.fmax(a, b) + 1), (X, Y)),
    "extremes": (lambda a: (a.max(), a.min(), np.nanmax(a), np.nanmin(a), a.argmax(), a.argmin()), (SPECIAL,)),
    "negation": (lambda a: (-a, 0 - a, 0.0 - a, a * -1, a - a, a + 0.0, a - 0.0, a * 0, a * 1, a / 1), (SPECIAL,)),
    "what reals would simplify": (lambda a: (a + a - a, (a + 1e16) - 1e16, a * 2 / 2, a - (-a), a * a / a), (SPECIAL,)),
    "uint64 to float": (lambda u: (u.astype(np.float64), u.astype(np.float32), u * 1.0, u / 3, np.sqrt(u)), (UNSIGNED,)),
    "int64 to float": (lambda u: (u.astype(np.float64), u.astype(np.float32), u / 3, u.astype(np.float16)), (SIGNED,)),
    "float to int": (
        lambda a: (a.astype(np.int64), a.astype(np.int8), a.astype(np.uint8), a.astype(bool)),
        (np.array([0.0, -0.0, 1.9, -0.9, 127, 100]),),
    ),
    "float to int, out of range": (lambda a: (a.astype(np.int64), a.astype(np.int32)), (np.array([INF, NAN, 1e20, -1e20]),)),
    "float to uint": (lambda a: a.astype(np.uint64), (np.array([1e19, 1.8e19, 2**63, 200.0]),)),
    "negative float to uint": (lambda a: (a.astype(np.uint64), a.astype(np.uint8)), (np.array([-1.0, -0.5]),)),
    "half: chains": (
        lambda x, y: ((x * y + x) * y - x / y, x * x * x + y, (x + y) - (x - y), np.sqrt(np.abs(x * y) + x * x)),
        (SOME.astype(np.float16), MORE.astype(np.float16)),
    ),
    "half: all numbers": (lambda x, y: (x + y, x * y, x / y, x - y, x * y + x, x % y, x // y), (HALF, RNG.permutation(HALF))),
    "half: constants": (lambda x: (x * 0.1, x / 3, x + 1e-3, x * 2 - 1, x**2, x * x * 0.5 + x), (HALF,)),
    "half: casts": (lambda x: (x.astype(np.float64), x.astype(np.float32) * 1.1, x.astype(np.complex64)), (HALF,)),
    "half: from double": (lambda x: (x.astype(np.float16), (x * 1e-5).astype(np.float16)), (SOME * 1000,)),
    "half: in a loop": (halves_in_a_loop, (SOME[:100].astype(np.float16), MORE[:100].astype(np.float16))),
}  # fmt: skip

#: ... and only with it: contraction, rounding of functions, subnormal results.
EXACT = {
    "complex products": (lambda a, b: a * b, (Z, W)),
    "complex quotients": (lambda a, b: a / b, (Z, W)),
    "complex reciprocals": (lambda a: (1 / a, np.reciprocal(a)), (Z,)),
    "complex sizes": (lambda a: np.abs(a), (Z,)),
    "powers": (lambda a: (a**2, a**3, a**-1, a**0, a**1, a**0.5, a**-2), (X,)),
    "quotients": (lambda a: (a / 3, 3 / a, a / 0.0, 0.0 / a, a / -0.0, 1 / a), (X,)),
    "differences of quotients": (lambda a, b: a / 3 + b / 7 - a * 0.1, (SOME.astype(np.float32), MORE.astype(np.float32))),
    "half: sums": (lambda x: (x.sum(), x.mean(), np.cumsum(x), x.var()), (SOME[:200].astype(np.float16),)),
}  # fmt: skip

CASES = [(name, False) for name in SAME] + [(name, True) for name in {**SAME, **EXACT}]


@pytest.mark.parametrize(("name", "exact"), CASES)
def test_the_bits_are_numpys(name, exact):
    function, arguments = {**SAME, **EXACT}[name]
    decorated = aj.autocluster(function, policy="eager", exact=exact)
    expected = outcome(function, arguments, {})
    for _ in range(2):
        same_outcome(outcome(decorated, arguments, {}), expected, name)


def test_complex_division_by_huge_numbers():
    def f(x, y):
        return x / y

    for dtype in (np.complex128, np.complex64):
        huge = float(np.finfo(dtype).max) * np.array([0.9 + 0j, 0.3 - 0.6j, 0.9j])
        x = huge.astype(dtype)
        decorated = aj.jit_compile(f)
        for y in (x, x * 2**-8):
            np.testing.assert_allclose(decorated(x, y), f(x, y), rtol=4 * np.finfo(dtype).eps)
        assert decorated.cache_info().traps == 1


def test_whole_powers_of_complex_numbers():
    def f(z, k):
        return z**k

    z = np.array([-3 + 0j, -1 + 0j, 2 - 1j, 0j, 0.5 + 2j])
    for k in (2.0, np.int64(2), 10, 1, 0, 5, np.array([3.0, 10, 99, 4, 7])):
        check(f, z, k)
        check(f, z[:3], -k if np.ndim(k) == 0 else -k[:3])
    fast = aj.autocluster(policy="eager")(f)
    assert fast(z[:2], 2.0).tolist() == [9, 1]
