"""Functions with other code that are in all else like the user's."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from autojit.capture import cells
from autojit.capture.hidden import Hidden

SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
#: Where a function names these, it may see that the arguments are held twice.
_COUNTS = frozenset(("resize", "getrefcount", "getweakrefcount", "ref"))


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
    made.__annotations__ = original.__annotations__
    made.__wrapped__ = original  # type: ignore[attr-defined] -- functions take attributes
    return _marked(made, original)


def refusing(original: types.FunctionType, refuse: Callable[[], None]) -> Any:
    """A function that calls `refuse` before the original."""

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        refuse()
        return original(*args, **kwargs)

    return _marked(call, original)


def may_begin_again(function: types.FunctionType, values: dict[str, Any]) -> bool:
    """Whether a call that has done nothing yet can be another call of the function.

    Args:
        function: The instrumented function.
        values: The local variables of the call; of a copy with other cells, it cannot.
    """
    code = function.__code__
    if code.co_flags & SUSPENDS or not _COUNTS.isdisjoint(code.co_names):  # the caller's frame holds the arguments, too
        return False
    return cells.have(function, values)


def arguments(code: types.CodeType, values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call at whose start local variables have these values.

    Args:
        code: The function's.
        values: By name. What is missing is `None`: nothing reads it.
    """
    names, count, keywords = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    args = [values.get(name) for name in names[:count]]
    kwargs = {name: values.get(name) for name in names[count : count + keywords]}
    rest = count + keywords
    if code.co_flags & inspect.CO_VARARGS:
        args += values.get(names[rest], ())
        rest += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kwargs.update(values.get(names[rest], {}))
    return args, kwargs


def _marked(made: Any, original: types.FunctionType) -> Any:
    made.__autojit_original__, made.__autojit_code__ = Hidden(original), Hidden(made.__code__)
    return made
