"""Numbers at the ends of their types, in programs that a compiler may take for simpler than they are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check
from tests.programs_strategy import load

LEAST = {name: np.array([np.iinfo(name).min, 5, -3], name) for name in ("int8", "int16", "int32", "int64")}


def call(text: str, *args: object, exact: bool = False) -> None:
    function = load(f"import numpy as np\ndef program(a, b):\n    return {text}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's own, which compiled code does not repeat
        check(function, *args, decorator=aj.autocluster(policy="eager", exact=exact))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("dtype", LEAST)
@pytest.mark.parametrize(
    "text",
    [
        "abs(a) >= 0", "np.abs(a) < 0", "np.sign(np.abs(a))", "abs(a) < b", "np.where(np.abs(a) < 0, -1, 1)",
        "abs(abs(a))", "a + 1 if abs(a[0]) < 0 else a - 1", "np.abs(a) % 4", "np.abs(a) // 4", "abs(a) >> 1",
        "np.maximum(abs(a), 0)", "abs(a).astype(np.uint64)", "abs(a).astype(float)", "sum(abs(v) < 0 for v in a)",
    ],
)  # fmt: skip
def test_the_lowest_integer_has_no_absolute_value(text: str, dtype: str, exact: bool) -> None:
    call(text, LEAST[dtype], np.array([2**63], np.uint64), exact=exact)


def test_a_negative_power_that_is_an_absolute_value() -> None:
    call("np.array([2, 3]) ** np.abs(a)", np.array([-(2**63), 5]), None)


ROOTS = {"int8": [64, 12, 13], "int16": [182, 255, -191], "int32": [49188, 46341, 3], "int64": [3223610681, 3037000500, 3]}


@pytest.mark.parametrize("dtype", ROOTS)
@pytest.mark.parametrize(
    "text",
    [
        "abs(a * a)", "(a * a < 0).any()", "np.power(a, 2) < 0", "np.sign(a**2)", "np.count_nonzero(a * a < 0)",
        "np.square(a) >= 0", "np.abs(np.square(a))", "np.prod([a, a], axis=0) < 0", "a**4 < 0", "(a + b) * (b + a) < 0",
        "np.vecdot(a[:, None], a[:, None]) < 0", "np.multiply.reduce(np.stack([a, a])) < 0", "a[:1] @ a[:1] < 0",
        "np.cumprod(np.stack([a, a]), axis=0) < 0", "np.outer(a, a) < 0", "np.einsum('i,i->i', a, a) < 0",
        "np.linalg.matrix_power(a[:1, None], 2) < 0", "(a * a) % 8", "sum(v * v < 0 for v in a)", "np.kron(a, a) < 0",
    ],
)  # fmt: skip
def test_a_square_that_wraps_around(text: str, dtype: str) -> None:
    call(text, np.array(ROOTS[dtype], dtype), np.zeros(3, dtype))


@pytest.mark.parametrize(
    "text",
    [
        "a * a >= 0", "a * a < 0", "abs(a) >= 0", "np.sign(a * a)", "np.abs(np.square(a))", "np.sqrt(a) >= 0",
        "np.exp(a) > 0", "a**2 >= 0", "np.maximum(a * a, 0)", "np.sign(abs(a))", "a * a > -1", "np.signbit(a * a)",
    ],
)  # fmt: skip
def test_a_square_of_nan(text: str) -> None:
    call(text, np.array([np.nan, -2.0, -0.0, np.inf, -np.nan]), None)


@pytest.mark.parametrize("source", ["uint8", "uint32", "uint64"])
def test_an_unsigned_number_that_becomes_negative(source: str) -> None:
    target = source[1:]
    a = np.array([np.iinfo(source).max, 1], source)
    call(f"(a.astype('{target}') < 0, abs(a.astype('{target}')), a.view('{target}') >= 0)", a, None)


def test_cross_products_of_bools_raise() -> None:
    call("np.cross(a, a)", np.array([True, False, True]), None)
    call("np.cross(a, b)", np.ones((2, 2), bool), np.ones((2, 2), bool))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution_with_infinities(mode: str) -> None:
    for a, b in [([1.0, 2, 3], [1.0, np.inf]), ([1.0, np.inf, 3, 0], [0.0, 1]), ([np.nan, 1.0], [1.0, 2, np.inf])]:
        for function in ("convolve", "correlate"):
            call(f"np.{function}(a, b, '{mode}')", np.array(a), np.array(b))
            call(f"np.{function}(a, b, '{mode}')", np.array(a * 20), np.array(b * 17))


@pytest.mark.parametrize("subscripts", ["i,j->", "i,j->i", "i,i,j->j", "i,j"])
def test_sums_of_products_with_infinities(subscripts: str) -> None:
    operands = "a, b" if subscripts.count(",") == 1 else "a, a, b"
    call(f"np.einsum('{subscripts}', {operands})", np.array([0.0, 1]), np.array([np.inf, 1]))
    call("np.einsum('ij,jk->', a, a)", np.array([[1.0, 0], [0, np.inf]]), None)


@pytest.mark.parametrize("values", [[1.0, 2, 3], [3.0, 2, 1, 4], [0.0, -1, 1], [5.0]])
@pytest.mark.parametrize("norm", ["'backward'", "'ortho'", "'forward'", "None"])
def test_the_conjugate_of_a_real_number(values: list[float], norm: str) -> None:
    for dtype in (float, np.float32, np.int8):
        a = np.array(values, dtype)
        call(f"np.signbit(np.fft.ihfft(a, norm={norm}).imag[0]), np.fft.ihfft(a, norm={norm})", a, None)


@pytest.mark.parametrize("name", ["arctan", "arctanh", "arcsinh", "arcsin", "arccos", "arccosh"])
def test_signs_of_zero_of_inverse_functions(name: str) -> None:
    parts = (-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0)
    poles = {"arctan": [1j, -1j], "arctanh": [1, -1]}.get(name, [])
    grid = np.array([complex(a, b) for a in parts for b in parts if complex(a, b) not in poles])
    for a in (grid, grid.astype(np.complex64)):
        call(f"(np.{name}(a), np.signbit(np.{name}(a).real), np.signbit(np.{name}(a).imag))", a, None)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "text",
    [
        "a * b * 1 + 0.5", "1 * (a * b) + a", "a * b * 1.0 - b", "a * b * True + b", "a * b * 1 * 1 - b",
        "np.square(a) * 1 + 0.5", "a * b * np.ones(200, a.dtype) + b", "a * a * 1 + 0.5", "a * b / 1 + 0.5",
        "1 * (1 * (a * b)) + b", "a * b + 0 + b",
    ],
)  # fmt: skip
def test_exact_products_by_one_are_not_contracted(text: str, dtype: str) -> None:
    a, b = np.random.default_rng(0).random((2, 200)).astype(dtype)
    function = load(f"import numpy as np\ndef program(a, b):\n    return {text}\n")
    fast = aj.autocluster(policy="eager", exact=True)(function)
    for _ in range(2):
        np.testing.assert_array_equal(fast(a, b), function(a, b))


def test_sums_of_products_with_repeated_infinities() -> None:
    def function(a, b):
        return np.einsum("ij,j->i", a, b), np.einsum("ij,j->i", a, np.broadcast_to(b[:1], 3))

    a, b = np.array([[1.0, -2, 3], [1, 2, 3]]), np.full(3, np.inf)
    fast = check(function, a, b)
    for other in (np.broadcast_to(np.inf, 3), b, np.full(6, np.inf)[::2]):  # the same plan must not answer for both
        with np.errstate(all="ignore"):
            for got, expected in zip(fast(a, other), function(a, other), strict=True):
                np.testing.assert_array_equal(got, expected)
