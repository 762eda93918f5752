"""Expressions of the user's program, evaluated on abstract values."""

from __future__ import annotations

import ast
import builtins
import collections
import enum
import sys
import types
import weakref
from typing import Any

import numpy as np

from autojit.capture.arrays import BINARY, COMPARE
from autojit.capture.attributes import find_assigned, is_assigned_here
from autojit.capture.comprehensions import Comprehensions
from autojit.capture.elision import in_reused_memory
from autojit.capture.foreign import found_in_trusted, refuse_foreign_look_up
from autojit.capture.grids import grid_of
from autojit.capture.identity import is_same
from autojit.capture.members import own_value
from autojit.capture.plain import check_form, check_key, check_text, contains
from autojit.capture.protocols import is_plain, overridden, overrides
from autojit.capture.put_functions import flat_item
from autojit.capture.records import MISSING, find_in_class, method_of
from autojit.capture.values import (
    Arr,
    Closure,
    Flat,
    Frame,
    Items,
    Known,
    Method,
    Opaque,
    Partial,
    Selected,
    Sym,
)
from autojit.capture.views import SliceParts
from autojit.capture.words import describe
from autojit.errors import CannotCapture
from autojit.ops.chapters import TABLE
from autojit.ops.trust import is_trusted

#: The types of `np.r_`, `np.c_`, `np.s_` and `np.index_exp`.
_INDEX_OBJECTS = (type(np.r_), type(np.c_), type(np.s_))
#: What a named tuple's class has for each of its fields, where no heir has put something else in its place.
_FIELD = type(vars(collections.namedtuple("_", "field"))["field"])
#: Attributes of a NumPy scalar that do not depend on its value.
_OF_THE_TYPE = ("dtype", "ndim", "size", "shape", "itemsize", "nbytes", "strides")


#: The names of the rules. Python keeps in mind where it has found a method whose name is one object.
_RULES = {kind: sys.intern(f"_eval_{kind.__name__}") for kind in ast.expr.__subclasses__()}


