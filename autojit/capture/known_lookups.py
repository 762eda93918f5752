"""Look-ups that begin at what a capture knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autojit.capture.lookups import Lookup, is_bound_plainly, is_in_class
from autojit.capture.values import Arr, Items, Known, Rows


def is_plain_in(lookup: Lookup, env: Mapping[str, Any]) -> bool:
    """Whether a look-up runs no code that begins at what a capture knows: a list, an array, a constant."""
    value = env.get(lookup.root)
    if not lookup.steps:
        return value is not None
    (first, *more) = lookup.steps
    if isinstance(value, Known):  # no guard asks for what other objects of its class have in their dictionaries
        return is_in_class(value.value, lookup.steps)
    kind = list if isinstance(value, Rows) else value.kind if isinstance(value, Items) else None
    if isinstance(value, Arr) and value.kind == "array":
        kind = type(value.dummy)
    return kind is not None and not more and is_bound_plainly(kind, first.attribute)
