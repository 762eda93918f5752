"""Scalars of all kinds, zeros with a sign, infinities, NaN and complex numbers."""

from __future__ import annotations

import inspect
import warnings

import numpy as np

from tests.attacks import rand, sequence
from tests.each import each
from tests.helpers import check


def test_scalars_of_all_kinds() -> None:
    functions = [
        lambda x, s: x * s,
        lambda x, s: x + s - s * 2,
        lambda x, s: s**2 + x,
        lambda x, s: x / s,
        lambda x, s: (s + 1, s * 2.5, s / 3, x[0] * s, x.sum() * s),
        lambda x, s: np.float32(3) * x + s,
        lambda x, s: np.sqrt(abs(s)) * x,
        lambda x, s: np.add(s, 1) * x,
        lambda x, s: float(np.float32(0.1)) * x + s,
        lambda x, s: np.array(s) * x,
        lambda x, s: np.array([s, 1]) + x[:2],
        lambda x, s: max(s, 1) * x if not isinstance(s, complex) else x,
        lambda x, s: int(s) * x if not isinstance(s, complex) else x,
        lambda x, s: np.full(2, s),
        lambda x, s: -s + x,
        lambda x, s: (x > s) if not isinstance(s, complex) else x,
        lambda x, s: np.maximum(x, s),
        lambda x, s: type(s).__name__,
        lambda x, s: isinstance(s, float | int),
        lambda x, s: np.ones(3, type(s)) * x,
    ]
    scalars = [2, -3, 2.5, True, 1 + 2j, np.float32(3), np.int8(3), np.bool_(True), np.float16(2), np.uint8(200), 2**40, 1e300]
    generator = np.random.default_rng(4)
    for function in functions:
        for number in generator.choice(len(scalars), 5, replace=False):
            for x in (rand(3), rand(3).astype(np.float32), np.arange(3)):
                each([function], (x, scalars[number]))


def test_scalar_values_one_after_the_other() -> None:
    functions = [
        lambda x, s: x * s,
        lambda x, s: np.full(3, s) * x,
        lambda x, s: np.copysign(x, s),
        lambda x, s: np.where(x > 0, x, s),
        lambda x, s: np.full_like(x, s),
        lambda x, s: np.linspace(s, 1.0, 3),
        lambda x, s: np.pad(x, 1, constant_values=s),
        lambda x, s: np.array([s, s]),
        lambda x, s: 1 / (x * 0 + s),
        lambda x, s: np.clip(x, s, 1.0),
        lambda x, s: np.nan_to_num(x, nan=s),
        lambda x, s: x if s == 0 else x * 2,
        lambda x, s: f"{s}" + str(x.shape),
        lambda x, s: x**s,
        lambda x, s: np.arange(s, 3.0),
        lambda x, s: {s: x * 2},
        lambda x, s: [x * 2, s],
        lambda x, s: (s, x * 2),
        lambda x, s: np.signbit(np.full(2, s)),
        lambda x, s: np.select([x > 0], [x], s),
        lambda x, s: np.interp(x, np.array([s, 1.0]), np.array([s, 2.0])),
    ]
    for function in functions:
        try:
            with warnings.catch_warnings():
                # NumPy's floating point warnings, which compiled code does not repeat.
                warnings.simplefilter("ignore", RuntimeWarning)
                sequence(function, *[(rand(3), s) for s in (0.0, -0.0, 1.0, np.nan, np.inf, 0.5)], rounds=1)
                sequence(function, *[(rand(3), s) for s in (-0.0, 0.0, 2, 2.0, True, np.float64(2))], rounds=1)
        except AssertionError as error:
            raise AssertionError(f"{inspect.getsource(function).strip()}: {error}") from error


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-5, 1e300, 0.5])


