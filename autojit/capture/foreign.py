"""The user's code where none is expected: behind the look-up of an attribute, and in the place of a library's own."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from autojit.capture.protocols import overridden, overrides
from autojit.capture.recorder import Recorder
from autojit.capture.records import MISSING, find_in_class
from autojit.errors import CannotCapture
from autojit.ops.trust import is_put_there, is_trusted, names_of

#: Modules of Python's whose descriptors only compute, as long as the function in them is not the user's.
_LIBRARY = ("enum", "functools", "types")


def refuse_foreign_look_up(value: Any, name: str) -> None:
    """Require that `getattr(value, name)` runs none of the user's code, for any object.

    Raises:
        CannotCapture: It may.
    """
    kind = type(value)
    home = value if issubclass(kind, type) else kind
    if is_trusted(value if issubclass(kind, types.ModuleType) else home):
        return
    if issubclass(kind, type):
        found = find_in_class(value, name)
        runs = _runs_code(kind, name, found is not MISSING) or _is_descriptor(found, of_class=True)
    elif issubclass(kind, types.ModuleType):
        is_own = name in names_of(value)
        runs = _runs_code(kind, name, is_own) or (not is_own and "__getattr__" in names_of(value))
    else:
        is_own = bool(kind.__dictoffset__) and not overrides(kind, "__getattribute__") and name in value.__dict__
        runs = _runs_code(kind, name, is_own)
    if runs:
        raise CannotCapture("effect", f"the attribute `.{name}` of a `{kind.__name__}`, whose look-up runs code")


def found_in_trusted(recorder: Recorder, namespace: Mapping[str, Any], name: str, value: Any) -> Any:
    """The abstract value of a name of NumPy's or Python's own modules.

    What these hold is constant; what somebody has put there, as tests do, may be taken away again, and is guarded.

    Args:
        recorder: The capture.
        namespace: The module's names.
        name: The one that is looked up.
        value: What is found.
    """
    if name in namespace and is_put_there(namespace, name, value):
        return recorder.wrap(value, f"{recorder.prologue.constant(namespace)}[{name!r}]", name)
    return recorder.constant(value)


def _runs_code(kind: type, name: str, is_own: bool) -> bool:
    """Whether the look-up in the class of an object runs code, given whether the object itself has the name."""
    if kind is type or kind is types.ModuleType:
        return False
    names = overridden(kind)
    found = find_in_class(kind, name)
    if "__getattribute__" in names or _is_descriptor(found, of_class=False):
        return True
    return found is MISSING and not is_own and "__getattr__" in names and not _is_librarys(kind, "__getattr__")


def _is_descriptor(found: Any, of_class: bool) -> bool:
    """Whether an object in a class runs code when it is read, through the class or through an instance."""
    if isinstance(found, property):
        return not of_class
    if isinstance(found, classmethod):  # binds what is in it as a descriptor
        return not isinstance(found.__func__, types.FunctionType | types.BuiltinFunctionType)
    if not overrides(type(found), "__get__"):
        return False
    function = getattr(found, "fget", None) or getattr(found, "func", None)
    is_own = isinstance(function, types.FunctionType) and function.__module__ not in _LIBRARY
    return type(found).__module__ not in _LIBRARY or (is_own and not of_class)


def _is_librarys(kind: type, name: str) -> bool:
    return getattr(find_in_class(kind, name), "__module__", None) in _LIBRARY
