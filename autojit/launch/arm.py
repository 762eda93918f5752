"""Functions that are instrumented at their first call, in the place of their own code.

An armed function asks a `First` in its first call, which gives it its own code with probes, and calls itself again:
whoever holds the function calls what it is then. One that is never called costs nothing. Functions that are called from
these, and have no loops of their own, are not armed: those that call them give them probes.
"""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autojit.api import is_enabled, strict_reasons
from autojit.capture.frames import FRAMES
from autojit.capture.hidden import Hidden, Reduced
from autojit.capture.source import has_own_code, original_of, put_code
from autojit.compile.garbage import uncollected
from autojit.config import Config
from autojit.ops.trust import module_of, names_of
from autojit.runtime.alive import Alive
from autojit.runtime.allowance import ALLOWANCE
from autojit.runtime.controllers import before_the_end, is_alone
from autojit.runtime.forks import in_child
from autojit.runtime.function import COUNTS, SUSPENDS, Controller
from autojit.runtime.interrupts import is_the_programs
from autojit.runtime.remade import without_attributes
from autojit.runtime.trouble import Trouble
from autojit.runtime.twins import FILES, is_looked_into
from autojit.runtime.unasked import with_attributes

_MARK = "autojit first"
#: Who mentions these may find the stub's frame, which stands before the caller's.
_LOOKS_UP = frozenset((*FRAMES, "f_back"))
_COMPILE = compile  # a program may forbid it later
_NUMPYS = np.ufunc, np.ndarray, np.generic
_INSTRUMENTS = [threading.RLock()]  # who does with the functions that others call; another one in a forked process
#: The functions that are armed or instrumented.
ARMED: Alive[First] = Alive()


class First:
    """Is asked in the first call of a function, or looks into it before.

    Args:
        function: The user's function.
        config: The flags.
        is_callee: Whether another one calls it that is looked into: then its module need not know NumPy.
    """

    def __init__(self, function: types.FunctionType, config: Config, is_callee: bool = False) -> None:
        self.function = function
        self.config = config
        self.is_callee = is_callee
        self.controller: Controller | None = None
        self._state = "armed"  # then "deciding", then "decided"
        self._lock = threading.RLock()  # a finalizer may call the function while this thread instruments it
        self.original = without_attributes(function, function)

    def ready(self) -> types.FunctionType:
        """What the stub is to call, whose frame seems to be one of the user's: the call has no frame of autojit's."""
        if self._state != "decided":
            self.decide()
        # While another thread decides, or this one below, the function is still the one that leads here. So it is for
        # ever where the program has copied functions' codes or attributes.
        is_changed = self._state == "decided" and has_own_code(self.function)
        return self.function if is_changed else self.original

    def __reduce__(self) -> Reduced:
        """In a copy of the stub, such as cloudpickle makes for another process: the function as it was written.

        `copy.copy` of a function is the function.
        """
        plain = without_attributes(self.original, self.original)
        return with_attributes({"ready": functools.partial(copy.copy, plain)})

    def mark(self) -> None:
        """Let the function tell that it is looked into, now or at its first call."""
        function = self.function
        function.__autojit_original__ = Hidden(self.original)  # type: ignore[attr-defined] -- functions take attributes
        self.original.__autojit_in_place__ = function  # type: ignore[attr-defined] -- as above
        vars(function).pop("__autojit_code__", None)  # another function's, whose attributes were copied
        ARMED.add(self)

    def decide(self) -> None:
        """Put probes into the function, or leave it alone for ever."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._state == "armed":
                self._state = "deciding"
                self._install(self.original.__code__)
                if self.is_callee or _knows_numpy(self.function):
                    self._instrument()
                self._state = "decided"
        finally:
            self._lock.release()

    def _instrument(self) -> None:
        """Put probes into the function; where that fails, it stays as it is."""
        try:
            with ALLOWANCE.spending(), uncollected():
                self.controller = _InPlace(self.original, self.config, self._install, self.is_callee)
        except Exception as error:
            if is_the_programs(error):
                raise
            self._install(self.original.__code__)
            Trouble(self.original.__qualname__, self.config, False).of_compiling(error)
        else:
            self.function.__autojit_controller__ = self.controller  # type: ignore[attr-defined] -- functions take attributes

    def _install(self, code: types.CodeType) -> types.FunctionType:
        """Give the user's function its code, probes in it or not."""
        if code.co_freevars != self.original.__code__.co_freevars:
            code = self.original.__code__
        put_code(self.function, code)
        return self.function


class _InPlace(Controller):
    """The controller of a function that keeps its identity: `put(code)` gives it its code."""

    def __init__(
        self,
        original: types.FunctionType,
        config: Config,
        put: Callable[[types.CodeType], types.FunctionType],
        is_callee: bool,
    ) -> None:
        self._put = put
        super().__init__(original, config, False, strict_reasons, is_enabled(config), is_callee)

    def twin(self, function: types.FunctionType) -> types.FunctionType:
        """Put probes into a function that a native statement calls: then nobody has to ask for its twin.

        Functions of modules that are not armed stay as they are.
        """
        if function.__code__.co_filename not in FILES:
            return function
        with _INSTRUMENTS[0]:
            if is_looked_into(function):  # by another thread, from another function
                return function
            first = First(function, self.config, is_callee=True)
            first.mark()
            first.decide()
        if first.controller is not None:
            self.adopt(first.controller)
        return function

    def _install(self) -> types.FunctionType:
        return self._put(self.original.__code__ if self.tree is None else self.instrumented())


