"""`each`: many small functions, each compared with NumPy; all that fail are named."""

from __future__ import annotations

import inspect
import warnings

from tests.helpers import check


def each(functions, *calls, **options) -> None:
    """Compare many small functions; all that fail are named."""
    failed = []
    for function in functions:
        for args in calls:
            try:
                with warnings.catch_warnings():
                    # NumPy's floating point warnings, which compiled code does not repeat.
                    warnings.simplefilter("ignore", RuntimeWarning)
                    check(function, *args, **options)
            except Exception as error:
                kinds = [f"{getattr(a, 'dtype', type(a).__name__)}{getattr(a, 'shape', '')}" for a in args]
                text = inspect.getsource(function).strip()
                reason = " ".join(str(error).split())
                failed.append(f"{text} of {', '.join(kinds)}: {reason[:300]}")
                break
    assert not failed, "\n".join(failed)
