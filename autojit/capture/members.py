"""Members of enums: each is one object, whose attributes may change as those of other objects may."""

from __future__ import annotations

import enum
from typing import Any

from autojit.capture.plain import is_literal
from autojit.capture.records import find_in_class
from autojit.capture.values import Known


def own_value(self: Any, member: Known, name: str) -> Any:
    """`.name` or `.value`, where these are Python's own; else `None`. What cannot change is constant."""
    found = find_in_class(type(member.value), name)
    if name not in ("name", "value") or not isinstance(found, enum.property):
        return None
    if getattr(found.fget, "__module__", "") != "enum":
        return None
    value = vars(member.value)[f"_{name}_"]
    path = f"{member.path}._{name}_"
    return Known(value) if is_literal(value) else self.wrap(value, path, f"{member.value}.{name}")
