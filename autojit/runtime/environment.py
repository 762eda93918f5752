"""What must hold around a call for compiled code to mean the same as NumPy: error state, warnings, no debugger."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy._core import umath

_DEFAULT = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
_state = umath._extobj_contextvar  # type: ignore[attr-defined] -- private to NumPy
#: What a filter may do with a warning that compiled code does not give.
_QUIET = frozenset(["default", "ignore", "once", "module"])
_default_state: Any = _state.get() if np.geterr() == _DEFAULT else object()

with np.errstate(all="ignore"):
    _ignoring: Any = _state.get()

_filters: Any = None
_filters_seen: tuple[Any, ...] = ()
_filters_quiet = True


def is_default() -> bool:
    """Whether NumPy's error state is the default or ignores more, and warnings are printed at most."""
    state = _state.get()
    if state is not _default_state and any(how not in ("ignore", _DEFAULT[kind]) for kind, how in np.geterr().items()):
        return False
    filters = warnings.filters
    if filters is _filters and len(filters) == len(_filters_seen) and (not filters or filters[0] is _filters_seen[0]):
        return _filters_quiet
    return _look(filters)


def quiet(compute: Callable[[], Any]) -> Any:
    """What a computation of numbers gives, without NumPy's warnings; a third of the time of `np.errstate`."""
    before = _state.get()
    try:  # a signal's handler may raise as soon as the state is another one
        _state.set(_ignoring)
        return compute()
    finally:
        _state.set(before)


#: In the text of a plan: whether somebody may follow the lines of this thread.
MAY_BE_FOLLOWED = "gettrace() is not None"
#: Its names.
FOLLOWING: dict[str, Any] = {"gettrace": sys.gettrace}
if sys.version_info >= (3, 12):  # debuggers and coverage tools also have these
    MAY_BE_FOLLOWED += f" or tool({sys.monitoring.DEBUGGER_ID}) or tool({sys.monitoring.COVERAGE_ID})"
    FOLLOWING["tool"] = sys.monitoring.get_tool
_own: Any = None


def set_own_tracer(tracer: Any) -> None:
    """What autojit itself follows lines with, which hinders no plan; `None` for nothing."""
    global _own
    _own = tracer


def is_followed() -> bool:
    """Whether a debugger, a coverage tool or the like follows the lines of this thread: it would miss compiled ones."""
    tracer = sys.gettrace()
    if tracer is not None:
        return _own is None or tracer != _own
    if sys.version_info >= (3, 12):
        tools = sys.monitoring.DEBUGGER_ID, sys.monitoring.COVERAGE_ID
        return any(sys.monitoring.get_tool(tool) is not None for tool in tools)
    return False


def _look(filters: Any) -> bool:
    global _filters, _filters_seen, _filters_quiet
    quiet = True
    seen = tuple(filters)  # another thread may insert one meanwhile
    for action, message, category, module, line in seen:
        if issubclass(RuntimeWarning, category):
            quiet = action in _QUIET
            if not quiet or (message is None and module is None and not line):
                break  # what holds for some messages, modules or lines alone hides none of the filters behind it
    else:
        quiet = warnings.defaultaction in _QUIET  # type: ignore[attr-defined] -- Python's own name for it
    _filters, _filters_seen, _filters_quiet = filters, seen, quiet
    return quiet
