"""Sums and products of float16: NumPy rounds them wherever its innermost loop ends, which memory order decides."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.programs_strategy import load

LONG = (np.random.default_rng(5).random((3000, 8)) + 0.9).astype(np.float16)
ORDERS = {"C": LONG, "F": LONG.copy(order="F"), "transposed": LONG.copy().T, "strided": np.repeat(LONG, 2, axis=0)[::2]}
CALLS = (
    "np.sum(x, axis=axis)", "x.var(axis=axis)", "x.std(axis=axis)", "np.nansum(x, axis=axis)",
    "np.nanmean(x, axis=axis)", "np.add.reduce(x, axis=axis)", "np.multiply.reduce(x / 2 + 0.3, axis=axis)",
    "np.prod(x / 2 + 0.3, axis=axis)", "np.average(x, weights=x + 1, axis=axis)", "np.linalg.norm(x, axis=axis)",
    "np.sum(x.astype(float), axis=axis, dtype='f2')", "np.sum(x, axis=axis, where=x > 1)",
    "np.einsum('ij->j', x)", "np.einsum('ij->i', x)", "np.trace(x)", "x.mean(axis=axis)", "x.T @ x",
)  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("text", CALLS)
def test_along_any_axis(text: str, order: str) -> None:
    function = load(f"import numpy as np\ndef program(x, axis):\n    return {text}")
    fast = aj.autocluster(policy="eager")(function)
    for axis in (0, 1, None):
        want = function(ORDERS[order], axis)
        for _ in range(2):
            got = fast(ORDERS[order], axis)
            assert got.dtype == want.dtype
            # One unit in the last place: a sum of one loop may be rounded the other way.
            np.testing.assert_allclose(got, want, rtol=2**-10, atol=0)


def test_a_plan_is_not_taken_for_another_memory_order() -> None:
    fast = aj.autocluster(policy="eager")(lambda x: (x * 2).sum(axis=0))
    for x in ORDERS.values():
        np.testing.assert_array_equal(fast(x), (x * 2).sum(axis=0))


def test_a_buffer_ends_a_loop() -> None:
    ones = np.ones(20000, np.int64)
    fast = aj.autocluster(policy="eager")(lambda x: np.sum(x, dtype=np.float16))
    np.testing.assert_array_equal(fast(ones), np.sum(ones, dtype=np.float16))


def test_vectors_are_compiled() -> None:
    fast = aj.autocluster(policy="eager")(lambda x: x.sum() + x.std())
    x = LONG[:, 0].copy()
    got, want = fast(x), x.sum() + x.std()
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=2**-10)
    assert fast.cache_info().compiles == 1
