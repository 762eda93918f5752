"""The decorators, and what a decorated function can be asked."""

from __future__ import annotations

import functools
import inspect
import types
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from autojit import config as flags
from autojit.capture.source import original_of
from autojit.errors import AutojitError, AutojitWarning, Reason
from autojit.runtime.controllers import CONTROLLERS
from autojit.runtime.door import DOOR
from autojit.runtime.fuel import Fuel
from autojit.runtime.function import Controller
from autojit.runtime.info import CacheInfo, cache_info, trim_memory
from autojit.runtime.remade import Method, as_it_is, is_as_it_was

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.explain.report import Explanation
    from autojit.explain.select import CompilerIR

F = TypeVar("F", bound=Callable[..., Any])

_explain = DOOR.late("autojit.explain.report", "explain_call")
strict_reasons = DOOR.late("autojit.explain.report", "strict_reasons")
_native_explanation = DOOR.late("autojit.explain.report", "Explanation.native")
_compiler_ir = DOOR.late("autojit.explain.select", "compiler_ir_of")
#: The names of the package that need what compiles, and where they stand.
_LATE = {
    "ArraySpec": "autojit.capture.values",
    "CompilerIR": "autojit.explain.select",
    "Cost": "autojit.explain.cost",
    "ClusterInfo": "autojit.explain.parts",
    "Explanation": "autojit.explain.report",
    "STAGES": "autojit.explain.compiler_ir",
    "ProfileRow": "autojit.profiling.table",
    "ProfileTable": "autojit.profiling.table",
    "profile": "autojit.profiling.profile",
    "profile_table": "autojit.profiling.table",
}
_check_names = DOOR.late("autojit.runtime.maker", "check_names")


def jit_compile(function: F | None = None, /, **options: Any) -> Any:
    """Compile a whole function as one XLA program, or say why not.

    The decorated function takes NumPy arrays and scalars and returns what the original returns; arrays that the
    original writes are written. Data errors (a singular matrix, an index out of bounds) raise NumPy's exceptions.

    Args:
        function: A Python function. May be left out to give options: `@jit_compile(...)`.
        **options: Flags for this function only, as in `AUTOJIT_FLAGS`.

    Returns:
        A function with the methods `get_compiler_ir`, `explain`, `cache_info` and `clear_cache`.

    Raises:
        FlagError: An option is unknown, or has a value that it does not take.
        TypeError: `function` is not a Python function.
        UncompilableError: At a call: something cannot be compiled; lists every reason.
    """
    return _decorate(function, options, strict=True)


def autocluster(function: F | None = None, /, **options: Any) -> Any:
    """Compile what compiles of a function, and run the rest in NumPy.

    Args:
        function: A Python function. May be left out to give options: `@autocluster(policy="eager")`.
        **options: Flags for this function only. `policy="measured"` (the default) runs NumPy until compiling
            pays and keeps what is faster; `policy="eager"` compiles at the first call.

    Returns:
        A function with the methods `get_compiler_ir`, `explain`, `cache_info` and `clear_cache`.

    Raises:
        FlagError: An option is unknown, or has a value that it does not take.
        TypeError: `function` is a class, or not callable.
    """
    return _decorate(function, options, strict=False)


