"""What stands for a probe in a copy of its function, such as cloudpickle makes for another process."""

from __future__ import annotations

import sys
import types
from typing import Any

#: It asks nothing, so that all statements are Python's: there is no controller that could answer.
_ASKS = dict.fromkeys(("on", "busy", "timed", "due", "asks"), False)


def reduced(self: object) -> tuple[Any, tuple[()], dict[str, Any]]:
    """The `__reduce__` of a constant of instrumented code; who reads it needs nothing of autojit's."""
    del self
    return types.SimpleNamespace, (), {**_ASKS, "forever": range(sys.maxsize), "iter": iter}
