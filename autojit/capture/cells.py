"""The cells of free variables."""

from __future__ import annotations

import types
from collections.abc import Mapping


def is_empty(cell: types.CellType) -> bool:
    """Whether a free variable has no value yet."""
    try:
        return cell.cell_contents is cell  # never: what counts is whether it can be read
    except ValueError:
        return True


def have(function: types.FunctionType, values: Mapping[str, object]) -> bool:
    """Whether a function's free variables have these values, by name: those of a copy may have others."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found = [(cell, values[name]) for name, cell in cells if name in values]
    return all(not is_empty(cell) and cell.cell_contents is value for cell, value in found)