def _decorate(function: Any, options: dict[str, Any], strict: bool) -> Any:
    if function is None:
        flags.merge(flags.current(), options)  # mistakes are told at the line where they stand
        return lambda decorated: _decorate(decorated, options, strict)
    if isinstance(function, staticmethod | classmethod):
        return type(function)(_decorate(function.__func__, options, strict))
    if isinstance(function, types.MethodType):
        return types.MethodType(_decorate(function.__func__, options, strict), function.__self__)
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"`{function!r}` is not a Python function; decorate functions and methods")
    original = original_of(function) or function
    if isinstance(original, types.FunctionType) and original is not function:
        if getattr(original, "__autojit_in_place__", None) is function or not is_as_it_was(function, original):
            original = as_it_is(function, original)
    config = flags.merge(flags.current(), options)
    if config.policy is None:
        config = flags.merge(config, {"policy": "eager" if strict else "measured"})
    if (config.ops_to_cluster or config.cluster_exclude_ops) and not DOOR.trouble():
        _check_names(config)
    if not isinstance(original, types.FunctionType):
        if strict:
            raise TypeError(f"`{function!r}` is not a Python function, so there is nothing to compile")
        return _not_a_function(original)
    controller = Controller(original, config, strict, strict_reasons, is_enabled(config))
    if "clustering_fuel" in options:
        controller.fuel = Fuel()  # its own: the keyword counts the clusters of this function
    made = controller.function
    made.__dict__.update(_methods(controller))
    return made


def _methods(controller: Controller) -> dict[str, Any]:
    return {
        "explain": Method(_explain, controller),
        "get_compiler_ir": Method(_compiler_ir, controller),
        "cache_info": Method(cache_info, controller),
        "clear_cache": Method(Controller.clear, controller),
        "__autojit_controller__": controller,
    }


def _not_a_function(function: Callable[..., Any]) -> Any:
    name, module = getattr(function, "__name__", function), str(getattr(function, "__module__", ""))
    is_numpys = module.partition(".")[0] == "numpy" and isinstance(inspect.unwrap(function), types.FunctionType)
    what = "is one of NumPy's: decorate the function that calls it" if is_numpys else "is not written in Python"
    reason = Reason("not-a-function", f"`{name!s}` {what}")
    warnings.warn(f"autojit [{reason.id}]: {reason.detail}; it runs as it is", AutojitWarning, stacklevel=4)

    return (_NativeMethod if hasattr(type(function), "__get__") else _Native)(function, str(name), reason)


#: The attributes of a wrapper that are its own.
_WRAPPERS = frozenset([*functools.WRAPPER_ASSIGNMENTS, "__wrapped__", "__class__", "__dict__"])


class _Native:
    """What is no Python function, and runs as it is; as an attribute of a class it is what it was, no method.

    Args:
        function: What is called.
        name: What to call it in messages.
        reason: Why it runs as it is.
    """

    __autojit_calls__ = "_function"  # captured code calls that

    def __init__(self, function: Callable[..., Any], name: str, reason: Reason) -> None:
        vars(self).update(_function=function, _name=name, _reason=reason)
        functools.update_wrapper(self, function, updated=())

    def __getattr__(self, name: str) -> Any:
        """What the user's object has."""
        if name not in ("_function", "__setstate__"):  # as in a copy that has nothing yet
            try:
                return getattr(self._function, name)
            except AttributeError:
                if name != "cache_info":
                    raise
                return CacheInfo
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        """What is no wrapper's is the user's object's."""
        if name in _WRAPPERS:
            object.__setattr__(self, name, value)
        else:
            setattr(self._function, name, value)

    def __delattr__(self, name: str) -> None:
        if name in vars(self):
            object.__delattr__(self, name)
        else:
            delattr(self._function, name)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """What is pickled by name has the same name here."""
        rule: Any = type(self._function).__reduce__
        # What is not written in Python gives a name, and runs no code of the program's to find it.
        is_ours_to_ask = isinstance(rule, types.MethodDescriptorType) and rule is not object.__reduce__
        found = rule(self._function) if is_ours_to_ask else None
        return found if isinstance(found, str) else (type(self), (self._function, self._name, self._reason))

    def get_compiler_ir(self, /, *args: Any, **kwargs: Any) -> Any:
        raise AutojitError(f"nothing of `{self._name}` compiles: {self._reason.detail}")

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        return _native_explanation(self._name, self._reason)

    def clear_cache(self) -> None:
        pass


