"""What classes of Python's define for their instances: rules of their own, which capture must not pass over."""

from __future__ import annotations

import collections
import types
from typing import Any

from autojit.errors import CannotCapture
from autojit.ops.trust import HEAP_TYPE

_PLAIN_CONTAINERS = (list, tuple, dict, collections.OrderedDict, collections.defaultdict)
#: What a class must not define when its instances are to be read like the tuple or the record that they are.
_PROTOCOL = frozenset(
    f"__{name}__"
    for name in "len iter next getitem contains bool eq ne lt le gt ge hash getattr getattribute setattr get call "
    "reversed index del neg pos abs invert round float int complex array array_ufunc array_function array_interface "
    "array_struct".split()
) | frozenset(
    f"__{form}{name}__"
    for form in ("", "r", "i")
    for name in "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split()
)
#: What a class of classes must not define for its classes to be constants.
_OPERATORS = _PROTOCOL - {f"__{name}__" for name in "getattr getattribute setattr get call".split()}


def overridden(kind: type) -> set[str]:
    """What Python classes (not C types) define for the instances of a type."""
    return {name for base in kind.__mro__ if base.__flags__ & HEAP_TYPE for name in vars(base)}


def overrides(kind: type, name: str) -> bool:
    """Whether a Python class defines something under a name for the instances of a type."""
    return any(base.__flags__ & HEAP_TYPE and name in vars(base) for base in kind.__mro__)


def computes(metaclass: type) -> bool:
    """Whether a class of classes has rules for `len(cls)`, `x in cls` and the like, which are those of the user."""
    own = (base for base in metaclass.__mro__ if base.__module__ not in ("abc", "enum", "typing"))
    return any(not _OPERATORS.isdisjoint(vars(base)) for base in own if base.__flags__ & HEAP_TYPE)


def refuse_classes(*values: Any) -> None:
    """Refuse to compute with classes that have such rules.

    Raises:
        CannotCapture: One has.
    """
    for value in values:
        if isinstance(value, type) and computes(type(value)):
            raise CannotCapture("effect", f"a class of `{type(value).__name__}`, which computes with its classes")


def is_plain(kind: type) -> bool:
    """Whether a container type is one of Python's own, or a named tuple without rules of its own."""
    is_named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return kind in _PLAIN_CONTAINERS or (is_named and not overridden(kind) & _PROTOCOL)


def plain_attribute(value: Any, name: str, default: Any = None) -> Any:
    """An attribute of an object; the default where a class of Python's would run code to find it."""
    for base in type(value).__mro__:
        if any(_runs_code(vars(base).get(one)) for one in ("__getattr__", "__getattribute__", name)):
            return default
    return getattr(value, name, default)


def _runs_code(found: Any) -> bool:
    """Whether Python's code runs when an attribute is looked up for which a class has this."""
    kind = type(found)
    if kind is types.FunctionType or kind is property:
        return True
    return bool(kind.__flags__ & HEAP_TYPE) and hasattr(kind, "__get__")
