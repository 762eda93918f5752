"""Arrays that are larger than any memory."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check_call


def diagonal(x, k):
    return np.diag(x, k) * 2


def repeated(x, k):
    return np.tile(x, k) + 1


def spread(x, k):
    return np.broadcast_to(x, (k, k, len(x))) + x


@pytest.mark.parametrize(("function", "large"), [(diagonal, 2**31), (repeated, 2**60), (spread, 2**29)])
def test_numpys_error(function, large):
    """XLA would end the process."""
    fast = aj.autocluster(policy="eager")(function)
    for k in (2, large, 3):
        check_call(fast, function, np.arange(6, dtype=np.uint8), k)
