"""Rows that move elements against NumPy."""

from op_checks import check_samples

from autojit.ops import shaping


def test_samples(rng):
    check_samples(*shaping.ROWS, rng=rng)
