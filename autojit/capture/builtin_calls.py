"""Python's builtin functions on abstract values."""

from __future__ import annotations

import abc
import ast
import builtins
import keyword
import math
import operator
import sys
import types
from typing import Any

import numpy as np

from autojit.capture.attributes import find_assigned
from autojit.capture.elision import in_reused_memory
from autojit.capture.iteration import Iteration
from autojit.capture.lengths import length_of
from autojit.capture.plain import call_static, check_key, ordered
from autojit.capture.protocols import is_plain, overridden, overrides, plain_attribute, refuse_classes
from autojit.capture.python_numbers import is_python_number, is_traced
from autojit.capture.records import MISSING, find_in_class
from autojit.capture.values import (
    Arr,
    Closure,
    Flat,
    Items,
    Known,
    LoopInt,
    Method,
    Opaque,
    Partial,
    Rows,
    Selected,
    Stream,
    Sym,
    Vectorize,
)
from autojit.capture.words import describe
from autojit.errors import CannotCapture
from autojit.ops.chapters import TABLE
from autojit.ops.trust import HEAP_TYPE

_CONVERSIONS = {float: "item_float", int: "item_int", bool: "item_bool", complex: "item_complex"}
#: Builtins that only compute: with scalars they run in the prologue.
_SCALAR_FUNCTIONS = (abs, round, min, max, divmod, pow, int, float, complex, bool, ord, chr, hash, operator.index)
_CALLABLE = Closure | Method | Partial | Vectorize
_STATIC_BUILTINS = (str, repr, format, ord, chr, bin, hex, oct, slice, frozenset, set, bytes)

#: Since Python 3.12 `sum` makes up for the roundings of floats.
_COMPENSATES = sys.version_info >= (3, 12)