@in_child
def _renew_lock() -> None:
    _INSTRUMENTS[0] = threading.RLock()


def _let_go() -> None:
    """As `Controller.let_go`, for functions that were never called."""
    for first in list(ARMED) if is_alone() else ():
        put_code(first.function, first.original.__code__)
        vars(first).clear()


before_the_end(_let_go)


def arm(value: Any, config: Config, is_decorated: bool = False, is_callee: bool = False) -> Any:
    """Arm the function that a definition has made; the value that its decorators have made of it stays as it is.

    Args:
        value: A function, or what `property`, `staticmethod` and `classmethod` make of it. What other decorators make
            may have read the function's code, and is left alone.
        config: The flags.
        is_decorated: Whether there are decorators that may have kept the function itself: one of Numba's, which is in
            the process, would read the code later.
        is_callee: Whether the function has no loop: then it asks for less where its calls are short.
    """
    is_left = is_decorated and "numba" in sys.modules
    # What `set_jit` has switched off may be on later.
    for function in _functions(value) if config.may_compile and not is_left else ():
        code = function.__code__
        if is_decorated and code.co_filename not in FILES:  # a library's: decorators may return anything
            continue
        # Functions that are made at each call would be armed at each.
        if code.co_flags & (SUSPENDS | inspect.CO_NESTED) or function.__closure__ is not None:
            continue
        if original_of(function) is not None or _sees_the_stub(function):
            continue
        first = First(function, config, is_callee)
        stub = _stub(code, first)
        if stub is not None:
            first.mark()
            put_code(function, stub)
    return value


def _sees_the_stub(function: types.FunctionType) -> bool:
    """Whether a function may look at its caller's frame, or see that its arguments are held twice.

    `ref` is a name that many use for other things.
    """
    names = set(function.__code__.co_names)
    if not names.isdisjoint(_LOOKS_UP):
        return True
    has_ref = "weakref" in names or function.__globals__.get("ref") is weakref.ref
    return not (COUNTS if has_ref else COUNTS - {"ref"}).isdisjoint(names)


def _functions(value: Any) -> Iterator[types.FunctionType]:
    if issubclass(type(value), staticmethod | classmethod):
        value = value.__func__
    elif issubclass(type(value), property):
        value = value.fget
    if type(value) is types.FunctionType:
        yield value


def _stub(code: types.CodeType, first: First) -> types.CodeType | None:
    """Code with the same parameters, names and line that hands its arguments to what `first` says."""
    names = code.co_varnames
    plain, only = code.co_argcount, code.co_kwonlyargcount
    positional, keywords, rest = names[:plain], names[plain : plain + only], list(names[plain + only :])
    given = [*positional]
    parameters = [*positional[: code.co_posonlyargcount], *(["/"] if code.co_posonlyargcount else [])]
    parameters += positional[code.co_posonlyargcount :]
    if code.co_flags & 0x04:  # *args
        given.append(f"*{rest[0]}")
        parameters.append(f"*{rest.pop(0)}")
    elif only:
        parameters.append("*")
    given += [f"{name}={name}" for name in keywords]
    parameters += keywords
    if code.co_flags & 0x08:  # **kwargs
        given.append(f"**{rest[0]}")
        parameters.append(f"**{rest[0]}")
    # A debugger takes the line at which a function runs first for the one that breakpoints on it mean.
    lines = [line - code.co_firstlineno for _, _, line in code.co_lines() if line is not None]
    first_line = "\n" * next((line for line in lines if line > 0), 0)
    # What says so is left out of tracebacks by pytest and IPython.
    body = f"__tracebackhide__ = True; return {_MARK!r}.ready()({', '.join(given)})"
    text = f"def stub({', '.join(parameters)}):{first_line} {body}"
    try:
        module = _COMPILE(text, code.co_filename, "exec", dont_inherit=True)
    except SyntaxError:  # a name that no text can have
        return None
    (made,) = [const for const in module.co_consts if isinstance(const, types.CodeType)]
    consts = tuple(first if isinstance(const, str) and const == _MARK else const for const in made.co_consts)
    return made.replace(
        co_consts=consts, co_name=code.co_name, co_qualname=code.co_qualname, co_firstlineno=code.co_firstlineno
    )


def _knows_numpy(function: types.FunctionType) -> bool:
    """Whether the function's module has NumPy, or something of it, among its names."""
    return any(map(_is_numpys, list(function.__globals__.values())))


def _is_numpys(value: Any) -> bool:
    kind = type(value)  # objects may do anything when they are asked, if only for their class
    name: object = None
    if issubclass(kind, types.ModuleType):
        name = names_of(value).get("__name__")
    elif issubclass(kind, type):
        name = module_of(value)
    elif issubclass(kind, types.FunctionType | types.BuiltinFunctionType):
        name = value.__module__
    return issubclass(kind, _NUMPYS) or (isinstance(name, str) and name.partition(".")[0] in ("numpy", "scipy"))
