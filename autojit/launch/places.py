"""Places in the program, for people."""

from __future__ import annotations

from pathlib import Path


def _folder() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it is gone
        return Path()


#: Where the command was given: the program may go elsewhere.
_FOLDER = _folder()


def short(file: str) -> str:
    """A file as seen from where the command was given, or else its name and its folder's."""
    path = Path(file)
    return str(path.relative_to(_FOLDER) if path.is_relative_to(_FOLDER) else Path(*path.parts[-2:]))


def place(file: str, line: int, last: int = 0) -> str:
    """A line, or lines."""
    return f"{short(file)}:{line}" + (f"-{last}" if last > line else "")
