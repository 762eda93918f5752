"""The end of the process, which daemon threads may meet in compiled code: XLA aborts one whose interpreter is gone."""

from __future__ import annotations

import os
import sys
import threading
from time import sleep
from typing import Any

import jaxlib

from autojit.compile import executable, xla
from autojit.runtime.background import MAKING
from autojit.runtime.plan import FILE

#: Seconds between two looks.
_PAUSE = 0.005
_RUNS = (executable.__file__, xla.__file__)
_COMPILES = os.path.join(os.path.dirname(os.path.dirname(jaxlib.__file__)), "jax", "")


def wait_for_plans() -> None:
    """Wait until no other thread is in XLA for a plan. The probes must be off.

    One that is in a plan, but in NumPy or in the user's code, can be left there.
    """
    me, quiet = threading.get_ident(), 0
    while quiet < 2:  # one may be on its way to XLA at the first look
        others = {thread: frame for thread, frame in sys._current_frames().items() if thread != me}
        if not others:
            return
        quiet = 0 if any(_is_in_xla(thread, frame) for thread, frame in others.items()) else quiet + 1
        sleep(_PAUSE)


def _is_in_xla(thread: int, frame: Any) -> bool:
    file = frame.f_code.co_filename
    return file in _RUNS or file.startswith(FILE) or (thread in MAKING and file.startswith(_COMPILES))
