"""Sums of products that become matrix products: the numbers stay, also where the factors have different dtypes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autojit as aj
from autojit.ir.evaluate import evaluate
from autojit.ir.spec import Spec
from autojit.ir.text import to_text
from autojit.ir.verify import verify
from autojit.passes.contract import contract
from tests.graphs import graph_of

INEXACT = ("f2", "f4", "f8", "c8", "c16")


def specs(left: str, right: str) -> dict[str, Spec]:
    return {"x": Spec((8, 1, 9), np.dtype(left)), "y": Spec((7, 9), np.dtype(right))}


@pytest.mark.parametrize(
    ("left", "right"), [*itertools.product(INEXACT, INEXACT), ("?", "f8"), ("i8", "f8"), ("i4", "i4")]
)
def test_factors_of_all_dtypes(left, right):
    before = graph_of("a = multiply(x, y); b = sum(a, axis=2) -> b", **specs(left, right))
    after = contract(before)
    verify(after)
    rng = np.random.default_rng(5)
    inputs = [rng.integers(-8, 9, one.spec.shape).astype(one.spec.dtype) for one in before.inputs]
    (expected,), (got,) = evaluate(before, inputs), evaluate(after, inputs)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)
    dtype = np.result_type(left, right)
    is_product = dtype.char in "fdFD" and {np.dtype(left).kind, np.dtype(right).kind} <= {"f", "c"}
    assert ("np.matmul" in to_text(after)) == is_product


def convolution(x, w, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(x[i : i + 3, j : j + 3, :, None] * w, axis=(0, 1, 2))
    return out


@pytest.mark.parametrize(("left", "right"), [("f8", "f4"), ("f4", "f8"), ("c8", "f8"), ("f8", "i4")])
def test_convolutions_of_two_dtypes(left, right):
    rng = np.random.default_rng(6)
    x, w = rng.integers(-4, 5, (12, 10, 8)).astype(left), rng.integers(-4, 5, (3, 3, 8, 5)).astype(right)
    out = np.zeros((10, 8, 5), np.result_type(left, right))
    fast, expected = aj.autocluster(convolution, policy="eager"), convolution(x, w, out.copy())
    for _ in range(2):
        np.testing.assert_array_equal(fast(x, w, out.copy()), expected)
    text = fast.get_compiler_ir(x, w, out)("graph")
    assert ("np.matmul" in text) == (right != "i4")


def test_infinities_and_nan_stay():
    rng = np.random.default_rng(7)
    x, w = rng.integers(-4, 5, (12, 10, 8)).astype("f4"), rng.integers(-4, 5, (3, 3, 8, 5)).astype("f8")
    x[3, 4, 1], x[8, 1, 2], w[0, 1, 2, 3] = np.inf, np.nan, -np.inf
    out = np.zeros((10, 8, 5))
    with np.errstate(invalid="ignore"):
        expected = convolution(x, w, out.copy())
    np.testing.assert_array_equal(aj.autocluster(convolution, policy="eager")(x, w, out.copy()), expected)
