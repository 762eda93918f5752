"""`warned`: one warning of autojit, and what it says."""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager

import autojit as aj


@contextmanager
def warned(pattern):
    """One warning of ours. `pytest.warns` has a filter that asks for every warning, which only NumPy gives."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        yield found
    assert [each.category for each in found] == [aj.AutojitWarning], [str(each.message) for each in found]
    assert re.search(pattern, str(found[0].message)), found[0].message
