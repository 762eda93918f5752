"""Exceptions from outside, such as those that another thread sets: they are the program's, wherever they arrive."""

from __future__ import annotations

import opcode
import sys

from autojit.errors import comes_from_a_signal

#: Packages whose own exceptions tell that something inside has failed.
_OURS = frozenset([*sys.stdlib_module_names, "autojit", "jax", "jaxlib", "numpy", "scipy"]) - {"__main__"}
_RAISE = opcode.opmap["RAISE_VARARGS"]


def comes_from_outside(error: BaseException) -> bool:
    """Whether something outside has raised an exception, such as another thread, as far as its class tells."""
    module = type(error).__module__.partition(".")[0]
    return module not in _OURS or isinstance(error, TimeoutError) or comes_from_a_signal(error)


def has_arrived(error: BaseException) -> bool:
    """Whether an exception comes from outside, where code of the program's runs that may raise such ones itself.

    That has a statement which raises; what another thread sets arrives anywhere.
    """
    return comes_from_a_signal(error) or (comes_from_outside(error) and not _was_raised(error))


def _was_raised(error: BaseException) -> bool:
    """Whether a `raise` stands where an exception's traceback begins."""
    trace = error.__traceback__
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE
