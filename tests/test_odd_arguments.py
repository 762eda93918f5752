"""Arguments that few pass, each as NumPy takes or refuses it: found by attack and by random programs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check
from tests.programs_strategy import load

X = np.arange(9.0).reshape(3, 3) - 4
SMALL = np.arange(9, dtype=np.int8).reshape(3, 3)
INTS = np.array([3, 4, 1])


def call(text: str, *args: object) -> None:
    """Check `def program(x, i, k)` with one line or several, the last an expression."""
    *lines, last = text.split("; ")
    body = "".join(f"    {line}\n" for line in (*lines, f"return {last}"))
    with warnings.catch_warnings():
        # NumPy's floating point warnings, which compiled code does not repeat.
        warnings.simplefilter("ignore", RuntimeWarning)
        check(load(f"import numpy as np\ndef program(x, i, k):\n{body}"), *args)


@pytest.mark.parametrize(
    "text",
    [
        "[0] * int(k[0])",
        "[1.0, 2.0] * k[0], len([1, 2] * k[0]), (0,) * k.max() + (1,), k[1] * [3]",
        "pad = (0,) * (k.max() - 2); np.zeros(pad + (3,))",
        "a = [1, 2]; a *= k[2]; a",
        "[1, 2] * x.sum()",
        "[1, 2] + int(k[0])",
        "[1, 2] + k[0], k + [1, 2, 3]",
        "'ab' * int(k[0])",
    ],
)
def test_sequences_that_are_repeated(text):
    call(text, X, SMALL, INTS)


@pytest.mark.parametrize(
    "text",
    [
        "np.add.at(x, (k[:2] - 2, [0, 1]), 1); x",
        "np.add.at(x, (0, 1), 5); x",
        "np.add.at(x[0], (0, 1), 1); x",
        "np.maximum.at(x, (k - 2, k - 3), 9); x",
        "np.negative.at(x, (k[:1] - 2, k[:1] - 2)); x",
        "np.add.at(x, [0, 1], 5); x",
    ],
)
def test_places_of_several_axes(text):
    call(text, X, SMALL, INTS)


@pytest.mark.parametrize(
    "text",
    [
        "out = np.zeros((3, 1)); r = np.add.reduce(x, 1, None, out, keepdims=True); out, r is out",
        "out = np.zeros((3, 1)); r = np.sum(i, axis=1, keepdims=True, out=out); out, r is out",
        "out = np.zeros(3); r = np.sum(i, axis=1, keepdims=False, out=out); out, r is out",
        "out = np.zeros((3, 1)); r = np.sum(x, axis=1, keepdims=True, where=x > 0, out=out); out, r is out",
        "np.multiply.reduce(x, 1, None, (np.zeros(3),), keepdims=False)",
        "np.sum(k, out=x[0, ...], keepdims=False)",
        "np.concatenate([x[1:], x[:1]], out=x); x",
        "np.stack([x[1], x[0]], out=x[:2]); x",
        "np.concatenate([x[1:], x[:1]], out=np.zeros((3, 3)))",
        "out = np.zeros((3, 3)); np.modf(x / 2, None, out); out",
        "np.divmod(x, 2, np.zeros((3, 3)), x); x",
        "np.add.accumulate(x, 1, None), np.add.reduce(x, None), np.add.reduce(x)",
    ],
)
def test_results_into_arrays(text):
    call(text, X, SMALL, INTS)


@pytest.mark.parametrize(
    "text",
    [
        "np.copyto(i, 1.5); i",
        "np.copyto(i, np.float64(2)); i",
        "m = x > 0; np.copyto(m, 3); m",
        "np.copyto(i, 3); np.copyto(x, 2); i, x",
        "i[0, :] = [1, 2, 300]; i",
        "i[0, 1:3] = 300, 301; i",
        "i[i > 3] = [-1000]; i",
        "i[k - 2] = [[1], [2], [300]]; i",
        "x[0] = [int(k[0]) + 300] * 3; i[0] = [int(k[0]) + 300] * 3; x, i",
        "np.pad(i, 1, constant_values=300)",
        "np.pad(i, 0, constant_values=np.nan)",
        "np.pad(i, 1, constant_values=((1, 2), (3, 4)))",
        "np.insert(i, 0, -300)",
        "np.insert(i, [1, 2], [300, 301])",
        "np.insert(i, 1, 7), np.insert(x, [0, 1], [int(k[0]), 2.5])",
        "np.insert(i, 0, int(k[0]) + 300)",
        "np.put_along_axis(i, k[:, None] % 3, [[300]], axis=1); i",
        "np.uint8([300])",
        "np.array([np.int64(300), 1], dtype=np.int8)",
        "np.array([int(k[0]) + 300], np.int8)",
        "np.array([1, 2], np.int8), np.array([int(k[0]), 2.5]), np.int8([1, 2])",
        "x[0] = [[1, 2, 3]]; x",
        "x[...] = [[[1, 2, 3]]]; x",
        "x[:] = [1, 2, 3]; x[k[2]] = [4, 5, 6]; x",
        "x[[0, 1]] = [[[1, 2, 3]]]; x",
        "x.fill([1]); x",
        "x.fill(x); x",
        "x.fill(k[0]); x",
    ],
)
def test_numbers_that_do_not_fit(text):
    call(text, X, SMALL, INTS)


@pytest.mark.parametrize(
    "text",
    [
        "np.sum(x, axis=[0, 1])",
        "x.max(axis=[0])",
        "np.mean(x[x > 0], axis=[0])",
        "np.linalg.norm(x, axis=[0, 1])",
        "np.var(x, where=x > 0, ddof=1, correction=1)",
        "np.var(x[x > 0], ddof=1, correction=1)",
        "np.std(x, ddof=0, correction=1), np.var(x, correction=1)",
        "np.add(x1=x, x2=1)",
        "np.sin(x=x)",
        "x[0] = 1; np.identity(-1); x",
        "np.eye(-2, 3); x",
        "np.tri(-1)",
        "x.copy(order='Z'); x",
        "np.zeros(10**18); x",
        "np.concatenate([x, x], axis=True)",
        "np.take(x, 0, axis=True)",
        "np.repeat(x, 2, axis=True)",
        "np.eye(True)",
        "x.any(0, None, True)",
        "x.any(0), x.all(1, keepdims=True)",
        "(k[0] > 1) is np.True_, bool(k[0] > 1) is True, k is None",
        "np.sum(-0.0 * np.abs(x), axis=0, initial=-0.0)",
    ],
)
def test_what_numpy_refuses(text):
    call(text, X, SMALL, INTS)


@pytest.mark.parametrize(
    "text",
    [
        "s = x.sum(); s.reshape(()), np.reshape(s, ()), s.real.reshape(()), s.reshape(1)",
        "s = x.sum(); s.cumsum(axis=0), np.cumsum(s, axis=-1), np.cumulative_prod(s, axis=0), np.nancumsum(s, axis=0)",
        "s = x.sum(); s.dot(2)",
        "np.fft.irfft2(x[:, :1])",
        "np.fft.hfft(x[:1, 0])",
        "np.fft.rfftn(x.sum())",
        "np.fft.irfft(x[:1, 0], n=2)",
        "np.linalg.matrix_power(x > -9, 40), np.linalg.matrix_power(x > 1, -1)",
        "np.linalg.multi_dot([x > 0, x > 0, x])",
        "np.linalg.matrix_power((x * 100).astype(np.float16), 3)",
        "x.sum(dtype=np.uint8), np.cumsum(x, axis=0, dtype=np.int16), np.prod(x, dtype=np.uint16)",
        "np.fill_diagonal(i[:1], 5); np.fill_diagonal(i[:, :1], 7); i",
        "m = x > 0; m[m[::-1]] = False; m",
        "m = x > 0; np.copyto(m, False, where=m[::-1]); m",
        "m = x > 0; m[m] = False; m",
        "np.zeros_like(x.T[None, :1], shape=(3, 5, 2)).strides, np.array([x.T, x.T]).strides, np.sum([x.T, x.T], axis=0)",
        "np.cumsum(2.5), np.cumsum(np.float64(2.5))",
    ],
)
def test_scalars_and_layouts(text):
    call(text, X, SMALL, INTS)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.maximum.accumulate(x).ravel("K"),
        lambda x: np.partition(x, 1, axis=0).ravel("K"),
        lambda x: np.pad(x, 1, "mean").reshape(-1, order="A"),
        lambda x: np.subtract.accumulate(x, axis=1),
    ],
)
def test_both_layouts_in_one_function(function):
    fast = aj.autocluster(policy="eager")(function)
    for x in (X, np.asfortranarray(X), X, X.T, X[::-1]):
        got, expected = fast(x), function(x)
        assert np.array_equal(got, expected)
        assert got.strides == expected.strides


def test_a_constant_that_is_written_anew_in_each_call():
    def f(s):
        x = np.cumsum(s)
        x *= 2
        return x

    check(f, np.complex64(1 + 1j))


def test_a_long_list():
    def f(numbers):
        return np.array(numbers) * 2

    check(f, [float(n) for n in range(3000)])
    check(f, list(range(300)))
