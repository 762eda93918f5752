"""Integers of more digits than a plan has use for, and the ranges and slices that may hold some."""

from __future__ import annotations

from typing import Any

from autojit.capture.values import Known, Opaque

#: More bits are left to Python, which may not even write them as text: it can be told to write no more than 640 digits.
_BITS = 2000


def is_huge(value: Any) -> bool:
    """Whether a value is an integer of very many digits."""
    return type(value) is int and value.bit_length() > _BITS


def in_digits(value: Any) -> str:
    """A value as text, whatever its length."""
    try:
        return repr(value)
    except ValueError:  # Python does not write so many digits
        return "too long to be written"


def wrap_bounds(self: Any, value: range | slice, path: str, what: str) -> Known | Opaque:
    """A range or slice from outside: equal ones may differ in their parts, as 1 == True == 1.0.

    Args:
        self: The recorder.
        value: The range or slice.
        path: The text that finds it.
        what: Its name in the user's words.
    """
    check, constant = self.prologue.check, self.prologue.constant
    name, why = self.prologue.let("o", path), f"`{what}` is {in_digits(value)}"
    check(f"type({name}) is {constant(type(value))}", why)
    parts = value.start, value.stop, value.step
    for part, bound in zip(("start", "stop", "step"), parts, strict=True):
        text = f"type({name}.{part}) is int and {name}.{part} == {self.prologue.literal(bound)}"
        if bound is None or type(bound) is bool:
            text = f"{name}.{part} is {bound}"
        elif type(bound) is not int:
            return Opaque("argument-type", f"`{what}` is a slice with a `{type(bound).__name__}`")
        check(text, why)
    return Opaque("argument-type", why) if any(map(is_huge, parts)) else Known(value)
