"""Plain values: what Python computes with at capture must give the same at every run, and run no code of the user's."""

from __future__ import annotations

import ast
import enum
import operator
import re
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from autojit.capture.protocols import refuse_classes
from autojit.capture.records import MISSING, find_in_class
from autojit.capture.values import Items, Known, Stream
from autojit.capture.words import describe
from autojit.errors import CannotCapture

SETS = set | frozenset
#: Views in which a membership test looks up a key.
_HASHED = (type({}.keys()), type({}.items()))
_MUTABLE = (list, dict, set, bytearray, np.ndarray)
#: Methods of NumPy's scalars that write files.
WRITE_FILES = frozenset(("dump", "tofile"))
#: Operators whose results do not depend on the order in which a set has its items.
SET_OPERATORS = (
    operator.or_, operator.and_, operator.sub, operator.xor, operator.eq, operator.ne, operator.lt, operator.le,
    operator.gt, operator.ge,
)  # fmt: skip
#: Types whose text Python writes itself.
_TEXT = (str, bytes, int, float, complex, bool, type(None), range)
#: A field of `str.format` that reads an attribute or item.
_LOOKS_INTO = re.compile(r"\{[^{}]*[.\[]")
#: The formats of the fields of `str.format`; one that is made of another field has that one's.
_FORMS = re.compile(r":([^{}]*)\}")
_FORMED = re.compile(r":[^{}]*\{")
_TEXT_RULES = ("__str__", "__repr__", "__format__")
_RULES = tuple(
    f"__{name}__"
    for name in "eq ne lt le gt ge hash bool len contains iter getitem index int float complex abs neg pos invert add "
    "radd sub rsub mul rmul matmul rmatmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow and rand or ror xor "
    "rxor lshift rlshift rshift rrshift".split()
)


def parts(value: Any) -> Iterator[Any]:
    """A value and all that is in it, as far as lists, tuples, dicts and sets go."""
    yield value
    if isinstance(value, dict):
        value = (*value, *value.values())
    if isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from parts(item)


def is_fixed(value: Any) -> bool:
    """Whether an object made at capture can stand for the one that each run makes: nobody can tell them apart.

    A set shows its order, which a copy or one made in another way need not have.
    """
    if isinstance(value, tuple):
        return all(map(is_fixed, value))
    if isinstance(value, slice):
        return all(map(is_fixed, (value.start, value.stop, value.step)))
    if isinstance(value, frozenset):
        return len(value) < 2
    return not isinstance(value, _MUTABLE) and (isinstance(value, type) or not hasattr(value, "__next__"))


def made(value: Any) -> Any:
    """The abstract value of an object that Python has just made: lists and dicts are those of this region.

    Raises:
        CannotCapture: It holds objects that may be found elsewhere, and may change.
    """
    if isinstance(value, SETS):
        return Known(value)
    inside = value.values() if type(value) is dict else value if type(value) is list else (value,)
    if not all(map(is_fixed, inside)):
        raise CannotCapture("unsupported-syntax", f"a computed `{type(value).__name__}` of objects that may change")
    if type(value) is list:
        return Items(list, [Known(item) for item in value])
    return Items(dict, {key: Known(item) for key, item in value.items()}) if type(value) is dict else Known(value)


def is_method(value: Any) -> bool:
    """Whether an object is a method of another one: looking it up makes it, again and again."""
    if type(value) is types.BuiltinMethodType:  # also the type of a module's functions
        return type(value.__self__) not in (types.ModuleType, type(None))
    return type(value) in (types.MethodType, types.MethodWrapperType)


def same_object(path: str, known: str, value: Any) -> str:
    """The question whether `path` gives a function or class that is `known`; the method of the same object will do."""
    return f"{known}.__eq__({path}) is True" if is_method(value) else f"{path} is {known}"


def is_literal(value: Any) -> bool:
    """Whether an object is a number, a text or a tuple of such: it never changes."""
    return type(value) in _TEXT or (type(value) is tuple and all(map(is_literal, value)))


def no_nan(*values: Any) -> None:
    """Python finds items by identity first, and then by equality: which object a NaN is, no guard asks.

    Raises:
        CannotCapture: There is one.
    """
    for value in values:
        if any(isinstance(part, float | complex | np.inexact) and part != part for part in parts(value)):
            raise CannotCapture("data-value", "the identity of a NaN")


def check_key(key: Any) -> None:
    """Refuse what cannot be looked up in a dict.

    Raises:
        CannotCapture: It has no hash, or has a NaN in it.
    """
    no_nan(key)
    try:
        hash(key)
    except TypeError as error:
        raise CannotCapture("raises", f"TypeError: {error}") from None


def no_set(*values: Any) -> None:
    """A set shows the order of its items, which no guard asks.

    Raises:
        CannotCapture: One of the values is a set.
    """
    if any(isinstance(value, SETS) for value in values):
        raise CannotCapture("argument-type", "Python needs the order of a set here")


def own_rules(kind: type, names: tuple[str, ...] = _RULES) -> bool:
    """Whether a class of members has code of its own for comparing them, or for what `names` are."""
    for name in names:
        found = find_in_class(kind, name)
        if found is MISSING or isinstance(found, types.WrapperDescriptorType | types.MethodDescriptorType):
            continue
        if not isinstance(found, types.FunctionType) or found.__module__ != "enum":
            return True
    return False


