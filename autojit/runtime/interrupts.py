"""Exceptions that a signal handler has raised, such as a timeout's: these are the program's, wherever they arrive."""

from __future__ import annotations

import signal
import types


def comes_from_a_signal(error: BaseException) -> bool:
    """Whether an exception has passed through the handler of a signal."""
    handlers = set()
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        function = getattr(handler, "__func__", handler)
        if isinstance(function, types.FunctionType):
            handlers.add(function.__code__)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False
