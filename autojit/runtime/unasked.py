"""What stands for a probe in a copy of its function, such as cloudpickle makes for another process."""

from __future__ import annotations

import functools
import sys
from typing import Any

#: It asks nothing, so that all statements are Python's: there is no controller that could answer.
_ASKS = dict.fromkeys(("on", "busy", "timed", "due", "asks"), False)


def reduced(self: object) -> tuple[Any, ...]:
    """The `__reduce__` of a constant of instrumented code."""
    del self
    return with_attributes({**_ASKS, "forever": range(sys.maxsize), "iter": iter})


def with_attributes(attributes: dict[str, Any]) -> tuple[Any, ...]:
    """What a `__reduce__` returns for an object with these attributes.

    It is Python's own: who reads it needs nothing of autojit's, which would import jax. And it can be hashed, as the
    code can then in which it is a constant.
    """
    return functools.partial, (object,), (object, (), None, attributes)
