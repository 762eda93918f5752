"""Calls: which rule takes a callable; user functions are interpreted inline."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from autojit.capture.builtin_calls import Builtins
from autojit.capture.names import names
from autojit.capture.plain import WRITE_FILES, call_method, same_object
from autojit.capture.protocols import is_plain, plain_attribute
from autojit.capture.records import is_simple_record
from autojit.capture.source import original_of, source_of
from autojit.capture.stand_ins import STAND_INS, vectorized
from autojit.capture.values import (
    Arr,
    Closure,
    Frame,
    Items,
    Known,
    Method,
    Opaque,
    Partial,
    Selected,
    Stream,
    Sym,
    Vectorize,
)
from autojit.capture.words import describe
from autojit.errors import CannotCapture
from autojit.ir.syntax import walk
from autojit.ops.chapters import TABLE
from autojit.ops.trust import home_of, is_left_alone, is_trusted, public_name_of

_CALLS = "__autojit_calls__"
#: User functions are interpreted this deep.
MAX_DEPTH = 16

#: Methods of these objects only compute.
_IMMUTABLE = (str, bytes, tuple, frozenset, range, int, float, complex, np.dtype)


class Calls(Builtins):
    """Calls of any abstract callable."""

    frame: Frame
    region_frame: Frame
    #: The cell variables of the region's function, with what they meant when it was entered.
    shared: dict[str, Any]
    #: The code of the functions that have been interpreted.
    inlined: set[types.CodeType]
    depth = 0

    def run_body(self, node: ast.FunctionDef | ast.Lambda, frame: Frame) -> Any:
        """Interpret a function's body in its frame (the statements' room provides it)."""
        raise NotImplementedError

    def call(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call an abstract callable with abstract arguments.

        Raises:
            CannotCapture: The call may have effects, or nothing is known of it.
        """
        if isinstance(function, Opaque):
            raise function.error()
        if isinstance(function, Method):
            return self._call_bound(function, args, kwargs)
        if isinstance(function, Partial):
            return self.call_partial(function, args, kwargs)
        if isinstance(function, Closure):
            return self._call_closure(function, args, kwargs)
        if isinstance(function, Vectorize):
            return self._vectorized(function, args, kwargs)
        if not isinstance(function, Known):
            raise CannotCapture("raises", f"TypeError: {describe(function)} is not callable")
        target = function.value
        if isinstance(target, functools.partial):
            raise CannotCapture("unsupported-syntax", "a `functools.partial`")
        if not self.may_run_on_host(target):
            return self._call_known(function, args, kwargs)
        state = self.save()
        try:
            return self._call_known(function, args, kwargs)
        except CannotCapture as error:
            self.restore(state)
            return self.on_host(target, args, kwargs, error)

    def _call_known(self, function: Known, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call an object that is known now."""
        target = function.value
        # What was decorated, and runs as it is. An attribute of the object may have been copied to a wrapper of it.
        place = next((vars(base)[_CALLS] for base in type(target).__mro__ if _CALLS in vars(base)), None)
        if place is not None:
            if function.path is not None:
                self.prologue.check(f"{function.path} is {self.prologue.constant(target)}", "a function is the same")
            return self.call(Known(vars(target)[place]), args, kwargs)
        if isinstance(target, np.vectorize) or target is np.vectorize:
            return self._vectorize(function, args, kwargs)
        if isinstance(target, type(np.sum)) and target in STAND_INS:
            if not args or not (isinstance(args[0], Closure | Partial) or callable(getattr(args[0], "value", None))):
                raise CannotCapture("raises", "TypeError: an object is not callable")
            return self._inline(Known(STAND_INS[target]), args, kwargs)
        if isinstance(target, types.BuiltinMethodType) and isinstance(target.__self__, np.ufunc):
            return self.call_partial(Partial(target.__self__, target.__name__), args, kwargs)
        if function.path is not None and self.find_row(target) is not None:
            # A node calls this very object; its guard asks for the code, or for the class.
            is_same = same_object(function.path, self.prologue.constant(target), target)
            self.prologue.check(is_same, "a function is the same object")
        try:
            result = self.call_numpy(target, args, kwargs)
        except CannotCapture as error:
            # NumPy's own source may take an argument that the row does not.
            inner = plain_attribute(target, "_implementation")
            if error.id != "keyword" or not isinstance(inner, types.FunctionType):
                raise
            return self._inline_numpy(target, inner, args, kwargs)
        if result is NotImplemented:
            result = self.call_builtin(target, args, kwargs)
        if result is not NotImplemented:
            return result
        if isinstance(target, types.BuiltinMethodType) and isinstance(target.__self__, _IMMUTABLE):
            return call_method(self, target, args, kwargs)
        if isinstance(target, types.FunctionType):
            return self._inline_named(function, args, kwargs)
        if isinstance(target, types.MethodType):
            path = function.path
            owner = function.owner or (
                self.wrap(target.__self__, f"{path}.__self__", "self") if path else Known(target.__self__)
            )
            return self.call(Known(target.__func__, path and f"{path}.__func__"), [owner, *args], kwargs)
        inner = plain_attribute(target, "_implementation")
        if isinstance(inner, types.FunctionType):
            return self._inline_numpy(target, inner, args, kwargs)
        if isinstance(target, type):
            return self._construct(target, args, kwargs)
        raise self._refusal(target)

    def _vectorize(self, known: Known, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`np.vectorize(f)`, or the call of what it has made."""
        if known.value is np.vectorize:
            twice = len(args) > 1 and "otypes" in kwargs
            if len(args) > 2 or not args or set(kwargs) - {"otypes", "doc"} or twice:
                raise CannotCapture("keyword", "`np.vectorize` with more than `otypes`")
            made = Vectorize(args[0], args[1] if len(args) > 1 else kwargs.get("otypes", Known(None)))
            if not (isinstance(made.pyfunc, Closure) or callable(getattr(made.pyfunc, "value", None))):
                raise CannotCapture("argument-type", "`np.vectorize` of no function")
            self.ask(np.vectorize, len, self.static(made.otypes))  # NumPy looks at the dtypes now, not at the call
            return made
        path = known.path or self.prologue.constant(known.value)
        options = vars(known.value)
        if type(known.value) is not np.vectorize or any(options[name] for name in ("excluded", "signature", "cache")):
            raise CannotCapture("keyword", "`np.vectorize` with more than `otypes`")
        self.prologue.check(
            f"not ({path}.excluded or {path}.signature or {path}.cache)",
            "`np.vectorize` has no other options than `otypes`",
        )
        known = Known(known.value, path)
        return self._vectorized(Vectorize(*(self.attribute(known, n) for n in ("pyfunc", "otypes"))), args, kwargs)

    def _vectorized(self, function: Vectorize, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if kwargs or not args:
            raise CannotCapture("keyword", "keywords of an `np.vectorize`d function")
        if any(isinstance(a, Arr) and a.dummy.ndim > 1 and not a.dummy.flags.c_contiguous for a in args):
            raise CannotCapture("keyword", "an `np.vectorize`d function of an array that is not in C order")
        return self._inline(Known(vectorized), [function.pyfunc, function.otypes, *args], {})

    def _refusal(self, target: Any) -> CannotCapture:
        # The `repr` of an object would tell each from the others, and may be the user's code.
        names = plain_attribute(target, "__qualname__"), plain_attribute(target, "__name__")
        name = names[0] or names[1] or type(target).__name__
        module = str(plain_attribute(target, "__module__") or type(target).__module__).split(".")[0]
        if module in ("numpy", "scipy"):
            return CannotCapture("no-row", _in_words(target) or f"`{module}`'s `{name}`")
        return CannotCapture("effect", f"the call of `{name}`")

    # ---- methods

    def _call_bound(self, method: Method, args: list[Any], kwargs: dict[str, Any]) -> Any:
        owner, name = method.owner, method.name
        if isinstance(owner, Arr | Selected):
            return self.call_method(owner, name, args, kwargs)
        if isinstance(owner, Sym):
            plain = ", ".join("{}" for _ in args)
            if kwargs or name in WRITE_FILES or not all(isinstance(a, Known | Sym) for a in args):
                raise CannotCapture("unsupported-syntax", f"the method `.{name}` of a scalar")
            return self.compute("{}." + name + f"({plain})", lambda s, *a: getattr(s, name)(*a), owner, *args)
        if isinstance(owner, Items) and owner.kind in (list, tuple, dict):
            return self._items_method(owner, name, args, kwargs)
        if isinstance(owner, Items):
            return self._inline(Known(getattr(owner.kind, name)), [owner, *args], kwargs)
        raise CannotCapture("unsupported-syntax", f"the method `.{name}` of {describe(owner)}")

    def _items_method(self, owner: Items, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        items = owner.items
        if kwargs:
            raise CannotCapture("unsupported-syntax", f"keywords of the method `.{name}`")
        if owner.path is not None and name in (
            "append",
            "extend",
            "insert",
            "pop",
            "remove",
            "clear",
            "update",
            "sort",
        ):
            raise CannotCapture("effect", f"`.{name}` changes an outside list or dict")
        if name not in ("items", "values", "keys", "get", "copy", "index", "count"):
            self.change()
        if isinstance(items, list) and owner.kind is list:
            if name == "append" and len(args) == 1:
                items.append(args[0])
                return Known(None)
            if name == "extend" and len(args) == 1:
                if isinstance(args[0], Stream):  # it may look at the list meanwhile
                    for item in self.each(args[0]):
                        items.append(item)
                else:
                    items.extend(self.iterate(args[0]))
                return Known(None)
            if name == "pop" and items:
                return self.ask(items.pop, *(self.static(a) for a in args))
            if name == "copy" and not args:
                return Items(list, list(items))
        if isinstance(items, dict):
            if name in ("items", "values", "keys") and not args:
                return self.dict_view(getattr(dict, name), owner)
            if name == "get" and len(args) in (1, 2):
                return items.get(self.key(args[0]), args[1] if len(args) > 1 else Known(None))
        raise CannotCapture("unsupported-syntax", f"the method `.{name}` of a {owner.kind.__name__}")

    # ---- user functions

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise CannotCapture("budget", f"calls nested deeper than {MAX_DEPTH}")

    def _inline(self, known: Known, args: list[Any], kwargs: dict[str, Any]) -> Any:
        function: types.FunctionType = known.value
        trusted = is_trusted(function) or home_of(function) == home_of(vectorized)
        if function.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise CannotCapture("unsupported-syntax", f"the generator or coroutine `{function.__qualname__}`")
        if self.bound_anew(function.__code__.co_freevars):
            raise CannotCapture("statement", f"`{function.__qualname__}` sees a variable bound anew before its call")
        if not trusted and is_left_alone(function):
            raise CannotCapture("effect", f"`{function.__qualname__}`, whose module `--exclude` leaves out")
        self._expect_flags(function)
        # A decorated function has probes in its code; defaults may have been changed since.
        source = source_of(original_of(function) or function)
        path = known.path or self.prologue.constant(function)
        if not trusted:
            self._expect_code(function, path)
        env = self._bind_arguments(function, path, args, kwargs, trusted)
        function = original_of(function) or function
        self.inlined.add(function.__code__)
        names = frozenset(function.__code__.co_varnames) | frozenset(function.__code__.co_cellvars)
        globals_path = None if trusted else self.prologue.constant(function.__globals__)
        cells = {}
        for position, name in enumerate(function.__code__.co_freevars):
            cells[name] = (function.__closure__[position], f"{path}.__closure__[{position}].cell_contents")
        frame = Frame(
            function.__qualname__, source.file, env, function.__globals__, globals_path, cells, names, None, trusted
        )
        frame.postponed = source.postponed
        return self._run(source.node, frame)

    def _expect_code(self, function: types.FunctionType, path: str) -> None:
        """Code may be exchanged under a function's identity; autojit does so itself."""
        is_own = original_of(function) is not None
        code = f"{path}.__autojit_code__.value" if is_own else self.prologue.constant(function.__code__)
        self.prologue.check(f"{path}.__code__ is {code}", f"`{function.__name__}` is the same function")

    def _expect_flags(self, function: types.FunctionType) -> None:
        """A decorated function has flags of its own: two of them hold wherever it is called."""
        controller = vars(function).get("__autojit_controller__") if original_of(function) is not None else None
        if controller is None:
            return
        config = controller.config
        if not config.may_compile:
            raise CannotCapture("effect", f"`{function.__qualname__}` is decorated to stay in NumPy")
        if config.exact and self.root.zero is None:
            raise CannotCapture("effect", f"`{function.__qualname__}` is decorated to be exact, and its caller is not")

    def bound_anew(self, names: tuple[str, ...]) -> bool:
        """Whether the region has bound one of its own function's cell variables: the cell itself has the old value."""
        own = self.region_frame
        return any(name in self.shared and own.env.get(name) is not self.shared[name] for name in names)

    def _run(self, node: Any, frame: Frame) -> Any:
        outer, line = self.frame, self.line
        self._enter()
        self.frame, frame.caller, frame.called, frame.node = frame, outer, line, node
        try:
            return self.run_body(node, frame)
        except CannotCapture as error:
            error.where = error.where or self.line
            raise
        finally:
            self.frame = outer
            self.line = line
            self.depth -= 1

    def _bind_arguments(
        self, function: Any, path: str, args: list[Any], kwargs: dict[str, Any], trusted: bool
    ) -> dict[str, Any]:
        if "__signature__" in vars(function):
            raise CannotCapture("effect", f"`{function.__qualname__}`, which says of its arguments what it likes")
        # As the signature says, which takes longer to make.
        names = _positional(function)
        defaults = (function.__defaults__ or ()) if names is not None else ()
        if names is not None and not kwargs and len(names) - len(defaults) <= len(args) <= len(names):
            env = dict(zip(names, args, strict=False))
            for place, name in enumerate(names[len(args) :], len(args) - len(names)):  # as below
                given = defaults[place]
                env[name] = Known(given) if trusted else self.wrap(given, f"{path}.__defaults__[{place}]", name)
            return env
        signature = inspect.signature(function, follow_wrapped=False)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise CannotCapture("raises", f"TypeError: {function.__qualname__}() {error}") from None
        env = {}
        positional = [
            p.name for p in signature.parameters.values() if p.default is not p.empty and p.kind != p.KEYWORD_ONLY
        ]
        for name, parameter in signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                env[name] = Items(tuple, list(bound.arguments.get(name, ())))
            elif parameter.kind is parameter.VAR_KEYWORD:
                env[name] = Items(dict, dict(bound.arguments.get(name, {})))
            elif name in bound.arguments:
                env[name] = bound.arguments[name]
            elif trusted:
                env[name] = Known(parameter.default)
            elif parameter.kind is parameter.KEYWORD_ONLY:
                env[name] = self.wrap(parameter.default, f"{path}.__kwdefaults__[{name!r}]", name)
            else:  # counted from the end, as Python does where the number of defaults has changed
                place = positional.index(name) - len(positional)
                env[name] = self.wrap(parameter.default, f"{path}.__defaults__[{place}]", name)
        return env

    def _inline_named(self, known: Known, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Interpret a function; what a library's own cannot do is told by the name that the user knows."""
        try:
            return self._inline(known, args, kwargs)
        except CannotCapture as error:
            words = None if error.id != "no-row" or self.frame.trusted else _in_words(known.value, error.detail)
            if words is None:
                raise
            raise CannotCapture("no-row", words) from None

    def _inline_numpy(self, target: Any, inner: types.FunctionType, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Interpret NumPy's own Python source of a function that has no row."""
        before = self.line
        try:
            return self._inline(Known(inner), args, kwargs)
        except CannotCapture as error:
            if error.id in ("raises", "budget"):
                raise
            self.line = before
            raise CannotCapture("no-row", f"`np.{target.__name__}` ({error.detail})") from None

    def _call_closure(self, closure: Closure, args: list[Any], kwargs: dict[str, Any]) -> Any:
        node = closure.node
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs or arguments.kwonlyargs:
            raise CannotCapture("unsupported-syntax", "a nested function with `*`, `/` or `**` in its parameters")
        parameters = [argument.arg for argument in arguments.args]
        if len(args) > len(parameters) or any(name not in parameters for name in kwargs):
            raise CannotCapture("raises", "TypeError: the arguments of a nested function")
        placed = dict(zip(parameters, args, strict=False))
        if placed.keys() & kwargs.keys():
            raise CannotCapture("raises", "TypeError: an argument of a nested function is given twice")
        env = {**closure.defaults, **placed, **kwargs}
        if any(name not in env for name in parameters):
            raise CannotCapture("raises", "TypeError: a nested function misses an argument")
        body = node.body if isinstance(node.body, list) else [ast.Expr(node.body)]
        outer: Frame = closure.frame
        frame = Frame(
            getattr(node, "name", "<lambda>"), outer.file, env, outer.namespace, outer.namespace_path, {},
            frozenset(parameters) | _local_names(body), outer, outer.trusted,
        )  # fmt: skip
        return self._run(node, frame)

    def _construct(self, kind: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A dataclass or named tuple made in the region."""
        if kind is np.ndarray:
            return self.call_row(TABLE["np.empty"], args, kwargs)
        if type(kind) is not type:
            raise self._refusal(kind)
        if hasattr(kind, "_fields") and issubclass(kind, tuple):
            # The checker cannot know: a Python class.
            code = kind.__new__.__code__  # type: ignore[attr-defined] -- of a class of Python's
            is_generated = is_plain(kind) and code.co_filename[:8] == "<string>" and code.co_name == "<lambda>"
            if not is_generated or kind.__init__ is not object.__init__:  # type: ignore[misc] -- of the class
                raise self._refusal(kind)
            given = self._given(kind, "__new__", args, kwargs)
            # The checker cannot know: a named tuple.
            return Items(kind, [given[name] for name in kind._fields])  # type: ignore[attr-defined]
        if not is_simple_record(kind):
            raise self._refusal(kind)
        given = self._given(kind, "__init__", args, kwargs)
        names = [field.name for field in dataclasses.fields(kind)]
        if given.keys() != set(names):
            raise CannotCapture("unsupported-syntax", f"a `{kind.__name__}`, whose arguments are not its fields")
        for field in dataclasses.fields(kind):
            value = given[field.name]
            is_made = field.default_factory is not dataclasses.MISSING
            if is_made and isinstance(value, Known) and "FACTORY" in type(value.value).__name__:
                what = f"a `{kind.__name__}` whose `{field.name}` is not given: a `default_factory` makes it"
                raise CannotCapture("unsupported-syntax", what)
        return Items(kind, {name: given[name] for name in names})

    def _given(self, kind: type, maker: str, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a generated `__init__` or `__new__` by name; a default is the very object it has."""
        function = getattr(kind, maker)
        path = f"{self.prologue.constant(kind)}.{maker}"
        self.prologue.check(f"{path} is {self.prologue.constant(function)}", f"`{kind.__name__}` is made as before")
        env = self._bind_arguments(function, path, [Known(kind), *args], kwargs, False)
        del env[next(iter(env))]  # the class, or the instance
        return env


def _positional(function: types.FunctionType) -> tuple[str, ...] | None:
    """The names of a function's parameters, if all of them may be given by position; else `None`."""
    code = function.__code__
    has_others = code.co_kwonlyargcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    is_partial = not vars(function).keys().isdisjoint(("_partialmethod", "__partialmethod__"))
    return None if has_others or is_partial else code.co_varnames[: code.co_argcount]


def _local_names(body: Sequence[ast.AST]) -> set[str]:
    """The names that are local in a function because of its body: those it binds, and those it only annotates."""
    module = ast.Module(body, [])  # type: ignore[arg-type] -- a place to begin at
    targets = (part.target for part in walk(module, into_scopes=False) if isinstance(part, ast.AnnAssign))
    return names(body).binds | {target.id for target in targets if isinstance(target, ast.Name)}


def _in_words(function: Any, why: str = "") -> str | None:
    """What is told of a function of NumPy's or SciPy's that cannot be taken, and why; `None` where it has no name."""
    name = public_name_of(function) if is_trusted(function) else None
    if name is None:
        return None
    if name.startswith("numpy.ma."):
        why = ": masked arrays are not compiled"
    elif why:
        why = f" ({why})"
    return f"`{'np' + name.removeprefix('numpy') if name.startswith('numpy.') else name}`{why}"
