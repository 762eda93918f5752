"""Functions with other code that are in all else like the user's."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from autojit.capture.hidden import NOTHING, Hidden, Reduced

#: What a function is told apart by from another one of the same code.
_GIVEN = "__defaults__", "__kwdefaults__", "__name__", "__qualname__", "__module__", "__doc__"
_COUNTS = "co_argcount", "co_posonlyargcount", "co_kwonlyargcount"


class Method(functools.partial[Any]):
    """What a decorated function can be asked; objects that have taken its attributes come without it in a copy."""

    def __reduce__(self) -> Reduced:  # type: ignore[override] -- nothing of a partial's
        return NOTHING


#: What has a function's annotations: from Python 3.14 on they are evaluated when somebody asks, and may not be before.
_ANNOTATIONS = "__annotate__" if hasattr(types.FunctionType, "__annotate__") else "__annotations__"


def remade(original: types.FunctionType, code: types.CodeType) -> types.FunctionType:
    """A new function of the same globals, closure, defaults and attributes; the original stays as it is."""
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, original.__globals__, original.__name__, original.__defaults__, closure)
    made.__kwdefaults__ = original.__kwdefaults__  # the dict itself: the user may change it
    made.__dict__.update(original.__dict__)
    made.__doc__ = original.__doc__
    made.__qualname__ = original.__qualname__
    made.__module__ = original.__module__
    setattr(made, _ANNOTATIONS, getattr(original, _ANNOTATIONS))
    if hasattr(original, "__type_params__"):  # from Python 3.12 on
        made.__type_params__ = original.__type_params__
    made.__wrapped__ = original  # type: ignore[attr-defined] -- functions take attributes
    return _marked(made, original)


def as_it_is(function: types.FunctionType, original: types.FunctionType) -> types.FunctionType:
    """A function of a user's code and of what else `function`, which has other code, has been given by now.

    Args:
        function: What the user has: with probes, or armed.
        original: What has the user's code, and is otherwise as the function was when it was defined.
    """
    made = without_attributes(function, original)
    made.__dict__.update(_attributes(function, original))
    return made


def without_attributes(function: types.FunctionType, original: types.FunctionType) -> types.FunctionType:
    """The same without the attributes that the program has given to it."""
    made = types.FunctionType(
        original.__code__, function.__globals__, function.__name__, function.__defaults__, original.__closure__
    )
    for name in ("__kwdefaults__", "__qualname__", "__module__", _ANNOTATIONS, "__doc__", "__type_params__"):
        if hasattr(function, name):
            setattr(made, name, getattr(function, name))
    return made


def is_as_it_was(function: types.FunctionType, original: types.FunctionType) -> bool:
    """Whether a decorated function has been given nothing that the user's own, from which it was made, has not."""
    mine_code, its_code = function.__code__, original.__code__
    if any(getattr(mine_code, name) != getattr(its_code, name) for name in _COUNTS):
        return True  # it calls the original, which has the defaults
    mine, its = _attributes(function, original), _attributes(original, original)
    is_same = mine.keys() == its.keys() and all(value is its[key] for key, value in mine.items())
    return is_same and all(getattr(function, name) is getattr(original, name) for name in _GIVEN)


def _attributes(function: types.FunctionType, original: types.FunctionType) -> dict[str, Any]:
    """What a function has been given by the user."""
    attributes = {key: value for key, value in vars(function).items() if not key.startswith("__autojit_")}
    if attributes.get("__wrapped__") is original:
        del attributes["__wrapped__"]
    return {key: value for key, value in attributes.items() if type(value) is not Method}


def refusing(original: types.FunctionType, refuse: Callable[[], None]) -> Any:
    """A function that calls `refuse` before the original."""

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        refuse()
        return original(*args, **kwargs)

    return _marked(call, original)


def _marked(made: Any, original: types.FunctionType) -> Any:
    made.__autojit_original__, made.__autojit_code__ = Hidden(original), Hidden(made.__code__)
    return made
