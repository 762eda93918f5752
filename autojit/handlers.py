"""What handles signals, as it is: up to Python 3.11 `signal.getsignal` takes it for the name of a constant first, and
asks for its `repr`, which may be the program's code.
"""

# The half of `signal` that is written in C, of which type checkers know nothing.
import _signal  # pyright: ignore[reportMissingImports]
import functools
from typing import Any

handler_of = _signal.getsignal
set_handler = _signal.signal
#: Which signals a thread takes; `None` where threads have no masks.
set_mask: Any = getattr(_signal, "pthread_sigmask", None)


@functools.cache
def numbers() -> tuple[int, ...]:
    """All signals, without their names: to look these up takes longer than a thread takes to start."""
    return tuple(_signal.valid_signals())
