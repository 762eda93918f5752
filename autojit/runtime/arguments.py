"""What a region's graph is given for the values of its live-ins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autojit.capture.capture import Capture
from autojit.runtime.plan import Plan


def arguments_of(capture: Capture, guard: Plan) -> Callable[..., list[Any] | None]:
    """A function of the live-ins that runs the prologue alone; it gives `None` for values that are not the plan's.

    Args:
        capture: The region.
        guard: A plan for it, whose function knows the constants of the prologue.
    """
    lines = [f"def inputs({', '.join(capture.prologue.parameters)}):", *capture.prologue.render()]
    lines.append(f"    return [{', '.join(capture.input_names)}]")
    names = {**guard.call.__globals__}
    exec("\n".join(lines), names)

    def arguments(*values: Any) -> list[Any] | None:
        try:
            found = names["inputs"](*values)
        except Exception:  # an object has changed its structure
            return None
        return found if isinstance(found, list) else None

    return arguments