class Builtins(Iteration):
    """Calls of builtins; truth and type."""

    def call_builtin(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a builtin or a `math` function; `NotImplemented` when there is no rule for it."""
        for value in args:
            if isinstance(value, Opaque):
                raise value.error()
        # The rules' parameters have Python's names where Python takes keywords; elsewhere they have none.
        name = plain_attribute(function, "__name__")
        if not isinstance(name, str):
            return NotImplemented
        named = getattr(self, f"_builtin_{name}", None)
        if named is not None and getattr(builtins, name, None) is function:
            try:
                return named(*args, **kwargs)
            except TypeError as error:
                raise CannotCapture("raises", f"TypeError: {error}") from None
        is_math = getattr(math, name, None) is function
        if is_math or any(function is known for known in _SCALAR_FUNCTIONS):
            return self._scalar_call(function, args, kwargs)
        if any(function is known for known in _STATIC_BUILTINS):
            return call_static(self, function, args, kwargs)
        return NotImplemented

    def _scalar_call(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if kwargs or not all(isinstance(a, Known | Sym) for a in args):
            raise CannotCapture("data-value", f"`{function.__name__}` of {', '.join(map(describe, args))}")
        names = ", ".join("{}" for _ in args)
        if isinstance(function, type):
            text = f"{function.__name__}({names})"
        else:
            text = f"{self.prologue.constant(function)}({names})"
        return self.compute(text, function, *args)

    def _convert_array(self, kind: Any, value: Any) -> Any:
        if isinstance(value, Arr):
            return self.apply(TABLE[_CONVERSIONS[kind]], [value], {})
        return self._scalar_call(kind, [value], {})

    def _builtin_float(self, value: Any = Known(0.0), /) -> Any:
        return self._convert_array(float, value)

    def _builtin_int(self, value: Any = Known(0), /, *base: Any) -> Any:
        return self._scalar_call(int, [value, *base], {}) if base else self._convert_array(int, value)

    def _builtin_complex(self, value: Any, /, *imaginary: Any) -> Any:
        if imaginary:
            return self._scalar_call(complex, [value, *imaginary], {})
        return self._convert_array(complex, value)

    def _builtin_bool(self, value: Any = Known(False), /) -> Any:
        if isinstance(value, Arr):
            return self._convert_array(bool, value)
        truth = self.condition(value)
        return Known(truth) if isinstance(truth, bool) else self.fresh(truth)

    def _builtin_abs(self, value: Any, /) -> Any:
        if is_traced(value):
            return self.python_absolute(value)
        if isinstance(value, Arr | Selected):
            self._refuse_python_scalars(np.absolute, value)
            return self.apply(TABLE["np.absolute"], [value], {})
        return self._scalar_call(abs, [value], {})

    def _builtin_round(self, number: Any, ndigits: Any = Known(None)) -> Any:
        if isinstance(number, Arr | LoopInt):
            return self._round(number, ndigits)
        return self._scalar_call(
            round, [number] if isinstance(ndigits, Known) and ndigits.value is None else [number, ndigits], {}
        )

    def _round(self, value: Any, digits: Any) -> Any:
        """`round` of a float without digits: Python's int, halves to even."""
        if isinstance(value, LoopInt):
            if not isinstance(digits, Known) or not (digits.value is None or _is_natural(digits.value)):
                raise CannotCapture("data-value", "`round` of an int to tens, hundreds, ...")
            return value
        if value.dtype.kind != "f" or value.dummy.ndim or not (isinstance(digits, Known) and digits.value is None):
            raise CannotCapture("data-value", "`round` of an array, or to some digits")
        if value.kind == "array":
            raise CannotCapture("raises", "TypeError: type numpy.ndarray doesn't define __round__ method")
        return self.apply(TABLE["item_int"], [self.apply(TABLE["np.rint"], [value], {})], {})

    def _builtin_len(self, value: Any, /) -> Any:
        if isinstance(value, Arr):
            if value.dummy.ndim == 0:
                raise CannotCapture("raises", "TypeError: len() of unsized object")
            count = length_of(self, value)
            return Known(value.shape[0]) if count is None else count
        if isinstance(value, Selected):
            return self.array_attribute(value, "shape").items[0]
        if isinstance(value, Items) and is_plain(value.kind):
            return Known(len(value.items))
        if isinstance(value, LoopInt):
            raise CannotCapture("data-branch", "Python branches on a loop variable")
        if isinstance(value, Stream) and value.again is not None:
            return Known(len(self.iterate(value)))
        if isinstance(value, Known):
            if isinstance(value.value, list | tuple | dict) and value.path is not None:
                return Known(len(self.open(value).items))
            refuse_classes(value.value)
            return Known(self.ask(len, self.unordered(value)))
        raise CannotCapture("unsupported-syntax", f"`len` of {describe(value)}")

    def _builtin_range(self, *bounds: Any) -> Any:
        values = []
        for bound in bounds:
            value = self.static(bound)
            values.append(value)
        return Known(self.ask(range, *values))

    def _builtin_sorted(self, sequence: Any, /, *, key: Any = Known(None), reverse: Any = Known(False)) -> Any:
        return ordered(self, sequence, key, reverse)

    def _builtin_tuple(self, sequence: Any = Known(()), /) -> Any:
        if self.type_of(sequence) is tuple:
            return sequence
        return Items(tuple, list(self.iterate(sequence)))

    def _builtin_list(self, sequence: Any = Known(()), /) -> Any:
        return Items(list, list(self.iterate(sequence)))

    def _builtin_dict(self, /, *args: Any, **kwargs: Any) -> Any:
        if args:
            raise CannotCapture("unsupported-syntax", "`dict` of a sequence")
        return Items(dict, dict(kwargs))

    def _builtin_sum(self, sequence: Any, /, start: Any = Known(0)) -> Any:
        if isinstance(getattr(start, "value", None), str | bytes | bytearray):
            raise CannotCapture("raises", "TypeError: `sum` of strings")
        total, floats = start, is_python_number(start) and self.type_of(start) is float
        held: type = ast.Name  # the argument; what has been added up so far has no name, an item may have one
        for item in self.each(sequence):
            if _COMPENSATES:
                floats += is_python_number(item) and self.type_of(item) is float
                if floats > 1:
                    raise CannotCapture("data-value", "the `sum` of Python floats, which is compensated")
            before, total = total, self.operate("Add", total, item)
            in_reused_memory(ast.Add, (before, item), (held, ast.Call), total)
            held = ast.BinOp
        return total

    def _builtin_min(self, *args: Any, **kwargs: Any) -> Any:
        return self._extreme(min, args, kwargs)

    def _builtin_max(self, *args: Any, **kwargs: Any) -> Any:
        return self._extreme(max, args, kwargs)

    def _extreme(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        items = list(self.iterate(args[0])) if len(args) == 1 else list(args)
        if any(isinstance(getattr(item, "value", None), list | tuple | dict) for item in items):
            raise CannotCapture(
                "unsupported-syntax", f"the `{function.__name__}` of lists or tuples"
            )  # it is one of them
        if len(args) == len(items) == 1:  # to call the function with it would look into it
            if kwargs.keys() - {"default"}:
                raise CannotCapture("keyword", f"`key` of the `{function.__name__}` of one item")
            return items[0]
        if not any(isinstance(item, Arr | LoopInt) for item in items) or kwargs:
            return _clamped(self._scalar_call(function, items, kwargs), items)
        best = items[0]
        for item in items[1:]:
            is_better = self.condition(self.operate("Gt" if function is max else "Lt", item, best))
            if isinstance(is_better, bool):
                best = item if is_better else best
            else:
                best = self.demand_choice(is_better, item, best)
        return best

    def condition(self, value: Any) -> Any:
        raise NotImplementedError

    def demand_choice(self, test: Any, one: Any, other: Any) -> Any:
        raise NotImplementedError

    def _builtin_isinstance(self, value: Any, kinds: Any, /) -> Any:
        kind, wanted = self.type_of(value), self.static(kinds)
        has_class = any("__class__" in vars(base) for base in kind.__mro__ if base is not object)
        has_class = has_class or overrides(kind, "__getattribute__")
        # Proxies written in C are left; asking them runs no code of the user's.
        if has_class or (isinstance(value, Known) and value.value.__class__ is not kind):
            raise CannotCapture("effect", f"`isinstance` of {describe(value)}, which tells its class itself")
        _refuse_own_tests(wanted)
        return Known(self._is_subclass(kind, wanted))

    def _is_subclass(self, kind: Any, wanted: Any) -> bool:
        """`issubclass`; asked again at each call where the bases of a class may change, or classes be registered."""
        found = self.ask(issubclass, kind, wanted)
        if _is_heap_type(kind) or _has_abstract(wanted):
            one, other = self.prologue.constant(kind), self.prologue.constant(wanted)
            self.prologue.check(f"issubclass({one}, {other}) is {found}", f"`{kind.__name__}` is a subclass, or not")
        return found

    def _lacks(self, kind: type, names: tuple[str, ...]) -> None:
        """The class has no such special methods when the plan runs, either."""
        if not _is_heap_type(kind):
            return
        if type(kind) not in (type, abc.ABCMeta):
            raise CannotCapture("effect", f"the class `{kind.__name__}` has a class of its own")
        known = self.prologue.constant(kind)
        found = " or ".join(f"hasattr({known}, {name!r})" for name in names)
        self.prologue.check(f"not ({found})", f"`{kind.__name__}` has no rule of its own")

    def _builtin_issubclass(self, kind: Any, kinds: Any, /) -> Any:
        wanted = self.static(kinds)
        _refuse_own_tests(wanted)
        return Known(self._is_subclass(self.static(kind), wanted))

    def _builtin_divmod(self, left: Any, right: Any, /) -> Any:
        if isinstance(left, Arr | Selected) or isinstance(right, Arr | Selected):
            self._refuse_python_scalars(np.divmod, left, right)
            return Items(tuple, list(self.apply(TABLE["np.divmod"], [left, right], {})))
        return self._scalar_call(divmod, [left, right], {})

    def _builtin_pow(self, base: Any, exp: Any, mod: Any = Known(None)) -> Any:
        modulus = [] if isinstance(mod, Known) and mod.value is None else [mod]
        if not modulus and isinstance(base, Arr | Selected):
            return self.operate("Pow", base, exp)
        return self._scalar_call(pow, [base, exp, *modulus], {})

    def _builtin_type(self, value: Any, /) -> Any:
        return Known(self.type_of(value))

    def _builtin_callable(self, value: Any, /) -> Any:
        is_record = isinstance(value, Items) and overrides(value.kind, "__call__")
        is_object = isinstance(value, Known) and callable(value.value)
        if isinstance(value, Known) and _is_heap_type(type(value.value)):
            path = value.path or self.prologue.constant(value.value)
            self.prologue.check(f"callable({path}) is {is_object}", "an object can be called, or not")
        elif isinstance(value, Items) and _is_heap_type(value.kind):
            raise CannotCapture("effect", f"whether {describe(value)} can be called, which its class may change")
        return Known(isinstance(value, _CALLABLE) or is_record or is_object)

    def _builtin_hasattr(self, value: Any, name: Any, /) -> Any:
        text = self.static(name)
        if isinstance(value, Arr) and value.kind == "array":
            return Known(hasattr(value.dummy, text))
        if isinstance(value, Known):
            if value.loose and value.path and find_assigned(self, value, text) is not MISSING:
                return Known(True)
            kind = type(value.value)
            in_class = find_in_class(kind, text)
            has_rules = not overridden(kind).isdisjoint(("__getattr__", "__getattribute__", *([text] * value.loose)))
            has_rules |= isinstance(value.value, types.ModuleType) and "__getattr__" in vars(value.value)
            is_harmless = isinstance(in_class, types.FunctionType | types.MemberDescriptorType | staticmethod)
            if has_rules or (_is_heap_type(kind) and hasattr(type(in_class), "__get__") and not is_harmless):
                raise CannotCapture("effect", f"`hasattr` of {describe(value)}, which has its own attribute access")
            found = hasattr(value.value, text)
            if value.made:  # the region makes it anew at each call
                return Known(found)
            if value.path is not None or isinstance(value.value, type | types.ModuleType):  # they get attributes, too
                path = value.path or self.prologue.constant(value.value)
                self.prologue.check(f"hasattr({path}, {text!r}) is {found}", f"there is an attribute `{text}`, or not")
            return Known(found)
        raise CannotCapture("unsupported-syntax", f"`hasattr` of {describe(value)}")

    def _builtin_getattr(self, value: Any, name: Any, default: Any = Known(None), /) -> Any:
        text = self.static(name)
        # Any other name has no text, or is read as another one there.
        is_name = type(text) is str and text.isascii() and text.isidentifier() and not keyword.iskeyword(text)
        if not is_name:
            raise CannotCapture("unsupported-syntax", f"the attribute {text!r}, which is no name")
        return self.attribute(value, text)

    def _builtin_any(self, sequence: Any, /) -> Any:
        return Known(any(self.truth(item) for item in self.each(sequence)))

    def _builtin_all(self, sequence: Any, /) -> Any:
        return Known(all(self.truth(item) for item in self.each(sequence)))

    # ---- what other rooms of the interpreter provide

    def key(self, value: Any) -> Any:
        """The key of a dict."""
        key = self.static(value)
        check_key(key)
        return key

    # ---- truth and type

    def truth(self, value: Any) -> bool:
        """`bool(value)`, demanded."""
        if isinstance(value, Known):
            if value.path is None:
                refuse_classes(value.value)
                return self.ask(bool, value.value)
            if isinstance(value.value, list | tuple | dict):
                return bool(self.open(value).items)
            has_rules = hasattr(type(value.value), "__bool__") or hasattr(type(value.value), "__len__")
            if has_rules:
                return self.ask(bool, self.unordered(value))
            self._lacks(type(value.value), ("__bool__", "__len__"))
            return True
        if isinstance(value, Sym):
            result = bool(value.value)
            if isinstance(value.value, bool | np.bool_):
                self.demand(value)
            else:
                self.prologue.check(f"bool({value.name}) is {result}", f"a condition is {result}")
            return result
        if isinstance(value, Rows):
            return value.count > 0
        if isinstance(value, Items) and is_plain(value.kind):
            self._lacks(value.kind, ("__bool__",))
            return bool(value.items)
        if isinstance(value, Stream) and value.again is not None:
            return bool(self.iterate(value))
        if isinstance(value, Items) and not overridden(value.kind).isdisjoint(("__bool__", "__len__")):
            raise CannotCapture("effect", f"the truth of {describe(value)}, which has its own rule")
        if isinstance(value, Items):
            self._lacks(value.kind, ("__bool__", "__len__"))
        if isinstance(value, Opaque):
            raise value.error()
        if isinstance(value, Arr):
            if value.spec.size > 1:
                raise CannotCapture("raises", "ValueError: the truth value of an array is ambiguous")
            raise CannotCapture("data-branch", "Python branches on the contents of an array")
        if isinstance(value, LoopInt):
            raise CannotCapture("data-branch", "Python branches on a loop variable")
        if not isinstance(value, _CALLABLE | Items | Stream):
            raise CannotCapture("data-branch", f"Python branches on {describe(value)}")
        return True

    def type_of(self, value: Any) -> type:
        """`type(value)`."""
        if isinstance(value, Known | Sym):
            return type(value.value)
        if isinstance(value, Items | Stream):
            return value.kind
        if isinstance(value, LoopInt):
            return int
        if isinstance(value, Arr):
            self.make_sure(value)
            if value.kind == "array":
                return np.ndarray
            if value.kind == "scalar":
                return value.dtype.type
            return {"b": bool, "i": int, "f": float, "c": complex}[value.dtype.kind]
        if isinstance(value, Opaque):
            raise value.error()
        if isinstance(value, Selected | Flat):
            return np.ndarray if isinstance(value, Selected) else np.flatiter
        if isinstance(value, Closure):
            return types.FunctionType
        if isinstance(value, Method):
            return _type_of_method(value)
        raise CannotCapture("unsupported-syntax", f"the type of {describe(value)}")


def _type_of_method(method: Method) -> type:
    owner = method.owner
    if isinstance(owner, Known):  # a random generator
        return type(getattr(owner.value, method.name))
    is_own = isinstance(owner, Items) and isinstance(find_in_class(owner.kind, method.name), types.FunctionType)
    return types.MethodType if is_own else types.BuiltinMethodType


def _is_natural(value: Any) -> bool:
    return type(value) in (int, bool) and value >= 0


def _is_heap_type(kind: Any) -> bool:
    """Whether a class is written in Python, so that it may change."""
    return isinstance(kind, type) and bool(kind.__flags__ & HEAP_TYPE)


def _has_abstract(kinds: Any) -> bool:
    parts = kinds if isinstance(kinds, tuple) else getattr(kinds, "__args__", ())
    return isinstance(kinds, abc.ABCMeta) or any(map(_has_abstract, parts))


def _refuse_own_tests(kinds: Any) -> None:
    """Classes whose own classes say what an instance is: `isinstance` and `issubclass` may differ, and be code."""
    parts = kinds if isinstance(kinds, tuple) else kinds.__args__ if isinstance(kinds, types.UnionType) else None
    if parts is not None:
        for part in parts:
            _refuse_own_tests(part)
    elif type(kinds) not in (type, abc.ABCMeta):
        raise CannotCapture("effect", "`isinstance` with a class that has its own rule")


def _clamped(result: Any, items: list[Any]) -> Any:
    """The least or largest of some numbers: where it is one that stays, `min(batch, n - done)`, it is taken to stay.

    That is a guess about the next calls, and decides what the plan is made for; its guard asks.
    """
    if isinstance(result, Sym) and result.moving:
        stays = [item.value for item in items if isinstance(item, Known) or (isinstance(item, Sym) and not item.moving)]
        result.moving = not any(type(value) is type(result.value) and value == result.value for value in stays)
    return result
