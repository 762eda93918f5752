"""Members of enums: each is one object, whose attributes may change as those of other objects may."""

from __future__ import annotations

import enum
import types
from typing import Any

from autojit.capture.plain import is_literal
from autojit.capture.records import find_in_class
from autojit.capture.values import Known


def own_value(self: Any, member: Known, name: str) -> Any:
    """`.name` or `.value`, where these are Python's own, or a method of a text or number; else `None`.

    What cannot change is constant.
    """
    found = find_in_class(type(member.value), name)
    if isinstance(found, types.MethodDescriptorType) and found.__objclass__ in (str, int, float):
        return Known(getattr(member.value, name))
    if name not in ("name", "value") or not isinstance(found, enum.property):
        return None
    if getattr(found.fget, "__module__", "") != "enum":
        return None
    value = vars(member.value)[f"_{name}_"]
    path = f"{member.path}._{name}_"
    return Known(value) if is_literal(value) else self.wrap(value, path, f"{member.value}.{name}")