class _NativeMethod(_Native):
    """The same of what makes methods, as functions of Cython's do."""

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        its: Any = type(self._function)
        found = its.__get__(self._function, owner, kind)
        if found is self._function:
            return self
        is_method = type(found) is types.MethodType and found.__func__ is self._function
        return types.MethodType(self, found.__self__) if is_method else found


def get_compiler_ir(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> CompilerIR:
    """What the compiler makes of a call of any function, decorated or not. Nothing of the user's code runs.

    Args:
        function: A Python function; an undecorated one is taken as `autocluster` would take it.
        *args: The arguments of the call; `ArraySpec`s may stand for arrays.
        **kwargs: Its keyword arguments.

    Returns:
        `ir(stage="optimized_hlo", cluster=None)` gives the text or the bytes of a stage.

    Raises:
        AutojitError: Nothing of the call compiles.
        UncompilableError: The function is decorated with `jit_compile` and does not compile as a whole.
        TypeError: `function` cannot be called, or not with these arguments.
    """
    decorated, args = _unbound(function, args)
    return decorated.get_compiler_ir(*args, **kwargs)


def explain_call_of(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """What becomes of a call of any function, decorated or not. Nothing of the user's code runs.

    Args:
        function: A Python function; an undecorated one is taken as `autocluster` would take it.
        *args: The arguments of the call; `ArraySpec`s may stand for arrays.
        **kwargs: Its keyword arguments.

    Raises:
        TypeError: `function` cannot be called, or not with these arguments.
    """
    decorated, args = _unbound(function, args)
    found = decorated.explain(*args, **kwargs)
    found.is_decorated = decorated in (function, getattr(function, "__func__", None))
    return found


def _unbound(function: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """A function with the methods of decorated ones; a bound method's object is its first argument."""
    if isinstance(function, types.MethodType):
        function, args = function.__func__, (function.__self__, *args)
    return (function if hasattr(function, "get_compiler_ir") else autocluster(function)), args


def clear_cache(function: Callable[..., Any] | None = None) -> None:
    """Forget plans: of all functions, with the compiled programs and the memory kept for results; the disk cache stays.

    Args:
        function: A decorated function: only its plans are forgotten, as by `function.clear_cache()`.

    Raises:
        TypeError: `function` is not decorated.
    """
    if function is not None:
        if not hasattr(function, "clear_cache"):
            raise TypeError(f"`{function!r}` is not decorated, and has no plans")
        function.clear_cache()
        return
    for each in list(CONTROLLERS):
        each.clear()
    if DOOR.is_open:
        DOOR.open().CACHE.clear()
    trim_memory()


_switch = {"on": True}
#: Has the modules autoclustered that are imported later; the room of the launcher puts it there.
AUTOCLUSTERS: list[Callable[[], None]] = []


def is_enabled(config: flags.Config) -> bool:
    """Whether functions with these flags are compiled now."""
    return _switch["on"] and config.may_compile


def set_jit(mode: str | bool) -> None:
    """Switch autojit for the whole process, also for functions that are decorated already.

    Where the process was started with `--auto_jit=0`, nothing is switched on.

    Args:
        mode: True: on; "off" or False: every function runs as plain NumPy; "autoclustering": on, and the functions of
            the user's own modules that are imported from now on are autoclustered, as with `--auto_jit=2`. What all
            plans together may cost is bounded closely from then on, also for functions that are decorated.

    Raises:
        ValueError: Another mode.
    """
    if mode not in ("autoclustering", "off", True, False):
        raise ValueError(f"`set_jit` takes 'autoclustering' or 'off', not {mode!r}")
    on, takes = mode in ("autoclustering", True), mode == "autoclustering" and flags.current().auto_jit > 0
    _switch["on"] = on
    for controller in list(CONTROLLERS):
        controller.switch(is_enabled(controller.config))
    for have_modules_taken in AUTOCLUSTERS if takes else ():
        have_modules_taken()


def late(name: str) -> Any:
    """What the package's `name` means, which is imported for it."""
    return DOOR.find(_LATE[name], name)
