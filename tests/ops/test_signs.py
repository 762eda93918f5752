"""Signs that are put on computed numbers, and chosen from: vector instructions of three operands must not mix them up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autojit as aj


def arctan(a: Any) -> Any:
    return np.arctan(np.copysign(a, a))


def sinh(a: Any) -> Any:
    return np.sinh(np.copysign(a, a))


def polynomial(s: Any) -> Any:
    z = s * s
    for c in (0.0163, 0.0346, 0.0455, 0.0523, 0.058, 0.066, 0.0769, 0.0909, 0.111, 0.1428, 0.2, 0.333):
        z = z * s + c
    return z / (s + 1)


def signed(a: Any) -> Any:
    x = np.copysign(a, a)
    return np.where(x == x, np.copysign(polynomial(np.abs(x)), x), x)


def mirrored(a: Any) -> Any:
    x = np.copysign(a, a)
    size = np.abs(x)
    large = size > 1
    slope = np.where(large, 1, size) / np.where(large, size, 1)
    steep = slope > 0.4
    angle = polynomial(np.where(steep, (slope - 1) / (slope + 1), slope)) + steep
    return np.where(x == x, np.copysign(np.where(large, 2 - angle, angle), x), x)


def of_bits(a: Any) -> Any:
    x = a.view(np.int64)
    top = np.int64(-(2**63))
    return np.where(a == a, (x & top) | (polynomial(np.abs(a)).view(np.int64) & ~top), x).view(np.float64)


@pytest.mark.parametrize("shape", [(3, 5), (150,), (40, 33), (5000,)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("function", [arctan, sinh, signed, mirrored, of_bits], ids=lambda one: one.__name__)
def test_signs(function: Callable[..., Any], dtype: Any, shape: tuple[int, ...]) -> None:
    if function is of_bits and dtype is np.float32:
        dtype = np.float64  # its masks are those of 64 bits
    a = (np.random.default_rng(3).standard_normal(shape) * 3).astype(dtype)
    a.ravel()[:6] = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0]
    with np.errstate(invalid="ignore"):
        got, wanted = aj.autocluster(function, policy="eager")(a), function(a)
    np.testing.assert_allclose(got, wanted, rtol=1e-5 if dtype is np.float32 else 1e-12)
    assert (np.signbit(got) == np.signbit(wanted))[~np.isnan(wanted)].all()
