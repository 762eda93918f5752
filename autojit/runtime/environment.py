"""What must hold around a call for compiled code to mean the same as NumPy: its error state and the warnings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy._core import umath

_DEFAULT = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
_state = umath._extobj_contextvar  # type: ignore[attr-defined] -- private to NumPy
_unset = object()
#: What a filter may do with a warning that compiled code does not give.
_QUIET = frozenset(["default", "ignore", "once", "module"])
_default_state: Any = _state.get(_unset) if np.geterr() == _DEFAULT else _unset

_filters: Any = None
_filters_seen: tuple[Any, ...] = ()
_filters_quiet = True


def is_default() -> bool:
    """Whether NumPy's error state is the default or ignores more, and warnings are printed at most."""
    state = _state.get(_unset)
    if state is not _default_state and any(how not in ("ignore", _DEFAULT[kind]) for kind, how in np.geterr().items()):
        return False
    filters = warnings.filters
    if filters is _filters and len(filters) == len(_filters_seen) and (not filters or filters[0] is _filters_seen[0]):
        return _filters_quiet
    return _look(filters)


def _look(filters: Any) -> bool:
    global _filters, _filters_seen, _filters_quiet
    quiet = True
    for action, message, category, module, line in filters:
        if issubclass(RuntimeWarning, category):
            quiet = action in _QUIET
            if not quiet or (message is None and module is None and not line):
                break  # what holds for some messages, modules or lines alone hides none of the filters behind it
    else:
        quiet = warnings.defaultaction in _QUIET  # type: ignore[attr-defined] -- Python's own name for it
    _filters, _filters_seen, _filters_quiet = filters, tuple(filters), quiet
    return quiet
