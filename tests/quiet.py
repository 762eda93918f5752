"""`quiet`: `check`, where NumPy warns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tests.helpers import check


def quiet(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """`check`, without NumPy's own warnings about empty slices and NaN."""
    with warnings.catch_warnings():
        # NumPy's floating point warnings, which compiled code does not repeat.
        warnings.simplefilter("ignore", RuntimeWarning)
        return check(function, *args, **options)