def check_text(recorder: Any, *values: Any) -> None:
    """The text of these values is made by Python's or NumPy's own code, from what the guard asks.

    Raises:
        CannotCapture: One has a rule of its own, or an order that may change.
    """
    for value in values:
        for part in parts(value):
            kind = type(part)
            if isinstance(part, np.generic):
                legacy = np.get_printoptions()["legacy"]
                options = recorder.prologue.constant(np.get_printoptions)
                recorder.prologue.check(f"{options}()['legacy'] == {legacy!r}", "numbers are printed in the same way")
            if kind in _TEXT or kind in (list, tuple, dict) or isinstance(part, np.dtype | np.generic):
                continue
            if isinstance(part, enum.Enum) and not own_rules(kind, _TEXT_RULES) and is_fixed(part._value_):
                check_text(recorder, part._value_)
            elif kind is not type:
                raise CannotCapture("effect", f"the text of a `{kind.__name__}`, which may have its own rule")


def check_form(form: Any) -> None:
    """A format does not leave to the locale how a number is written.

    Raises:
        CannotCapture: It does.
    """
    if isinstance(form, str) and form.endswith("n"):
        raise CannotCapture("effect", "the format `n`, which the locale decides")


def compare_sequences(self: Any, kind: type, function: Any, left: Any, right: Any) -> Any:
    """An operator on lists, tuples or dicts that is none of arithmetic."""
    if kind is ast.BitOr and all(isinstance(value, Items) and value.kind is dict for value in (left, right)):
        return Items(dict, {**left.items, **right.items})
    one, two = self.static(left), self.static(right)
    if kind is ast.Mod:
        check_text(self, one, two)
    no_nan(one, two)
    return made(self.ask(function, one, two))


def contains(self: Any, item: Any, container: Any) -> bool:
    """`item in container`, for containers that are no arrays."""
    wanted = self.static(item)
    if isinstance(container, Stream):
        plain: Any = [self.static(each) for each in self.each(container)]
        if container.kind in _HASHED:
            check_key(wanted)
        if container.again is None:  # asking uses it up, as far as it takes
            raise CannotCapture("unsupported-syntax", f"a membership test in {describe(container)}")
    else:
        plain = self.unordered(container)
        refuse_classes(plain)
    no_nan(wanted, plain)
    return self.ask(lambda: wanted in plain)


def call_static(self: Any, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a builtin that only computes, on values that the plan holds for."""
    plain = {name: self.static(value) for name, value in kwargs.items()}
    if function in (set, frozenset):
        args = [Items(list, self.iterate(value)) if isinstance(value, Stream) else value for value in args]
        if function is frozenset and args and type(getattr(args[0], "value", None)) is frozenset:
            return args[0]  # as Python does
        values = [self.unordered(value) for value in args]
        no_nan(values)
    else:
        values = [self.static(value) for value in args]
        if function in (str, repr, format, ascii):
            check_text(self, *values, *plain.values())
        if function is format:
            check_form(values[-1])
    return made(self.ask(function, *values, **plain))


def call_method(self: Any, method: types.BuiltinMethodType, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a method of an object that does not change.

    Raises:
        CannotCapture: It may show more than the guard asks.
    """
    values = [self.static(value) for value in args]
    named = {name: self.static(value) for name, value in kwargs.items()}
    name = method.__name__
    if name.startswith("__") or name in WRITE_FILES or isinstance(method.__self__, frozenset):
        raise CannotCapture("unsupported-syntax", f"the method `.{method.__name__}`")
    check_text(self, *values, *named.values())
    if method.__name__.startswith("format"):
        for form in _FORMS.findall(str(method.__self__)):
            check_form(form)
        if _FORMED.search(str(method.__self__)):
            for form in (*values, *named.values()):
                check_form(str(form))
    looks_into = method.__name__.startswith("format") and _LOOKS_INTO.search(str(method.__self__))
    if looks_into and any(
        isinstance(part, type | enum.Enum) for value in (*values, *named.values()) for part in parts(value)
    ):
        raise CannotCapture("effect", "`format` of a class or of a member of one, whose attributes it may read")
    if isinstance(method.__self__, tuple):
        no_nan(method.__self__, values)
    return made(self.ask(method, *values, **named))


def ordered(self: Any, sequence: Any, key: Any, reverse: Any) -> Items:
    """`sorted(sequence, key=key, reverse=reverse)`: the very items, in the order of their values."""
    backwards = self.static(reverse)
    has_key = not (isinstance(key, Known) and key.value is None)
    if isinstance(sequence, Known) and isinstance(sequence.value, SETS):
        plain = self.unordered(sequence)
        kinds = {type(item) for item in plain}
        if has_key or not (kinds <= {str} or kinds <= {bytes} or kinds <= {int, bool, float}):
            no_set(plain)  # equal ones keep the set's order
        no_nan(plain)
        return made(self.ask(sorted, plain, reverse=backwards))
    items = self.iterate(sequence)
    values = [self.static(self.call(key, [item], {}) if has_key else item) for item in items]
    no_nan(values)
    places = self.ask(sorted, range(len(items)), key=values.__getitem__, reverse=backwards)
    return Items(list, [items[place] for place in places])
