"""Records: which classes are made and read as the fields that they have, without code of the user's."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

from autojit.capture.protocols import overridden
from autojit.capture.values import Method
from autojit.errors import CannotCapture

MISSING = object()


def find_in_class(kind: type, name: str) -> Any:
    """What the class, or the first base that has it, holds under a name; else `MISSING`."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), MISSING)


def method_of(kind: type, owner: Any, name: str) -> Method:
    """A method of an object whose class is one of Python's or NumPy's own.

    Raises:
        CannotCapture: There is no such attribute, or it is no method.
    """
    found = find_in_class(kind, name)
    if found is MISSING:
        raise CannotCapture("raises", f"AttributeError: `{kind.__name__}` has no attribute `{name}`")
    if not isinstance(found, types.MethodDescriptorType):
        raise CannotCapture("unsupported-syntax", f"the attribute `.{name}` of `{kind.__name__}`")
    return Method(owner, name)


def is_simple_record(kind: type) -> bool:
    """Whether a call of a class runs an `__init__` that `dataclass` wrote, and that sets all fields and no more."""
    if not dataclasses.is_dataclass(kind) or hasattr(kind, "__post_init__") or kind.__new__ is not object.__new__:
        return False
    owner = next(base for base in kind.__mro__ if "__init__" in vars(base))
    function, params = vars(owner)["__init__"], vars(owner).get("__dataclass_params__")
    if not isinstance(function, types.FunctionType) or params is None:
        return False
    # An `__init__` written by hand stays in the class, and one inherited does not know the fields of the heir.
    if not function.__code__.co_qualname.startswith("__create_fn__.<locals>"):
        return False
    if vars(owner).get("__dataclass_fields__") is not kind.__dataclass_fields__:
        return False
    names = overridden(kind)
    has_rules = not names.isdisjoint(("__get__", "__getattribute__", "__del__"))
    if has_rules or ("__setattr__" in names and not params.frozen):
        return False
    found = (find_in_class(kind, field.name) for field in dataclasses.fields(kind))
    return all(isinstance(f, types.MemberDescriptorType) or not hasattr(type(f), "__set__") for f in found)
