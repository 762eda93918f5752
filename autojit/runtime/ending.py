"""The end of the process, which daemon threads may meet in compiled code: XLA aborts one whose interpreter is gone."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from autojit.runtime.background import MAKING
from autojit.runtime.plan import FILE

#: Seconds between two looks.
_PAUSE = 0.005


def wait_for_plans() -> None:
    """Wait until no other thread is in a plan, or makes one. The probes must be off."""
    me, quiet = threading.get_ident(), 0
    while quiet < 2:  # one may be between its probe and its plan at the first look
        others = {thread: frame for thread, frame in sys._current_frames().items() if thread != me}
        if not others:
            return
        is_busy = any(thread in MAKING or _is_in_plan(frame) for thread, frame in others.items())
        quiet = 0 if is_busy else quiet + 1
        time.sleep(_PAUSE)


def _is_in_plan(frame: Any) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(FILE):
            return True
        frame = frame.f_back
    return False