class Expressions(Comprehensions):
    """One method per kind of expression."""

    def evaluate(self, node: ast.expr) -> Any:
        """The abstract value of an expression.

        Raises:
            CannotCapture: It has no rule, or must not be repeated.
        """
        rule = getattr(self, _RULES.get(type(node), ""), None)
        if rule is None:
            raise CannotCapture("unsupported-syntax", f"a {type(node).__name__} expression")
        return rule(node)

    def operate(self, name: str, left: Any, right: Any) -> Any:
        return self.binary(getattr(ast, name), left, right)

    def _eval_Constant(self, node: ast.Constant) -> Any:
        return Known(node.value)

    def _eval_Name(self, node: ast.Name) -> Any:
        return self.lookup(node.id, self.frame)

    def lookup(self, name: str, frame: Frame) -> Any:
        """The value of a name."""
        scope: Frame | None = frame
        while scope is not None:
            if name in scope.env:
                value = scope.env[name]
                if isinstance(value, Opaque) and value.unset:
                    raise value.error()
                return value
            if name in scope.local_names and name not in scope.cells:
                raise scope.unbound(name)
            if name in scope.cells:
                cell, path = scope.cells[name]
                try:
                    return self.wrap(cell.cell_contents, path, name)
                except ValueError:
                    raise CannotCapture("raises", f"NameError: `{name}` has no value here") from None
            scope = scope.parent
        value = frame.namespace.get(name, MISSING)
        if value is MISSING:
            value = getattr(builtins, name, MISSING)
            if value is MISSING:
                raise CannotCapture("raises", f"NameError: name `{name}` is not defined")
            if frame.namespace_path:
                self.prologue.check(f"{name!r} not in {frame.namespace_path}", f"`{name}` is the builtin")
            return found_in_trusted(self, vars(builtins), name, value)
        if frame.namespace_path is None:
            return found_in_trusted(self, frame.namespace, name, value)
        return self.wrap(value, f"{frame.namespace_path}[{name!r}]", name)

    # ---- operators

    def _eval_BinOp(self, node: ast.BinOp) -> Any:
        left = self.evaluate(node.left)
        right = self.evaluate_beside(left, node.right)
        result = self.binary(type(node.op), left, right)
        in_reused_memory(type(node.op), (left, right), (type(node.left), type(node.right)), result)
        return result

    def evaluate_beside(self, other: Any, node: ast.expr) -> Any:
        """Evaluate an expression while another value waits for it."""
        if isinstance(node, ast.Name | ast.Constant):
            return self.evaluate(node)
        held = len(self.held)
        self.held.append(other)
        value = self.evaluate(node)
        del self.held[held:]
        return value

    def _eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            if isinstance(value, Sym):
                return self.compute("(not {})", lambda v: not v, value)
            return Known(not self.truth(value))
        return self.unary(type(node.op), value)

    def _eval_Compare(self, node: ast.Compare) -> Any:
        left = self.evaluate(node.left)
        result: Any = Known(True)
        for position, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.evaluate_beside(left, right_node)
            if position and not self.truth(result):
                return result
            result = self._compare(type(op), left, right)
            left = right
        return result

    def _compare(self, kind: type, left: Any, right: Any) -> Any:
        if kind in (ast.Is, ast.IsNot):
            return Known(is_same(self, left, right) is (kind is ast.Is))
        if kind in (ast.In, ast.NotIn):
            found = self._contains(left, right)
            if isinstance(found, Arr):
                return found if kind is ast.In else self.fresh(self.apply(TABLE["py_not"], [found], {}).storage.value)
            return Known(found if kind is ast.In else not found)
        return self.binary(kind, left, right)

    def _contains(self, item: Any, container: Any) -> Any:
        if isinstance(container, Items) and not is_plain(container.kind):
            raise CannotCapture("unsupported-syntax", f"a membership test in {describe(container)}")
        if isinstance(container, Items) and isinstance(container.items, dict):
            return self.key(item) in container.items
        if isinstance(container, Known) and isinstance(container.value, dict) and container.path is not None:
            return self.key(item) in self.open(container).items
        if isinstance(container, Arr):
            return self.contains_element(container, item)
        return contains(self, item, container)

    def _eval_BoolOp(self, node: ast.BoolOp) -> Any:
        is_and = isinstance(node.op, ast.And)
        value: Any = None
        for position, part in enumerate(node.values):
            value = self.evaluate(part)
            if position < len(node.values) - 1 and self.truth(value) is not is_and:
                return value
        return value

    def _eval_IfExp(self, node: ast.IfExp) -> Any:
        return self.evaluate(node.body if self.truth(self.evaluate(node.test)) else node.orelse)

    def _eval_NamedExpr(self, node: ast.NamedExpr) -> Any:
        if self.frame.parent is not None:
            raise CannotCapture("unsupported-syntax", "a `:=` in a comprehension or nested function")
        value = self.evaluate(node.value)
        self.bind(node.target, value)
        return value

    # ---- displays

    def _items(self, nodes: list[ast.expr]) -> list[Any]:
        out: list[Any] = []
        held = len(self.held)
        self.held.append(Items(list, out))
        for node in nodes:
            if isinstance(node, ast.Starred):
                out += self.iterate(self.evaluate(node.value))
            else:
                out.append(self.evaluate(node))
        del self.held[held:]
        return out

    def _eval_Tuple(self, node: ast.Tuple) -> Any:
        return Items(tuple, self._items(node.elts))

    def _eval_List(self, node: ast.List) -> Any:
        return Items(list, self._items(node.elts))

    def _eval_Set(self, node: ast.Set) -> Any:
        return Known(self.ask(set, [*map(self.key, self._items(node.elts))]))

    def _eval_Dict(self, node: ast.Dict) -> Any:
        items: dict[Any, Any] = {}
        made, held = Items(dict, items), len(self.held)
        self.held.append(made)
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                items.update(self._mapping(self.evaluate(value)))
            else:
                items.update([(self.key(self.evaluate(key)), self.evaluate(value))])  # the key first
        del self.held[held:]
        return made

    def _eval_JoinedStr(self, node: ast.JoinedStr) -> Any:
        text = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value)
                continue
            assert isinstance(part, ast.FormattedValue)
            value = self.static(self.evaluate(part.value))
            check_text(self, value)
            form = self.static(self.evaluate(part.format_spec)) if part.format_spec else ""
            check_form(form)
            convert = {-1: lambda v: v, 115: str, 114: repr, 97: ascii}[part.conversion]
            text += self.ask(format, convert(value), form)
        return Known(text)

    def _eval_Lambda(self, node: ast.Lambda) -> Any:
        return Closure(node, self.frame, self.defaults_of(node))

    def defaults_of(self, node: ast.FunctionDef | ast.Lambda) -> dict[str, Any]:
        """The default values of a nested function, evaluated where it is defined."""
        if node.args.posonlyargs or node.args.kwonlyargs:
            raise CannotCapture("unsupported-syntax", "a nested function with `*` or `/` in its parameters")
        names = [argument.arg for argument in node.args.args]
        values = [self.evaluate(default) for default in node.args.defaults]
        return dict(zip(names[len(names) - len(values) :], values, strict=True)) if values else {}

    # ---- subscripts and attributes

    def _eval_Slice(self, node: ast.Slice) -> Any:
        def part(bound: ast.expr | None) -> Any:
            return Known(None) if bound is None else self.evaluate(bound)

        return SliceParts(part(node.lower), part(node.upper), part(node.step))

    def _eval_Subscript(self, node: ast.Subscript) -> Any:
        value = self.evaluate(node.value)
        return self.subscript(value, self.evaluate_beside(value, node.slice))

    def subscript(self, value: Any, key: Any) -> Any:
        """`value[key]`."""
        if isinstance(value, Opaque):
            raise value.error()
        if isinstance(value, Arr | Selected):
            return self.getitem(value, key)
        if isinstance(value, Flat):
            return flat_item(self, value.array, key)
        owner = value
        if isinstance(key, Arr):
            raise CannotCapture("data-value", "an index into a Python object that depends on array data")
        if isinstance(value, Known) and (value.value is np.mgrid or value.value is np.ogrid):
            return grid_of(self, value.value, self._plain_key(key))
        if isinstance(value, Known) and isinstance(value.value, _INDEX_OBJECTS):
            return self._inline(Known(type(value.value).__getitem__), [value, self._with_slices(key)], {})
        if isinstance(value, Known) and isinstance(value.value, list | tuple | dict) and value.path is not None:
            value = self.open(value)
        if isinstance(value, Items) and is_plain(value.kind):
            plain = self._plain_key(key)
            if isinstance(value.items, dict):
                check_key(plain)
                if plain not in value.items:
                    raise CannotCapture("raises", f"KeyError: {plain!r}")
                return value.items[plain]
            got = self.ask(lambda: value.items[plain])
            if value.kind is tuple and isinstance(plain, slice) and got == value.items and plain.step in (None, 1):
                return owner  # Python copies no tuple
            return Items(tuple if value.kind is not list else list, got) if isinstance(plain, slice) else got
        if isinstance(value, Known) and isinstance(value.value, list | tuple | dict | str | range):
            return self.constant(self.ask(lambda: value.value[self._plain_key(key)]))
        if isinstance(value, Sym):
            raise CannotCapture("raises", "TypeError: a scalar is not subscriptable")
        raise CannotCapture("unsupported-syntax", f"an index into {describe(value)}")

    def _with_slices(self, key: Any) -> Any:
        """An index as the object that Python makes of it."""
        if isinstance(key, SliceParts):
            return Known(self._plain_key(key))
        if isinstance(key, Items) and key.kind is tuple:
            return Items(tuple, [self._with_slices(item) for item in key.values])
        return key

    def _plain_key(self, key: Any) -> Any:
        if isinstance(key, SliceParts):
            return slice(*(self.static(part) for part in (key.start, key.stop, key.step)))
        if isinstance(key, Items) and key.kind is tuple:
            return tuple(self._plain_key(item) for item in key.values)
        return self.static(key)

    def _eval_Attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.evaluate(node.value), node.attr)

    def attribute(self, value: Any, name: str) -> Any:
        """`value.name`."""
        if isinstance(value, Opaque):
            raise value.error()
        if isinstance(value, Items) and not {"__getattribute__", "__class__"}.isdisjoint(overridden(value.kind)):
            raise CannotCapture("effect", f"`{value.kind.__name__}` has its own attribute access")
        if name == "__class__" and isinstance(value, Arr | Sym | Items):
            return Known(self.type_of(value))
        if isinstance(value, Arr | Selected):
            return self.array_attribute(value, name)
        if isinstance(value, Sym):
            if name in ("real", "imag"):
                return self.compute("{}." + name, lambda s: getattr(s, name), value)
            got = self.ask(getattr, value.value, name)
            if callable(got):
                return Method(value, name)
            return Known(got) if name in _OF_THE_TYPE else self.compute("{}." + name, lambda s: getattr(s, name), value)
        if isinstance(value, Items):
            fields = getattr(value.kind, "_fields", None)
            if fields is not None and name in fields and isinstance(find_in_class(value.kind, name), _FIELD):
                return value.items[fields.index(name)]  # type: ignore[index] -- a record has a list
            if value.kind in (list, tuple, dict):
                return method_of(value.kind, value, name)
            return self._record_attribute(value, name)
        if isinstance(value, Known):
            return self.known_attribute(value, name)
        raise CannotCapture("unsupported-syntax", f"the attribute `.{name}` of {describe(value)}")

    def _record_attribute(self, record: Items, name: str) -> Any:
        """An attribute of a dataclass instance or named tuple made in the region."""
        in_class = find_in_class(record.kind, name)
        if isinstance(record.items, dict) and name in record.items and not hasattr(type(in_class), "__set__"):
            return record.items[name]
        self._same_in_class(record.kind, name)
        if type(in_class) is property and isinstance(in_class.fget, types.FunctionType):
            return self._inline(Known(in_class.fget), [record], {})
        if isinstance(in_class, types.FunctionType):
            return Method(record, name)
        raise CannotCapture("unsupported-syntax", f"the attribute `.{name}` of {describe(record)}")

    def _same_in_class(self, kind: type, name: str) -> None:
        """The class still has the same attribute when the plan runs."""
        found, text = getattr(kind, name, None), f"{self.prologue.constant(kind)}.{name}"
        equal = "==" if isinstance(found, types.MethodType) else "is"  # a bound method is made at each look-up
        self.prologue.check(f"{text} {equal} {self.prologue.constant(found)}", f"`{kind.__name__}.{name}` is the same")

    def known_attribute(self, known: Known, name: str) -> Any:
        """An attribute of an object that is known now."""
        value, kind = known.value, type(known.value)
        if issubclass(kind, np.ufunc) and name in ("outer", "reduce", "accumulate", "reduceat", "at"):
            return Partial(value, name)
        if issubclass(kind, types.ModuleType):
            return self.module_attribute(value, name)
        if issubclass(kind, enum.Enum | types.FunctionType) and not is_trusted(value):
            return self._instance_attribute(Known(value, known.path or self.prologue.constant(value)), name)
        if issubclass(kind, list | tuple | dict) and known.path is not None and not hasattr(kind, "_fields"):
            if name == "__class__":
                return Known(kind)
            return method_of(kind, self.open(known), name)
        if issubclass(kind, type) or known.path is None:
            refuse_foreign_look_up(value, name)
            got = self.ask(getattr, value, name)
            if issubclass(kind, type) and not is_trusted(value):
                return self.wrap(got, f"{self.prologue.constant(value)}.{name}", f"{value.__name__}.{name}")
            return self.constant(got) if not isinstance(got, types.MethodType) else Known(got)
        return self._instance_attribute(known, name)

    def module_attribute(self, module: types.ModuleType, name: str) -> Any:
        """An attribute of a module."""
        refuse_foreign_look_up(module, name)
        got = self.ask(getattr, module, name)
        if is_trusted(module):
            return found_in_trusted(self, vars(module), name, got)
        return self.wrap(got, f"{self.prologue.constant(module)}.{name}", f"{module.__name__}.{name}")

    def _instance_attribute(self, known: Known, name: str) -> Any:
        """An attribute of an outside object: only reads that cannot run foreign code."""
        value, kind = known.value, type(known.value)
        if overrides(kind, "__getattribute__"):
            raise CannotCapture("effect", f"`{kind.__name__}` has its own attribute access")
        if (given := find_assigned(self, known, name)) is not MISSING:
            return given
        in_class = find_in_class(kind, name)
        if isinstance(value, enum.Enum) and (found := own_value(self, known, name)) is not None:
            return found
        if isinstance(in_class, property):
            if type(in_class) is property and isinstance(in_class.fget, types.FunctionType):
                self._same_in_class(kind, name)
                return self._inline(Known(in_class.fget), [known], {})
            raise CannotCapture("effect", f"the property `{name}` of `{kind.__name__}`")
        if isinstance(in_class, types.MemberDescriptorType) and in_class.__name__ != name:
            raise CannotCapture("effect", f"the slot `{in_class.__name__}` of `{kind.__name__}` under another name")
        own = value.__dict__ if kind.__dictoffset__ else {}
        if overrides(kind, "__getattr__") and isinstance(in_class, types.MemberDescriptorType):
            raise CannotCapture("effect", f"the slot `{name}` of `{kind.__name__}`, which may be empty")
        looks_up = hasattr(type(in_class), "__get__") or (in_class is MISSING and overrides(kind, "__getattr__"))
        if name in own and looks_up:  # for another object, which lacks the name: the guard must not run it
            self.prologue.check(f"{name!r} in {known.path}.__dict__", f"`.{name}` is an attribute of its own")
        path = f"{known.path}.{name}"
        if name in own and not hasattr(type(in_class), "__set__"):
            return self.wrap_part(own[name], path, lambda: is_assigned_here(self, name))
        if isinstance(in_class, staticmethod | classmethod):
            is_function = isinstance(in_class.__func__, types.FunctionType)
            if type(in_class) is not staticmethod and not (type(in_class) is classmethod and is_function):
                raise CannotCapture("effect", f"the attribute `{name}` of `{kind.__name__}`, which looks itself up")
        if isinstance(in_class, types.FunctionType | staticmethod | classmethod):
            self._same_in_class(kind, name)
            if hasattr(value, "__dict__"):
                self.prologue.check(f"{name!r} not in {known.path}.__dict__", f"`.{name}` is the class's")
        if isinstance(in_class, types.FunctionType):
            return Known(types.MethodType(in_class, value), self.prologue.let("o", path), owner=known)
        if isinstance(in_class, types.MemberDescriptorType) or (
            in_class is not MISSING and not hasattr(type(in_class), "__get__")
        ):
            got = self.ask(getattr, value, name)
            return self.wrap_part(got, path, lambda: is_assigned_here(self, name))
        if isinstance(in_class, staticmethod | classmethod):
            got = self.ask(getattr, value, name)
            return Known(got, self.prologue.let("o", path))
        if isinstance(value, tuple) and name in getattr(kind, "_fields", ()):
            return self.wrap_part(getattr(value, name), path)
        is_proxy = issubclass(kind, weakref.ProxyType | weakref.CallableProxyType)  # for what has the attribute
        if in_class is MISSING and name not in own and not overrides(kind, "__getattr__") and not is_proxy:
            self.prologue.check(f"not hasattr({known.path}, {name!r})", f"there is no attribute `.{name}`")
            raise CannotCapture("raises", f"AttributeError: a `{kind.__name__}` has no attribute `{name}`")
        raise CannotCapture("effect", f"the attribute `.{name}` of a `{kind.__name__}`")

    def _eval_Call(self, node: ast.Call) -> Any:
        function, held = self.evaluate(node.func), len(self.held)
        self.held.append(function)
        args = self._items(node.args)
        kwargs: dict[str, Any] = {}
        self.held += [Items(list, args), Items(dict, kwargs)]
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            given = self._mapping(value) if keyword.arg is None else {keyword.arg: value}
            for name in given:
                if not isinstance(name, str):
                    raise CannotCapture("raises", "TypeError: keywords must be strings")
                if name in kwargs:
                    raise CannotCapture("raises", f"TypeError: multiple values for the keyword `{name}`")
            kwargs.update(given)
        # The names of a function that is called hold its arguments; what C calls holds them itself.
        if not (isinstance(function, Known) and isinstance(function.value, types.BuiltinFunctionType | type)):
            del self.held[held:]
        result = self.call(function, args, kwargs)
        del self.held[held:]
        return result

    def _mapping(self, value: Any) -> dict[Any, Any]:
        """What `**value` gives: Python takes no list of pairs here, as `dict.update` would."""
        items = self.as_items(value).items
        if not isinstance(items, dict):
            raise CannotCapture("raises", f"TypeError: {describe(value)} is not a mapping")
        return items


__all__ = ["BINARY", "COMPARE", "Expressions"]
