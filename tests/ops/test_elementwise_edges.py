"""Sharp edges of the elementwise rows: what XLA would rewrite, round differently, or drop."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import autojit as aj
from autojit.ir.spec import Spec, spec_of
from autojit.ops.chapters import TABLE
from autojit.ops.elementwise import fast_power
from autojit.ops.elementwise_rounding import clip_call
from ops.programs import Program, compile_program, run_program
from ops.tolerances import BOUNDS, distance

N = 100_000


def same(make, expected, *arrays) -> None:
    """The program's result equals NumPy's, bit for bit."""
    got = run_program(make, *arrays)[0]
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == expected.dtype


# ---------------------------------------------------------------- division, and sums that reals would simplify


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("denominator", [3.0, 0.7, 1e-3])
def test_division_by_a_constant_is_exact(rng, dtype, denominator):
    x = rng.normal(size=N).astype(dtype)
    same(lambda p, x: p("np.divide", x, denominator), x / dtype(denominator), x)


@pytest.mark.parametrize("shape", [(), (100,), (1000, 1)])
def test_division_by_a_broadcast_is_exact(rng, shape):
    x, y = rng.normal(size=(1000, 100)), np.array(rng.normal(size=shape))
    same(lambda p, x, y: p("np.divide", x, y), x / y, x, y)


def test_division_by_another_op_s_broadcast_is_exact(rng):
    x, y = rng.normal(size=(1000, 100)), rng.normal(size=100)
    same(lambda p, x, y: p("np.divide", x, p("np.sqrt", p("np.absolute", y))), x / np.sqrt(np.abs(y)), x, y)
    same(lambda p, x: p("np.divide", x, p("np.max", x)), x / x.max(), x)
    same(lambda p, x, y: p("np.divide", x, p("np.broadcast_to", y, shape=(1000, 100))), x / y, x, y)


def test_chained_divisions_stay_divisions(rng):
    x, y, z = rng.normal(size=(3, N))
    same(lambda p, x, y, z: p("np.divide", p("np.divide", x, y), z), x / y / z, x, y, z)
    same(lambda p, x, y, z: p("np.divide", x, p("np.divide", y, z)), x / (y / z), x, y, z)
    same(lambda p, x, y: p("np.divide", y, p("np.sqrt", p("np.square", x))), y / np.sqrt(x * x), x, y)


def test_constants_are_not_collected(rng):
    x = rng.normal(size=N)
    same(lambda p, x: p("np.subtract", p("np.add", x, 1e16), 1e16), (x + 1e16) - 1e16, x)
    same(lambda p, x: p("np.multiply", p("np.multiply", x, 0.1), 0.3), x * 0.1 * 0.3, x)
    same(lambda p, x: p("np.subtract", p("np.subtract", x, 0.1), 0.3), x - 0.1 - 0.3, x)
    z = x + 1j
    same(lambda p, z: p("np.subtract", p("np.add", z, 1e16), 1e16), (z + 1e16) - 1e16, z)


def test_adding_zero_loses_the_sign_of_zero():
    x = np.array([-0.0, 0.0, -1.0])
    got = run_program(lambda p, x: p("np.add", x, 0.0), x)[0]
    assert not np.signbit(got[:2]).any()


def test_fences_do_not_break_the_fusion():
    x = np.ones((64, 1024))

    def make(p: Program, x, y):
        squares = p("np.multiply", p("np.square", x), 3.0)
        return p("np.divide", p("np.mean", p("np.add", squares, y)), 3.0)

    executable, _ = compile_program(make, x, x)
    entry = executable.as_text().split("ENTRY")[1]
    readers = [line for line in entry.splitlines() if "%arguments" in line and "parameter(" not in line]
    assert len(readers) == 1 and "reduce_fusion" in readers[0], entry
    assert executable.memory_analysis().temp_size_in_bytes < x.nbytes / 8


# ---------------------------------------------------------------- NaN


@pytest.mark.parametrize("name", ["np.maximum", "np.minimum"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes_keep_nan_inside_a_fused_sum(name, dtype):
    x = np.linspace(-1, 1, 1 << 17).astype(dtype)
    x[77] = np.nan
    for bound in (0.0, x[::-1].copy()):
        if isinstance(bound, float):
            got = run_program(lambda p, x: p("np.sum", p(name, x, bound)), x)[0]
        else:
            got = run_program(lambda p, x, y: p("np.sum", p(name, x, y)), x, bound)[0]
        assert np.isnan(got)
    got = run_program(lambda p, x: p("np.sum", p("np.clip", x, -0.5, 0.5)), x)[0]
    assert np.isnan(got)


# ---------------------------------------------------------------- integers that do not fit


def flag(make, *arrays) -> bool:
    return bool(run_program(make, *arrays)[-1])


@pytest.mark.parametrize("value", [300, -1, 2**62])
@pytest.mark.parametrize("name", ["np.add", "np.less", "np.equal"])
def test_python_ints_that_do_not_fit_go_to_numpy(name, value):
    x = np.array([1, 2], np.uint8)
    assert flag(lambda p, x: p(name, x, value), x)
    assert len(run_program(lambda p, x: p(name, x, 3), x)) == 1, "a constant that fits costs nothing"


@pytest.mark.parametrize("name", ["np.floor_divide", "np.remainder", "np.fmod"])
def test_integer_division_by_zero_goes_to_numpy(name):
    x = np.array([1, 2, 0])
    assert flag(lambda p, x: p(name, 7, x), x)
    assert flag(lambda p, x: p(name, x, 0), x)
    assert not flag(lambda p, x: p(name, 7, x), x + 1)
    assert len(run_program(lambda p, x: p(name, x, 3), x)) == 1, "a constant divisor costs nothing"


def test_negative_powers_of_integers_go_to_numpy():
    x = np.array([1, 2, 3])
    assert flag(lambda p, x: p("np.power", x, -1), x)
    assert flag(lambda p, x: p("np.power", 2, x), x - 2)
    assert len(run_program(lambda p, x: p("np.power", x, 5), x)) == 1


# ---------------------------------------------------------------- the ** operator


class Spy(np.ndarray):
    """Notes which ufunc an operator calls."""

    called: str

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        Spy.called = ufunc.__name__
        return getattr(ufunc, method)(*(np.asarray(x) if isinstance(x, Spy) else x for x in inputs), **kwargs)


EXPONENTS = [
    -1,
    0,
    0.5,
    1,
    2,
    3,
    -1.0,
    1.0,
    2.0,
    True,
    np.float64(2),
    np.int64(2),
    np.float32(0.5),
    complex(2),
    2j,
    np.array(2),
]


@pytest.mark.parametrize("exponent", EXPONENTS, ids=repr)
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint64", "float16", "float64", "complex64"])
def test_fast_power_is_what_numpy_does(dtype, exponent):
    base = np.array([1, 1, 1]).astype(dtype)
    Spy.called = ""
    with contextlib.suppress(ValueError, OverflowError):  # of negative powers: the ufunc raises it
        base.view(Spy) ** exponent
    ufunc = fast_power(spec_of(base), exponent)
    assert (ufunc or np.power).__name__ == Spy.called


def test_scalars_have_no_fast_power():
    assert fast_power(Spec((), np.dtype(float), "scalar"), 2) is None
    assert fast_power(Spec((), np.dtype(float)), 2) is np.square


# ---------------------------------------------------------------- functions that must hit whole numbers


def test_powers_and_logarithms_of_whole_numbers():
    whole = np.arange(-1000, 1000).astype(float)
    same(lambda p, x: p("np.exp2", x), np.exp2(whole), whole)
    same(lambda p, x: p("np.log2", x), whole, np.exp2(whole))
    tens = 10.0 ** np.arange(23)
    same(lambda p, x: p("np.log10", x), np.arange(23.0), tens)
    x = np.arange(1.0, 200)
    for exponent in (2.0, 3.0, 4.0):
        same(lambda p, x: p("np.power", x, exponent), x**exponent, x)
    triples = np.array([[3, 4], [5, 12], [8, 15], [20, 21]], float) * 1e3
    a, b = triples.T.copy()
    same(lambda p, a, b: p("np.hypot", a, b), np.hypot(a, b), a, b)


WIDE = """np.sqrt np.cbrt np.exp np.exp2 np.expm1 np.log np.log2 np.log10 np.log1p np.sin np.cos np.tan np.arcsin
np.arccos np.arctan np.arctan2 np.sinh np.cosh np.tanh np.arcsinh np.arccosh np.arctanh np.hypot np.logaddexp np.power
np.floor_divide np.remainder np.fmod np.nextafter np.spacing np.rint np.trunc np.radians np.degrees""".split()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_over_wide_ranges(rng, dtype):
    info = np.finfo(dtype)
    far = np.exp(rng.uniform(0.9 * np.log(float(info.tiny)), 0.9 * np.log(float(info.max)), 4000))
    near = rng.normal(size=4000)
    x = np.concatenate([near, near * 100, rng.uniform(-1, 1, 4000), 1 + near * 1e-4, far, -far]).astype(dtype)
    y = rng.permutation(x)

    def make(p: Program, x, y):
        return tuple(p(name, *(x, y)[: len(TABLE[name].operands)]) for name in WIDE)

    results = run_program(make, x, y)
    worst = {}
    for name, got in zip(WIDE, results, strict=False):
        with np.errstate(all="ignore"):
            wanted = TABLE[name].call(*(x, y)[: len(TABLE[name].operands)])
            unit = np.spacing(np.maximum(np.abs(wanted), info.tiny)).astype(float)
            if name == "np.logaddexp":
                unit = np.maximum(unit, np.spacing(np.maximum(np.abs(x), np.abs(y))))
            unit = np.where(np.isfinite(unit), unit, 1)
            bound = BOUNDS.get(name)
            allowed = 0 if bound is None else (bound.single if dtype == np.float32 else bound.double)
            found = distance(wanted, got, unit).max()
        if found > allowed:
            worst[name] = found
    assert not worst


# ---------------------------------------------------------------- clip


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float64])
@pytest.mark.parametrize("bounds", [(None, None), (0, None), (None, 5), (-5, 3), (2, 300), (0, 255), (1.5, None)])
def test_clip_call_names_the_function(dtype, bounds):
    x = np.array([0, 3, 200]).astype(dtype)
    function, operands = clip_call(spec_of(x), *bounds)
    got, wanted = function(x, *operands), np.clip(x, *bounds)
    np.testing.assert_array_equal(got, wanted)
    assert got.dtype == wanted.dtype


# ---------------------------------------------------------------- remainders smaller than the smallest normal number


@pytest.mark.parametrize("function", [np.remainder, np.floor_divide, np.divmod])
@pytest.mark.parametrize(
    ("dtype", "x", "y"), [(np.float32, -2.345891e-38, -1.4963698e-38), (np.float64, -3.85, 2.4e-307)]
)
def test_subnormal_remainders_are_left_to_numpy(function, dtype, x, y):
    x, y = np.array([x, 7.0], dtype), np.array([y, 2.0], dtype)

    def f(x, y):
        return function(x, y)

    decorated = aj.jit_compile(f)
    for divisor in (y, y[1:]):
        np.testing.assert_array_equal(decorated(x, divisor), f(x, divisor))
    assert decorated.cache_info().traps == 1


# ---------------------------------------------------------------- complex functions near their poles


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_functions_of_constants_that_are_poles(dtype):
    """What XLA computes while it compiles is not what it computes in a run."""

    def f(x, y):
        return np.arctanh(x**0), np.arctan(y**0 * 1j)

    x = np.array([3 - 1j, -1, -2 + 1j], dtype)
    with np.errstate(all="ignore"):
        for got, expected in zip(aj.autocluster(policy="eager")(f)(x, x), f(x, x), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_complex_tangents_near_poles(rng):
    away = 10.0 ** rng.uniform(-12, -1, 1000) * rng.choice([-1, 1], 1000)
    near = np.pi / 2 * rng.choice([-3, -1, 1, 3], 1000) + 10.0 ** rng.uniform(-12, -1, 1000)
    for name, z in (("np.tan", near + 1j * away), ("np.tanh", away + 1j * near), ("np.tanh", near * 99 + 1j * near)):
        got, *_ = run_program(lambda p, x, name=name: p(name, x), z)
        wanted = TABLE[name].call(z)
        assert (np.abs(got - wanted) <= 12 * np.spacing(np.abs(wanted))).all(), name


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_the_direction_of_complex_numbers_whose_size_overflows(dtype):
    largest = np.finfo(dtype).max
    parts = np.array([0.0, -0.0, 1.0, largest, -largest, 0.7 * largest, np.inf, -np.inf, np.nan], np.finfo(dtype).dtype)
    z = np.empty((parts.size, parts.size), dtype)
    z.real, z.imag = parts[:, None], parts
    with np.errstate(all="ignore"):
        expected = np.sign(z)
        actual = aj.autocluster(policy="eager")(lambda z: np.sign(z))(z)
    for got, wanted in ((actual.real, expected.real), (actual.imag, expected.imag)):
        rtol, atol = (1e-6, 1e-37) if dtype is np.complex64 else (1e-12, 1e-307)
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol)  # subnormal quotients
        known = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(wanted)[known])