def test_special_values() -> None:
    functions = [
        lambda a: np.minimum(a, a[::-1]),
        lambda a: np.fmax(a, a[::-1]),
        lambda a: np.sign(a),
        lambda a: np.signbit(a),
        lambda a: np.signbit(-a[:6]),
        lambda a: np.signbit(0 - a[:6]),
        lambda a: np.signbit(a[:6] * -1),
        lambda a: np.signbit(a + 0.0),
        lambda a: np.signbit(a - 0.0),
        lambda a: np.signbit(abs(a)),
        lambda a: np.signbit(np.floor(a)),
        lambda a: np.signbit(np.round(a * 0.3)),
        lambda a: np.signbit(np.trunc(a * 0.3)),
        lambda a: np.signbit(np.ceil(a * 0.3)),
        lambda a: np.signbit(np.rint(a * 0.3)),
        lambda a: np.signbit(a[:4] % 1.0),
        lambda a: np.signbit(a[:4] // 2.0),
        lambda a: np.signbit(np.fmod(a[:4], 2.0)),
        lambda a: np.signbit(a**3),
        lambda a: np.signbit(np.sqrt(a)),
        lambda a: np.signbit(a[:2].sum()),
        lambda a: np.signbit(np.prod(a[:2])),
        lambda a: np.signbit(np.where(a > 0, a, -0.0)),
        lambda a: 1 / a,
        lambda a: a // 1,
        lambda a: a % 3,
        lambda a: a.max(),
        lambda a: a.min(),
        lambda a: a.argmax(),
        lambda a: np.nanmax(a),
        lambda a: np.sort(a),
        lambda a: np.argsort(a, kind="stable"),
        lambda a: a == a,
        lambda a: np.isnan(a) | np.isinf(a),
        lambda a: a.astype(int)[:4],
        lambda a: a.astype(bool),
        lambda a: np.log(a),
        lambda a: np.arctan2(a, a[::-1]),
        lambda a: np.hypot(a, 1),
        lambda a: np.exp(a),
        lambda a: np.clip(a, -1, 1),
        lambda a: np.cumsum(a[:5]),
        lambda a: a.all(),
        lambda a: a.any(),
        lambda a: np.unique(a),
        lambda a: np.where(a == 0, 1, a),
        lambda a: (a > 0) * a,
        lambda a: a * 0,
        lambda a: a - a,
        lambda a: a**0,
        lambda a: np.heaviside(a, 0.5),
        lambda a: np.nan_to_num(a),
        lambda a: a.std(),
        lambda a: np.allclose(a, a),
        lambda a: np.array_equal(a, a),
        lambda a: np.sum(a[:5]),
        lambda a: np.dot(a[:5], a[:5]),
        lambda a: np.power(a, 0.5),
        lambda a: np.power(a, -1.0),
        lambda a: np.float32(1e38) * a.astype(np.float32) * 10,
    ]
    each(functions, (SPECIAL,), (SPECIAL.astype(np.float32),))
    each(functions[:12], (SPECIAL.astype(np.float16),))


def test_complex() -> None:
    functions = [
        lambda z: z * z.conj(),
        lambda z: z / (z + 1),
        lambda z: np.abs(z),
        lambda z: z**2,
        lambda z: z.real + z.imag,
        lambda z: np.angle(z),
        lambda z: np.exp(z),
        lambda z: z.sum(),
        lambda z: z == z.conj(),
        lambda z: z @ z,
        lambda z: np.vdot(z, z),
        lambda z: z > z[::-1],
        lambda z: z.max(),
        lambda z: np.sort(z),
        lambda z: z * 1j,
        lambda z: np.where(z.real > 0, z, 0),
        lambda z: z.astype(np.complex64),
        lambda z: np.sqrt(z),
        lambda z: abs(z[0]),
        lambda z: (z[0].real, z[0].imag, z[0].conjugate()),
        lambda z: complex(z.sum()),
        lambda z: np.isnan(z),
        lambda z: z.mean(),
        lambda z: z.std(),
    ]
    each(functions, (rand(4) + 1j * rand(4)[::-1],), ((rand(4) + 2j).astype(np.complex64),), (np.array([1 + np.nan * 1j, 2]),))


def test_powers_of_complex_numbers_whose_absolute_value_overflows():
    top = np.finfo(np.float64).max
    base = np.array([top + 1j * top, 1e308 + 1e308j, top - 1e308j, 1.3e308j, 3.0 - 4j])
    for exponent in (-1.5 - 2j, 2.25 + 1j, 0.5, 3, -2, np.array([0.25, 2, -1j, 7.5, 1])):
        check(lambda a, y: np.power(a, y), base, exponent, rtol=1e-10)
        check(lambda a, y=exponent: np.power(a, y), base, rtol=1e-10)
        check(lambda a, y: np.power(a, y), base[1:2] / 1e20, exponent, rtol=1e-10)
