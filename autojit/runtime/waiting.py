"""Functions that wait: while one that calls them is compiled, with their code in it, they are not compiled alone."""

from __future__ import annotations

import types

#: The code of the functions that a plan in the making has in it, by what has it made.
_WAITING: dict[object, frozenset[types.CodeType]] = {}


def begin_waiting(maker: object, codes: frozenset[types.CodeType]) -> None:
    """A plan is being made that has these functions in it."""
    _WAITING[maker] = codes


def end_waiting(maker: object) -> None:
    """It is made, or will not be."""
    _WAITING.pop(maker, None)


def waits(code: types.CodeType) -> bool:
    """Whether a function is part of a plan in the making."""
    return any(code in codes for codes in list(_WAITING.values()))
