"""Sample calls of NumPy's public functions with odd arguments do what NumPy does with them."""

from __future__ import annotations

import pytest

from tests.evaluated import evaluated
from tests.surface.odd import run


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_odd_arguments(seed):
    with evaluated():
        assert run(seed, 500) == 0
