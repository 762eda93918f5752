"""Abstract values in the user's words, for reasons."""

from __future__ import annotations

from typing import Any

from autojit.capture.values import (
    Arr,
    Closure,
    Flat,
    Items,
    Known,
    LoopInt,
    Masked,
    Method,
    Partial,
    Ragged,
    Rows,
    Stream,
    Sym,
    Unknown,
    Vectorize,
)


def describe(value: Any) -> str:
    """An abstract value in the user's words."""
    if isinstance(value, Known | Sym):
        return _a(type(value.value))
    if isinstance(value, Items | Stream):
        return _a(value.kind)
    if isinstance(value, Arr):
        return "an array" if value.kind == "array" else "a number"
    if isinstance(value, LoopInt):
        return _a(int)
    if isinstance(value, Masked):
        return "what a boolean array selects"
    if isinstance(value, Ragged):
        return "a slice whose length changes"
    if isinstance(value, Flat):
        return "the elements of an array"
    if isinstance(value, Rows):
        return "a list that a loop has filled"
    if isinstance(value, Closure | Vectorize):
        return "a function"
    if isinstance(value, Method | Partial):
        return f"the method `{value.name}`"
    if isinstance(value, Unknown):
        return "what an earlier line makes"
    return f"a {type(value).__name__.lower()}"


def _a(kind: type) -> str:
    return f"{'an' if kind.__name__[:1] in 'aeioAEIO' else 'a'} `{kind.__name__}`"
