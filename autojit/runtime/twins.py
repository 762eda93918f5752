"""Twins: user functions that native statements call are instrumented too, without touching the originals."""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable
from typing import Any

_FUNCTION, _METHOD = types.FunctionType, types.MethodType
#: What functions have that are instrumented, or will be at their first call.
_ATTRIBUTES = {"__autojit_controller__", "__autojit_original__"}


@functools.cache
def libraries() -> tuple[str, ...]:
    """Where installed modules lie."""
    import site  # some 10 ms that `import autojit` does not take
    import sysconfig

    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple({*paths, *site.getsitepackages(), site.getusersitepackages()})


class Twins:
    """The instrumented twins of the functions that one function calls.

    A function without free variables has one twin for its lifetime. Functions of installed libraries, and functions
    that are made anew at each call, stay as they are.

    Args:
        make: Instruments a function.
    """

    def __init__(self, make: Callable[[types.FunctionType], types.FunctionType]) -> None:
        self._make = make
        self._known: dict[types.CodeType, tuple[Any, Any, bool]] = {}
        self._lock = threading.RLock()  # a signal handler or finalizer may come in while a twin is made

    def of(self, function: Any) -> Any:
        """What to call instead of `function`: its twin, or the function itself."""
        kind = type(function)
        if kind is _FUNCTION:
            return self._of_function(function)
        if kind is _METHOD and type(inner := function.__func__) is _FUNCTION:
            twin = self._of_function(inner)
            return function if twin is inner else _METHOD(twin, function.__self__)
        return function

    def _of_function(self, function: types.FunctionType) -> Any:
        known = self._known.get(function.__code__)
        if known is None:
            known = self._add(function)
        original, twin, has_keywords = known
        if twin is original:
            return function
        # The same code with other defaults or another identity is another function.
        if original is not function or twin.__defaults__ is not function.__defaults__:
            return function
        if has_keywords and twin.__kwdefaults__ is not function.__kwdefaults__:
            return function
        return twin

    def _add(self, function: types.FunctionType) -> tuple[Any, Any, bool]:
        code = function.__code__
        with self._lock:
            twin = self._make(function) if self._wanted(function) else function
            return self._known.setdefault(code, (function, twin, code.co_kwonlyargcount > 0))

    def _wanted(self, function: types.FunctionType) -> bool:
        file = function.__code__.co_filename
        is_user = not file.startswith(libraries()) and not file.startswith("<frozen")
        # Decorated functions, and those that a launcher has armed, have probes of their own, or will have.
        return is_user and function.__closure__ is None and not _ATTRIBUTES & vars(function).keys()
