"""How Python looks up the function of a native call, `samples[name].append`, and whether that runs code of anybody's.

Python looks it up before it evaluates the arguments. A plan has computed these before, which is the same only if the
look-up does nothing but look.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from autojit.ir.syntax import walk
from autojit.ops.trust import names_of

#: What a class may hold under a name that is only bound to the object, or read out of it.
_HARMLESS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.MemberDescriptorType,
    staticmethod,
)
_KEYS = (str, int, bool, float, bytes, type(None))
#: Where a class lets an attribute be found.
_IN_CLASS, _IN_OBJECT, _ELSEWHERE = 0, 1, 2
#: What is known of so many classes is kept.
_MOST = 64


class Step(NamedTuple):
    """`.name`, or `[key]`, or `[name]` with the value that a variable has."""

    attribute: str = ""
    variable: str = ""
    key: Any = None


class Lookup(NamedTuple):
    """A variable, and the steps from its value to a function."""

    root: str
    steps: tuple[Step, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it reads, in order."""
        return self.root, *(step.variable for step in self.steps if step.variable)

    def may_be_set_by(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether statements assign to an attribute or item on the way to the function."""
        stored = [node for one in statements for node in walk(one) if isinstance(getattr(node, "ctx", None), ast.Store)]
        names = {step.attribute for step in self.steps}
        has_items = any(not step.attribute for step in self.steps)
        return any(
            node.attr in names if isinstance(node, ast.Attribute) else has_items and isinstance(node, ast.Subscript)
            for node in stored
        )

    def given(self, local: frozenset[str]) -> tuple[str, ...]:
        """The local ones of them: those that `checked` has to be given."""
        return tuple(name for name in self.variables if name in local) if self.steps else ()

    def checked(self, local: frozenset[str], namespace: Mapping[str, Any]) -> Callable[..., bool]:
        """A function that tells whether it runs no code now: given the values of its local variables.

        Args:
            local: The names of all local variables.
            namespace: The module's variables.
        """
        seen: dict[tuple[type, str], int] = {}

        def is_plain(*values: Any) -> bool:
            given = iter(values)

            def value_of(name: str) -> Any:
                if name in local:
                    return next(given)
                return namespace[name] if name in namespace else getattr(builtins, name)

            try:
                value = value_of(self.root)
                for step in self.steps:
                    if step.attribute:
                        if not _has_plainly(value, step.attribute, seen):
                            return False
                        value = getattr(value, step.attribute)
                    else:
                        key = value_of(step.variable) if step.variable else step.key
                        if not _holds(value, key):
                            return False
                        value = value[key]
            except (AttributeError, LookupError, TypeError):  # Python will tell the user
                return False
            return True

        return is_plain


def is_in_class(value: Any, steps: Sequence[Step]) -> bool:
    """Whether all objects of a value's class have, in the class, what is looked up; or a module has it."""
    for step in steps[:-1]:
        if not issubclass(type(value), types.ModuleType) or step.attribute not in names_of(value):
            return False
        value = names_of(value)[step.attribute]
    name = steps[-1].attribute
    if issubclass(type(value), types.ModuleType):
        return name in names_of(value)
    return is_bound_plainly(type(value), name)


def is_bound_plainly(kind: type, name: str) -> bool:
    """Whether a class has what its objects are asked for, and no code of anybody's runs for it."""
    return bool(name) and _place_of(kind, name) == _IN_CLASS


def lookup_of(function: ast.expr) -> Lookup | None:
    """How a function is looked up; `None` if that computes something on the way."""
    steps: list[Step] = []
    while not isinstance(function, ast.Name):
        if isinstance(function, ast.Attribute):
            steps.append(Step(attribute=function.attr))
        elif isinstance(function, ast.Subscript) and isinstance(function.slice, ast.Name):
            steps.append(Step(variable=function.slice.id))
        elif isinstance(function, ast.Subscript):
            try:
                steps.append(Step(key=ast.literal_eval(function.slice)))
            except (ValueError, TypeError, SyntaxError):
                return None
        else:
            return None
        function = function.value
    return Lookup(function.id, tuple(reversed(steps)))


def _has_plainly(value: Any, name: str, seen: dict[tuple[type, str], int]) -> bool:
    """Whether an attribute is found without a call of anybody's code."""
    kind = type(value)
    where = seen.get((kind, name))
    if where is None:
        if len(seen) >= _MOST:
            seen.clear()
        where = seen[kind, name] = _place_of(kind, name)
    if where == _IN_CLASS:
        return True
    if where == _IN_OBJECT:
        return name in value.__dict__
    return kind is type and _place_of(value, name) == _IN_CLASS  # the method of a class


def _place_of(kind: type, name: str) -> int:
    """Where the attribute of an object of a class is found without a call of anybody's code."""
    own = next((vars(one)["__getattribute__"] for one in kind.__mro__ if "__getattribute__" in vars(one)), None)
    if not isinstance(own, types.WrapperDescriptorType) or issubclass(kind, type):
        return _ELSEWHERE
    for one in kind.__mro__:
        if name in vars(one):
            found = vars(one)[name]
            is_data = hasattr(type(found), "__get__")
            return _IN_CLASS if _is_harmless(found) or not is_data else _ELSEWHERE
    return _IN_OBJECT if getattr(kind, "__dictoffset__", 0) else _ELSEWHERE


def _is_harmless(found: Any) -> bool:
    """Whether what a class holds is bound without a call of anybody's code: an heir may have a `__get__` of its own."""
    if type(found) is classmethod:  # until Python 3.13 it binds what it holds, be it a property
        return type(found.__func__) in (types.FunctionType, types.BuiltinFunctionType)
    return type(found) in _HARMLESS


def may_miss(self: Any) -> bool:
    """Whether a capture is at the arguments of a function that Python may not find: then nothing may happen before."""
    lookup = self.region.lookup
    if not self.looks_up or lookup is None or lookup.steps:
        return False
    own = self.region_frame
    return not (lookup.root in own.env or lookup.root in own.namespace or hasattr(builtins, lookup.root))


def _holds(value: Any, key: Any) -> bool:
    """Whether a list, tuple or dict has an item that is found without a call of anybody's code."""
    kind = type(value)
    if kind is list or kind is tuple:
        return type(key) is int and -len(value) <= key < len(value)
    return kind is dict and type(key) in _KEYS and key in value
