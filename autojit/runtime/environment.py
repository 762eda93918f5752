"""What must hold around a call for compiled code to mean the same as NumPy: its error state and the warnings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy._core import umath

_DEFAULT = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
_state = umath._extobj_contextvar  # type: ignore[attr-defined] -- private to NumPy
_unset = object()
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
    for action, _message, category, _module, _line in filters:
        if issubclass(RuntimeWarning, category):
            quiet = action in ("default", "ignore", "once", "module")
            break
    _filters, _filters_seen, _filters_quiet = filters, tuple(filters), quiet
    return quiet
