"""Whether the stack has room for making a plan: a recursive function may call what is compiled at its deepest."""

from __future__ import annotations

#: Frames that capturing and lowering take, inside of each other, for ordinary functions.
_FRAMES = 250


def has_room() -> bool:
    """Whether so many more frames may be entered. Takes some 10 us."""
    try:
        return _enters(_FRAMES)
    except RecursionError:
        return False


def _enters(frames: int) -> bool:
    return frames == 0 or _enters(frames - 1)
