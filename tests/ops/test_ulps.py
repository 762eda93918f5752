"""The accuracy that the documentation publishes: each function and dtype on the numbers of `python -m bench.ulps`."""

from __future__ import annotations

import numpy as np
import pytest

from bench import ulp_draws, ulps
from ops.tolerances import BOUNDS, EXACT

CASES = ulp_draws.cases()
NAMES = list(dict.fromkeys(name for name, _ in CASES))
COUNT = 12_000


@pytest.mark.parametrize("name", NAMES)
def test_published_bounds_hold(name: str) -> None:
    found = {dtype: ulps.measure(name, dtype, COUNT) for other, dtype in CASES if other == name}
    wrong = [text for dtype, measured in found.items() if (text := ulps.too_far(name, dtype, measured))]
    assert not wrong, "\n".join(wrong)


def test_every_function_and_dtype_has_bounds() -> None:
    published = {(name, dtype) for name, dtypes in ulps.bounds().items() for dtype in dtypes}
    assert published == {(name, dtype.name) for name, dtype in CASES}


def test_the_op_tests_allow_no_more_than_is_published() -> None:
    for name, published in ulps.bounds().items():
        dtypes = {dtype: ulps.limits(name, np.dtype(dtype)) for dtype in published}
        bound = BOUNDS.get(f"np.{name}", EXACT)
        for dtype, most in dtypes.items():
            allowed = bound.complex if "complex" in dtype else bound.double if dtype == "float64" else bound.single
            # One bound of the op tests stands for two dtypes.
            twin = {"complex128": "complex64", "complex64": "complex128", "float16": "float32"}.get(dtype, dtype)
            limit = max(most["numpy"], dtypes.get(twin, most)["numpy"])
            assert allowed <= limit, f"np.{name} {dtype}: the op tests allow {allowed}, {limit} is published"


def test_distances() -> None:
    one = np.ones(1)
    assert ulp_draws.distance("exp", [one], one + np.finfo(float).eps, one)[0] == 1
    assert ulp_draws.distance("exp", [one], np.array([np.nan]), one)[0] == np.inf
    assert ulp_draws.distance("exp", [one], np.array([np.nan]), np.array([np.nan]))[0] == 0
    largest = np.array([np.finfo(float).max])
    assert ulp_draws.distance("exp", [one], np.array([np.inf]), largest)[0] == 1
    assert ulp_draws.distance("exp", [one], np.array([-np.inf]), largest)[0] > 1e15


def test_drawn_numbers_are_what_the_page_says() -> None:
    for name, dtype in CASES:
        for x in ulp_draws.draw(name, dtype, 2000):
            assert x.dtype == dtype and np.isfinite(x).all()
            assert (x.view(x.real.dtype) != 0).mean() > 0.8 and len(np.unique(x)) > 500


def test_a_wider_bound_is_for_the_c_library_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_c, most in ((False, 2), (True, 4)):
        monkeypatch.setattr(ulps, "takes_c_library", lambda name, dtype, is_c=is_c: is_c)
        assert ulps.limits("cbrt", np.dtype(float)) == {"numpy": most, "reference": 1.6}
        assert ulps.limits("exp", np.dtype(float)) == ulps.bounds()["exp"]["float64"]
