"""What a region's graph is given for the values of its live-ins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autojit.capture.capture import Capture
from autojit.capture.streams import render, streams_of
from autojit.compile.outside import has_arrived
from autojit.runtime.plan import Plan


def arguments_of(capture: Capture, guard: Plan) -> Callable[..., list[Any] | None]:
    """A function of the live-ins that runs the prologue alone; it gives `None` for values that are not the plan's.

    Random numbers are drawn, and the streams given their states back.

    Args:
        capture: The region.
        guard: A plan for it, whose function knows the constants of the prologue.
    """
    names = {**guard.call.__globals__}
    lines: list[str] = []
    if capture.draws:
        drawing = render(capture.draws, names, "        ")
        lines = [f"    saved = save({streams_of(capture.draws)})", "    try:", *drawing, "    finally: restore(saved)"]
    return _function(capture, names, lines, capture.input_names)


def streams_of_call(capture: Capture, guard: Plan) -> Callable[..., list[Any] | None]:
    """A function of the live-ins that gives the generators from which the plan draws; `None` as above."""
    return _function(capture, {**guard.call.__globals__}, [], [streams_of(capture.draws)] if capture.draws else [])


def owners_of(capture: Capture, guard: Plan) -> Callable[..., list[Any] | None]:
    """A function of the live-ins that gives the objects whose attributes the plan sets, in order; `None` as above."""
    return _function(capture, {**guard.call.__globals__}, [], [owner for owner, _, _ in capture.assigned])


def _function(capture: Capture, names: dict[str, Any], lines: Sequence[str], results: Sequence[str]) -> Any:
    head = [f"def found({', '.join(capture.prologue.parameters)}):", *capture.prologue.render()]
    exec("\n".join([*head, *lines, f"    return [{', '.join(results)}]"]), names)

    def run(*values: Any) -> list[Any] | None:
        try:
            found = names["found"](*values)
        except Exception as error:  # an object has changed its structure, or a draw raises
            if has_arrived(error):
                raise
            return None
        return found if isinstance(found, list) else None

    return run
