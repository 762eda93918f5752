"""What is kept of the values that a capture has seen: stand-ins, which hold none of the user's arrays."""

from __future__ import annotations

import abc
import enum
import types
from contextlib import suppress
from typing import Any

import numpy as np

from autojit.capture.options import Options
from autojit.capture.protocols import overridden
from autojit.capture.records import MISSING, find_in_class
from autojit.capture.streams import STREAMS
from autojit.capture.values import (
    UNKNOWN,
    Arr,
    ArraySpec,
    Items,
    Known,
    Opaque,
    Sym,
    Unknown,
)
from autojit.ops.trust import HEAP_TYPE

#: So deep go objects in objects, so long are lists, ...
_DEEPEST, _LONGEST = 16, 10_000
#: ... and so many items of lists and objects of the user's classes are copied at once.
_ITEMS, _OBJECTS = 50_000, 1000
#: Values that have nothing of the user's in them. Their classes are exact: a class of the user's may hold anything.
_PLAIN = frozenset([
    bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice, range, types.ModuleType, np.ufunc,
    type(np.mean),
])  # fmt: skip
#: Of which any class will do: there is one of each in the program, or no code of the user's runs for it.
_SHARED = (np.generic, np.dtype, enum.Enum, type)
#: What a dict may have as keys: nothing of the user's runs when they are compared.
_KEYS = frozenset([bool, int, float, str, bytes, type(None)])
_NAME = vars(type)["__name__"].__get__
#: With these, reading an attribute of a copy or freeing it would run the user's code.
_OWN_CODE = {"__getattribute__", "__del__"}


def stand_in_for(value: Any) -> Any:
    """A stand-in for an object that a call was given."""
    return _Copies().of(value, 0)


def stand_in_of(value: Any, around: tuple[Any, ...] = ()) -> Any:
    """A stand-in for an object that is known as an abstract value.

    Args:
        value: That value.
        around: The lists and dicts that it lies in: one may hold itself.
    """
    if isinstance(value, Known | Sym):
        return value.value
    if isinstance(value, Arr):
        if value.kind == "array":
            return ArraySpec(value.shape, value.dtype)
        return ArraySpec((), value.dtype, scalar=True)
    if isinstance(value, Items) and not any(value is one for one in around):
        around = (*around, value)
        if isinstance(value.items, dict):
            made = {key: stand_in_of(item, around) for key, item in value.items.items()}
            return made if value.kind is dict else UNKNOWN
        parts = [stand_in_of(item, around) for item in value.items]
        return value.kind(*parts) if hasattr(value.kind, "_fields") else value.kind(parts)
    if isinstance(value, Opaque) and (value.cause is not None or value.id == "argument-type"):
        return Unknown(value.detail, value.cause, value.id if value.id == "argument-type" else "unknown-value")
    return UNKNOWN


def _nothing(value: Any) -> Unknown:
    name = _NAME(type(value))  # its class may look up names in a way of its own
    return Unknown(f"nothing is kept of a `{name}`, which an earlier call was given")


def _is_of_a_module(value: Any) -> bool:
    """Whether it is a function of C code that belongs to no object."""
    return type(value) is types.BuiltinFunctionType and type(value.__self__) in (types.ModuleType, type(None))


def _is_bare(value: Any) -> bool:
    """Whether it is a function that holds nothing of the user's, but its module, and others like it."""
    if type(value) is not types.FunctionType:
        return False
    waiting, seen = [value], set[int]()
    while waiting:
        one = waiting.pop()
        if type(one) in _PLAIN or id(one) in seen:
            continue
        if type(one) is not types.FunctionType or len(seen) == _OBJECTS:
            return False
        seen.add(id(one))
        try:
            waiting += [cell.cell_contents for cell in one.__closure__ or ()]
        except ValueError:  # one is empty
            return False
        waiting += [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
        waiting += [item for name, item in vars(one).items() if not name.startswith("__")]
    return True


class _Copies:
    """Of the objects of one call: what is one object stays one."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}  # with the object itself, so that its number stays its own
        self._objects = self._items = 0

    def of(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is np.ndarray:
            return ArraySpec(value.shape, value.dtype)
        if kind in _PLAIN or issubclass(kind, _SHARED) or _is_of_a_module(value) or _is_bare(value):
            return value
        if id(value) in self._made:
            return self._made[id(value)][1]
        if depth > _DEEPEST:
            return _nothing(value)
        return self._copy(value, depth)

    def _remember(self, value: Any, made: Any) -> Any:
        self._made[id(value)] = value, made
        return made

    def _copy(self, value: Any, depth: int) -> Any:
        """Something with parts. It is remembered before them where it can be, since they may hold it."""
        kind = type(value)
        if kind in (list, tuple, dict):
            if len(value) > min(_LONGEST, _ITEMS - self._items):
                return _nothing(value)
            self._items += len(value)
        if kind is list:
            made = self._remember(value, [])
            made += [self.of(item, depth + 1) for item in value]
            return made
        if kind is tuple:
            return self._remember(value, tuple(self.of(item, depth + 1) for item in value))
        if kind is dict:
            items = value.copy()  # another thread may change it
            if not all(type(key) in _KEYS for key in items):
                return _nothing(value)
            made = self._remember(value, {})
            made.update({key: self.of(item, depth + 1) for key, item in items.items()})
            return made
        if not Options.keeps_objects:
            return _nothing(value)
        if kind in STREAMS:
            return self._remember(
                value, np.random.RandomState(0) if kind is np.random.RandomState else np.random.default_rng(0)
            )
        if kind is types.MethodType:
            return self._remember(value, types.MethodType(value.__func__, self.of(value.__self__, depth + 1)))
        self._objects += 1
        made = self._blank(kind) if self._objects <= _OBJECTS else None
        if made is None:
            return _nothing(value)
        self._fill(self._remember(value, made), value, depth)
        return made

    def _blank(self, kind: type) -> Any:
        """An object of a class of the user's without any attribute; `None` where only its own code makes one."""
        if type(kind) not in (type, abc.ABCMeta):  # a metaclass of the user's may have rules for everything
            return None
        own = find_in_class(kind, "__dict__")
        has_rule = own is not MISSING and not isinstance(own, types.GetSetDescriptorType)
        if has_rule or not kind.__flags__ & HEAP_TYPE or overridden(kind) & _OWN_CODE:
            return None
        try:
            return object.__new__(kind)
        except TypeError:  # a class of C code is among its bases
            return None

    def _fill(self, made: Any, value: Any, depth: int) -> None:
        if type(value).__dictoffset__:
            made.__dict__.update({name: self.of(item, depth + 1) for name, item in value.__dict__.copy().items()})
        for base in type(value).__mro__:
            for slot in vars(base).values():
                if isinstance(slot, types.MemberDescriptorType):
                    with suppress(AttributeError):  # it is empty
                        slot.__set__(made, self.of(slot.__get__(value), depth + 1))
