"""Whose code an object is: what NumPy and Python bring stays as it is while a program runs."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Container, Mapping
from typing import Any

import numpy as np

#: Packages whose functions and constants do not change while a program runs.
TRUSTED = ("numpy", "scipy", "math", "cmath", "operator", "builtins")
#: What their modules may hold besides their own.
_LIBRARIES = sys.stdlib_module_names.union(TRUSTED)
#: The constants of modules that have no `__all__`.
_CONSTANTS = frozenset("pi e tau inf nan infj nanj Ellipsis NotImplemented __debug__".split())
#: The flag of classes that are made at run time.
HEAP_TYPE = 1 << 9
_MODULE = vars(type)["__module__"]
#: What is told by where it was written.
_WRITTEN = types.FunctionType | types.MethodType | type | types.ModuleType


#: Says of a module's name whether the user wants it left alone.
LEFT_ALONE: list[Callable[[str], bool]] = []


def names_of(module: types.ModuleType) -> Mapping[str, Any]:
    """The names of a module; one that is loaded when somebody first looks into it is not loaded."""
    return types.ModuleType.__getattribute__(module, "__dict__")


def home_of(value: Any) -> str:
    """The name of the module in which something was written: a function or method, a class, else the object's class."""
    kind = type(value)  # to ask an object for its class may run code of its own
    if issubclass(kind, types.MethodType):
        return home_of(value.__func__)
    if issubclass(kind, types.FunctionType):  # `functools.wraps` copies `__module__`
        return str(value.__globals__.get("__name__") or value.__module__ or "")
    if issubclass(kind, types.ModuleType):
        return str(names_of(value).get("__name__", ""))
    return module_of(value if issubclass(kind, type) else kind)


def is_left_alone(function: types.FunctionType) -> bool:
    """Whether a function is of a module that the user wants left alone: its callers do not take it in, either."""
    return any(is_left(home_of(function)) for is_left in LEFT_ALONE)


def module_of(kind: type) -> str:
    """The name of a class's module, or "" if it has none. No code of a metaclass runs."""
    try:
        name = _MODULE.__get__(kind)
    except AttributeError:  # of text that was executed without a name of its module
        return ""
    return name if type(name) is str else ""


def is_trusted(value: Any) -> bool:
    """Whether an object is of a package that does not change."""
    package = _package_of(value)
    if package == "builtins":  # so says a class of text that was executed without a name of its module, too
        kind = value if issubclass(type(value), type) else type(value)
        return getattr(builtins, kind.__name__, None) is kind or not kind.__flags__ & HEAP_TYPE
    return package in TRUSTED


def is_put_there(namespace: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether an object that was found in a trusted module, under a name, is somebody else's, as in tests."""
    if type(value) is np.vectorize:
        return True
    # A partial of Python's or a mock is told by its class, but what it calls may be the user's.
    own: Container[str] = _LIBRARIES if isinstance(value, _WRITTEN) else TRUSTED
    if _package_of(value) not in own:
        return True
    # Of data the class does not tell whose it is.
    is_data = not callable(value) and not isinstance(value, types.ModuleType)
    return is_data and name not in _CONSTANTS and name not in namespace.get("__all__", ())


def public_name_of(value: Any) -> str | None:
    """The shortest dotted name under which a package has a function or class of its own, or `None` if none has it."""
    name, module = getattr(value, "__name__", None), getattr(value, "__module__", None)
    if not isinstance(name, str) or not isinstance(module, str):
        return None
    parts = module.split(".")
    packages = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    # In its dictionary: to look up an attribute of a package may import more of it.
    found = (package for package in packages if _has(sys.modules.get(package), name, value))
    package = next(found, None)
    return None if package is None else f"{package}.{name}"


def _has(module: types.ModuleType | None, name: str, value: Any) -> bool:
    return module is not None and vars(module).get(name) is value


def _package_of(value: Any) -> str:
    return home_of(value).split(".")[0]
